//! The shapes of sessions.

use chrono::{DateTime, Utc};
use diesel::prelude::*;

use crate::db::schema::sessions;

/// A session: one log-in on one device, and the family of refresh tokens that grew out of it.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = sessions)]
pub struct Session {
    /// Snowflake; its time is when the session began.
    pub id: i64,
    /// Whose it is.
    pub user_id: i64,
    /// How the client described itself when the session began; may be empty.
    pub user_agent: String,
    /// When it began.
    pub created_at: DateTime<Utc>,
    /// When tokens were last given out for it.
    pub last_used_at: DateTime<Utc>,
    /// When it ends unless it is refreshed before.
    pub expires_at: DateTime<Utc>,
    /// When it was ended, if it was.
    pub revoked_at: Option<DateTime<Utc>>,
}
