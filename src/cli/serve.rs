//! `kith serve`: answers requests and, unless told otherwise, runs the jobs that follow from them.

use std::net::TcpListener;

use clap::Args;

use crate::cli::start::{self, Outcome};
use crate::cli::{lease, shutdown};
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
    let asked_to_end = shutdown::watch()?;
    // Ids are needed from the first request on.
    lease::hold(&app).await?;
    let addr = &app.config.addr;
    let listener = TcpListener::bind(addr)
        .map_err(|error| format!("cannot listen on {addr} (KITH_ADDR): {error}; free it or choose another"))?;
    let local = listener.local_addr().map_err(|error| format!("cannot listen on {addr} (KITH_ADDR): {error}"))?;
    let server = server::start(app.clone(), listener).map_err(|error| format!("cannot serve on {addr}: {error}"))?;
    tracing::info!("listening on http://{local}");

    let jobs = (!serve.no_worker).then(|| tokio::spawn(worker::run::run(app.clone(), asked_to_end.clone())));
    let handle = server.handle();
    let mut asked_to_end = asked_to_end;
    tokio::spawn(async move {
        if asked_to_end.wait_for(|asked| *asked).await.is_ok() {
            handle.stop(true).await;
        }
    });
    server.await.map_err(|error| format!("the server broke: {error}"))?;
    if let Some(jobs) = jobs {
        jobs.await.map_err(|error| format!("the worker broke: {error}"))?;
    }
    app.finish().await;
    Ok(())
}
