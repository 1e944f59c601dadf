//! Asks about messages.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::db::schema::{message_counters, message_versions, messages};
use crate::domain::messages::model::{Counters, Message, Reference, Version};
use crate::error::Result;

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
