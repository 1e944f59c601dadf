//! Which statements a Kith in this process sent to its Postgres, and which of them were on their way together.

use std::collections::HashMap;
use std::sync::{Mutex, Once, PoisonError};
use std::thread::{self, ThreadId};

use diesel::connection::{DebugQuery, Instrumentation, InstrumentationEvent, set_default_instrumentation};

use super::Kith;

/// What happened, in its order.
static SENT: Mutex<Vec<Event>> = Mutex::new(Vec::new());
static WATCH: Once = Once::new();

struct Event {
    /// The thread of the test, on which its connections are made.
    test: ThreadId,
    /// Numbers the connections of all tests.
    connection: usize,
    /// The text of what was sent with its bound values, or nothing for an answer.
    statement: Option<String>,
}

/// Begins to record what is sent over connections that are made from now on: call it before `Kith::start`.
pub fn watch_statements() {
    WATCH.call_once(|| {
        set_default_instrumentation(|| {
            static CONNECTIONS: Mutex<usize> = Mutex::new(0);
            let mut connections = CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner);
            *connections += 1;
            Some(Box::new(Recorder { test: thread::current().id(), connection: *connections }))
        })
        .expect("a lock");
    });
}

impl Kith {
    /// How many statements that contain `part` were sent since [`watch_statements`].
    pub fn statements(&self, part: &str) -> usize {
        self.round_trips(0).iter().flatten().filter(|statement| statement.contains(part)).count()
    }

    /// How many statements were sent and answers came since [`watch_statements`]: a moment for [`Kith::round_trips`].
    pub fn moment(&self) -> usize {
        let sent = SENT.lock().unwrap_or_else(PoisonError::into_inner);
        sent.iter().filter(|event| event.test == thread::current().id()).count()
    }

    /// The round trips to Postgres since a moment, in the order in which they began: in each the statements that were sent
    /// down one connection before the first of their answers came.
    pub fn round_trips(&self, since: usize) -> Vec<Vec<String>> {
        let sent = SENT.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut trips, mut open) = (Vec::<Vec<String>>::new(), HashMap::new());
        for event in sent.iter().filter(|event| event.test == thread::current().id()).skip(since) {
            let Some(statement) = &event.statement else {
                open.remove(&event.connection);
                continue;
            };
            let trip = *open.entry(event.connection).or_insert(trips.len());
            if trip == trips.len() {
                trips.push(Vec::new());
            }
            trips[trip].push(statement.clone());
        }
        trips
    }
}

struct Recorder {
    test: ThreadId,
    connection: usize,
}

impl Instrumentation for Recorder {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        // What a new connection begins with is nobody's question.
        let is_set_up = |query: &dyn DebugQuery| query.to_string().starts_with("SET ");
        let statement = match event {
            InstrumentationEvent::StartQuery { query, .. } if !is_set_up(query) => Some(query.to_string()),
            InstrumentationEvent::FinishQuery { query, .. } if !is_set_up(query) => None,
            _ => return,
        };
        let mut sent = SENT.lock().unwrap_or_else(PoisonError::into_inner);
        sent.push(Event { test: self.test, connection: self.connection, statement });
    }
}
