//! What time it is. The only place that asks the machine's clock, so that a test can be the clock.
//! Never durations or schedules: those live with what they are for.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, Utc};

/// A source of the present moment.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// A clock that stands still until it is moved: milliseconds since the Unix epoch.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// The present moment, to the millisecond.
    pub fn now(&self) -> DateTime<Utc> {
        let ms = self.now_ms();
        DateTime::from_timestamp_millis(ms).unwrap_or_default()
    }

    /// Milliseconds since the Unix epoch.
    pub fn now_ms(&self) -> i64 {
        match self {
            Self::System => Utc::now().timestamp_millis(),
            Self::Manual(ms) => ms.load(Ordering::SeqCst),
        }
    }
}
