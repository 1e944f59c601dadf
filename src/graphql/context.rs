//! What a resolver can reach: the app, who asks, and this request's loaders. Nothing here outlives
//! the request.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use async_graphql::Context;

use crate::app::App;
use crate::error::{Error, Result};
use crate::graphql::loaders::Loaders;
use crate::viewer::Viewer;

/// One request: who asks, from what, and what was loaded for them so far.
pub struct Caller {
    /// Who is signed in, if anybody.
    pub viewer: Option<Viewer>,
    /// The client's own description, for the list of sessions.
    pub user_agent: String,
    has_signed_out: AtomicBool,
    app: Arc<App>,
    loaders: RwLock<Arc<Loaders>>,
}

impl Caller {
    /// A fresh request with empty loaders.
    pub fn new(app: Arc<App>, viewer: Option<Viewer>, user_agent: String) -> Self {
        let loaders = RwLock::new(Arc::new(Loaders::new(&app, viewer)));
        Self { viewer, user_agent, has_signed_out: AtomicBool::new(false), app, loaders }
    }

    fn start_afresh(&self, viewer: Option<Viewer>) {
        let fresh = Arc::new(Loaders::new(&self.app, viewer));
        *self.loaders.write().unwrap_or_else(PoisonError::into_inner) = fresh;
    }
}

/// Short ways to what every resolver needs.
pub trait ContextExt {
    /// The shared handles.
    fn app(&self) -> &Arc<App>;
    /// This request.
    fn caller(&self) -> &Caller;
    /// Who is signed in, and may do something. It is who sent the token: signing in within the request
    /// changes only the [`ContextExt::reader`]. Errors: [`Error::Unauthenticated`].
    fn viewer(&self) -> Result<Viewer>;
    /// With whose eyes what is shown now is seen: who sent the token or, in the payload of a sign-in, who
    /// has just signed in.
    fn reader(&self) -> Option<Viewer>;
    /// The loaders of this request, or of what came after its last write.
    fn loaders(&self) -> Arc<Loaders>;
    /// Forgets what was loaded, for something was just written. Mutations run one after the other, each
    /// with its whole payload, so nothing that is under way loses its loader.
    fn written(&self);
    /// `viewer` has just signed in: forgets what was loaded, and the rest of the payload is seen with their eyes.
    fn signed_in(&self, viewer: Viewer);
    /// The viewer's session ended in this request: nothing that follows in it is done in their name.
    fn signed_out(&self);
}

impl ContextExt for Context<'_> {
    fn app(&self) -> &Arc<App> {
        &self.caller().app
    }

    fn caller(&self) -> &Caller {
        self.data_unchecked::<Caller>()
    }

    fn viewer(&self) -> Result<Viewer> {
        let caller = self.caller();
        let viewer = caller.viewer.filter(|_| !caller.has_signed_out.load(Ordering::Acquire));
        viewer.ok_or(Error::Unauthenticated)
    }

    fn reader(&self) -> Option<Viewer> {
        self.loaders().viewer
    }

    fn loaders(&self) -> Arc<Loaders> {
        self.caller().loaders.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn written(&self) {
        self.caller().start_afresh(self.caller().viewer);
    }

    fn signed_in(&self, viewer: Viewer) {
        self.caller().start_afresh(Some(viewer));
    }

    fn signed_out(&self) {
        self.caller().has_signed_out.store(true, Ordering::Release);
        self.caller().start_afresh(None);
    }
}
