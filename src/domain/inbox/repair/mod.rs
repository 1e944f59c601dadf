//! Builds what was lost or voided, and clears what is no longer in flight. May run anywhere, any number
//! of times.

pub mod flights;
pub mod hot;
pub mod rebuild;
pub mod strays;

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel_async::{AsyncConnection, RunQueryDsl};
use uuid::Uuid;

use crate::db::Connection;
use crate::db::schema::{in_flight, inbox_epoch};
use crate::domain::inbox::model::{Reader, Validity, WINDOW, member, score};
use crate::domain::inbox::scripts;
use crate::domain::messages::model::Reference;
use crate::error::{Error, Result};
use crate::kv::{self, Kv, Owned, keys};
use crate::statement;

/// How much longer than a request's life a row stays in flight: for clocks that differ.
const MARGIN: TimeDelta = TimeDelta::seconds(5);

/// Clears at most `limit` rows of what was delivered longer ago than any request that runs now can be old. Answers how
/// many.
///
/// A reader that looked into an inbox just before a delivery finds the message in flight instead; so the
/// row must outlive that reader.
pub async fn sweep(conn: &mut Connection, now: DateTime<Utc>, request_timeout: Duration, limit: i64) -> Result<usize> {
    let before = now - TimeDelta::from_std(request_timeout).unwrap_or(TimeDelta::MAX) - MARGIN;
    let landed = in_flight::table.filter(in_flight::delivered_at.lt(before)).limit(limit);
    let ids: Vec<i64> = landed.select(in_flight::message_id).load(conn).await?;
    // Delivered again meanwhile, it has to age anew.
    let still = in_flight::message_id.eq_any(&ids).and(in_flight::delivered_at.lt(before));
    diesel::delete(in_flight::table.filter(still)).execute(conn).await?;
    Ok(ids.len())
}

/// Notices a Redis that went back in time, and voids every inbox then. To be called before each [`sweep`]: a row
/// that is swept was delivered before the heartbeat of then, so a Redis that lost the delivery lost that too.
///
/// A Redis that fell behind is noticed by its heartbeat, which readers compare as well. One that restarted and
/// still has its last heartbeat may lack what came after it, which is still in flight: its run id is another.
///
/// A Postgres that went back in time, restored from a backup, is noticed too: Redis is more than one tick ahead of it.
/// Its generations would come a second time and make inboxes of the lost future valid, but for [`void_all`].
///
/// Errors: [`Error::Unavailable`] when Redis is away; then nothing may be swept.
pub async fn beat(conn: &mut Connection, kv: &Kv, now: DateTime<Utc>) -> Result<()> {
    // A restarted Redis breaks the connection, so both answers on it are of the same one.
    let mut redis = kv.owned().await?;
    let run_id = run_id(&mut redis).await?;
    let behind = conn.transaction(async |conn| {
        let known = inbox_epoch::table.select((inbox_epoch::run_id, inbox_epoch::heartbeat));
        let (known_run_id, last): (String, i64) = known.for_no_key_update().first(conn).await?;
        let is_same = known_run_id.is_empty() || known_run_id == run_id;
        let next = last + 1;
        let mut beat = scripts::BEAT.key(keys::HEARTBEAT);
        let is_sound = is_same && beat.arg(last).arg(next).invoke_async::<i64>(&mut *redis).await? == 1;
        if !is_sound {
            void_all(conn, now).await?;
        }
        diesel::update(inbox_epoch::table)
            .set((inbox_epoch::run_id.eq(&run_id), inbox_epoch::heartbeat.eq(next)))
            .execute(conn)
            .await?;
        Ok::<_, Error>((!is_sound).then_some(next))
    });
    if let Some(next) = behind.await? {
        tracing::warn!("Redis or Postgres lost what it knew: every inbox is built anew");
        // Only behind the commit: until then this is what keeps readers from its inboxes.
        redis::AsyncCommands::set::<_, _, ()>(&mut *redis, keys::HEARTBEAT, next).await?;
    }
    Ok(())
}

/// Voids every inbox: from the commit on they are built anew as they are read. The epoch is the time of that, in
/// milliseconds since the Unix epoch, so that none ever comes again, whatever a database is restored to.
pub async fn void_all(conn: &mut Connection, now: DateTime<Utc>) -> Result<()> {
    sql_query("UPDATE inbox_epoch SET epoch = greatest(epoch + 1, $1)")
        .bind::<BigInt, _>(now.timestamp_millis())
        .execute(conn)
        .await?;
    Ok(())
}

/// What names a process of Redis among all that ever ran.
async fn run_id(redis: &mut Owned) -> Result<String> {
    let told: String = redis::cmd("INFO").arg("server").query_async(&mut **redis).await?;
    let named = kv::server::field(&told, "run_id");
    named.map(str::to_owned).ok_or_else(|| Error::Internal("Redis does not tell its run id".into()))
}

statement! {
    /// One snapshot of a feed: what makes an inbox valid, and its newest references, deleted ones too, for
    /// they may be restored. A row at least, if the feed is hot.
    struct Snapshot {
        viewer_id: i64, viewer_id_self: i64, channel: String, window: i64, channel_again: String, window_again: i64,
        window_still: i64, viewer_id_hot: i64, channel_hot: String,
    } -> (BigInt, BigInt, Nullable<BigInt>, Nullable<BigInt>)
    "SELECT activity.generation, inbox_epoch.epoch, newest.id, newest.author_id
     FROM activity CROSS JOIN inbox_epoch LEFT JOIN LATERAL (
        SELECT message.id, message.author_id
        FROM (SELECT head.author_id AS id
            FROM (SELECT followee_id AS id FROM follows WHERE follower_id = " (viewer_id: BigInt)
    " UNION ALL SELECT " (viewer_id_self: BigInt)
    ") AS reason JOIN author_channels AS head ON head.author_id = reason.id AND head.channel = " (channel: Text)
    " ORDER BY head.newest_id DESC LIMIT " (window: BigInt)
    ") AS author CROSS JOIN LATERAL (
            SELECT id, author_id FROM messages WHERE author_id = author.id AND channel = " (channel_again: Text)
    " ORDER BY id DESC LIMIT " (window_again: BigInt)
    ") AS message ORDER BY message.id DESC LIMIT " (window_still: BigInt)
    ") AS newest ON true WHERE activity.is_hot AND activity.user_id = " (viewer_id_hot: BigInt)
    " AND activity.channel = " (channel_hot: Text)
    " ORDER BY newest.id DESC"
}

/// Builds the inbox of a reader, with what is not older than `oldest`. Answers false if somebody else began or dropped it
/// meanwhile; then nothing was claimed and it is worth another try.
///
/// The start marker comes first, so that whatever is delivered after the snapshot lands behind it; the
/// snapshot tells the generation and the references of one moment.
pub async fn build(conn: &mut Connection, kv: &Kv, of: Reader<'_>, oldest: DateTime<Utc>) -> Result<bool> {
    let Reader { user_id, channel } = of;
    let inbox = keys::inbox(user_id, channel);
    let start = format!("~{}", Uuid::new_v4().simple());
    let mut redis = kv.owned().await?;
    redis::pipe()
        .atomic()
        .unlink(&inbox)
        .ignore()
        .zadd(&inbox, &start, "+inf")
        .ignore()
        .query_async::<()>(&mut *redis)
        .await?;
    let Some((validity, mut references)) = snapshot(conn, user_id, channel).await? else {
        redis::AsyncCommands::unlink::<_, ()>(&mut *redis, &inbox).await?;
        return Ok(true);
    };
    // One reference more than fits, or one too old, tells that there is something below, and where the horizon lies.
    let oldest_ms = oldest.timestamp_millis();
    let is_old = references.last().is_some_and(|last| score(*last) < oldest_ms);
    let full_ms = references.get(WINDOW).map_or(0, |cut| score(*cut) + 1);
    let horizon_ms = if is_old { full_ms.max(oldest_ms) } else { full_ms };
    references.retain(|reference| score(*reference) >= horizon_ms);
    let mut finish = scripts::FINISH.key(&inbox);
    finish.arg(&start).arg(validity.marker_prefix()).arg(horizon_ms).arg(WINDOW);
    for reference in references {
        finish.arg(score(reference)).arg(member(reference));
    }
    Ok(finish.invoke_async::<i64>(&mut *redis).await? == 1)
}

async fn snapshot(conn: &mut Connection, user_id: i64, channel: &str) -> Result<Option<(Validity, Vec<Reference>)>> {
    let window = WINDOW as i64 + 1;
    let ask = Snapshot {
        viewer_id: user_id,
        viewer_id_self: user_id,
        channel: channel.to_owned(),
        window,
        channel_again: channel.to_owned(),
        window_again: window,
        window_still: window,
        viewer_id_hot: user_id,
        channel_hot: channel.to_owned(),
    };
    let rows: Vec<(i64, i64, Option<i64>, Option<i64>)> = ask.load(conn).await?;
    let Some(&(generation, epoch, ..)) = rows.as_slice().first() else {
        return Ok(None);
    };
    let references =
        rows.iter().filter_map(|&(_, _, id, author_id)| Some(Reference { id: id?, author_id: author_id? }));
    Ok(Some((Validity { generation, epoch }, references.collect())))
}
