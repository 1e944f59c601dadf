//! `kith worker`: runs jobs and what the clock calls for, and answers no requests.

use clap::Args;

use crate::cli::start::{self, Outcome};
use crate::cli::{lease, listen, shutdown};
use crate::config::Config;
use crate::worker;

/// What `kith worker` needs to know.
#[derive(Args)]
pub struct Worker {
    #[command(flatten)]
    config: Config,
}

/// Runs jobs until it is asked to end; then finishes the current steps.
pub async fn run(worker: Worker) -> Outcome {
    let app = start::app(worker.config).await?;
    let asked_to_end = shutdown::watch(app.clone())?;
    // What a job writes may need ids.
    let renewing = lease::hold(&app).await?;
    let ops = listen::ops(&app)?;
    tracing::info!("running jobs");
    worker::run::run(app.clone(), asked_to_end).await;
    shutdown::finish(&app, renewing, ops).await;
    Ok(())
}
