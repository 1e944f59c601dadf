//! The partitions of messages: one a month, made ahead. Never the messages in them.

use chrono::{DateTime, Datelike, Months, NaiveDate, Utc};
use diesel::dsl::sql;
use diesel::sql_types::Bool;
use diesel_async::{AsyncConnection, RunQueryDsl, SimpleAsyncConnection};

use crate::db::Connection;
use crate::error::{Error, Result};
use crate::ids;

/// How many months ahead of now there is a partition.
pub const MONTHS_AHEAD: u32 = 12;

/// Makes the partitions that are missing, from this month to [`MONTHS_AHEAD`] months on. May run
/// anywhere, any number of times, also at the same time.
pub async fn ensure(conn: &mut Connection, now: DateTime<Utc>) -> Result<()> {
    ensure_from(conn, now, now).await
}

/// The same, from the month of `oldest` on.
pub async fn ensure_from(conn: &mut Connection, oldest: DateTime<Utc>, now: DateTime<Utc>) -> Result<()> {
    let month = |time: DateTime<Utc>| NaiveDate::from_ymd_opt(time.year(), time.month(), 1).ok_or_else(out_of_calendar);
    let (first, this) = (month(oldest)?, month(now)?);
    let past = (this.year() - first.year()) * 12 + this.month() as i32 - first.month() as i32;
    let months = past.max(0) as u32 + MONTHS_AHEAD;
    conn.transaction(async move |conn| {
        diesel::sql_query("SELECT pg_advisory_xact_lock(hashtextextended('message partitions', 0))")
            .execute(conn)
            .await?;
        // Whoever reads for long must not make everybody else queue up behind this.
        conn.batch_execute("SET LOCAL lock_timeout = '2s'").await?;
        for ahead in 0..=months {
            let from = first.checked_add_months(Months::new(ahead)).ok_or_else(out_of_calendar)?;
            let to = from.checked_add_months(Months::new(1)).ok_or_else(out_of_calendar)?;
            let name = format!("messages_{}", from.format("%Y_%m"));
            let is_there = sql::<Bool>(&format!("to_regclass('{name}') IS NOT NULL"));
            if diesel::select(is_there).get_result(conn).await? {
                continue;
            }
            // Attached rather than made as a partition: that takes no lock which keeps readers and writers out.
            let statements = format!(
                "CREATE TABLE {name} (LIKE messages INCLUDING ALL);
                 ALTER TABLE messages ATTACH PARTITION {name} FOR VALUES FROM ({}) TO ({})",
                floor(from),
                floor(to),
            );
            conn.batch_execute(&statements).await?;
        }
        Ok(())
    })
    .await
}

/// The smallest id of the month that begins on `day`.
fn floor(day: NaiveDate) -> i64 {
    ids::floor_of_ms(day.and_time(chrono::NaiveTime::MIN).and_utc().timestamp_millis())
}

fn out_of_calendar() -> Error {
    Error::Internal("the clock is out of the calendar".into())
}
