//! Builds inboxes anew that are there already, one after the other. Never those of feeds that nobody reads.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::db::Connection;
use crate::db::schema::activity;
use crate::domain::inbox::model::Reader;
use crate::domain::inbox::repair::build;
use crate::error::Result;
use crate::kv::Kv;

/// Feeds that are looked up at once.
const CHUNK: i64 = 500;

/// How often a build is begun again when somebody else builds the same inbox; then theirs will do.
const ATTEMPTS: usize = 3;

/// Builds the inboxes of `user_id`, with what is not older than `oldest`. Answers how many. The reader's pages come from
/// Postgres meanwhile.
pub async fn of(conn: &mut Connection, kv: &Kv, user_id: i64, oldest: DateTime<Utc>) -> Result<usize> {
    let hot = activity::table.filter(activity::user_id.eq(user_id).and(activity::is_hot));
    let channels: Vec<String> = hot.select(activity::channel).order(activity::channel).load(conn).await?;
    for channel in &channels {
        for _ in 0..ATTEMPTS {
            if build(conn, kv, Reader { user_id, channel }, oldest).await? {
                break;
            }
        }
    }
    Ok(channels.len())
}

/// The next people behind `after` who read any feed.
pub async fn readers(conn: &mut Connection, after: i64) -> Result<Vec<i64>> {
    let next = activity::table.filter(activity::is_hot.and(activity::user_id.gt(after)));
    let people = next.select(activity::user_id).distinct().order(activity::user_id).limit(CHUNK);
    Ok(people.load(conn).await?)
}
