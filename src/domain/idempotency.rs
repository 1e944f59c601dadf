//! Retried creation is safe: a key is claimed by insert, in the transaction of what it guards.
//! Never what is created.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Timestamptz};
use diesel_async::RunQueryDsl;
use sha2::{Digest, Sha256};

use crate::db::Connection;
use crate::db::schema::idempotency_keys;
use crate::error::{Error, Result};
use crate::statement;

/// How many days a key is kept.
pub const KEPT_DAYS: i64 = 7;

/// A key that a person gave for a verb, and what this call would create.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// Whose key; another person's is another key.
    pub user_id: i64,
    /// The mutation; another mutation's is another key.
    pub verb: &'a str,
    /// As the client gave it.
    pub key: &'a str,
    /// The normalised input.
    pub input: &'a [u8],
    /// The id of what is created if the key is new.
    pub result_id: i64,
}

/// Claims a key in the caller's transaction. Answers `None` if it is new, else the id of what it
/// created before. Waits for a call with the same key that is under way.
///
/// Errors: [`Error::IdempotencyMismatch`] if the input was another one.
pub async fn claim(conn: &mut Connection, claim: Claim<'_>, now: DateTime<Utc>) -> Result<Option<i64>> {
    let input_hash = Sha256::digest(claim.input).to_vec();
    let row = (
        idempotency_keys::user_id.eq(claim.user_id),
        idempotency_keys::verb.eq(claim.verb),
        idempotency_keys::key.eq(claim.key),
        idempotency_keys::input_hash.eq(&input_hash),
        idempotency_keys::result_id.eq(claim.result_id),
        idempotency_keys::created_at.eq(now),
    );
    let claimed =
        diesel::insert_into(idempotency_keys::table).values(row).on_conflict_do_nothing().execute(conn).await?;
    if claimed > 0 {
        return Ok(None);
    }
    let (hash, result_id): (Vec<u8>, i64) = idempotency_keys::table
        .find((claim.user_id, claim.verb, claim.key))
        .select((idempotency_keys::input_hash, idempotency_keys::result_id))
        .first(conn)
        .await?;
    if hash == input_hash { Ok(Some(result_id)) } else { Err(Error::IdempotencyMismatch) }
}

statement! {
    /// Forgets some of the keys that are older than a moment.
    struct Forget { before: DateTime<Utc>, limit: i64 } -> ()
    "DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM idempotency_keys WHERE created_at < " (before: Timestamptz)
    " LIMIT " (limit: BigInt)
    "))"
}

/// Forgets at most `limit` keys older than [`KEPT_DAYS`]. Answers how many. May run anywhere, any number of times.
pub async fn purge(conn: &mut Connection, now: DateTime<Utc>, limit: i64) -> Result<usize> {
    Ok(Forget { before: now - TimeDelta::days(KEPT_DAYS), limit }.execute(conn).await?)
}
