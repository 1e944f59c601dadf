//! How an error of Redis becomes Kith's: it is away, or we asked something wrong.

use redis::{ErrorKind, RedisError, ServerErrorKind};

use crate::error::Error;

impl From<RedisError> for Error {
    fn from(error: RedisError) -> Self {
        match error.kind() {
            ErrorKind::Server(ServerErrorKind::ResponseError) | ErrorKind::UnexpectedReturnType => {
                Self::Internal(error.to_string())
            }
            _ => Self::Unavailable(error.to_string()),
        }
    }
}
