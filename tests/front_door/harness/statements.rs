//! Which statements a Kith in this process sent to its Postgres.

use std::sync::{Mutex, Once, PoisonError};
use std::thread::{self, ThreadId};

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};

use super::Kith;

/// The thread of the test, on which its connections are made, and the text with its bound values.
static SENT: Mutex<Vec<(ThreadId, String)>> = Mutex::new(Vec::new());
static WATCH: Once = Once::new();

/// Begins to record what is sent over connections that are made from now on: call it before `Kith::start`.
pub fn watch_statements() {
    WATCH.call_once(|| {
        set_default_instrumentation(|| Some(Box::new(Recorder(thread::current().id())))).expect("a lock")
    });
}

impl Kith {
    /// How many statements that contain `part` were sent since [`watch_statements`].
    pub fn statements(&self, part: &str) -> usize {
        let sent = SENT.lock().unwrap_or_else(PoisonError::into_inner);
        let here = thread::current().id();
        sent.iter().filter(|(test, statement)| *test == here && statement.contains(part)).count()
    }
}

struct Recorder(ThreadId);

impl Instrumentation for Recorder {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            let mut sent = SENT.lock().unwrap_or_else(PoisonError::into_inner);
            sent.push((self.0, query.to_string()));
        }
    }
}
