//! The clock of a test: it stands still until it is moved.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use kith::time::Clock;

/// Where the clock of every test starts: 2026-03-02T09:00:00Z in milliseconds since the Unix epoch.
pub const START_MS: i64 = 1_772_442_000_000;

/// A handle on the clock that a test's Kith reads.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// A clock that shows [`START_MS`].
    pub fn new() -> Self {
        Self(Arc::new(AtomicI64::new(START_MS)))
    }

    /// The same clock, as Kith takes it.
    pub fn shared(&self) -> Clock {
        Clock::Manual(self.0.clone())
    }

    /// What it shows, in milliseconds since the Unix epoch.
    pub fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Moves it on. Past the lease of the node number (an hour) no id can be made: [`super::Kith::advance`]
    /// renews the lease as well.
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_millis() as i64, Ordering::SeqCst);
    }

    /// Moves it back, as a machine's clock may.
    pub fn rewind(&self, by: Duration) {
        self.0.fetch_sub(by.as_millis() as i64, Ordering::SeqCst);
    }
}
