//! The connection to Redis that everybody shares. One task on the main runtime makes it, and makes it anew when it broke
//! or fell silent: only that task waits for a Redis that is away. Its errors are counted. Never what is asked.

use std::time::Duration;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, Pipeline, RedisError, RedisFuture, RedisResult, ServerErrorKind,
    Value,
};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::kv::ANSWER;
use crate::telemetry::metrics::Errors;
use crate::telemetry::metrics::labels::{Store, StoreError, Trouble};

/// How long after a failure the next connection is tried.
const PAUSE: Duration = Duration::from_millis(200);

/// A handle on the connection: single commands and pipelines, nothing that blocks.
#[derive(Clone)]
pub struct Shared {
    state: watch::Receiver<State>,
    /// The number of the newest connection that is of no use any more.
    lost: watch::Sender<u64>,
    errors: Errors,
}

#[derive(Clone)]
enum State {
    /// At first, or right after it broke: whoever comes waits for it.
    Connecting,
    Open {
        number: u64,
        connection: MultiplexedConnection,
    },
    /// Whoever comes is told so at once.
    Away(RedisError),
}

impl Shared {
    /// Begins to connect on the current runtime, which has to be the main one.
    pub(super) fn start(client: Client, errors: Errors) -> Self {
        let (publish, state) = watch::channel(State::Connecting);
        let (lost, seen) = watch::channel(0);
        tokio::spawn(async move {
            tokio::select! {
                () = keep(client, &publish, seen) => {}
                // Nobody has a handle any more.
                () = publish.closed() => {}
            }
        });
        Self { state, lost, errors }
    }

    async fn open(&mut self) -> RedisResult<(u64, MultiplexedConnection)> {
        let lost = *self.lost.borrow();
        let is_settled = |state: &State| match state {
            State::Connecting => false,
            State::Open { number, .. } => *number > lost,
            State::Away(_) => true,
        };
        let settled = timeout(ANSWER, self.state.wait_for(is_settled)).await;
        let state = settled.map_err(|_| away("it does not answer"))?.map_err(|_| away("nobody connects any more"))?;
        match &*state {
            State::Open { number, connection } => Ok((*number, connection.clone())),
            State::Away(error) => Err(error.clone()),
            State::Connecting => Err(away("it is being connected to")),
        }
    }

    /// Has the connection made anew, if `outcome` shows that it is of no use: it broke, or no answer came in time.
    fn judge<T>(&self, number: u64, outcome: RedisResult<T>) -> RedisResult<T> {
        if outcome.as_ref().is_err_and(|error| error.is_unrecoverable_error() || error.is_timeout()) {
            self.lost.send_if_modified(|newest| {
                let is_news = *newest < number;
                *newest = number.max(*newest);
                is_news
            });
        }
        outcome
    }

    fn counted<T>(&self, outcome: RedisResult<T>) -> RedisResult<T> {
        outcome.inspect_err(|error| {
            let kind = match error.kind() {
                ErrorKind::Server(ServerErrorKind::ResponseError) | ErrorKind::UnexpectedReturnType => Trouble::Refused,
                _ => Trouble::Unavailable,
            };
            count(&self.errors, kind);
        })
    }
}

fn away(why: &'static str) -> RedisError {
    (ErrorKind::Io, why).into()
}

/// Keeps a connection open. Ends only when it is dropped.
async fn keep(client: Client, publish: &watch::Sender<State>, mut lost: watch::Receiver<u64>) {
    let config = AsyncConnectionConfig::new().set_connection_timeout(Some(ANSWER)).set_response_timeout(Some(ANSWER));
    for number in 1.. {
        match client.get_multiplexed_async_connection_with_config(&config).await {
            Ok(connection) => {
                publish.send_replace(State::Open { number, connection });
                if lost.wait_for(|newest| *newest >= number).await.is_err() {
                    return;
                }
                publish.send_replace(State::Connecting);
            }
            Err(error) => {
                publish.send_replace(State::Away(error));
                sleep(PAUSE).await;
            }
        }
    }
}

impl ConnectionLike for Shared {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let outcome = match self.open().await {
                Ok((number, mut connection)) => self.judge(number, connection.req_packed_command(command).await),
                Err(error) => Err(error),
            };
            self.counted(outcome)
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        commands: &'a Pipeline,
        offset: usize,
        size: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let outcome = match self.open().await {
                Ok((number, mut connection)) => {
                    self.judge(number, connection.req_packed_commands(commands, offset, size).await)
                }
                Err(error) => Err(error),
            };
            self.counted(outcome)
        })
    }

    fn get_db(&self) -> i64 {
        match &*self.state.borrow() {
            State::Open { connection, .. } => connection.get_db(),
            _ => 0,
        }
    }
}

/// Counts an error of Redis.
pub(super) fn count(errors: &Errors, kind: Trouble) {
    errors.get_or_create(&StoreError { store: Store::Redis, kind }).inc();
}
