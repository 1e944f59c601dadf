//! Asks about sessions and credentials.

use chrono::{DateTime, Utc};
use diesel::dsl::{exists, select};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::db::schema::{credentials, sessions, users};
use crate::domain::auth::model::{Credentials, Session};
use crate::domain::users::read::folded_handle;
use crate::domain::users::rules::Handle;
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

/// A session of `user_id`, also one that has ended.
pub async fn by_id(conn: &mut Connection, user_id: i64, id: i64) -> Result<Option<Session>> {
    let found = sessions::table.find(id).filter(sessions::user_id.eq(user_id));
    Ok(found.select(Session::as_select()).first(conn).await.optional()?)
}

/// At most `limit` sessions of `user_id` that are live at `now`, with an id below `below`, newest first.
pub async fn page_older(
    conn: &mut Connection,
    user_id: i64,
    now: DateTime<Utc>,
    below: i64,
    limit: usize,
) -> Result<Vec<Session>> {
    let page = sessions::table
        .filter(sessions::user_id.eq(user_id).and(sessions::id.lt(below)))
        .filter(sessions::revoked_at.is_null().and(sessions::expires_at.gt(now)))
        .order(sessions::id.desc())
        .limit(limit as i64);
    Ok(page.select(Session::as_select()).load(conn).await?)
}

/// At most `limit` sessions of `user_id` that are live at `now`, with an id above `above`, oldest first.
pub async fn page_newer(
    conn: &mut Connection,
    user_id: i64,
    now: DateTime<Utc>,
    above: i64,
    limit: usize,
) -> Result<Vec<Session>> {
    let page = sessions::table
        .filter(sessions::user_id.eq(user_id).and(sessions::id.gt(above)))
        .filter(sessions::revoked_at.is_null().and(sessions::expires_at.gt(now)))
        .order(sessions::id.asc())
        .limit(limit as i64);
    Ok(page.select(Session::as_select()).load(conn).await?)
}

/// What the person with this handle, whatever its case, signs in with.
pub async fn credentials_by_handle(conn: &mut Connection, handle: &Handle) -> Result<Option<Credentials>> {
    let found = users::table
        .inner_join(credentials::table.on(credentials::user_id.eq(users::id)))
        .filter(folded_handle().eq(handle.folded()));
    Ok(found.select(Credentials::as_select()).first(conn).await.optional()?)
}

/// What this person signs in with.
pub async fn credentials_by_user(conn: &mut Connection, user_id: i64) -> Result<Option<Credentials>> {
    let found = users::table
        .inner_join(credentials::table.on(credentials::user_id.eq(users::id)))
        .filter(users::id.eq(user_id));
    Ok(found.select(Credentials::as_select()).first(conn).await.optional()?)
}
