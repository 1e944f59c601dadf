//! Sessions in the schema.

use async_graphql::{Context, ID, InputObject, Object, SimpleObject};
use chrono::{DateTime, Utc};

use crate::app::App;
use crate::connection;
use crate::domain::auth::{model, read, write};
use crate::error;
use crate::graphql::context::ContextExt;
use crate::graphql::fill::Source;
use crate::graphql::ids::session_id;
use crate::ids::GlobalId;
use crate::viewer::Viewer;

/// A log-in on one device. Only its owner sees it.
pub struct Session {
    session: model::Session,
    is_current: bool,
}

impl Session {
    /// A session of `viewer`.
    pub fn new(session: model::Session, viewer: Viewer) -> Self {
        Self { is_current: session.id == viewer.session_id, session }
    }
}

/// A log-in on one device. Only its owner sees it.
#[Object]
impl Session {
    /// Opaque, for ever the same.
    async fn id(&self) -> ID {
        GlobalId::Session(self.session.id).encode().into()
    }

    /// How the client described itself when it signed in (its User-Agent); may be empty.
    async fn user_agent(&self) -> &str {
        &self.session.user_agent
    }

    /// When the session began.
    async fn created_at(&self) -> DateTime<Utc> {
        self.session.created_at
    }

    /// When tokens were last given out for it: by signing in or by a refresh.
    async fn last_used_at(&self) -> DateTime<Utc> {
        self.session.last_used_at
    }

    /// When it ends unless it is refreshed before: 60 days after the last refresh, and a year after it
    /// began at the latest.
    async fn expires_at(&self) -> DateTime<Utc> {
        self.session.expires_at
    }

    /// When it was ended by `logOut`, `revokeSession`, `changePassword` or the second use of a refresh
    /// token; null if it was not.
    async fn revoked_at(&self) -> Option<DateTime<Utc>> {
        self.session.revoked_at
    }

    /// Whether this request is made on it.
    async fn is_current(&self) -> bool {
        self.is_current
    }
}

connection! {
    /// Sessions, newest first.
    SessionConnection of SessionEdge to Session
}

/// The live sessions of a viewer.
pub struct Live<'a> {
    /// Where they are.
    pub app: &'a App,
    /// Whose they are.
    pub viewer: Viewer,
    /// Live when.
    pub now: DateTime<Utc>,
}

impl Source for Live<'_> {
    type Candidate = model::Session;
    type Node = Session;

    fn position(candidate: &model::Session) -> i64 {
        candidate.id
    }

    async fn older(&self, below: i64, limit: usize) -> error::Result<Vec<model::Session>> {
        let mut conn = self.app.db.get().await?;
        read::page_older(&mut conn, self.viewer.user_id, self.now, below, limit).await
    }

    async fn newer(&self, above: i64, limit: usize) -> error::Result<Vec<model::Session>> {
        let mut conn = self.app.db.get().await?;
        read::page_newer(&mut conn, self.viewer.user_id, self.now, above, limit).await
    }

    async fn admit(&self, candidates: &[model::Session]) -> error::Result<Vec<Option<Session>>> {
        Ok(candidates.iter().map(|session| Some(Session::new(session.clone(), self.viewer))).collect())
    }
}

/// Which session to end.
#[derive(InputObject)]
pub struct RevokeSessionInput {
    /// A session of your own.
    session_id: ID,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// The session that has ended.
#[derive(SimpleObject)]
pub struct RevokeSessionPayload {
    /// The session, with `revokedAt`.
    session: Session,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// What can be done to sessions.
#[derive(Default)]
pub struct SessionMutation;

#[Object]
impl SessionMutation {
    /// Ends a session of your own, this one or another. Its tokens are refused at once. Doing it again
    /// changes nothing.
    async fn revoke_session(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which session to end.")] input: RevokeSessionInput,
    ) -> Option<error::Result<RevokeSessionPayload>> {
        Some(revoke_session(ctx, input).await)
    }
}

async fn revoke_session(ctx: &Context<'_>, input: RevokeSessionInput) -> error::Result<RevokeSessionPayload> {
    let (app, viewer) = (ctx.app(), ctx.viewer()?);
    let session_id = session_id("sessionId", &input.session_id)?;
    let now = app.clock.now();
    let session = app.db.write(async |mut conn| write::revoke(&mut conn, viewer, session_id, now).await).await?;
    if session_id == viewer.session_id {
        ctx.signed_out();
    }
    Ok(RevokeSessionPayload { session: Session::new(session, viewer), client_mutation_id: input.client_mutation_id })
}
