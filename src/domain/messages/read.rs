//! Asks about messages.

use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Text};
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::db::schema::{author_channels, message_counters, message_versions, messages};
use crate::domain::messages::model::{Counters, Message, Reference, Version};
use crate::error::Result;
use crate::statement;

/// The messages with these ids, deleted ones too, in no order.
pub async fn by_ids(mut conn: &Connection, ids: &[i64]) -> Result<Vec<Message>> {
    Ok(messages::table.filter(messages::id.eq_any(ids)).select(Message::as_select()).load(&mut conn).await?)
}

/// The counters of these messages, with the id they belong to, in no order.
pub async fn counters_by_ids(mut conn: &Connection, ids: &[i64]) -> Result<Vec<(i64, Counters)>> {
    let rows = message_counters::table
        .filter(message_counters::message_id.eq_any(ids))
        .select((message_counters::message_id, Counters::as_select()))
        .load(&mut conn);
    Ok(rows.await?)
}

/// At most `limit` references to messages of an author in a channel below `below`, newest first,
/// whatever their status.
pub async fn page_older(conn: &mut Connection, of: (i64, &str), below: i64, limit: usize) -> Result<Vec<Reference>> {
    let rows: Vec<i64> = messages::table
        .filter(messages::author_id.eq(of.0).and(messages::channel.eq(of.1)).and(messages::id.lt(below)))
        .order(messages::id.desc())
        .limit(limit as i64)
        .select(messages::id)
        .load(conn)
        .await?;
    Ok(rows.into_iter().map(|id| Reference { id, author_id: of.0 }).collect())
}

/// At most `limit` references to messages of an author in a channel above `above`, oldest first,
/// whatever their status.
pub async fn page_newer(conn: &mut Connection, of: (i64, &str), above: i64, limit: usize) -> Result<Vec<Reference>> {
    let rows: Vec<i64> = messages::table
        .filter(messages::author_id.eq(of.0).and(messages::channel.eq(of.1)).and(messages::id.gt(above)))
        .order(messages::id.asc())
        .limit(limit as i64)
        .select(messages::id)
        .load(conn)
        .await?;
    Ok(rows.into_iter().map(|id| Reference { id, author_id: of.0 }).collect())
}

statement! {
    /// The newest messages of each of many authors, each below a position.
    struct OlderOfEach { authors: Vec<i64>, below: Vec<i64>, channel: String, limit: i64 } -> (BigInt, BigInt)
    "SELECT message.id, message.author_id FROM unnest(" (authors: Array<BigInt>)
    ", " (below: Array<BigInt>)
    ") AS asked (author_id, below) CROSS JOIN LATERAL (
        SELECT id, author_id FROM messages
        WHERE author_id = asked.author_id AND id < asked.below AND channel = " (channel: Text)
    " ORDER BY id DESC LIMIT " (limit: BigInt)
    ") AS message ORDER BY message.id DESC"
}

/// The newest message of each of these authors in a channel, whatever its status, in no order.
pub async fn heads(conn: &mut Connection, authors: &[i64], channel: &str) -> Result<Vec<Reference>> {
    let of_them = author_channels::author_id.eq_any(authors).and(author_channels::channel.eq(channel));
    let heads = author_channels::table.filter(of_them).select((author_channels::newest_id, author_channels::author_id));
    let rows: Vec<(i64, i64)> = heads.load(conn).await?;
    Ok(rows.into_iter().map(|(id, author_id)| Reference { id, author_id }).collect())
}

/// At most `limit` messages older than each of `references` by its author in a channel, whatever their status, newest first.
pub async fn older_of_each(
    conn: &mut Connection,
    references: &[Reference],
    channel: &str,
    limit: usize,
) -> Result<Vec<Reference>> {
    let ask = OlderOfEach {
        authors: references.iter().map(|reference| reference.author_id).collect(),
        below: references.iter().map(|reference| reference.id).collect(),
        channel: channel.to_owned(),
        limit: limit as i64,
    };
    let rows: Vec<(i64, i64)> = ask.load(conn).await?;
    Ok(rows.into_iter().map(|(id, author_id)| Reference { id, author_id }).collect())
}

/// At most `limit` earlier versions of a message below version `below`, newest first.
pub async fn versions_older(conn: &mut Connection, message_id: i64, below: i64, limit: usize) -> Result<Vec<Version>> {
    let below = below.clamp(0, i64::from(i32::MAX)) as i32;
    let rows = message_versions::table
        .filter(message_versions::message_id.eq(message_id).and(message_versions::version.lt(below)))
        .order(message_versions::version.desc())
        .limit(limit as i64)
        .select(Version::as_select())
        .load(conn);
    Ok(rows.await?)
}

/// At most `limit` earlier versions of a message above version `above`, oldest first.
pub async fn versions_newer(conn: &mut Connection, message_id: i64, above: i64, limit: usize) -> Result<Vec<Version>> {
    let above = above.clamp(0, i64::from(i32::MAX)) as i32;
    let rows = message_versions::table
        .filter(message_versions::message_id.eq(message_id).and(message_versions::version.gt(above)))
        .order(message_versions::version.asc())
        .limit(limit as i64)
        .select(Version::as_select())
        .load(conn);
    Ok(rows.await?)
}
