//! Finds deliveries that nobody is at any more, and starts them again; and what is there of messages that are not.
//! May run anywhere, any number of times, also while people post and workers deliver.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use diesel_async::{AsyncConnection, RunQueryDsl};

use crate::db::Connection;
use crate::db::schema::in_flight;
use crate::domain::drift::{CHUNK, Drift, Slice, drifts, ids, run};
use crate::domain::events::{self, Event, Progress};
use crate::error::Result;

/// Messages in flight that no job delivers, buried or not, or that do not exist: in one statement and so of one moment,
/// for a message, its row here and its job are committed together, and a job ends behind the delivery.
const LOST: &str = "
    SELECT 'in_flight' AS kind, flight.message_id AS id, 'delivery' AS what,
        CASE WHEN messages.id IS NULL THEN 'of no message' ELSE 'no job' END AS found,
        CASE WHEN messages.id IS NULL THEN 'gone' ELSE 'a job' END AS expected
    FROM in_flight AS flight LEFT JOIN messages ON messages.id = flight.message_id
    LEFT JOIN (
        SELECT DISTINCT payload ->> 'message_id' AS message_id FROM jobs
        WHERE kind = 'event' AND payload ->> 'event' = 'MessagePosted'
    ) AS job ON job.message_id = flight.message_id::text
    WHERE (messages.id IS NULL OR flight.delivered_at IS NULL AND job.message_id IS NULL)";

/// Jobs that would deliver messages that do not exist.
const IDLE: &str = "
    SELECT 'jobs' AS kind, job.id, 'MessagePosted' AS what, 'of no message' AS found, 'gone' AS expected
    FROM jobs AS job
    WHERE kind = 'event' AND payload ->> 'event' = 'MessagePosted'
    AND NOT EXISTS (SELECT FROM messages WHERE id = (payload ->> 'message_id')::bigint)";

/// What is off among the messages in flight behind `after`. Changes nothing.
pub async fn look(conn: &mut Connection, after: i64) -> Result<Slice> {
    let next = format!("{LOST} AND flight.message_id > $1 ORDER BY flight.message_id LIMIT $2");
    let found = sql_query(next).bind::<BigInt, _>(after).bind::<BigInt, _>(CHUNK).load(conn).await?;
    Ok(Slice::of(&ids(&found), found))
}

/// Starts the deliveries in `found` again, from their beginning, and answers which really were lost. Delivering twice
/// changes nothing.
pub async fn mend(conn: &mut Connection, found: &[Drift], now: DateTime<Utc>) -> Result<Vec<Drift>> {
    let messages = ids(found);
    conn.transaction(async move |conn| {
        let rows: Vec<(i64, i64, String)> = in_flight::table
            .filter(in_flight::message_id.eq_any(&messages))
            .order(in_flight::message_id)
            .select((in_flight::message_id, in_flight::author_id, in_flight::channel))
            .for_update()
            .load(conn)
            .await?;
        let still = format!("{LOST} AND flight.message_id = ANY ($1) ORDER BY flight.message_id");
        let found = drifts(conn, &still, &messages).await?;
        for (message_id, author_id, channel) in rows {
            match found.iter().find(|drift| drift.id == message_id) {
                None => {}
                Some(drift) if drift.expected == "gone" => {
                    diesel::delete(in_flight::table.find(message_id)).execute(conn).await?;
                }
                Some(_) => {
                    let posted = Event::MessagePosted { message_id, author_id, channel, progress: Progress::Start };
                    events::record(conn, &posted, now).await?;
                }
            }
        }
        Ok(found)
    })
    .await
}

/// Jobs of no message behind `after`. Changes nothing.
pub async fn look_for_idle(conn: &mut Connection, after: i64) -> Result<Slice> {
    let next = format!("{IDLE} AND job.id > $1 ORDER BY job.id LIMIT $2");
    let found = sql_query(next).bind::<BigInt, _>(after).bind::<BigInt, _>(CHUNK).load(conn).await?;
    Ok(Slice::of(&ids(&found), found))
}

/// Removes the jobs in `found`. A message that is not there when its job is never comes.
pub async fn remove_idle(conn: &mut Connection, found: &[Drift]) -> Result<()> {
    let jobs = format!("DELETE FROM jobs WHERE id IN (SELECT id FROM ({IDLE} AND job.id = ANY ($1)) AS idle)");
    run(conn, &jobs, &ids(found)).await
}
