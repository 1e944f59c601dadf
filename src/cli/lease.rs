//! Holds a node number for as long as the process runs. Without one no id can be made.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::app::App;
use crate::cli::start::{self, Outcome};

/// How long to wait after a renewal that failed.
const RETRY: Duration = Duration::from_secs(1);

/// Leases a node number and keeps renewing it on the runtime that this is called on. When Postgres is
/// away for too long the generator of ids refuses by itself; this goes on trying, until the task is aborted.
pub async fn hold(app: &Arc<App>) -> Outcome<JoinHandle<()>> {
    app.lease_node().await.map_err(|error| format!("no node number could be leased: {}", start::words(error)))?;
    let app = app.clone();
    Ok(tokio::spawn(async move {
        let mut pause = app.config.node_lease / 3;
        loop {
            sleep(pause).await;
            pause = match app.lease_node().await {
                Ok(()) => app.config.node_lease / 3,
                Err(error) => {
                    tracing::warn!(?error, "the node number could not be renewed");
                    RETRY
                }
            };
        }
    }))
}
