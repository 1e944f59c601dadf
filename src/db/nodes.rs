//! The lease of a node number: what lets a process make ids. Never the making: that is `ids.rs`.

use std::time::{Duration, Instant};

use diesel::sql_types::{BigInt, SmallInt, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use uuid::Uuid;

use crate::db::Connection;
use crate::error::{Error, Result};
use crate::ids::Lease;
use crate::statement;

statement! {
    /// Keeps the node number that `holder` has, if it still has it.
    struct Renew { holder: Uuid, seconds: i64, high_water: i64 } -> (SmallInt, BigInt)
    "UPDATE nodes SET leased_until = now() + make_interval(secs => " (seconds: BigInt)
    "), high_water = greatest(high_water, " (high_water: BigInt)
    ") WHERE leased_until > now() AND holder = " (holder: SqlUuid)
    " RETURNING node, high_water"
}

statement! {
    /// Takes over a number whose lease ran out, or else the lowest that was never used. Not one whose high water
    /// lies ahead, left by a clock that was wrong: its holder could make no id for that long.
    /// Answers the number, the old high water (the new holder's floor) and the new one.
    struct Take { reach: i64, holder: Uuid, seconds: i64, high_water: i64 } -> (SmallInt, BigInt, BigInt)
    "WITH expired AS (
        SELECT node, high_water FROM nodes WHERE leased_until <= now() AND high_water <= " (reach: BigInt)
    " ORDER BY node LIMIT 1 FOR UPDATE SKIP LOCKED
    ), free AS (
        SELECT n::smallint AS node, 0::bigint AS high_water FROM generate_series(0, 1023) AS n
        WHERE NOT EXISTS (SELECT FROM expired) AND NOT EXISTS (SELECT FROM nodes WHERE nodes.node = n)
        ORDER BY n LIMIT 1
    ), chosen AS (SELECT * FROM expired UNION ALL SELECT * FROM free)
    INSERT INTO nodes AS held (node, holder, leased_until, high_water)
    SELECT node, " (holder: SqlUuid)
    ", now() + make_interval(secs => " (seconds: BigInt)
    "), greatest(high_water, " (high_water: BigInt)
    ") FROM chosen
    ON CONFLICT (node) DO UPDATE SET holder = excluded.holder, leased_until = excluded.leased_until,
        high_water = excluded.high_water
        WHERE held.leased_until <= now()
    RETURNING node, (SELECT high_water FROM chosen), high_water"
}

/// Leases a node number to `holder` for `length`, or renews the one that it has.
///
/// The floor of a renewed lease is 0: the generator itself never goes back. Ids may be made up to
/// `length` beyond `now_ms` (milliseconds since the Unix epoch).
///
/// Errors: [`Error::Unavailable`] when all 1024 numbers are taken or Postgres is away.
pub async fn lease(conn: &mut Connection, holder: Uuid, length: Duration, now_ms: i64) -> Result<Lease> {
    // Counted from before the statement, so that the process gives up before Postgres does.
    let deadline = Instant::now() + length;
    let seconds = length.as_secs() as i64;
    let reach = now_ms + length.as_millis() as i64;
    let renewed: Vec<(i16, i64)> = Renew { holder, seconds, high_water: reach }.load(conn).await?;
    if let [(node, high_water_ms)] = renewed[..] {
        return Ok(Lease { node: node as u16, floor_ms: 0, high_water_ms, deadline });
    }
    // A number can be lost to another process between the look and the insert; a few tries are plenty.
    for _ in 0..8 {
        let taken: Vec<(i16, i64, i64)> = Take { reach, holder, seconds, high_water: reach }.load(conn).await?;
        if let [(node, floor_ms, high_water_ms)] = taken[..] {
            return Ok(Lease { node: node as u16, floor_ms, high_water_ms, deadline });
        }
    }
    Err(Error::Unavailable("all 1024 node numbers are taken".into()))
}

statement! {
    /// Ends the lease of `holder`. The high water falls to what was used: it lies ahead, and the next holder, who comes at
    /// once, would start there.
    struct Release { last_ms: i64, holder: Uuid } -> ()
    "UPDATE nodes SET leased_until = now(), high_water = least(high_water, " (last_ms: BigInt)
    ") WHERE holder = " (holder: SqlUuid)
    " AND leased_until > now()"
}

/// Ends the lease of `holder`, if it has one, which made no id after `last_ms` and makes none any more.
pub async fn release(conn: &mut Connection, holder: Uuid, last_ms: i64) -> Result<()> {
    Release { last_ms, holder }.execute(conn).await?;
    Ok(())
}
