//! Looks through the inboxes that Redis holds for those that are none, and for those that claim what they do not
//! hold, and drops them. Dropping is always safe: an inbox may be lost at any time. May run anywhere, any number of
//! times, also while people read and workers deliver.

use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text};
use diesel_async::RunQueryDsl;
use redis::RedisResult;

use crate::config::Channels;
use crate::db::Connection;
use crate::domain::drift::{Drift, Slice};
use crate::domain::events::Event;
use crate::domain::inbox::model::{LONGEST, Validity, Window, horizon_ms, is_in_step};
use crate::domain::messages::model::Reference;
use crate::error::Result;
use crate::ids;
use crate::kv::{Kv, keys};
use crate::statement;

/// Left over from how feeds are used: follows, changed channels, a raised epoch. Costs memory only.
pub const STRAY: &str = "stray_inboxes";

/// A message that should have been delivered is not there: readers miss it.
pub const LACKING: &str = "lacking_inboxes";

/// What is off in the next part of the keys, from the cursor `at` on. Changes nothing.
///
/// No key is looked at together with another.
pub async fn look(conn: &mut Connection, kv: &Kv, channels: &Channels, at: i64) -> Result<Slice> {
    let (next, keys) = kv.scan(at.cast_unsigned(), keys::INBOXES).await?;
    let suspects = examine(conn, kv, channels, keys).await?;
    // Redis and Postgres are not asked in one moment: what was only on its way from one state to the next is not off
    // a second time.
    let keys = suspects.into_iter().map(|drift| drift.what).collect();
    Ok(Slice { drifts: examine(conn, kv, channels, keys).await?, next: next.cast_signed() })
}

/// Drops the inboxes in `found`. Their feeds are answered by Postgres, and built again when they are read.
pub async fn drop_all(kv: &Kv, found: &[Drift]) -> Result<()> {
    let mut drops = redis::pipe();
    for drift in found {
        drops.unlink(&drift.what).ignore();
    }
    Ok(drops.query_async(&mut kv.shared()).await?)
}

/// What Redis has under a key.
struct Kept {
    key: String,
    user_id: i64,
    channel: String,
    kind: String,
    encoding: Option<String>,
    members: Vec<String>,
}

/// What Postgres says of it.
#[derive(Default)]
struct Known {
    validity: Option<Validity>,
    is_being_built: bool,
    /// Whether readers would trust this Redis.
    is_in_step: bool,
    expected: Vec<Reference>,
}

async fn examine(conn: &mut Connection, kv: &Kv, channels: &Channels, keys: Vec<String>) -> Result<Vec<Drift>> {
    let (mut drifts, mut named) = (Vec::new(), Vec::new());
    for key in keys {
        match keys::inbox_of(&key) {
            Some((user_id, channel)) if channels.contains(channel) => named.push((user_id, channel.to_owned(), key)),
            Some((user_id, _)) => drifts.push(off(user_id, key, "of no channel".into())),
            None => drifts.push(off(0, key, "of nobody".into())),
        }
    }
    if named.is_empty() {
        return Ok(drifts);
    }
    let (heartbeat, kept) = kept(kv, named).await?;
    // Only now: what was delivered before is in Redis, what is delivered later is in flight.
    let known = known(conn, heartbeat, &kept).await?;
    for (kept, known) in kept.into_iter().zip(known) {
        drifts.extend(verdict(kept, &known));
    }
    Ok(drifts)
}

fn off(id: i64, key: String, found: String) -> Drift {
    Drift { kind: STRAY.into(), id, what: key, found, expected: "gone".into() }
}

fn verdict(kept: Kept, known: &Known) -> Option<Drift> {
    let Kept { key, user_id, kind, encoding, members, .. } = kept;
    let stray = |found: String| Some(off(user_id, key.clone(), found));
    if kind == "none" {
        return None;
    }
    if kind != "zset" {
        return stray(format!("a {kind}"));
    }
    if members.len() > LONGEST {
        return stray(format!("of more than {LONGEST} members"));
    }
    if let Some(encoding) = encoding.filter(|encoding| encoding != "listpack") {
        return stray(format!("a {encoding}, which takes much more memory"));
    }
    let Some(validity) = known.validity else {
        return stray("of a feed that is not read".into());
    };
    let Some(window) = Window::parse(&members, validity) else {
        let is_begun = members.last().is_some_and(|last| last.starts_with('~'));
        return match is_begun {
            true if known.is_being_built => None,
            true => stray("begun, and nobody builds it".into()),
            false => stray("void".into()),
        };
    };
    let is_missing = |reference: &&Reference| !window.references.contains(reference);
    let missing: Vec<i64> = known.expected.iter().filter(is_missing).map(|reference| reference.id).collect();
    let first = missing.as_slice().first().filter(|_| known.is_in_step)?;
    Some(Drift {
        kind: LACKING.into(),
        id: user_id,
        what: key,
        found: format!("without {} messages, such as {first}", missing.len()),
        expected: "all from its horizon on".into(),
    })
}

/// What Redis has under these keys, and its heartbeat of before.
async fn kept(kv: &Kv, named: Vec<(i64, String, String)>) -> Result<(i64, Vec<Kept>)> {
    let (mut shapes, mut contents) = (redis::pipe(), redis::pipe());
    shapes.get(keys::HEARTBEAT);
    for (_, _, key) in &named {
        shapes.cmd("TYPE").arg(key).cmd("OBJECT").arg("ENCODING").arg(key);
        contents.zrange(key, 0, LONGEST as isize);
    }
    let redis = &mut kv.shared();
    let shapes: Vec<RedisResult<Option<String>>> = shapes.ignore_errors().query_async(redis).await?;
    let contents: Vec<RedisResult<Vec<String>>> = contents.ignore_errors().query_async(redis).await?;
    let mut shapes = shapes.into_iter().map(|shape| shape.ok().flatten());
    let heartbeat = shapes.next().flatten().and_then(|beat| beat.parse().ok()).unwrap_or(0);
    let kept = named.into_iter().zip(contents).map(|((user_id, channel, key), members)| Kept {
        key,
        user_id,
        channel,
        kind: shapes.next().flatten().unwrap_or_else(|| "none".into()),
        encoding: shapes.next().flatten(),
        members: members.unwrap_or_default(),
    });
    Ok((heartbeat, kept.collect()))
}

statement! {
    /// What makes these inboxes valid, whether they are being built, and what they must hold: the newest messages from
    /// the horizon on that are neither in flight nor pulled. A row at least for each, in their order.
    struct Ask { user_ids: Vec<i64>, channels: Vec<String>, builds: Vec<Option<String>>, horizons: Vec<i64>, limit: i64, limit_again: i64, limit_still: i64 }
        -> (BigInt, Nullable<BigInt>, BigInt, BigInt, Bool, Nullable<BigInt>, Nullable<BigInt>)
    "SELECT asked.n, activity.generation, inbox_epoch.epoch, inbox_epoch.heartbeat,
        EXISTS (SELECT FROM jobs WHERE buried_at IS NULL AND dedupe_key = asked.build), expected.id, expected.author_id
     FROM unnest(" (user_ids: Array<BigInt>)
    ", " (channels: Array<Text>)
    ", " (builds: Array<Nullable<Text>>)
    ", " (horizons: Array<BigInt>)
    ") WITH ORDINALITY AS asked (user_id, channel, build, horizon, n) CROSS JOIN inbox_epoch
     LEFT JOIN activity ON activity.is_hot AND activity.user_id = asked.user_id AND activity.channel = asked.channel
     LEFT JOIN LATERAL (
        SELECT message.id, message.author_id
        FROM (
            SELECT head.author_id AS id, greatest(asked.horizon, head.last_pulled_id + 1) AS horizon
            FROM (SELECT followee_id AS id FROM follows WHERE follower_id = asked.user_id
                UNION ALL SELECT asked.user_id) AS reason
            JOIN author_channels AS head ON head.author_id = reason.id AND head.channel = asked.channel
            WHERE head.newest_id >= greatest(asked.horizon, head.last_pulled_id + 1)
            ORDER BY head.newest_id DESC LIMIT " (limit: BigInt)
    ") AS author CROSS JOIN LATERAL (
            SELECT id, author_id FROM messages
            WHERE author_id = author.id AND channel = asked.channel AND id >= author.horizon
            AND NOT EXISTS (SELECT FROM in_flight WHERE message_id = id)
            ORDER BY id DESC LIMIT " (limit_again: BigInt)
    ") AS message ORDER BY message.id DESC LIMIT " (limit_still: BigInt)
    ") AS expected ON true ORDER BY asked.n"
}

type Row = (i64, Option<i64>, i64, i64, bool, Option<i64>, Option<i64>);

async fn known(conn: &mut Connection, heartbeat: i64, kept: &[Kept]) -> Result<Vec<Known>> {
    let limit = LONGEST as i64;
    // What has no finished marker claims nothing.
    let horizon = |kept: &Kept| horizon_ms(&kept.members).map_or(i64::MAX, ids::floor_of_ms);
    let build = |kept: &Kept| Event::InboxMissed { user_id: kept.user_id, channel: kept.channel.clone() }.dedupe_key();
    let ask = Ask {
        user_ids: kept.iter().map(|kept| kept.user_id).collect(),
        channels: kept.iter().map(|kept| kept.channel.clone()).collect(),
        builds: kept.iter().map(build).collect(),
        horizons: kept.iter().map(horizon).collect(),
        limit,
        limit_again: limit,
        limit_still: limit,
    };
    let rows: Vec<Row> = ask.load(conn).await?;
    let mut known: Vec<Known> = kept.iter().map(|_| Known::default()).collect();
    for (n, generation, epoch, beaten, is_being_built, id, author_id) in rows {
        let Some(known) = usize::try_from(n - 1).ok().and_then(|n| known.get_mut(n)) else { continue };
        known.validity = generation.map(|generation| Validity { generation, epoch });
        known.is_being_built = is_being_built;
        known.is_in_step = is_in_step(heartbeat, beaten);
        known.expected.extend(id.zip(author_id).map(|(id, author_id)| Reference { id, author_id }));
    }
    Ok(known)
}
