//! Waiting for another process, the one thing that a test cannot step. Never used where stepping is possible.

use std::time::Duration;

/// Asks up to 1600 times, 25 ms apart, until `condition` answers something; panics with `what` if it never does.
pub async fn until<T>(what: &str, mut condition: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..1600 {
        if let Some(found) = condition().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("waited in vain until {what}");
}
