//! What kind of Postgres it is, asked at start; and how far its clock is from ours. Never what follows from that.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::sql_types::{Integer, Text, Timestamptz};
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};

use crate::db::Connection;
use crate::error::Result;
use crate::statement;
use crate::time::Clock;

/// How far our clock may be from that of Postgres: ids carry the time.
pub const MAX_SKEW: TimeDelta = TimeDelta::milliseconds(500);

/// What Postgres says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// 150004 is 15.4.
    pub version: i32,
    /// How the database writes text: `UTF8`.
    pub encoding: String,
    /// Whether its errors are in English: `db/errors.rs` knows some of them by their words only, for neither diesel
    /// nor diesel-async passes the codes on.
    pub speaks_english: bool,
    /// The settings by which a commit that was acknowledged can be lost.
    pub not_durable: Vec<&'static str>,
}

statement! {
    /// What can be asked in one row.
    struct Settings {} -> (Integer, Text, Text, Text, Text)
    "SELECT current_setting('server_version_num')::integer, current_setting('server_encoding'),
        current_setting('kith.words'), current_setting('fsync'), current_setting('synchronous_commit')"
}

/// The words of an error, asked for without one that would stand in the log of Postgres. The setting is our own.
const WORDS: &str = "DO $$ BEGIN PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN
    PERFORM set_config('kith.words', SQLERRM, false); END $$";

/// Asks Postgres about itself.
pub async fn ask(conn: &mut Connection) -> Result<Server> {
    conn.batch_execute(WORDS).await?;
    let (version, encoding, words, fsync, synchronous_commit): (i32, String, String, String, String) =
        Settings {}.get_result(conn).await?;
    let off = [("fsync", fsync), ("synchronous_commit", synchronous_commit)];
    let not_durable = off.into_iter().filter(|(_, value)| value == "off").map(|(name, _)| name).collect();
    Ok(Server { version, encoding, speaks_english: words == "division by zero", not_durable })
}

statement! {
    /// What time it is there.
    struct Now {} -> (Timestamptz)
    "SELECT clock_timestamp()"
}

/// What time it is for Postgres.
pub async fn now(conn: &mut Connection) -> Result<DateTime<Utc>> {
    let (now,) = Now {}.get_result(conn).await?;
    Ok(now)
}

/// Two clocks that differ by more than [`MAX_SKEW`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skew {
    /// What ours showed.
    pub ours: DateTime<Utc>,
    /// What that of Postgres showed, at about the same moment.
    pub theirs: DateTime<Utc>,
}

/// How our clock differs from that of Postgres, if it does by too much. Nothing else than the machine's clock is compared.
pub async fn skew(conn: &mut Connection, clock: &Clock) -> Result<Option<Skew>> {
    let before = clock.now();
    let theirs = now(conn).await?;
    let ours = clock.now();
    // The time there lies between before and after: only what is outside of that is the clocks' fault.
    let is_off = theirs < before - MAX_SKEW || theirs > ours + MAX_SKEW;
    Ok((is_off && matches!(clock, Clock::System)).then_some(Skew { ours, theirs }))
}
