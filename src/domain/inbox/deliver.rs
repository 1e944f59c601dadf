//! The publisher's second half: what puts references into inboxes. Never asks the gate: what is denied today may be
//! allowed tomorrow without an event.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text, Timestamptz};
use diesel_async::RunQueryDsl;
use redis::RedisResult;

use crate::db::Connection;
use crate::db::schema::{author_channels, in_flight};
use crate::domain::events::{LATEST, Progress, TODAY, Tier};
use crate::domain::inbox::model::{TRIM_AT, WINDOW, member, score};
use crate::domain::inbox::scripts;
use crate::domain::inbox::write::is_hot;
use crate::domain::messages::model::Reference;
use crate::error::Result;
use crate::kv::{Kv, keys};
use crate::statement;
use crate::time::Clock;

/// Head starts are worth it from so many steps on.
const STEPS: i64 = 2;

/// What part of the hot followers gets a head start at most: one in so many.
const HEAD_START: i64 = 10;

/// A delivery, and its next step.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// What is delivered.
    pub message: Reference,
    /// Its channel.
    pub channel: &'a str,
    /// How far it is.
    pub progress: Progress,
    /// How many inboxes one step writes to.
    pub chunk: i64,
    /// From how many hot followers on an author is pulled.
    pub pull_from: i64,
    /// What is older than this is trimmed.
    pub oldest: DateTime<Utc>,
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// How many inboxes were written to.
    pub inboxes: usize,
    /// How many of them were full and were cut.
    pub trimmed: usize,
    /// Where to go on, unless it is done.
    pub next: Option<Progress>,
}

/// Does the next step of a delivery: one pipelined write. May run twice.
pub async fn deliver(conn: &mut Connection, kv: &Kv, delivery: Delivery<'_>, clock: &Clock) -> Result<Delivered> {
    let (to, next) = match delivery.progress {
        Progress::Start => begin(conn, delivery, clock.now()).await?,
        Progress::HeadStart { tier, read_at, left, is_pulled } => {
            let since = clock.now() - if tier == Tier::Latest { LATEST } else { TODAY };
            let limit = left.min(delivery.chunk);
            let of = (delivery.message.author_id, delivery.channel);
            let ask = LateReaders { author_id: of.0, channel: of.1.to_owned(), since, before: read_at, limit };
            let readers: Vec<(i64, DateTime<Utc>)> = ask.load(conn).await?;
            let left = left - readers.len() as i64;
            let next = match readers.last() {
                Some(&(_, read_at)) if left > 0 && readers.len() as i64 == limit => {
                    Some(Progress::HeadStart { tier, read_at, left, is_pulled })
                }
                _ if is_pulled => None,
                _ if left > 0 && tier == Tier::Latest => {
                    Some(Progress::HeadStart { tier: Tier::Today, read_at: since, left, is_pulled })
                }
                _ => Some(Progress::All { after: 0 }),
            };
            (readers.into_iter().map(|(id, _)| id).collect(), next)
        }
        Progress::All { after } => all(conn, delivery, after).await?,
    };
    let trimmed = push(kv, delivery, &to).await?;
    if next.is_none() {
        // Only now, with every write answered for, may the row begin to age: by the clock of now, for a step can
        // take as long as the lease of its job.
        let delivered_at = in_flight::delivered_at.eq(clock.now());
        diesel::update(in_flight::table.find(delivery.message.id)).set(delivered_at).execute(conn).await?;
    }
    Ok(Delivered { inboxes: to.len(), trimmed, next })
}

statement! {
    /// How the messages of an author go out, and to how many hot followers: counted up to a bound.
    struct Reach { author_id_hot: i64, bound: i64, author_id: i64, channel: String } -> (Bool, BigInt, BigInt)
    "SELECT is_pulled, last_pulled_id, (SELECT count(*) FROM (SELECT FROM follows WHERE is_hot AND followee_id = " (author_id_hot: BigInt)
    " LIMIT " (bound: BigInt)
    ") AS hot) FROM author_channels WHERE author_id = " (author_id: BigInt)
    " AND channel = " (channel: Text)
}

/// Decides how this message goes out, and how the next ones of its author do.
async fn begin(
    conn: &mut Connection,
    delivery: Delivery<'_>,
    now: DateTime<Utc>,
) -> Result<(Vec<i64>, Option<Progress>)> {
    let (author_id, channel) = (delivery.message.author_id, delivery.channel);
    let ask = Reach { author_id_hot: author_id, bound: delivery.pull_from, author_id, channel: channel.to_owned() };
    let (was_pulled, last_pulled_id, hot): (bool, i64, i64) = ask.get_result(conn).await?;
    // For the next messages only: the mode of this one was settled in the transaction that published it.
    let is_pulled = if was_pulled { hot * 2 >= delivery.pull_from } else { hot >= delivery.pull_from };
    if is_pulled != was_pulled {
        let mode = author_channels::is_pulled.eq(is_pulled);
        diesel::update(author_channels::table.find((author_id, channel))).set(mode).execute(conn).await?;
    }
    let (is_pulled, left) = (delivery.message.id <= last_pulled_id, hot / HEAD_START);
    if !is_pulled && (left == 0 || hot <= STEPS * delivery.chunk) {
        return all(conn, delivery, 0).await;
    }
    let to = author(conn, delivery).await?.into_iter().collect();
    // Whoever read a moment ago, by a clock that is ahead, is late enough too.
    let read_at = now + TimeDelta::minutes(1);
    Ok((to, Some(Progress::HeadStart { tier: Tier::Latest, read_at, left: left.max(1), is_pulled })))
}

statement! {
    /// The followers of an author who read the feed of a channel lately, the latest first.
    struct LateReaders { author_id: i64, channel: String, since: DateTime<Utc>, before: DateTime<Utc>, limit: i64 }
        -> (BigInt, Timestamptz)
    "SELECT activity.user_id, activity.read_at FROM activity
     JOIN follows ON follows.followee_id = " (author_id: BigInt)
    " AND follows.follower_id = activity.user_id
     WHERE activity.is_hot AND activity.channel = " (channel: Text)
    " AND activity.read_at >= " (since: Timestamptz)
    " AND activity.read_at < " (before: Timestamptz)
    " ORDER BY activity.read_at DESC LIMIT " (limit: BigInt)
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

/// The author, at first, and the next of all hot followers.
async fn all(conn: &mut Connection, delivery: Delivery<'_>, after: i64) -> Result<(Vec<i64>, Option<Progress>)> {
    let author_id = delivery.message.author_id;
    // One more than a step writes to tells whether there is another step.
    let ask = HotFollowers { channel: delivery.channel.to_owned(), author_id, after, limit: delivery.chunk + 1 };
    let mut to: Vec<i64> = ask.load(conn).await?.into_iter().map(|(id,): (i64,)| id).collect();
    let is_more = to.len() as i64 > delivery.chunk;
    to.truncate(delivery.chunk as usize);
    let next = to.last().filter(|_| is_more).map(|after| Progress::All { after: *after });
    if after == 0 {
        to.extend(author(conn, delivery).await?);
    }
    Ok((to, next))
}

/// The author, if they read their own feed.
async fn author(conn: &mut Connection, delivery: Delivery<'_>) -> Result<Option<i64>> {
    let author_id = delivery.message.author_id;
    Ok(is_hot(conn, author_id, delivery.channel).await?.then_some(author_id))
}

/// Writes to inboxes. Answers how many of them were cut.
async fn push(kv: &Kv, delivery: Delivery<'_>, to: &[i64]) -> Result<usize> {
    let Delivery { message, channel, oldest, .. } = delivery;
    if to.is_empty() {
        return Ok(0);
    }
    let (mut trimmed, mut void) = (0, redis::pipe());
    let inboxes: Vec<String> = to.iter().map(|user_id| keys::inbox(*user_id, channel)).collect();
    let (member, score) = (member(message), score(message));
    let mut writes = redis::pipe();
    for inbox in &inboxes {
        writes.zadd(inbox, &member, score).zcard(inbox);
    }
    let answers: Vec<RedisResult<usize>> = writes.ignore_errors().query_async(&mut kv.shared()).await?;
    for (inbox, answer) in inboxes.iter().zip(answers.chunks(2)) {
        match size(answer)? {
            // Nothing but what was just written: no inbox was there, and this must not look like one.
            Some(1) => void.unlink(inbox).ignore(),
            Some(TRIM_AT..) => {
                let left = trim(kv, inbox, oldest).await?;
                tracing::debug!(left, "inbox trimmed");
                trimmed += 1;
                continue;
            }
            Some(_) => continue,
            None => {
                tracing::warn!(inbox, "this is no inbox: it is dropped");
                void.unlink(inbox).ignore()
            }
        };
    }
    if !void.is_empty() {
        void.exec_async(&mut kv.shared()).await?;
    }
    Ok(trimmed)
}

/// How large an inbox is, from the answers to the write and the count. `None` if something else has its name: nobody
/// else's delivery may suffer for that.
fn size(answers: &[RedisResult<usize>]) -> RedisResult<Option<usize>> {
    match answers.iter().find_map(|answer| answer.as_ref().err()) {
        Some(error) if error.code() == Some("WRONGTYPE") => Ok(None),
        Some(error) => Err(error.clone()),
        None => Ok(answers.last().and_then(|size| size.as_ref().ok()).copied()),
    }
}

async fn trim(kv: &Kv, inbox: &str, oldest: DateTime<Utc>) -> Result<usize> {
    let mut trim = scripts::TRIM.key(inbox);
    Ok(trim.arg(WINDOW).arg(oldest.timestamp_millis()).invoke_async(&mut *kv.owned().await?).await?)
}
