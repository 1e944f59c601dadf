//! How Kith's errors look to a client: a sentence, and `extensions.code` out of a fixed list.
//! The one place that knows both; internals stop here and go to the log.

use async_graphql::ErrorExtensions;

use crate::error::Error;

impl From<Error> for async_graphql::Error {
    fn from(error: Error) -> Self {
        let (code, message) = code_and_message(&error);
        let shown = async_graphql::Error::new(message);
        shown.extend_with(|_, extensions| {
            extensions.set("code", code);
            match &error {
                Error::BadUserInput { field, .. } => extensions.set("field", field.as_ref()),
                Error::BadCursor { field } | Error::Conflict { field: Some(field), .. } => {
                    extensions.set("field", *field);
                }
                _ => {}
            }
        })
    }
}

fn code_and_message(error: &Error) -> (&'static str, String) {
    match error {
        Error::Unauthenticated => {
            ("UNAUTHENTICATED", "Sign in first: the token is missing, expired or revoked.".into())
        }
        Error::WrongPassword => ("UNAUTHENTICATED", "The handle or the password is wrong.".into()),
        Error::Forbidden => ("FORBIDDEN", "You may not do this.".into()),
        Error::NotFound { what } => ("NOT_FOUND", format!("There is no such {what}.")),
        Error::BadUserInput { message, .. } => ("BAD_USER_INPUT", message.clone()),
        Error::BadCursor { .. } => ("BAD_CURSOR", "This cursor is damaged or belongs to another connection.".into()),
        Error::Conflict { message, .. } => ("CONFLICT", (*message).into()),
        Error::IdempotencyMismatch => {
            ("IDEMPOTENCY_MISMATCH", "This idempotency key was used before with another input.".into())
        }
        Error::LimitExceeded { message } => ("LIMIT_EXCEEDED", message.clone()),
        Error::Unavailable(cause) | Error::Contention(cause) => {
            tracing::warn!(%cause, "unavailable");
            ("UNAVAILABLE", "Kith cannot answer this right now. Try again soon.".into())
        }
        Error::Internal(cause) => {
            tracing::error!(%cause, "internal error");
            ("INTERNAL", "Something went wrong on our side.".into())
        }
    }
}
