//! What repairs say, something that is derived and is not what it is derived from, and how most of them go about it. Never
//! what is derived from what.

use diesel::sql_types::{Array, BigInt, Text};
use diesel::{QueryableByName, sql_query};
use diesel_async::{AsyncConnection, RunQueryDsl};
use serde::Serialize;

use crate::db::Connection;
use crate::error::Result;

/// People, messages or rows in a slice.
pub const CHUNK: i64 = 500;

/// Something that is off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, QueryableByName)]
pub struct Drift {
    /// Of which kind, as `docs/reconcile.md` lists them.
    #[diesel(sql_type = Text)]
    pub kind: String,
    /// Of which person, message or job.
    #[diesel(sql_type = BigInt)]
    pub id: i64,
    /// What of it.
    #[diesel(sql_type = Text)]
    pub what: String,
    /// What it is.
    #[diesel(sql_type = Text)]
    pub found: String,
    /// What it should be.
    #[diesel(sql_type = Text)]
    pub expected: String,
}

/// A part of what a repair looks through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// What is off in it.
    pub drifts: Vec<Drift>,
    /// Where the next part begins; 0 when this was the last one.
    pub next: i64,
}

impl Slice {
    /// The part with these ids, of which there are [`CHUNK`] unless it is the last.
    pub fn of(ids: &[i64], drifts: Vec<Drift>) -> Self {
        let next = if (ids.len() as i64) < CHUNK { None } else { ids.last() };
        Self { drifts, next: next.copied().unwrap_or(0) }
    }
}

/// A repair that is a few statements, each about the ids in `$1`.
pub struct Recount {
    /// What is off, in one statement and so of one moment.
    pub drifts: &'static str,
    /// Takes what whoever changes it holds until they commit.
    pub lock: &'static str,
    /// What is done about it behind the lock, in this order.
    pub steps: &'static [&'static str],
}

impl Recount {
    /// What is off among `ids`, which are a slice. Changes nothing.
    pub async fn look(&self, conn: &mut Connection, ids: &[i64]) -> Result<Slice> {
        Ok(Slice::of(ids, drifts(conn, self.drifts, ids).await?))
    }

    /// Mends what is off in `found`, and answers what really was off when nobody could change it.
    pub async fn mend(&self, conn: &mut Connection, found: &[Drift]) -> Result<Vec<Drift>> {
        let subjects = ids(found);
        conn.transaction(async move |conn| {
            run(conn, self.lock, &subjects).await?;
            let found = drifts(conn, self.drifts, &subjects).await?;
            for step in self.steps {
                run(conn, step, &ids(&found)).await?;
            }
            Ok(found)
        })
        .await
    }
}

/// What `statement` finds about `ids`, its `$1`.
pub async fn drifts(conn: &mut Connection, statement: &str, ids: &[i64]) -> Result<Vec<Drift>> {
    Ok(sql_query(statement).bind::<Array<BigInt>, _>(ids).load(conn).await?)
}

/// Runs `statement` about `ids`, its `$1`.
pub async fn run(conn: &mut Connection, statement: &str, ids: &[i64]) -> Result<()> {
    sql_query(statement).bind::<Array<BigInt>, _>(ids).execute(conn).await?;
    Ok(())
}

/// The ids in `drifts`, each once, in order.
pub fn ids(drifts: &[Drift]) -> Vec<i64> {
    let mut ids: Vec<i64> = drifts.iter().map(|drift| drift.id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}
