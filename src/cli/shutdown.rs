//! When to end: SIGINT or SIGTERM.

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::cli::start::Outcome;

/// Turns true when the process is asked to end.
pub fn watch() -> Outcome<watch::Receiver<bool>> {
    let listen = |kind| signal(kind).map_err(|error| format!("cannot listen to signals: {error}"));
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    let (asked, watched) = watch::channel(false);
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::info!("ending: what is under way is finished first");
        asked.send_replace(true);
        // Kept open, or the end of the channel would be taken for a second signal.
        asked.closed().await;
    });
    Ok(watched)
}
