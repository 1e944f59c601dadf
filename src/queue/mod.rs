//! The job engine on Postgres: enqueue on the caller's connection, claim under a lease, retry with
//! backoff, bury. It knows no noun of Kith: what a job does is said in `worker/reactions.rs`.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Jsonb, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::db::Connection;
use crate::db::schema::jobs;
use crate::error::{Error, Result};
use crate::statement;

/// A job that failed this often in a row is buried: kept, seen, not run again. That its holder vanished, and let the
/// lease run out, counts as a failure: the step may be what kills the process. That something was away does not.
pub const MAX_FAILURES: i32 = 20;

/// The longest pause between two tries of a job that failed.
const MAX_BACKOFF: TimeDelta = TimeDelta::minutes(10);

/// The longest pause of a job that waits for something that is away: so long after its return all goes on.
const MAX_WAIT: TimeDelta = TimeDelta::seconds(10);

/// A job to be run.
#[derive(Clone, Debug)]
pub struct NewJob<'a> {
    /// What the worker looks the job up by.
    pub kind: &'a str,
    /// What the job needs to know; ids only, no texts.
    pub payload: Value,
    /// While a job with this key waits or runs, another one is not taken in.
    pub dedupe_key: Option<String>,
    /// Not before this moment.
    pub run_at: DateTime<Utc>,
    /// Until when it should be done, `run_at` or later: the most urgent of the jobs whose time has come is run first.
    pub due_by: DateTime<Utc>,
}

/// A job under lease.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its row.
    pub id: i64,
    /// What the worker looks it up by.
    pub kind: String,
    /// What it needs to know, as its last step left it.
    pub payload: Value,
    /// How often it was claimed since it last got anywhere, this time included.
    pub attempts: i32,
    /// How often it failed since it last got anywhere, this time not included.
    pub failures: i32,
    lease: Uuid,
}

/// How a step of a job ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing is left to do.
    Done,
    /// There is more. A job that is killed goes on from its last saved step.
    More {
        /// What the job goes on from.
        payload: Value,
        /// Until when the next step should be done. A long job that asks for later than who comes now can hold nobody
        /// up, however late it is itself.
        due_by: DateTime<Utc>,
    },
}

/// How many jobs there are, each counted up to 100000, and until when the most urgent due one should be done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Depth {
    /// Waiting, and their time has come.
    pub due: i64,
    /// Waiting for their time.
    pub scheduled: i64,
    /// Under lease.
    pub running: i64,
    /// Given up.
    pub buried: i64,
    /// Until when the most urgent due job should be done.
    pub due_by: Option<DateTime<Utc>>,
}

statement! {
    /// Counts jobs by where they stand.
    struct Count { now: DateTime<Utc> } -> (BigInt, BigInt, BigInt, BigInt, Nullable<Timestamptz>)
    "WITH moment AS (SELECT " (now: Timestamptz)
    "::timestamptz AS now), due AS NOT MATERIALIZED (
        SELECT due_by FROM jobs WHERE buried_at IS NULL AND run_at <= (SELECT now FROM moment)
        AND (leased_until IS NULL OR leased_until <= (SELECT now FROM moment))
    ) SELECT (SELECT count(*) FROM (SELECT FROM due LIMIT 100000) AS counted),
        (SELECT count(*) FROM (SELECT FROM jobs WHERE buried_at IS NULL AND run_at > (SELECT now FROM moment)
            AND (leased_until IS NULL OR leased_until <= (SELECT now FROM moment)) LIMIT 100000) AS counted),
        (SELECT count(*) FROM (SELECT FROM jobs WHERE buried_at IS NULL AND leased_until > (SELECT now FROM moment)
            LIMIT 100000) AS counted),
        (SELECT count(*) FROM (SELECT FROM jobs WHERE buried_at IS NOT NULL LIMIT 100000) AS counted),
        (SELECT due_by FROM due ORDER BY due_by LIMIT 1)"
}

/// How deep the queue is.
pub async fn depth(conn: &mut Connection, now: DateTime<Utc>) -> Result<Depth> {
    let (due, scheduled, running, buried, due_by) = Count { now }.get_result(conn).await?;
    Ok(Depth { due, scheduled, running, buried, due_by })
}

/// Takes in a job, in the caller's transaction. Answers whether it was taken in: a job whose
/// `dedupe_key` is there already is not.
pub async fn enqueue(conn: &mut Connection, job: NewJob<'_>) -> Result<bool> {
    let rows = diesel::insert_into(jobs::table)
        .values((
            jobs::kind.eq(job.kind),
            jobs::payload.eq(job.payload),
            jobs::dedupe_key.eq(job.dedupe_key),
            jobs::run_at.eq(job.run_at),
            jobs::due_by.eq(job.due_by.max(job.run_at)),
        ))
        .on_conflict_do_nothing()
        .execute(conn)
        .await?;
    Ok(rows > 0)
}

statement! {
    /// Leases the most urgent of the jobs whose time has come: earliest deadline first (Liu and Layland, 1973).
    struct Claim { until: DateTime<Utc>, lease: Uuid, now: DateTime<Utc>, now_again: DateTime<Utc> }
        -> (BigInt, Text, Jsonb, Integer, Integer)
    "UPDATE jobs SET attempts = attempts + 1, failures = failures + (lease IS NOT NULL)::integer, leased_until = " (until: Timestamptz)
    ", lease = " (lease: SqlUuid)
    " WHERE id = (
        SELECT id FROM jobs WHERE buried_at IS NULL AND run_at <= " (now: Timestamptz)
    " AND (leased_until IS NULL OR leased_until <= " (now_again: Timestamptz)
    ") ORDER BY due_by, run_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
    ) RETURNING id, kind, payload, attempts, failures"
}

/// Leases the most urgent of the jobs whose time has come, for `length` from `now`. Buries those whose holders vanished too often.
pub async fn claim(conn: &mut Connection, now: DateTime<Utc>, length: Duration) -> Result<Option<Job>> {
    let until = now + TimeDelta::from_std(length).unwrap_or(MAX_BACKOFF);
    loop {
        let lease = Uuid::new_v4();
        let claimed: Vec<(i64, String, Value, i32, i32)> =
            Claim { until, lease, now, now_again: now }.load(conn).await?;
        let Some((id, kind, payload, attempts, failures)) = claimed.into_iter().next() else { return Ok(None) };
        let job = Job { id, kind, payload, attempts, failures, lease };
        if failures < MAX_FAILURES {
            return Ok(Some(job));
        }
        tracing::error!(job = job.id, kind = job.kind, "a job is buried: whoever runs it vanishes");
        let buried = GivenBack { reason: "whoever ran it vanished", failures, run_at: now, buried_at: Some(now) };
        give_back(conn, &job, buried).await?;
    }
}

/// Writes down how a step ended. Errors: [`Error::Contention`] if the lease was lost meanwhile; whoever
/// has it now goes on from the last saved step.
pub async fn settle(conn: &mut Connection, job: &Job, step: Step, now: DateTime<Utc>) -> Result<()> {
    let mine = jobs::table.filter(jobs::id.eq(job.id)).filter(jobs::lease.eq(job.lease));
    let rows = match step {
        Step::Done => diesel::delete(mine).execute(conn).await?,
        Step::More { payload, due_by } => {
            diesel::update(mine)
                .set((
                    jobs::payload.eq(payload),
                    jobs::run_at.eq(now),
                    jobs::due_by.eq(due_by.max(now)),
                    jobs::attempts.eq(0),
                    jobs::failures.eq(0),
                    jobs::leased_until.eq(None::<DateTime<Utc>>),
                    jobs::lease.eq(None::<Uuid>),
                ))
                .execute(conn)
                .await?
        }
    };
    held(rows, job)
}

/// Gives the job back after a failure: later, twice as late each time, and buried at last.
/// `reason` is kept with the job for the operator.
pub async fn fail(conn: &mut Connection, job: &Job, reason: &str, now: DateTime<Utc>) -> Result<()> {
    let failures = job.failures + 1;
    let buried_at = (failures >= MAX_FAILURES).then_some(now);
    let run_at = now + backoff(job.attempts);
    give_back(conn, job, GivenBack { reason, failures, run_at, buried_at }).await
}

/// Gives the job back because something that it needs is away: as after a failure, but not for long, and it is never
/// buried.
pub async fn postpone(conn: &mut Connection, job: &Job, reason: &str, now: DateTime<Utc>) -> Result<()> {
    let run_at = now + backoff(job.attempts).min(MAX_WAIT);
    give_back(conn, job, GivenBack { reason, failures: job.failures, run_at, buried_at: None }).await
}

/// Hands the job back as it was before it was claimed: nothing failed, and another worker can have it at once.
pub async fn hand_back(conn: &mut Connection, job: &Job) -> Result<()> {
    let mine = jobs::table.filter(jobs::id.eq(job.id)).filter(jobs::lease.eq(job.lease));
    let rows = diesel::update(mine)
        .set((
            jobs::attempts.eq(jobs::attempts - 1),
            jobs::leased_until.eq(None::<DateTime<Utc>>),
            jobs::lease.eq(None::<Uuid>),
        ))
        .execute(conn)
        .await?;
    held(rows, job)
}

/// A job that failed too often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Queryable)]
pub struct Buried {
    /// Its row.
    pub id: i64,
    /// What the worker looks it up by.
    pub kind: String,
    /// Why it failed the last time.
    pub last_error: Option<String>,
}

/// At most `limit` buried jobs, the oldest first.
pub async fn buried(conn: &mut Connection, limit: i64) -> Result<Vec<Buried>> {
    let buried = jobs::table.filter(jobs::buried_at.is_not_null()).order(jobs::id).limit(limit);
    Ok(buried.select((jobs::id, jobs::kind, jobs::last_error)).load(conn).await?)
}

statement! {
    /// Lets buried jobs be due, as new. Of those with one key the newest; the others have nothing left to do.
    struct Retry { now: DateTime<Utc>, now_again: DateTime<Utc> } -> ()
    "WITH newest AS (
        SELECT DISTINCT ON (coalesce(dedupe_key, id::text)) id, buried_at FROM jobs
        WHERE buried_at IS NOT NULL OR dedupe_key IN (SELECT dedupe_key FROM jobs WHERE buried_at IS NOT NULL)
        ORDER BY coalesce(dedupe_key, id::text), buried_at IS NOT NULL, id DESC
     ), superseded AS (
        DELETE FROM jobs WHERE buried_at IS NOT NULL AND id NOT IN (SELECT id FROM newest)
     ) UPDATE jobs SET buried_at = NULL, attempts = 0, failures = 0, run_at = " (now: Timestamptz)
    ", due_by = " (now_again: Timestamptz)
    " WHERE id IN (SELECT id FROM newest WHERE buried_at IS NOT NULL)"
}

/// Gives every buried job another chance. Answers how many.
pub async fn retry_buried(conn: &mut Connection, now: DateTime<Utc>) -> Result<usize> {
    Ok(Retry { now, now_again: now }.execute(conn).await?)
}

struct GivenBack<'a> {
    reason: &'a str,
    failures: i32,
    run_at: DateTime<Utc>,
    buried_at: Option<DateTime<Utc>>,
}

async fn give_back(conn: &mut Connection, job: &Job, back: GivenBack<'_>) -> Result<()> {
    let mine = jobs::table.filter(jobs::id.eq(job.id)).filter(jobs::lease.eq(job.lease));
    let rows = diesel::update(mine)
        .set((
            jobs::last_error.eq(back.reason),
            jobs::failures.eq(back.failures),
            jobs::run_at.eq(back.run_at),
            jobs::due_by.eq(back.run_at),
            jobs::leased_until.eq(None::<DateTime<Utc>>),
            jobs::lease.eq(None::<Uuid>),
            jobs::buried_at.eq(back.buried_at),
        ))
        .execute(conn)
        .await?;
    held(rows, job)
}

fn held(rows: usize, job: &Job) -> Result<()> {
    match rows {
        1 => Ok(()),
        _ => Err(Error::Contention(format!("the lease of job {} was lost", job.id))),
    }
}

/// One second after the first failure, doubled by each further one, ten minutes at most.
fn backoff(attempts: i32) -> TimeDelta {
    let doublings = attempts.saturating_sub(1).clamp(0, 16);
    TimeDelta::seconds(1 << doublings).min(MAX_BACKOFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_ten_minutes() {
        let seconds: Vec<_> = [1, 2, 3, 10, 11, 1000].map(|n| backoff(n).num_seconds()).into();
        assert_eq!(seconds, [1, 2, 4, 512, 600, 600]);
    }
}
