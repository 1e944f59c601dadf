//! How long a statement has gone unanswered on a connection: its host may be gone, and nobody said so. Never what is done
//! about it, nor how long is too long.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

/// Since when an answer of one connection is waited for, if one is.
#[derive(Clone, Default)]
pub struct Silence(Arc<Mutex<Option<Instant>>>);

impl Silence {
    /// A statement is sent. One before it that nobody waits for any more still has to be answered first.
    pub fn begins(&self) {
        self.since().get_or_insert_with(Instant::now);
    }

    /// A statement was answered.
    pub fn ends(&self) {
        *self.since() = None;
    }

    /// Ends when an answer has been waited for as long as `patience`, and up to a quarter longer.
    pub async fn lasts(&self, patience: Duration) {
        loop {
            let end = self.since().map(|since| since + patience);
            match end {
                Some(end) if end <= Instant::now() => return,
                Some(end) => sleep_until(end).await,
                None => sleep(patience / 4).await,
            }
        }
    }

    fn since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
