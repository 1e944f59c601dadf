//! What runs when: one list. Each task may run twice, and at the same time in another process. Never how
//! a task is done.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::db::Connection;
use crate::domain::{auth, idempotency, inbox, messages};
use crate::error::{Error, Result};

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
                inbox::repair::beat(conn, &app.kv).await?;
                inbox::repair::sweep(conn, now, app.config.request_timeout, CHUNK).await
            }
            Self::Cold => inbox::write::cool(conn, &app.kv, now - app.config.cold_after(), CHUNK).await,
            Self::Sessions => auth::repair::purge(conn, now, CHUNK).await,
            Self::IdempotencyKeys => idempotency::purge(conn, now, CHUNK).await,
        }
    }
}

/// Runs every task once, whenever it ran last. One that fails does not stop the others.
///
/// Errors: the first one, after all have run.
pub async fn tick(app: &App) -> Result<()> {
    let mut outcome = Ok(());
    for task in TASKS {
        outcome = outcome.and(perform(app, task).await);
    }
    outcome
}

/// Runs each task when its time has come, at first at once, until `shutdown` turns true or its sender is
/// gone. A task that failed is tried again after its usual time.
pub async fn run(app: Arc<App>, mut shutdown: watch::Receiver<bool>) {
    let mut due = TASKS.map(|task| (task, Instant::now()));
    while !*shutdown.borrow() {
        for (task, at) in &mut due {
            if *at <= Instant::now() {
                // The log has the error already.
                let _ = perform(&app, *task).await;
                *at = Instant::now() + task.every();
            }
        }
        tokio::select! {
            () = sleep(BEAT) => {}
            changed = shutdown.changed() => if changed.is_err() { return },
        }
    }
}

async fn perform(app: &App, task: Task) -> Result<()> {
    // A panic is a failure like any other, or it would take the clock with it.
    let performed = AssertUnwindSafe(task.perform(app)).catch_unwind().await;
    let outcome = performed.unwrap_or_else(|_| Err(Error::Internal("it panicked".into())));
    if let Err(error) = &outcome {
        tracing::warn!(?task, ?error, "a task of the clock failed");
    }
    outcome
}
