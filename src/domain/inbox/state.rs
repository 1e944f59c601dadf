//! What Postgres says of a feed when its first page is read, in one small statement. Never Redis.

use chrono::{DateTime, Utc};
use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text, Timestamptz};
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::domain::inbox::model::{IN_FLIGHT_BOUND, Reader, Validity};
use crate::domain::messages::model::Reference;
use crate::error::{Error, Result};
use crate::page::{Request, Side};
use crate::statement;

/// References from a position on, in one direction, of the authors who are pulled.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    /// The position, exclusive.
    pub from: i64,
    /// How many were asked for; fewer only if there are no more.
    pub limit: usize,
    /// The references, in the direction of the look.
    pub references: Vec<Reference>,
}

impl Slice {
    /// What this look says of another one in the same direction, if it is enough.
    pub fn answer(&self, from: i64, limit: usize) -> Option<Vec<Reference>> {
        (self.from == from && limit <= self.limit).then(|| self.references.iter().take(limit).copied().collect())
    }
}

/// What a page looks for first: so much below one position, so much above another.
#[derive(Clone, Copy, Debug)]
pub struct Looks {
    older: (i64, usize),
    newer: (i64, usize),
}

impl From<Request> for Looks {
    /// The page itself with one more for the flag ahead, and one for the flag behind.
    fn from(request: Request) -> Self {
        const NOTHING_OLDER: (i64, usize) = (i64::MIN, 0);
        const NOTHING_NEWER: (i64, usize) = (i64::MAX, 0);
        let size = request.size + 1;
        match request.side {
            Side::First => Self {
                older: (request.below.unwrap_or(i64::MAX), size),
                newer: request.below.map_or(NOTHING_NEWER, |below| (below.saturating_sub(1), 1)),
            },
            Side::Last => Self {
                older: request.above.map_or(NOTHING_OLDER, |above| (above.saturating_add(1), 1)),
                newer: (request.above.unwrap_or(i64::MIN), size),
            },
        }
    }
}

/// What Postgres says of a feed.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// What its inbox must be to count, if the feed is hot.
    pub validity: Option<Validity>,
    /// When it was last read, roughly, if it is hot.
    pub read_at: Option<DateTime<Utc>>,
    /// What Redis has to show at least.
    pub heartbeat: i64,
    /// Whether an author of this feed was ever pulled.
    pub has_pulled: bool,
    /// The newest messages whose delivery is not known to be complete; one more than the bound when there are too many.
    pub in_flight: Vec<Reference>,
    /// What pulled authors have below the position.
    pub older: Slice,
    /// What pulled authors have above the position.
    pub newer: Slice,
}

const IN_FLIGHT: i32 = 0;
const OLDER: i32 = 1;
const NEWER: i32 = 2;

statement! {
    /// The state of a feed: a row at least, and one for each reference.
    struct FeedState {
        viewer_id: i64, viewer_id_self: i64, channel: String, viewer_id_again: i64, channel_again: String,
        channel_flying: String, bound: i64, floor: i64, channel_older: String, below: i64, floor_older: i64,
        older: i64, older_again: i64, floor_again: i64, above_head: i64, channel_newer: String, above: i64,
        newer: i64, newer_again: i64,
    } -> (
        Nullable<BigInt>, BigInt, BigInt, Nullable<Timestamptz>, Bool, Nullable<Integer>, Nullable<BigInt>,
        Nullable<BigInt>,
    )
    "WITH reason AS MATERIALIZED (
        SELECT followee_id AS id FROM follows WHERE follower_id = " (viewer_id: BigInt)
    " UNION ALL SELECT " (viewer_id_self: BigInt)
    "), pulled AS MATERIALIZED (
        SELECT head.author_id AS id, head.newest_id, head.last_pulled_id
        FROM author_channels AS head JOIN reason ON reason.id = head.author_id
        WHERE head.last_pulled_id > 0 AND head.channel = " (channel: Text)
    ") SELECT activity.generation, inbox_epoch.epoch, inbox_epoch.heartbeat, activity.read_at,
        EXISTS (SELECT FROM pulled), found.part, found.id, found.author_id
     FROM inbox_epoch
     LEFT JOIN activity ON activity.is_hot AND activity.user_id = " (viewer_id_again: BigInt)
    " AND activity.channel = " (channel_again: Text)
    " LEFT JOIN LATERAL (
        (SELECT 0 AS part, message_id AS id, author_id FROM in_flight JOIN reason ON reason.id = in_flight.author_id
         WHERE in_flight.channel = " (channel_flying: Text)
    " ORDER BY message_id DESC LIMIT " (bound: BigInt)
    ") UNION ALL
        (SELECT 1, message.id, message.author_id FROM pulled CROSS JOIN LATERAL (
            SELECT id, author_id FROM messages
            WHERE author_id = pulled.id AND pulled.last_pulled_id >= " (floor: BigInt)
    " AND channel = " (channel_older: Text)
    " AND id < " (below: BigInt)
    " AND id >= " (floor_older: BigInt)
    " ORDER BY id DESC LIMIT " (older: BigInt)
    ") AS message ORDER BY message.id DESC LIMIT " (older_again: BigInt)
    ") UNION ALL
        (SELECT 2, message.id, message.author_id FROM pulled CROSS JOIN LATERAL (
            SELECT id, author_id FROM messages
            WHERE author_id = pulled.id AND pulled.last_pulled_id >= " (floor_again: BigInt)
    " AND pulled.newest_id > " (above_head: BigInt)
    " AND channel = " (channel_newer: Text)
    " AND id > " (above: BigInt)
    " ORDER BY id ASC LIMIT " (newer: BigInt)
    ") AS message ORDER BY message.id ASC LIMIT " (newer_again: BigInt)
    ")) AS found ON true"
}

type Row = (Option<i64>, i64, i64, Option<DateTime<Utc>>, bool, Option<i32>, Option<i64>, Option<i64>);

/// Asks for the state of a feed and for what `looks` looks for, of pulled authors, not below `floor`.
pub async fn state(conn: &mut Connection, of: Reader<'_>, looks: Looks, floor: i64) -> Result<State> {
    let (channel, (below, older), (above, newer)) = (of.channel, looks.older, looks.newer);
    let ask = FeedState {
        viewer_id: of.user_id,
        viewer_id_self: of.user_id,
        channel: channel.to_owned(),
        viewer_id_again: of.user_id,
        channel_again: channel.to_owned(),
        channel_flying: channel.to_owned(),
        bound: IN_FLIGHT_BOUND as i64 + 1,
        floor,
        channel_older: channel.to_owned(),
        below,
        floor_older: floor,
        older: older as i64,
        older_again: older as i64,
        floor_again: floor,
        above_head: above,
        channel_newer: channel.to_owned(),
        above,
        newer: newer as i64,
        newer_again: newer as i64,
    };
    let rows: Vec<Row> = ask.load(conn).await?;
    let &(generation, epoch, heartbeat, read_at, has_pulled, ..) =
        rows.as_slice().first().ok_or_else(|| Error::Internal("the inbox epoch is missing".into()))?;
    let part = |wanted: i32| {
        let mut found: Vec<Reference> = rows
            .iter()
            .filter(|row| row.5 == Some(wanted))
            .filter_map(|row| Some(Reference { id: row.6?, author_id: row.7? }))
            .collect();
        found.sort_unstable();
        found
    };
    let newest_first = |mut found: Vec<Reference>| {
        found.reverse();
        found
    };
    Ok(State {
        validity: generation.map(|generation| Validity { generation, epoch }),
        read_at,
        heartbeat,
        has_pulled,
        in_flight: newest_first(part(IN_FLIGHT)),
        older: Slice { from: below, limit: older, references: newest_first(part(OLDER)) },
        newer: Slice { from: above, limit: newer, references: part(NEWER) },
    })
}

statement! {
    /// How many messages are in flight, up to 100000, the oldest that is not delivered, and the epoch.
    struct Flight {} -> (BigInt, Nullable<BigInt>, BigInt)
    "SELECT (SELECT count(*) FROM (SELECT FROM in_flight LIMIT 100000) AS counted),
        (SELECT message_id FROM in_flight WHERE delivered_at IS NULL ORDER BY message_id LIMIT 1), epoch
     FROM inbox_epoch"
}

/// How many messages are in flight, counted up to 100000, the id of the oldest that is not delivered, and the epoch of all
/// inboxes.
pub async fn flight(conn: &mut Connection) -> Result<(i64, Option<i64>, i64)> {
    Ok(Flight {}.get_result(conn).await?)
}
