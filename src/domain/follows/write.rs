//! The verbs of the follow graph: one function, one transaction each. Both are sets, not toggles:
//! doing them again changes nothing.

use diesel::dsl::{exists, select};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel_async::{AsyncConnection, RunQueryDsl};

use crate::db::Connection;
use crate::db::schema::{activity, follows, user_counters};
use crate::error::{Error, Result};
use crate::ids;
use crate::viewer::Viewer;

/// Makes `viewer` follow `followee_id`; `id` becomes the id of the edge. Answers whether that is new.
///
/// The feed of the viewer is void from the commit on, so that it shows the followee's history at once.
///
/// Errors: [`Error::BadUserInput`] for oneself, [`Error::NotFound`].
pub async fn follow(conn: &mut Connection, viewer: Viewer, id: i64, followee_id: i64) -> Result<bool> {
    if viewer.user_id == followee_id {
        return Err(Error::bad_input("userId", "You cannot follow yourself."));
    }
    let follower_id = viewer.user_id;
    conn.transaction(async move |conn| {
        lock_pair(conn, follower_id, followee_id).await?;
        // Heating locks the same row first, so the edge and the activity rows agree on what is hot.
        let is_hot: bool =
            select(exists(activity::table.filter(activity::user_id.eq(follower_id).and(activity::is_hot.eq(true)))))
                .get_result(conn)
                .await?;
        let edge = (
            follows::followee_id.eq(followee_id),
            follows::follower_id.eq(follower_id),
            follows::id.eq(id),
            follows::is_hot.eq(is_hot),
            follows::created_at.eq(ids::time_of(id)),
        );
        let new = diesel::insert_into(follows::table).values(edge).on_conflict_do_nothing().execute(conn).await?;
        if new == 0 {
            return Ok(false);
        }
        count(conn, follower_id, followee_id, 1).await?;
        diesel::update(activity::table.filter(activity::user_id.eq(follower_id)))
            .set(activity::generation.eq(activity::generation + 1))
            .execute(conn)
            .await?;
        Ok(true)
    })
    .await
}

/// Ends that `viewer` follows `followee_id`. Answers whether they did. Effective in the feed at once:
/// a reference without a reason is passed over at read.
///
/// Errors: [`Error::NotFound`].
pub async fn unfollow(conn: &mut Connection, viewer: Viewer, followee_id: i64) -> Result<bool> {
    let follower_id = viewer.user_id;
    if follower_id == followee_id {
        return Ok(false);
    }
    conn.transaction(async move |conn| {
        lock_pair(conn, follower_id, followee_id).await?;
        let gone = diesel::delete(follows::table.find((followee_id, follower_id))).execute(conn).await?;
        if gone > 0 {
            count(conn, follower_id, followee_id, -1).await?;
        }
        Ok(gone > 0)
    })
    .await
}

/// Makes a follow of `viewer` a close one, or an ordinary one again. Doing it again changes nothing.
///
/// Errors: [`Error::NotFound`] when the viewer does not follow `followee_id`.
pub async fn set_close(conn: &mut Connection, viewer: Viewer, followee_id: i64, is_close: bool) -> Result<()> {
    let edge = follows::table.find((followee_id, viewer.user_id));
    match diesel::update(edge).set(follows::is_close.eq(is_close)).execute(conn).await? {
        0 => Err(Error::NotFound { what: "follow" }),
        _ => Ok(()),
    }
}

/// Locks what the two are to each other, then their counters in id order.
/// Errors: [`Error::NotFound`] if one of them does not exist.
async fn lock_pair(conn: &mut Connection, follower_id: i64, followee_id: i64) -> Result<()> {
    let (low, high) = (follower_id.min(followee_id), follower_id.max(followee_id));
    diesel::sql_query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")
        .bind::<Text, _>(format!("pair:{low}:{high}"))
        .execute(conn)
        .await?;
    let locked = diesel::sql_query(
        "SELECT user_id FROM user_counters WHERE user_id IN ($1, $2) ORDER BY user_id FOR NO KEY UPDATE",
    )
    .bind::<BigInt, _>(low)
    .bind::<BigInt, _>(high)
    .execute(conn)
    .await?;
    if locked == 2 { Ok(()) } else { Err(Error::NotFound { what: "user" }) }
}

async fn count(conn: &mut Connection, follower_id: i64, followee_id: i64, by: i64) -> Result<()> {
    diesel::update(user_counters::table.find(followee_id))
        .set(user_counters::follower_count.eq(user_counters::follower_count + by))
        .execute(conn)
        .await?;
    diesel::update(user_counters::table.find(follower_id))
        .set(user_counters::following_count.eq(user_counters::following_count + by))
        .execute(conn)
        .await?;
    Ok(())
}
