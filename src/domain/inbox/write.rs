//! What puts references into inboxes, and what says that an inbox is wanted. Never asks the gate: what is
//! denied today may be allowed tomorrow without an event.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel_async::{AsyncConnection, RunQueryDsl};

use crate::db::Connection;
use crate::db::schema::{activity, follows, in_flight, user_counters};
use crate::domain::events::{self, Event};
use crate::domain::inbox::model::{TRIM_AT, WINDOW, member, score};
use crate::domain::inbox::scripts;
use crate::domain::messages::model::Reference;
use crate::error::Result;
use crate::kv::{Kv, keys};
use crate::statement;
use crate::time::Clock;

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

async fn mark_hot(conn: &mut Connection, user_id: i64, channel: &str, now: DateTime<Utc>) -> Result<()> {
    // Following locks the same row, so that a new edge and these rows agree on what is hot.
    user_counters::table.find(user_id).select(user_counters::user_id).for_no_key_update().first::<i64>(conn).await?;
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

/// Voids the inbox of `user_id` in `channel`: the next read is answered by Postgres and asks for a build.
pub async fn void(conn: &mut Connection, user_id: i64, channel: &str) -> Result<()> {
    diesel::update(activity::table.find((user_id, channel)))
        .set(activity::generation.eq(activity::generation + 1))
        .execute(conn)
        .await?;
    Ok(())
}

statement! {
    /// The next hot followers of an author, by key, whose feed of that channel is read.
    struct HotFollowers { channel: String, author_id: i64, after: i64, limit: i64 } -> (BigInt,)
    "SELECT follows.follower_id FROM follows
     JOIN activity ON activity.user_id = follows.follower_id AND activity.is_hot AND activity.channel = " (channel: Text)
    " WHERE follows.is_hot AND follows.followee_id = " (author_id: BigInt)
    " AND follows.follower_id > " (after: BigInt)
    " ORDER BY follows.follower_id LIMIT " (limit: BigInt)
}

/// What one step of a delivery works on.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// What is delivered.
    pub message: Reference,
    /// Its channel.
    pub channel: &'a str,
    /// The follower that the last step ended with, 0 at first.
    pub after: i64,
    /// How many inboxes at most.
    pub size: i64,
}

/// Delivers a message to the next inboxes: one pipelined write. Answers the follower to go on behind, or
/// `None` when all have it. May run twice.
pub async fn deliver(conn: &mut Connection, kv: &Kv, chunk: Chunk<'_>, clock: &Clock) -> Result<Option<i64>> {
    let Chunk { message, channel, after, size } = chunk;
    let ask = HotFollowers { channel: channel.to_owned(), author_id: message.author_id, after, limit: size };
    let mut to: Vec<i64> = ask.load(conn).await?.into_iter().map(|(id,): (i64,)| id).collect();
    let next = if to.len() as i64 == size { to.last().copied() } else { None };
    if after == 0 && is_hot(conn, message.author_id, channel).await? {
        to.push(message.author_id);
    }
    push(kv, message, channel, &to).await?;
    if next.is_none() {
        // Only now, with every write answered for, may the row begin to age: by the clock of now, for a step can
        // take as long as the lease of its job.
        let delivered_at = in_flight::delivered_at.eq(clock.now());
        diesel::update(in_flight::table.find(message.id)).set(delivered_at).execute(conn).await?;
    }
    Ok(next)
}

async fn is_hot(conn: &mut Connection, user_id: i64, channel: &str) -> Result<bool> {
    let hot = activity::table.find((user_id, channel)).filter(activity::is_hot.eq(true));
    Ok(diesel::select(diesel::dsl::exists(hot)).get_result(conn).await?)
}

async fn push(kv: &Kv, message: Reference, channel: &str, to: &[i64]) -> Result<()> {
    if to.is_empty() {
        return Ok(());
    }
    let inboxes: Vec<String> = to.iter().map(|user_id| keys::inbox(*user_id, channel)).collect();
    let (member, score) = (member(message), score(message));
    let mut writes = redis::pipe();
    for inbox in &inboxes {
        writes.zadd(inbox, &member, score).ignore().zcard(inbox);
    }
    let sizes: Vec<usize> = writes.query_async(&mut kv.shared()).await?;
    for (inbox, size) in inboxes.iter().zip(sizes) {
        if size == 1 {
            // Only what was just written: no inbox was there, and this must not look like one.
            redis::AsyncCommands::unlink::<_, ()>(&mut kv.shared(), inbox).await?;
        } else if size >= TRIM_AT {
            let left: usize = scripts::TRIM.key(inbox).arg(WINDOW).invoke_async(&mut *kv.owned().await?).await?;
            tracing::debug!(left, "inbox trimmed");
        }
    }
    Ok(())
}
