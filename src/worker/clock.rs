//! What runs when: one list. Each task may run twice, and at the same time in another process. Never how
//! a task is done.

use std::fmt::Debug;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::db::Connection;
use crate::domain::drift::Drift;
use crate::domain::inbox::repair::strays;
use crate::domain::reconcile::{Means, REPAIRS, Repair};
use crate::domain::{auth, idempotency, inbox, messages};
use crate::error::{Error, Result};
use crate::telemetry::metrics::DRIFTS;
use crate::telemetry::metrics::labels;

/// How closely the times of the list are kept.
const BEAT: Duration = Duration::from_secs(1);

/// Rows that one statement of a task clears at most: none holds its locks for long.
const CHUNK: i64 = 1000;

/// Chunks that a task clears at once at most. What is left is for the next time.
const CHUNKS: usize = 100;

/// What the clock calls for.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// The partitions that will be written to.
    Partitions,
    /// Whether Redis is still what it was; then, messages that are in flight no longer.
    InFlight,
    /// Feeds that nobody reads any more.
    Cold,
    /// Sessions that ended long ago.
    Sessions,
    /// Idempotency keys that nobody comes back with.
    IdempotencyKeys,
}

const TASKS: [Task; 5] = [Task::Partitions, Task::InFlight, Task::Cold, Task::Sessions, Task::IdempotencyKeys];

/// How long after the end of a round a repair begins the next one, and how long it rests between two slices of it.
const ROUND: Duration = Duration::from_secs(3600);
const SLICE: Duration = Duration::from_secs(5);

/// How long after a failure a repair tries its slice again.
const AGAIN: Duration = Duration::from_secs(60);

impl Task {
    fn every(self) -> Duration {
        match self {
            Self::Partitions => Duration::from_secs(6 * 3600),
            Self::InFlight => Duration::from_secs(2),
            Self::Cold => Duration::from_secs(60),
            Self::Sessions | Self::IdempotencyKeys => Duration::from_secs(3600),
        }
    }

    async fn perform(self, app: &App) -> Result<()> {
        let mut conn = app.jobs_db.get().await?;
        let mut all = 0;
        for _ in 0..CHUNKS {
            let cleared = self.clear(app, &mut conn).await?;
            all += cleared;
            if (cleared as i64) < CHUNK {
                break;
            }
        }
        if all > 0 {
            tracing::debug!(task = ?self, cleared = all);
        }
        Ok(())
    }

    /// Does a task, or a chunk of it. Answers how much it cleared.
    async fn clear(self, app: &App, conn: &mut Connection) -> Result<usize> {
        let now = app.clock.now();
        match self {
            Self::Partitions => messages::partitions::ensure(conn, now).await.map(|()| 0),
            Self::InFlight => {
                inbox::repair::beat(conn, &app.kv, now).await?;
                inbox::repair::sweep(conn, now, app.config.request_timeout, CHUNK).await
            }
            Self::Cold => inbox::write::cool(conn, &app.kv, now - app.config.cold_after(), CHUNK).await,
            Self::Sessions => auth::repair::purge(conn, now, CHUNK).await,
            Self::IdempotencyKeys => idempotency::purge(conn, now, CHUNK).await,
        }
    }
}

/// Runs every task once, whenever it ran last, and no repair: nothing may be mended unseen in a test. One that fails
/// does not stop the others.
///
/// Errors: the first one, after all have run.
pub async fn tick(app: &App) -> Result<()> {
    let mut outcome = Ok(());
    for task in TASKS {
        outcome = outcome.and(perform(app, task).await);
    }
    outcome
}

/// Mends one slice, the one that begins at `at`, of what a repair is about. Answers where the next one begins.
///
/// What is derived is kept right by whoever changes what it is derived from; so what is found here is a fault of Kith,
/// or somebody's hand in the database, and the log says so.
pub async fn mend(app: &App, repair: Repair, at: i64) -> Result<i64> {
    let mut conn = app.jobs_db.get().await?;
    let channels = &app.config.channels;
    let mut means = Means { conn: &mut conn, kv: &app.kv, channels, now: app.clock.now() };
    let slice = repair.mend(&mut means, at).await?;
    for Drift { kind, id, what, found, expected } in slice.drifts {
        match kind.as_str() {
            // These come about in daily use.
            strays::STRAY => tracing::debug!(kind, id, what, found, expected, "mended"),
            strays::LACKING => tracing::error!(kind, id, what, found, expected, "mended: a delivery did not arrive"),
            _ => tracing::warn!(kind, id, what, found, expected, "mended"),
        }
        if let Some(kind) = DRIFTS.into_iter().find(|known| *known == kind) {
            app.metrics.drift.get_or_create(&labels::Drift { kind }).inc();
        }
    }
    Ok(slice.next)
}

/// Runs each task when its time has come, at first at once, and the repairs slice by slice, until `shutdown` turns true
/// or its sender is gone. A task that failed is tried again after its usual time.
pub async fn run(app: Arc<App>, mut shutdown: watch::Receiver<bool>) {
    let mut due = TASKS.map(|task| (task, Instant::now()));
    let mut slices = REPAIRS.map(|repair| (repair, Instant::now(), 0));
    while !*shutdown.borrow() {
        for (task, at) in &mut due {
            if *at <= Instant::now() {
                // The log has the error already.
                let _ = perform(&app, *task).await;
                *at = Instant::now() + task.every();
            }
        }
        for (repair, at, slice) in &mut slices {
            if *at <= Instant::now() {
                let pause = match guarded(repair, mend(&app, *repair, *slice)).await {
                    Err(_) => AGAIN,
                    Ok(next) => {
                        *slice = next;
                        if next == 0 { ROUND } else { SLICE }
                    }
                };
                *at = Instant::now() + pause;
            }
        }
        tokio::select! {
            () = sleep(BEAT) => {}
            changed = shutdown.changed() => if changed.is_err() { return },
        }
    }
}

async fn perform(app: &App, task: Task) -> Result<()> {
    guarded(&task, task.perform(app)).await
}

/// Writes a failure to the log. A panic is one like any other, or it would take the clock with it.
async fn guarded<T>(what: &impl Debug, work: impl Future<Output = Result<T>>) -> Result<T> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    let outcome = done.unwrap_or_else(|_| Err(Error::Internal("it panicked".into())));
    if let Err(error) = &outcome {
        tracing::warn!(task = ?what, ?error, "a task of the clock failed");
    }
    outcome
}
