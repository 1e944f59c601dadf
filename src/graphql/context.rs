//! What a resolver can reach: the app, who asks, and this request's loaders. Nothing here outlives
//! the request.

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
    app: Arc<App>,
    loaders: RwLock<Arc<Loaders>>,
}

impl Caller {
    /// A fresh request with empty loaders.
    pub fn new(app: Arc<App>, viewer: Option<Viewer>, user_agent: String) -> Self {
        let loaders = RwLock::new(Arc::new(Loaders::new(&app, viewer)));
        Self { viewer, user_agent, app, loaders }
    }
}

/// Short ways to what every resolver needs.
pub trait ContextExt {
    /// The shared handles.
    fn app(&self) -> &Arc<App>;
    /// This request.
    fn caller(&self) -> &Caller;
    /// Who is signed in. Errors: [`Error::Unauthenticated`].
    fn viewer(&self) -> Result<Viewer>;
    /// The loaders of this request, or of what came after its last write.
    fn loaders(&self) -> Arc<Loaders>;
    /// Forgets what was loaded, for something was just written. Mutations run one after the other, each
    /// with its whole payload, so nothing that is under way loses its loader.
    fn written(&self);
}

impl ContextExt for Context<'_> {
    fn app(&self) -> &Arc<App> {
        &self.caller().app
    }

    fn caller(&self) -> &Caller {
        self.data_unchecked::<Caller>()
    }

    fn viewer(&self) -> Result<Viewer> {
        self.caller().viewer.ok_or(Error::Unauthenticated)
    }

    fn loaders(&self) -> Arc<Loaders> {
        self.caller().loaders.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn written(&self) {
        let fresh = Arc::new(Loaders::new(self.app(), self.caller().viewer));
        *self.caller().loaders.write().unwrap_or_else(PoisonError::into_inner) = fresh;
    }
}
