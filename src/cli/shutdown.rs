//! When to end, at SIGINT or SIGTERM, and what is left to do then.

use std::sync::Arc;

use actix_web::dev::ServerHandle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::app::App;
use crate::cli::start::Outcome;

/// Turns true when the process is asked to end; it is not ready from then on. Asked again, it ends at once.
pub fn watch(app: Arc<App>) -> Outcome<watch::Receiver<bool>> {
    let listen = |kind| signal(kind).map_err(|error| format!("cannot listen to signals: {error}"));
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    let (asked, watched) = watch::channel(false);
    tokio::spawn(async move {
        let mut ask = async || {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        };
        ask().await;
        tracing::info!("ending: what is under way is finished first");
        app.end();
        asked.send_replace(true);
        ask().await;
        tracing::warn!("ending at once");
        std::process::exit(1);
    });
    Ok(watched)
}

/// The last steps: what was taken in is written, the node number is free for another, and nothing is told any more.
pub async fn finish(app: &App, renewing: JoinHandle<()>, ops: Option<ServerHandle>) {
    app.finish().await;
    renewing.abort();
    // A renewal that is under way would take the number again.
    let _ = renewing.await;
    if let Err(error) = app.release_node().await {
        tracing::warn!(?error, "the node number is not free before its lease is over");
    }
    if let Some(ops) = ops {
        ops.stop(true).await;
    }
}
