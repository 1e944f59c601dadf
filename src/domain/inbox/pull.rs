//! Feeds out of Postgres alone: what is below the horizon of an inbox, or has none. Never Redis.

use diesel::sql_types::{BigInt, Bool, Text};
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::domain::inbox::model::{Circle, Reader};
use crate::domain::messages::model::Reference;
use crate::error::Result;
use crate::statement;

statement! {
    /// The newest references of a feed below a position. Of the authors who have nothing newer than that, only as
    /// many as there are references wanted can contribute: those with the newest messages.
    struct Older {
        viewer_id: i64, is_close: bool, viewer_id_again: i64, is_everybody: bool, channel: String, below: i64, below_again: i64, limit: i64,
        channel_again: String, below_still: i64, limit_again: i64, limit_still: i64,
    } -> (BigInt, BigInt)
    "WITH author AS MATERIALIZED (
        SELECT head.author_id AS id, head.newest_id
        FROM (SELECT followee_id AS id FROM follows WHERE follower_id = " (viewer_id: BigInt)
    " AND (is_close OR NOT " (is_close: Bool)
    ") UNION ALL SELECT " (viewer_id_again: BigInt)
    " WHERE " (is_everybody: Bool)
    ") AS reason JOIN author_channels AS head ON head.author_id = reason.id AND head.channel = " (channel: Text)
    ") SELECT message.id, message.author_id
     FROM (SELECT id FROM author WHERE newest_id >= " (below: BigInt)
    " UNION ALL (SELECT id FROM author WHERE newest_id < " (below_again: BigInt)
    " ORDER BY newest_id DESC LIMIT " (limit: BigInt)
    ")) AS contributor CROSS JOIN LATERAL (
        SELECT id, author_id FROM messages WHERE author_id = contributor.id AND channel = " (channel_again: Text)
    " AND id < " (below_still: BigInt)
    " ORDER BY id DESC LIMIT " (limit_again: BigInt)
    ") AS message ORDER BY message.id DESC LIMIT " (limit_still: BigInt)
}

/// At most `limit` references below `below`, newest first; fewer only if there are no more.
pub async fn older(
    conn: &mut Connection,
    of: Reader<'_>,
    circle: Circle,
    below: i64,
    limit: usize,
) -> Result<Vec<Reference>> {
    let limit = limit as i64;
    let ask = Older {
        viewer_id: of.user_id,
        is_close: circle == Circle::Close,
        viewer_id_again: of.user_id,
        is_everybody: circle == Circle::Everybody,
        channel: of.channel.to_owned(),
        below,
        below_again: below,
        limit,
        channel_again: of.channel.to_owned(),
        below_still: below,
        limit_again: limit,
        limit_still: limit,
    };
    Ok(references(ask.load(conn).await?))
}

statement! {
    /// The oldest references of a feed above a position. Only who has anything newer can contribute.
    struct Newer {
        viewer_id: i64, is_close: bool, viewer_id_again: i64, is_everybody: bool, channel: String, above: i64, channel_again: String, above_again: i64,
        limit: i64, limit_again: i64,
    } -> (BigInt, BigInt)
    "SELECT message.id, message.author_id
     FROM (SELECT followee_id AS id FROM follows WHERE follower_id = " (viewer_id: BigInt)
    " AND (is_close OR NOT " (is_close: Bool)
    ") UNION ALL SELECT " (viewer_id_again: BigInt)
    " WHERE " (is_everybody: Bool)
    ") AS reason JOIN author_channels AS head ON head.author_id = reason.id AND head.channel = " (channel: Text)
    " AND head.newest_id > " (above: BigInt)
    " CROSS JOIN LATERAL (
        SELECT id, author_id FROM messages WHERE author_id = reason.id AND channel = " (channel_again: Text)
    " AND id > " (above_again: BigInt)
    " ORDER BY id ASC LIMIT " (limit: BigInt)
    ") AS message ORDER BY message.id ASC LIMIT " (limit_again: BigInt)
}

/// At most `limit` references above `above`, oldest first; fewer only if there are no more.
pub async fn newer(
    conn: &mut Connection,
    of: Reader<'_>,
    circle: Circle,
    above: i64,
    limit: usize,
) -> Result<Vec<Reference>> {
    let limit = limit as i64;
    let ask = Newer {
        viewer_id: of.user_id,
        is_close: circle == Circle::Close,
        viewer_id_again: of.user_id,
        is_everybody: circle == Circle::Everybody,
        channel: of.channel.to_owned(),
        above,
        channel_again: of.channel.to_owned(),
        above_again: above,
        limit,
        limit_again: limit,
    };
    Ok(references(ask.load(conn).await?))
}

statement! {
    /// The newest references below a position, and not below a floor, of those whose messages are merged by readers.
    struct PulledOlder {
        viewer_id: i64, viewer_id_again: i64, channel: String, floor: i64, channel_again: String, below: i64,
        floor_again: i64, limit: i64, limit_again: i64,
    } -> (BigInt, BigInt)
    "SELECT message.id, message.author_id
     FROM (SELECT followee_id AS id FROM follows WHERE follower_id = " (viewer_id: BigInt)
    " UNION ALL SELECT " (viewer_id_again: BigInt)
    ") AS reason JOIN author_channels AS head ON head.author_id = reason.id AND head.channel = " (channel: Text)
    " AND head.last_pulled_id > 0 AND head.last_pulled_id >= " (floor: BigInt)
    " CROSS JOIN LATERAL (
        SELECT id, author_id FROM messages WHERE author_id = reason.id AND channel = " (channel_again: Text)
    " AND id < " (below: BigInt)
    " AND id >= " (floor_again: BigInt)
    " ORDER BY id DESC LIMIT " (limit: BigInt)
    ") AS message ORDER BY message.id DESC LIMIT " (limit_again: BigInt)
}

/// At most `limit` references below `below` of the authors who are pulled, newest first; fewer only if there are no
/// more at or above `floor`.
pub async fn pulled_older(
    conn: &mut Connection,
    of: Reader<'_>,
    floor: i64,
    below: i64,
    limit: usize,
) -> Result<Vec<Reference>> {
    let limit = limit as i64;
    let ask = PulledOlder {
        viewer_id: of.user_id,
        viewer_id_again: of.user_id,
        channel: of.channel.to_owned(),
        floor,
        channel_again: of.channel.to_owned(),
        below,
        floor_again: floor,
        limit,
        limit_again: limit,
    };
    Ok(references(ask.load(conn).await?))
}

statement! {
    /// The oldest references above a position of those whose messages are merged by readers.
    struct PulledNewer {
        viewer_id: i64, viewer_id_again: i64, channel: String, floor: i64, above: i64, channel_again: String,
        above_again: i64, limit: i64, limit_again: i64,
    } -> (BigInt, BigInt)
    "SELECT message.id, message.author_id
     FROM (SELECT followee_id AS id FROM follows WHERE follower_id = " (viewer_id: BigInt)
    " UNION ALL SELECT " (viewer_id_again: BigInt)
    ") AS reason JOIN author_channels AS head ON head.author_id = reason.id AND head.channel = " (channel: Text)
    " AND head.last_pulled_id > 0 AND head.last_pulled_id >= " (floor: BigInt)
    " AND head.newest_id > " (above: BigInt)
    " CROSS JOIN LATERAL (
        SELECT id, author_id FROM messages WHERE author_id = reason.id AND channel = " (channel_again: Text)
    " AND id > " (above_again: BigInt)
    " ORDER BY id ASC LIMIT " (limit: BigInt)
    ") AS message ORDER BY message.id ASC LIMIT " (limit_again: BigInt)
}

/// At most `limit` references above `above` of the authors who are pulled, oldest first; fewer only if there are no
/// more. `floor` is that of the feed: whoever was last pulled before it is not asked.
pub async fn pulled_newer(
    conn: &mut Connection,
    of: Reader<'_>,
    floor: i64,
    above: i64,
    limit: usize,
) -> Result<Vec<Reference>> {
    let limit = limit as i64;
    let ask = PulledNewer {
        viewer_id: of.user_id,
        viewer_id_again: of.user_id,
        channel: of.channel.to_owned(),
        floor,
        above,
        channel_again: of.channel.to_owned(),
        above_again: above,
        limit,
        limit_again: limit,
    };
    Ok(references(ask.load(conn).await?))
}

fn references(rows: Vec<(i64, i64)>) -> Vec<Reference> {
    rows.into_iter().map(|(id, author_id)| Reference { id, author_id }).collect()
}
