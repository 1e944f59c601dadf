//! `kith serve`: answers requests and, unless told otherwise, runs the jobs that follow from them.

use clap::Args;
use tokio::time::sleep;

use crate::cli::start::{self, Outcome};
use crate::cli::{lease, listen, shutdown};
use crate::config::Config;
use crate::http::server;
use crate::worker;

/// What `kith serve` needs to know.
#[derive(Args)]
pub struct Serve {
    #[command(flatten)]
    config: Config,

    /// Leave the jobs to other processes (`kith worker`).
    #[arg(long, env = "KITH_NO_WORKER")]
    no_worker: bool,
}

/// Serves until it is asked to end; then answers what has begun, and finishes the current steps of jobs.
pub async fn run(serve: Serve) -> Outcome {
    let app = start::app(serve.config).await?;
    let mut asked_to_end = shutdown::watch(app.clone())?;
    // Ids are needed from the first request on.
    let renewing = lease::hold(&app).await?;
    let listener = listen::bind(&app.config.addr, "KITH_ADDR")?;
    let local = listener.local_addr().map_or(app.config.addr.clone(), |local| local.to_string());
    let ops = listen::ops(&app)?;
    let server = server::start(app.clone(), listener).map_err(|error| format!("cannot serve on {local}: {error}"))?;
    tracing::info!("listening on http://{local}");

    let jobs = (!serve.no_worker).then(|| tokio::spawn(worker::run::run(app.clone(), asked_to_end.clone())));
    let (handle, drain) = (server.handle(), app.config.drain);
    tokio::spawn(async move {
        if asked_to_end.wait_for(|asked| *asked).await.is_ok() {
            sleep(drain).await;
            handle.stop(true).await;
        }
    });
    server.await.map_err(|error| format!("the server broke: {error}"))?;
    if let Some(jobs) = jobs {
        jobs.await.map_err(|error| format!("the worker broke: {error}"))?;
    }
    shutdown::finish(&app, renewing, ops).await;
    Ok(())
}
