//! Asks about people.

use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::db::schema::{user_counters, users};
use crate::domain::users::model::{Counters, User};
use crate::domain::users::rules::Handle;
use crate::error::Result;

/// The people with these ids, in no order; who does not exist is not among them.
pub async fn by_ids(mut conn: &Connection, ids: &[i64]) -> Result<Vec<User>> {
    Ok(users::table.filter(users::id.eq_any(ids)).select(User::as_select()).load(&mut conn).await?)
}

/// The person with this handle, whatever its case. Nobody has one that is no handle.
pub async fn by_handle(conn: &mut Connection, handle: &str) -> Result<Option<User>> {
    let Ok(handle) = Handle::parse(handle) else {
        return Ok(None);
    };
    let found = users::table.filter(folded_handle().eq(handle.folded())).select(User::as_select()).first(conn).await;
    Ok(found.optional()?)
}

/// The handle in the form that is unique and indexed, to be compared with [`Handle::folded`].
pub fn folded_handle() -> SqlLiteral<Text> {
    sql(r#"lower(users.handle COLLATE "C")"#)
}

/// The counters of these people, with the id they belong to, in no order.
pub async fn counters_by_ids(mut conn: &Connection, ids: &[i64]) -> Result<Vec<(i64, Counters)>> {
    let rows = user_counters::table
        .filter(user_counters::user_id.eq_any(ids))
        .select((user_counters::user_id, Counters::as_select()))
        .load(&mut conn);
    Ok(rows.await?)
}

/// The next `limit` people behind `after`, in the order of their ids.
pub async fn ids_after(conn: &mut Connection, after: i64, limit: i64) -> Result<Vec<i64>> {
    let people = users::table.filter(users::id.gt(after)).order(users::id).limit(limit).select(users::id);
    Ok(people.load(conn).await?)
}
