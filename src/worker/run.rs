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

use crate::app::App;
use crate::domain::events;
use crate::error::{Error, Result};
use crate::queue;
use crate::telemetry::metrics::JobStep;
use crate::worker::{clock, reactions};

/// How long a loop that found no job waits. Reads are exact meanwhile, so this is not what people wait for.
const IDLE: Duration = Duration::from_millis(100);

/// The longest pause of a loop while Postgres is away.
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// Claims one job, runs a step of it and writes down how that ended. Answers whether there was a job.
///
/// Errors: those of the queue itself. A job that fails is logged and given back, and no error.
pub async fn step(app: &App) -> Result<bool> {
    step_unless(app, pending()).await
}

/// The same, but the job is handed back as it was when `given_up` comes first.
async fn step_unless(app: &App, given_up: impl Future<Output = ()>) -> Result<bool> {
    let claimed = {
        let mut conn = app.jobs_db.get().await?;
        queue::claim(&mut conn, app.clock.now(), app.config.job_lease).await?
    };
    let Some(job) = claimed else { return Ok(false) };
    let started = Instant::now();
    let outcome = tokio::select! {
        outcome = react(app, &job) => outcome,
        () = given_up => {
            tracing::info!(job = job.id, "a job is handed back");
            queue::hand_back(&mut *app.jobs_db.get().await?, &job).await?;
            return Ok(true);
        }
    };
    app.metrics.job_step_seconds.observe(started.elapsed().as_secs_f64());
    let mut ended = match &outcome {
        Ok(queue::Step::Done) => "done",
        Ok(queue::Step::More(_)) => "more",
        Err(Error::Unavailable(_)) => "postponed",
        Err(_) => "failed",
    };
    let mut conn = app.jobs_db.get().await?;
    let now = app.clock.now();
    let written = match outcome {
        Ok(next) => queue::settle(&mut conn, &job, next, now).await,
        Err(error) => {
            let reason = reason(&error);
            tracing::warn!(job = job.id, kind = job.kind, attempts = job.attempts, %reason, "a job failed");
            match error {
                // Nothing is wrong with the job: however long Redis is away, it is not buried for that.
                Error::Unavailable(_) => queue::postpone(&mut conn, &job, &reason, now).await,
                _ => queue::fail(&mut conn, &job, &reason, now).await,
            }
        }
    };
    match written {
        // Whoever took the job over goes on with it.
        Err(Error::Contention(cause)) => {
            ended = "lost";
            tracing::info!(job = job.id, %cause, "a job was lost to another worker");
        }
        other => other?,
    }
    app.metrics.job_steps.get_or_create(&JobStep { kind: events::KIND, outcome: ended }).inc();
    Ok(true)
}

/// Runs jobs, `worker_jobs` side by side, and what the clock calls for, until `shutdown` turns true or
/// its sender is gone; then finishes what is under way, and hands back what takes longer than a request may. Outages of Postgres and Redis are waited out.
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
        let pause = match step_unless(&app, given_up).await {
            Ok(true) => {
                backoff = IDLE;
                continue;
            }
            Ok(false) => {
                backoff = IDLE;
                IDLE
            }
            Err(error) => {
                tracing::warn!(cause = reason(&error), "the worker waits");
                backoff = (backoff * 2).min(MAX_BACKOFF);
                backoff
            }
        };
        tokio::select! {
            () = sleep(pause) => {}
            changed = shutdown.changed() => if changed.is_err() { return },
        }
    }
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
async fn react(app: &App, job: &queue::Job) -> Result<queue::Step> {
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
