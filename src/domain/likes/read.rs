//! Asks about likes that stand. How many a message has is asked with its other counters, in `messages`.

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::db::schema::likes;
use crate::domain::likes::model::Edge;
use crate::domain::messages::model::Reference;
use crate::error::Result;

/// Which of these messages `user_id` likes, in no order.
pub async fn liked_by(mut conn: &Connection, user_id: i64, message_ids: &[i64]) -> Result<Vec<i64>> {
    let standing = likes::user_id.eq(user_id).and(likes::cancelled_at.is_null());
    let rows = likes::table
        .filter(likes::message_id.eq_any(message_ids).and(standing))
        .select(likes::message_id)
        .load(&mut conn);
    Ok(rows.await?)
}

/// Which end of the likes stays fixed while a connection walks them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Who likes this message.
    Message(i64),
    /// What this person likes.
    Person(i64),
}

/// At most `limit` likes of `of` below position `below`, newest first.
pub async fn page_older(conn: &mut Connection, of: Of, below: i64, limit: usize) -> Result<Vec<Edge>> {
    let page = standing(of).filter(likes::id.lt(below)).order(likes::id.desc()).limit(limit as i64);
    edges(conn, page).await
}

/// At most `limit` likes of `of` above position `above`, oldest first.
pub async fn page_newer(conn: &mut Connection, of: Of, above: i64, limit: usize) -> Result<Vec<Edge>> {
    let page = standing(of).filter(likes::id.gt(above)).order(likes::id.asc()).limit(limit as i64);
    edges(conn, page).await
}

type Page = likes::BoxedQuery<'static, Pg>;

fn standing(of: Of) -> Page {
    let standing = likes::table.filter(likes::cancelled_at.is_null()).into_boxed();
    match of {
        Of::Message(message_id) => standing.filter(likes::message_id.eq(message_id)),
        Of::Person(user_id) => standing.filter(likes::user_id.eq(user_id)),
    }
}

async fn edges(conn: &mut Connection, page: Page) -> Result<Vec<Edge>> {
    let rows: Vec<(i64, i64, i64, i64)> =
        page.select((likes::id, likes::user_id, likes::message_id, likes::author_id)).load(conn).await?;
    let edge =
        |(id, user_id, message_id, author_id)| Edge { id, user_id, message: Reference { id: message_id, author_id } };
    Ok(rows.into_iter().map(edge).collect())
}
