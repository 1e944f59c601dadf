//! Asks about sessions.

use chrono::{DateTime, Utc};
use diesel::dsl::{exists, select};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::db::schema::sessions;
use crate::error::Result;
use crate::viewer::Viewer;

/// Whether `viewer`'s session exists, is theirs, and is neither revoked nor expired at `now`.
pub async fn is_live(conn: &mut Connection, viewer: Viewer, now: DateTime<Utc>) -> Result<bool> {
    let live = sessions::table
        .find(viewer.session_id)
        .filter(sessions::user_id.eq(viewer.user_id))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    Ok(select(exists(live)).get_result(conn).await?)
}
