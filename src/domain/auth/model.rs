//! The shapes of sessions and credentials.

use chrono::{DateTime, Utc};
use diesel::prelude::*;

use crate::db::schema::{credentials, sessions, users};
use crate::domain::auth::refresh_tokens::RefreshToken;
use crate::domain::users::model::Profile;
use crate::domain::users::rules::Password;
use crate::viewer::Viewer;

/// A session: one log-in on one device, and the family of refresh tokens that grew out of it.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
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

/// A session that is to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// Its id.
    pub id: i64,
    /// How the client describes itself, as it was sent.
    pub user_agent: String,
    /// When it begins.
    pub now: DateTime<Utc>,
}

/// An account that is to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAccount {
    /// The id of the person.
    pub user_id: i64,
    /// What they say about themselves.
    pub profile: Profile,
    /// What they will sign in with.
    pub password: Password,
}

/// What somebody signs in with. Never printed.
#[derive(Clone, PartialEq, Eq, Queryable, Selectable)]
pub struct Credentials {
    /// Whose they are.
    #[diesel(select_expression = credentials::user_id)]
    pub user_id: i64,
    /// The handle as they write it.
    #[diesel(select_expression = users::handle)]
    pub handle: String,
    /// The hash of the password, with its parameters.
    #[diesel(select_expression = credentials::password_hash)]
    pub password_hash: String,
}

/// What a client gets that has signed in or refreshed its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    /// Who they are, and on which session.
    pub viewer: Viewer,
    /// What the session is refreshed with, once.
    pub refresh_token: RefreshToken,
    /// When that is not possible any more.
    pub refresh_expires_at: DateTime<Utc>,
}
