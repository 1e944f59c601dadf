//! The life of the worker: how jobs are claimed, run, settled and given back, through outages and until
//! shutdown. Never what a job does: that is `reactions.rs`.

use std::future::pending;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::Instrument;

use crate::app::App;
use crate::db;
use crate::error::{Error, Result};
use crate::queue::{self, Job};
use crate::telemetry::metrics::labels::{ByJob, JobStep, StepOutcome};
use crate::worker::{clock, reactions};

/// How long a loop that found no job waits. Reads are exact meanwhile, so this is not what people wait for.
const IDLE: Duration = Duration::from_millis(100);

/// The longest pause of a loop while Postgres or Redis is away.
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// How long a job that is handed back may take for that. After it the job is free when its lease is over.
const HAND_BACK: Duration = Duration::from_secs(2);

/// Claims one job, runs a step of it and writes down how that ended. Answers whether there was a job.
///
/// Errors: those of the queue itself. A job that fails is logged and given back, and no error.
pub async fn step(app: &App) -> Result<bool> {
    step_unless(app, pending()).await.map(|turn| turn != Turn::Idle)
}

/// What a turn of a loop came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// There was no job.
    Idle,
    /// There was one.
    Stepped,
    /// There was one, and what it needs is away: others would fare no better.
    Postponed,
}

/// The same, but the job is handed back as it was when `given_up` comes first.
async fn step_unless(app: &App, given_up: impl Future<Output = ()>) -> Result<Turn> {
    let claimed = {
        let mut conn = app.jobs_db.get().await?;
        // Whoever waited for the connection until now begins nothing any more.
        if app.is_ending() {
            return Ok(Turn::Idle);
        }
        queue::claim(&mut conn, app.clock.now(), app.config.job_lease).await?
    };
    let Some(job) = claimed else { return Ok(Turn::Idle) };
    let (kind, started) = (reactions::kind(&job), Instant::now());
    let span = tracing::info_span!("job", id = job.id, kind = kind.as_str());
    let outcome = finish(app, &job, given_up).instrument(span.clone()).await?;
    let took = started.elapsed();
    span.in_scope(|| tracing::debug!(outcome = outcome.as_str(), ms = took.as_millis() as u64, "a step ended"));
    app.metrics.job_step_seconds.get_or_create(&ByJob { kind }).observe(took.as_secs_f64());
    app.metrics.job_steps.get_or_create(&JobStep { kind, outcome }).inc();
    Ok(if outcome == StepOutcome::Postponed { Turn::Postponed } else { Turn::Stepped })
}

/// Runs a step of a job that is ours, and writes down how it ended.
async fn finish(app: &App, job: &Job, given_up: impl Future<Output = ()>) -> Result<StepOutcome> {
    let outcome = tokio::select! {
        outcome = react(app, job) => outcome,
        () = given_up => {
            tracing::info!("the job is handed back");
            // Not out of the pool: what held the job up may still hold its connections up.
            let handed_back = async { queue::hand_back(&mut db::connect(&app.config.database_url).await?, job).await };
            return match timeout(HAND_BACK, handed_back).await {
                Ok(outcome) => outcome.map(|()| StepOutcome::HandedBack),
                Err(_) => Err(Error::Unavailable("a job was not handed back in time".into())),
            };
        }
    };
    let ended = match &outcome {
        Ok(queue::Step::Done) => StepOutcome::Done,
        Ok(queue::Step::More { .. }) => StepOutcome::More,
        Err(Error::Unavailable(_)) => StepOutcome::Postponed,
        Err(_) => StepOutcome::Failed,
    };
    let mut conn = app.jobs_db.get().await?;
    let now = app.clock.now();
    let written = match outcome {
        Ok(next) => queue::settle(&mut conn, job, next, now).await,
        Err(error) => {
            let reason = reason(&error);
            tracing::warn!(attempts = job.attempts, %reason, "the job failed");
            match error {
                // Nothing is wrong with the job: however long Redis is away, it is not buried for that.
                Error::Unavailable(_) => queue::postpone(&mut conn, job, &reason, now).await,
                _ => queue::fail(&mut conn, job, &reason, now).await,
            }
        }
    };
    match written {
        // Whoever took the job over goes on with it.
        Err(Error::Contention(cause)) => {
            tracing::info!(%cause, "the job was lost to another worker");
            Ok(StepOutcome::Lost)
        }
        other => other.map(|()| ended),
    }
}

/// Runs jobs, `worker_jobs` side by side, and what the clock calls for, until `shutdown` turns true or
/// its sender is gone; then finishes what is under way, and hands back what takes longer than a request may. Outages of
/// Postgres and Redis are waited out.
pub async fn run(app: Arc<App>, shutdown: watch::Receiver<bool>) {
    let mut tasks = JoinSet::new();
    for _ in 0..app.config.worker_jobs {
        tasks.spawn(run_jobs(app.clone(), shutdown.clone()));
    }
    tasks.spawn(async move {
        let given_up = patience(shutdown.clone(), app.config.request_timeout);
        tokio::select! {
            () = clock::run(app, shutdown) => {}
            () = given_up => tracing::info!("a task of the clock is given up"),
        }
    });
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            tracing::error!(%error, "a loop of the worker broke");
        }
    }
}

async fn run_jobs(app: Arc<App>, mut shutdown: watch::Receiver<bool>) {
    let mut backoff = IDLE;
    while !*shutdown.borrow() {
        let given_up = patience(shutdown.clone(), app.config.request_timeout);
        match step_unless(&app, given_up).await {
            Ok(Turn::Stepped) => {
                backoff = IDLE;
                continue;
            }
            Ok(Turn::Idle) => backoff = IDLE,
            Ok(Turn::Postponed) => backoff = longer(backoff),
            Err(error) => {
                tracing::warn!(cause = reason(&error), "the worker waits");
                backoff = longer(backoff);
            }
        }
        tokio::select! {
            () = sleep(backoff) => {}
            changed = shutdown.changed() => if changed.is_err() { return },
        }
    }
}

fn longer(backoff: Duration) -> Duration {
    (backoff * 2).min(MAX_BACKOFF)
}

/// Ends `grace` after `shutdown` turned true.
async fn patience(mut shutdown: watch::Receiver<bool>, grace: Duration) {
    let is_asked = shutdown.wait_for(|asked| *asked).await.is_ok();
    if !is_asked {
        // Nobody can ask any more.
        pending::<()>().await;
    }
    sleep(grace).await;
}

/// Runs a step, no longer than its lease: after that another worker may be at it. A panic is a failure
/// like any other, or it would take the loop with it.
async fn react(app: &App, job: &Job) -> Result<queue::Step> {
    let running = AssertUnwindSafe(reactions::react(app, job)).catch_unwind();
    match timeout(app.config.job_lease, running).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(Error::Internal("it panicked".into())),
        Err(_) => Err(Error::Unavailable("it took longer than its lease".into())),
    }
}

/// What the operator reads about a failure: what it was, in at most 500 characters.
fn reason(error: &Error) -> String {
    format!("{error:?}").chars().take(500).collect()
}
