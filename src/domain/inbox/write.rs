//! What makes a feed hot or cold, and what says that an inbox is wanted. Never what is put into it.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};

use crate::db::Connection;
use crate::db::schema::{activity, follows, user_counters};
use crate::domain::events::{self, Event};
use crate::error::Result;
use crate::kv::{Kv, keys};

/// Says that the feed of `user_id` in `channel` was read and has no valid inbox, and so asks for a build.
pub async fn want(conn: &mut Connection, user_id: i64, channel: &str, now: DateTime<Utc>) -> Result<()> {
    let missed = Event::InboxMissed { user_id, channel: channel.to_owned() };
    events::record(conn, &missed, now).await
}

/// Makes the feed of `user_id` in `channel` hot, if it is not: from the commit on, deliveries go to it.
pub async fn heat(conn: &mut Connection, user_id: i64, channel: &str, now: DateTime<Utc>) -> Result<()> {
    if is_hot(conn, user_id, channel).await? {
        return Ok(());
    }
    conn.transaction(async move |conn| mark_hot(conn, user_id, channel, now).await).await
}

/// Whether deliveries go to the feed of `user_id` in `channel`.
pub async fn is_hot(conn: &mut Connection, user_id: i64, channel: &str) -> Result<bool> {
    let hot = activity::table.find((user_id, channel)).filter(activity::is_hot);
    Ok(diesel::select(diesel::dsl::exists(hot)).get_result(conn).await?)
}

async fn mark_hot(conn: &mut Connection, user_id: i64, channel: &str, now: DateTime<Utc>) -> Result<()> {
    lock(conn, user_id).await?;
    diesel::insert_into(activity::table)
        .values((
            activity::user_id.eq(user_id),
            activity::channel.eq(channel),
            activity::is_hot.eq(true),
            activity::generation.eq(1),
            activity::read_at.eq(now),
        ))
        .on_conflict((activity::user_id, activity::channel))
        .do_update()
        .set((activity::is_hot.eq(true), activity::generation.eq(activity::generation + 1), activity::read_at.eq(now)))
        .execute(conn)
        .await?;
    diesel::update(follows::table.filter(follows::follower_id.eq(user_id).and(follows::is_hot.eq(false))))
        .set(follows::is_hot.eq(true))
        .execute(conn)
        .await?;
    Ok(())
}

/// Notes that the feed of `user_id` in `channel` was read, if it is hot: who reads stays hot and is delivered to early.
pub async fn note(conn: &mut Connection, user_id: i64, channel: &str, now: DateTime<Utc>) -> Result<()> {
    let earlier = activity::table.find((user_id, channel)).filter(activity::is_hot.and(activity::read_at.lt(now)));
    diesel::update(earlier).set(activity::read_at.eq(now)).execute(conn).await?;
    Ok(())
}

/// Cools at most `limit` feeds that nobody read since `since`: from the commit on nothing is delivered to them, and
/// their inboxes go. Answers how many.
pub async fn cool(conn: &mut Connection, kv: &Kv, since: DateTime<Utc>, limit: i64) -> Result<usize> {
    let unread = activity::table.filter(activity::is_hot.and(activity::read_at.lt(since)));
    let due: Vec<(i64, String)> =
        unread.order(activity::read_at).limit(limit).select((activity::user_id, activity::channel)).load(conn).await?;
    for (user_id, channel) in &due {
        let is_cooled = conn.transaction(async |conn| mark_cold(conn, *user_id, channel, since).await).await?;
        // Behind the commit: a delivery that saw it hot finds no inbox, or leaves one that no marker makes valid.
        if is_cooled {
            redis::AsyncCommands::unlink::<_, ()>(&mut kv.shared(), keys::inbox(*user_id, channel)).await?;
        }
    }
    Ok(due.len())
}

async fn mark_cold(conn: &mut Connection, user_id: i64, channel: &str, since: DateTime<Utc>) -> Result<bool> {
    lock(conn, user_id).await?;
    let still = activity::table.find((user_id, channel)).filter(activity::is_hot.and(activity::read_at.lt(since)));
    let cooled = diesel::update(still)
        .set((activity::is_hot.eq(false), activity::generation.eq(activity::generation + 1)))
        .execute(conn)
        .await?;
    let hot = activity::table.filter(activity::user_id.eq(user_id).and(activity::is_hot));
    if cooled > 0 && !diesel::select(diesel::dsl::exists(hot)).get_result::<bool>(conn).await? {
        diesel::update(follows::table.filter(follows::follower_id.eq(user_id).and(follows::is_hot)))
            .set(follows::is_hot.eq(false))
            .execute(conn)
            .await?;
    }
    Ok(cooled > 0)
}

/// Following locks the same row, so that a new edge and the rows of activity agree on what is hot.
async fn lock(conn: &mut Connection, user_id: i64) -> Result<()> {
    user_counters::table.find(user_id).select(user_counters::user_id).for_no_key_update().first::<i64>(conn).await?;
    Ok(())
}

/// Voids the inbox of `user_id` in `channel`: the next read is answered by Postgres and asks for a build.
pub async fn void(conn: &mut Connection, user_id: i64, channel: &str) -> Result<()> {
    diesel::update(activity::table.find((user_id, channel)))
        .set(activity::generation.eq(activity::generation + 1))
        .execute(conn)
        .await?;
    Ok(())
}
