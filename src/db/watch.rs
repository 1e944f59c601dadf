//! Counts what goes wrong on connections to Postgres, and notes when an answer is waited for. Never what becomes of it.

use diesel::connection::{Instrumentation, InstrumentationEvent, get_default_instrumentation};
use diesel::result::Error as Diesel;

use crate::db::errors;
use crate::db::silence::Silence;
use crate::telemetry::metrics::Errors;
use crate::telemetry::metrics::labels::{Store, StoreError, Trouble};

/// Watches one connection, beside whatever watches all of them.
pub struct Watch {
    errors: Errors,
    silence: Silence,
    beside: Option<Box<dyn Instrumentation>>,
}

impl Watch {
    /// Counts in `errors`, and notes in `silence`.
    pub fn new(errors: Errors, silence: Silence) -> Self {
        Self { errors, silence, beside: get_default_instrumentation() }
    }
}

impl Instrumentation for Watch {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        match &event {
            InstrumentationEvent::StartQuery { .. } => self.silence.begins(),
            InstrumentationEvent::FinishQuery { .. } => self.silence.ends(),
            _ => {}
        }
        if let InstrumentationEvent::FinishQuery { error: Some(error), .. } = &event
            && let Some(kind) = trouble(error)
        {
            count(&self.errors, kind);
        }
        self.beside.on_connection_event(event);
    }
}

/// Counts an error of Postgres.
pub fn count(errors: &Errors, kind: Trouble) {
    errors.get_or_create(&StoreError { store: Store::Postgres, kind }).inc();
}

/// What an error means; nothing if it is an answer like any other.
fn trouble(error: &Diesel) -> Option<Trouble> {
    use crate::error::Error;
    match error {
        Diesel::NotFound => None,
        Diesel::DatabaseError(kind, _) if errors::is_constraint(kind) => None,
        Diesel::DatabaseError(kind, info) => Some(match errors::from_database(kind, info.as_ref()) {
            Error::Unavailable(_) => Trouble::Unavailable,
            Error::Contention(_) => Trouble::Contention,
            _ => Trouble::Refused,
        }),
        Diesel::BrokenTransactionManager => Some(Trouble::Unavailable),
        Diesel::RollbackErrorOnCommit { commit_error, .. } => trouble(commit_error),
        _ => Some(Trouble::Refused),
    }
}
