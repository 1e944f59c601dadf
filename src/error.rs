//! The one error of Kith: what went wrong, in words that any transport can carry.
//! Never how it is shown (that is `graphql/errors.rs`), never a library's error type.

use std::borrow::Cow;

/// What a verb or a question can answer instead of a value.
///
/// It has no `Display` on purpose: text for clients is made in one place, `graphql/errors.rs`, and a
/// stray `?` in a resolver that would leak a raw message does not compile.
#[allow(missing_docs, reason = "the fields are told with their variant")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Nobody is signed in, or the token, the refresh token or the session is not valid (any more).
    Unauthenticated,
    /// Nobody has this handle with this password; which of the two is wrong is not told.
    WrongPassword,
    /// The viewer sees the thing but may not do this to it.
    Forbidden,
    /// It does not exist, or the viewer may not know that it does. `what` is a noun ("message").
    NotFound { what: &'static str },
    /// An input is wrong; `field` is its path in the GraphQL input ("content", "extra").
    BadUserInput { field: Cow<'static, str>, message: String },
    /// The cursor in argument `field` is damaged or belongs to another connection.
    BadCursor { field: &'static str },
    /// The state does not allow it; `field` names the input that is in the way, if one is.
    Conflict { field: Option<&'static str>, message: &'static str },
    /// The idempotency key was used before with another input.
    IdempotencyMismatch,
    /// The request asks for more than the server allows.
    LimitExceeded { message: String },
    /// Postgres or Redis did not answer, or the server is too busy. The text is for the log only.
    Unavailable(String),
    /// A conflict between transactions (deadlock, serialization); worth one more try.
    Contention(String),
    /// A fault of ours. The text is for the log only.
    Internal(String),
}

/// A result with Kith's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A bad input: `field` is its path, `message` a sentence for the person who typed it.
    pub fn bad_input(field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::BadUserInput { field: field.into(), message: message.into() }
    }
}
