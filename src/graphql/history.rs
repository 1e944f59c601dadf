//! What a message said before its edits, for its author.

use async_graphql::{Context, Json, Object, Result};
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::connection;
use crate::domain::messages::model;
use crate::domain::messages::read;
use crate::graphql::connection::page;
use crate::graphql::context::ContextExt;
use crate::graphql::fill::Source;
use crate::page::{Arguments, Connection, Scope};

/// What a message said before an edit.
pub struct MessageVersion(model::Version);

/// What a message said before an edit.
#[Object]
impl MessageVersion {
    /// 1 for what was posted, one more for each edit.
    async fn version(&self) -> i32 {
        self.0.version
    }

    /// The title then.
    async fn title(&self) -> Option<&str> {
        self.0.title.as_deref()
    }

    /// The text then.
    async fn content(&self) -> &str {
        &self.0.content
    }

    /// The extra JSON then.
    async fn extra(&self) -> Json<&Value> {
        Json(&self.0.extra)
    }

    /// When that was written.
    async fn written_at(&self) -> DateTime<Utc> {
        self.0.written_at
    }
}

connection! {
    /// Earlier versions of a message, newest first.
    MessageVersionConnection of MessageVersionEdge to MessageVersion
}

/// The earlier versions of a message. Whoever calls this has made sure that the viewer is its author.
pub async fn history(ctx: &Context<'_>, message_id: i64, arguments: Arguments) -> Result<MessageVersionConnection> {
    let scope = Scope::new(Connection::History, message_id, "");
    Ok(page(ctx, scope, &arguments, &History { ctx, message_id }).await?.into())
}

struct History<'a> {
    ctx: &'a Context<'a>,
    message_id: i64,
}

impl Source for History<'_> {
    type Candidate = model::Version;
    type Node = MessageVersion;

    fn position(version: &model::Version) -> i64 {
        i64::from(version.version)
    }

    async fn older(&self, below: i64, limit: usize) -> crate::error::Result<Vec<model::Version>> {
        read::versions_older(&mut *self.ctx.app().db.get().await?, self.message_id, below, limit).await
    }

    async fn newer(&self, above: i64, limit: usize) -> crate::error::Result<Vec<model::Version>> {
        read::versions_newer(&mut *self.ctx.app().db.get().await?, self.message_id, above, limit).await
    }

    async fn admit(&self, versions: &[model::Version]) -> crate::error::Result<Vec<Option<MessageVersion>>> {
        Ok(versions.iter().cloned().map(|version| Some(MessageVersion(version))).collect())
    }
}
