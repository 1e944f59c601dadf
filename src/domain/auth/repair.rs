//! Removes what has ended. Nothing that could still be asked for.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::db::schema::sessions;
use crate::domain::auth::rules::ENDED_KEPT;
use crate::error::Result;

/// Removes at most `limit` of the sessions, with their refresh tokens, that ended more than a day before `now`, and
/// answers how many. A revoked session outlives the access tokens that were given out for it: while it is there,
/// they are refused because of it, and after it they are long expired.
pub async fn purge(conn: &mut Connection, now: DateTime<Utc>, limit: i64) -> Result<usize> {
    let before = now - ENDED_KEPT;
    let ended = sessions::expires_at.lt(before).or(sessions::revoked_at.lt(before));
    let ids: Vec<i64> = sessions::table.filter(ended).select(sessions::id).limit(limit).load(conn).await?;
    Ok(diesel::delete(sessions::table.filter(sessions::id.eq_any(ids))).execute(conn).await?)
}
