//! Feeds out of Postgres alone: what is below the horizon of an inbox, or has none, or is never pushed. Never Redis.

use diesel::sql_types::{BigInt, Bool, Text};
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::domain::inbox::model::{Circle, Reader};
use crate::domain::messages::model::Reference;
use crate::error::Result;
use crate::statement;

statement! {
    /// The newest references of a feed below a position and not below a floor. Of the authors who have nothing newer than
    /// the position, only as many as there are references wanted can contribute: those with the newest messages.
    struct Older {
        viewer_id: i64, is_close: bool, viewer_id_again: i64, is_close_again: bool, channel: String, floor: i64, below: i64,
        below_again: i64, limit: i64, channel_again: String, below_still: i64, floor_again: i64, limit_again: i64,
        limit_still: i64,
    } -> (BigInt, BigInt)
    "WITH author AS MATERIALIZED (
        SELECT head.author_id AS id, head.newest_id
        FROM (SELECT followee_id AS id FROM follows WHERE follower_id = " (viewer_id: BigInt)
    " AND (is_close OR NOT " (is_close: Bool)
    ") UNION ALL SELECT " (viewer_id_again: BigInt)
    " WHERE NOT " (is_close_again: Bool)
    ") AS reason JOIN author_channels AS head ON head.author_id = reason.id AND head.channel = " (channel: Text)
    " AND head.last_pulled_id >= " (floor: BigInt)
    ") SELECT message.id, message.author_id
     FROM (SELECT id FROM author WHERE newest_id >= " (below: BigInt)
    " UNION ALL (SELECT id FROM author WHERE newest_id < " (below_again: BigInt)
    " ORDER BY newest_id DESC LIMIT " (limit: BigInt)
    ")) AS contributor CROSS JOIN LATERAL (
        SELECT id, author_id FROM messages WHERE author_id = contributor.id AND channel = " (channel_again: Text)
    " AND id < " (below_still: BigInt)
    " AND id >= " (floor_again: BigInt)
    " ORDER BY id DESC LIMIT " (limit_again: BigInt)
    ") AS message ORDER BY message.id DESC LIMIT " (limit_still: BigInt)
}

/// At most `limit` references of `circle` below `below`, newest first; fewer only if there are no more.
pub async fn older(
    conn: &mut Connection,
    of: Reader<'_>,
    circle: Circle,
    below: i64,
    limit: usize,
) -> Result<Vec<Reference>> {
    let (is_close, floor, limit) = (circle == Circle::Close, circle.floor(), limit as i64);
    let ask = Older {
        viewer_id: of.user_id,
        is_close,
        viewer_id_again: of.user_id,
        is_close_again: is_close,
        channel: of.channel.to_owned(),
        floor,
        below,
        below_again: below,
        limit,
        channel_again: of.channel.to_owned(),
        below_still: below,
        floor_again: floor,
        limit_again: limit,
        limit_still: limit,
    };
    Ok(references(ask.load(conn).await?))
}

statement! {
    /// The oldest references of a feed above a position. Only who has anything newer can contribute.
    struct Newer {
        viewer_id: i64, is_close: bool, viewer_id_again: i64, is_close_again: bool, channel: String, floor: i64, above: i64,
        channel_again: String, above_again: i64, limit: i64, limit_again: i64,
    } -> (BigInt, BigInt)
    "SELECT message.id, message.author_id
     FROM (SELECT followee_id AS id FROM follows WHERE follower_id = " (viewer_id: BigInt)
    " AND (is_close OR NOT " (is_close: Bool)
    ") UNION ALL SELECT " (viewer_id_again: BigInt)
    " WHERE NOT " (is_close_again: Bool)
    ") AS reason JOIN author_channels AS head ON head.author_id = reason.id AND head.channel = " (channel: Text)
    " AND head.last_pulled_id >= " (floor: BigInt)
    " AND head.newest_id > " (above: BigInt)
    " CROSS JOIN LATERAL (
        SELECT id, author_id FROM messages WHERE author_id = reason.id AND channel = " (channel_again: Text)
    " AND id > " (above_again: BigInt)
    " ORDER BY id ASC LIMIT " (limit: BigInt)
    ") AS message ORDER BY message.id ASC LIMIT " (limit_again: BigInt)
}

/// At most `limit` references of `circle` above `above`, oldest first; fewer only if there are no more. Whoever asks for
/// those who are pulled has nothing to ask from below their floor.
pub async fn newer(
    conn: &mut Connection,
    of: Reader<'_>,
    circle: Circle,
    above: i64,
    limit: usize,
) -> Result<Vec<Reference>> {
    let (is_close, floor, limit) = (circle == Circle::Close, circle.floor(), limit as i64);
    let ask = Newer {
        viewer_id: of.user_id,
        is_close,
        viewer_id_again: of.user_id,
        is_close_again: is_close,
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
