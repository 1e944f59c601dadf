//! Which statements a Kith in this process sent to its Postgres.

use std::sync::{Mutex, Once, PoisonError};

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};

use super::Kith;

/// The address of the database, and the text with its bound values.
static SENT: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());
static WATCH: Once = Once::new();

/// Begins to record what is sent over connections that are made from now on: call it before `Kith::start`.
pub fn watch_statements() {
    WATCH.call_once(|| set_default_instrumentation(|| Some(Box::new(Recorder(String::new())))).expect("a lock"));
}

impl Kith {
    /// How many statements that contain `part` were sent since [`watch_statements`].
    pub fn statements(&self, part: &str) -> usize {
        let sent = SENT.lock().unwrap_or_else(PoisonError::into_inner);
        sent.iter().filter(|(url, statement)| *url == self.config.database_url && statement.contains(part)).count()
    }
}

struct Recorder(String);

impl Instrumentation for Recorder {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        match event {
            InstrumentationEvent::StartEstablishConnection { url, .. } => self.0 = url.to_owned(),
            InstrumentationEvent::StartQuery { query, .. } => {
                let mut sent = SENT.lock().unwrap_or_else(PoisonError::into_inner);
                sent.push((self.0.clone(), query.to_string()));
            }
            _ => {}
        }
    }
}
