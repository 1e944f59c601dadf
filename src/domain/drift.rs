//! What repairs say: something that is derived and is not what it is derived from. Never what is done about it.

use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Text};
use serde::Serialize;

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
    /// The part with these ids, of which there are `limit` unless it is the last.
    pub fn of(ids: &[i64], limit: i64, drifts: Vec<Drift>) -> Self {
        let next = if (ids.len() as i64) < limit { None } else { ids.last() };
        Self { drifts, next: next.copied().unwrap_or(0) }
    }
}

/// The ids in `drifts`, each once, in order.
pub fn ids(drifts: &[Drift]) -> Vec<i64> {
    let mut ids: Vec<i64> = drifts.iter().map(|drift| drift.id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}
