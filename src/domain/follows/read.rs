//! Asks about the follow graph.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool};
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::db::schema::follows;
use crate::domain::follows::model::{Edge, Relation};
use crate::error::Result;
use crate::statement;

statement! {
    /// Both directions between one person and many, in one statement.
    struct Relations { others: Vec<i64>, viewer_id: i64, viewer_id_again: i64 }
        -> (BigInt, Bool, Bool, Bool)
    "SELECT other.id, forth.followee_id IS NOT NULL, coalesce(forth.is_close, false), back.followee_id IS NOT NULL
     FROM unnest(" (others: Array<BigInt>)
    ") AS other (id)
     LEFT JOIN follows AS forth ON forth.followee_id = other.id AND forth.follower_id = " (viewer_id: BigInt)
    " LEFT JOIN follows AS back ON back.follower_id = other.id AND back.followee_id = " (viewer_id_again: BigInt)
}

/// What `viewer_id` and each of these people are to each other, in one statement.
pub async fn relations(mut conn: &Connection, viewer_id: i64, others: &[i64]) -> Result<HashMap<i64, Relation>> {
    let ask = Relations { others: others.to_vec(), viewer_id, viewer_id_again: viewer_id };
    let rows: Vec<(i64, bool, bool, bool)> = ask.load(&mut conn).await?;
    let relation =
        |(id, viewer_follows, is_close, follows_viewer)| (id, Relation { viewer_follows, is_close, follows_viewer });
    Ok(rows.into_iter().map(relation).collect())
}

/// Which end of the edges stays fixed while a connection walks them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// The followers of this person.
    Followee(i64),
    /// The people whom this person follows.
    Follower(i64),
}

/// At most `limit` edges of `of` below position `below`, newest first.
pub async fn page_older(conn: &mut Connection, of: Of, below: i64, limit: usize) -> Result<Vec<Edge>> {
    let limit = limit as i64;
    let rows: Vec<(i64, i64, DateTime<Utc>)> = match of {
        Of::Followee(user_id) => {
            follows::table
                .filter(follows::followee_id.eq(user_id).and(follows::id.lt(below)))
                .order(follows::id.desc())
                .limit(limit)
                .select((follows::id, follows::follower_id, follows::created_at))
                .load(conn)
                .await?
        }
        Of::Follower(user_id) => {
            follows::table
                .filter(follows::follower_id.eq(user_id).and(follows::id.lt(below)))
                .order(follows::id.desc())
                .limit(limit)
                .select((follows::id, follows::followee_id, follows::created_at))
                .load(conn)
                .await?
        }
    };
    Ok(edges(rows))
}

/// At most `limit` edges of `of` above position `above`, oldest first.
pub async fn page_newer(conn: &mut Connection, of: Of, above: i64, limit: usize) -> Result<Vec<Edge>> {
    let limit = limit as i64;
    let rows: Vec<(i64, i64, DateTime<Utc>)> = match of {
        Of::Followee(user_id) => {
            follows::table
                .filter(follows::followee_id.eq(user_id).and(follows::id.gt(above)))
                .order(follows::id.asc())
                .limit(limit)
                .select((follows::id, follows::follower_id, follows::created_at))
                .load(conn)
                .await?
        }
        Of::Follower(user_id) => {
            follows::table
                .filter(follows::follower_id.eq(user_id).and(follows::id.gt(above)))
                .order(follows::id.asc())
                .limit(limit)
                .select((follows::id, follows::followee_id, follows::created_at))
                .load(conn)
                .await?
        }
    };
    Ok(edges(rows))
}

fn edges(rows: Vec<(i64, i64, DateTime<Utc>)>) -> Vec<Edge> {
    rows.into_iter().map(|(id, user_id, created_at)| Edge { id, user_id, created_at }).collect()
}
