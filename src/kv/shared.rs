//! The connection to Redis that everybody shares, with its errors counted. Never what is asked.

use redis::aio::{ConnectionLike, ConnectionManager};
use redis::{Cmd, ErrorKind, Pipeline, RedisFuture, RedisResult, ServerErrorKind, Value};

use crate::telemetry::metrics::Errors;
use crate::telemetry::metrics::labels::{Store, StoreError, Trouble};

/// For single commands and pipelines, nothing that blocks.
#[derive(Clone)]
pub struct Shared {
    conn: ConnectionManager,
    errors: Errors,
}

impl Shared {
    pub(super) fn new(conn: ConnectionManager, errors: Errors) -> Self {
        Self { conn, errors }
    }
}

impl ConnectionLike for Shared {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move { counted(self.conn.send_packed_command(cmd).await, &self.errors) })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move { counted(self.conn.send_packed_commands(pipeline, offset, count).await, &self.errors) })
    }

    fn get_db(&self) -> i64 {
        self.conn.get_db()
    }
}

fn counted<T>(outcome: RedisResult<T>, errors: &Errors) -> RedisResult<T> {
    outcome.inspect_err(|error| {
        let kind = match error.kind() {
            ErrorKind::Server(ServerErrorKind::ResponseError) | ErrorKind::UnexpectedReturnType => Trouble::Refused,
            _ => Trouble::Unavailable,
        };
        count(errors, kind);
    })
}

/// Counts an error of Redis.
pub(super) fn count(errors: &Errors, kind: Trouble) {
    errors.get_or_create(&StoreError { store: Store::Redis, kind }).inc();
}
