//! How an error of diesel becomes Kith's. The names of constraints carry the meaning.

use diesel::result::{DatabaseErrorInformation, DatabaseErrorKind, Error as Diesel};

use crate::error::Error;

impl From<Diesel> for Error {
    fn from(error: Diesel) -> Self {
        match error {
            Diesel::DatabaseError(kind, info) => from_database(&kind, info.as_ref()),
            Diesel::BrokenTransactionManager => Self::Unavailable("the transaction broke".into()),
            Diesel::RollbackErrorOnCommit { commit_error, .. } => Self::from(*commit_error),
            other => Self::Internal(other.to_string()),
        }
    }
}

/// Whether a rule of the schema was met, which is an answer and no trouble.
pub fn is_constraint(kind: &DatabaseErrorKind) -> bool {
    use DatabaseErrorKind as Kind;
    matches!(kind, Kind::UniqueViolation | Kind::ForeignKeyViolation | Kind::NotNullViolation | Kind::CheckViolation)
}

/// What the database says, as Kith's error.
pub fn from_database(kind: &DatabaseErrorKind, info: &(dyn DatabaseErrorInformation + Send + Sync)) -> Error {
    let text = info.message().to_owned();
    match kind {
        DatabaseErrorKind::UniqueViolation if info.constraint_name() == Some("users_handle_key") => {
            Error::Conflict { field: Some("handle"), message: "This handle is taken." }
        }
        DatabaseErrorKind::SerializationFailure => Error::Contention(text),
        // diesel has no kind of its own for these.
        _ if text.starts_with("deadlock detected") => Error::Contention(text),
        DatabaseErrorKind::ClosedConnection
        | DatabaseErrorKind::UnableToSendCommand
        | DatabaseErrorKind::ReadOnlyTransaction => Error::Unavailable(text),
        _ if text.starts_with("canceling statement") || text.starts_with("terminating connection") => {
            Error::Unavailable(text)
        }
        // What it runs on is exhausted: its disk, or its memory.
        _ if text.contains("No space left on device") || text.starts_with("out of ") => Error::Unavailable(text),
        _ if text.contains("connection") && info.constraint_name().is_none() => Error::Unavailable(text),
        _ => Error::Internal(match info.constraint_name() {
            Some(name) => format!("{text} ({name})"),
            None => text,
        }),
    }
}
