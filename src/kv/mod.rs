//! Redis: one shared connection for pipelines and reads, a pool for scripts. Never what a key means.

mod errors;
pub mod keys;

use std::time::Duration;

use bb8::RunError;
use bb8_redis::RedisConnectionManager;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};

use crate::error::{Error, Result};

/// How long an answer of Redis is waited for. Everything in Redis has another way round it.
const ANSWER: Duration = Duration::from_millis(500);

/// How many scripts run side by side.
pub const SCRIPTS: u32 = 8;

/// The ways to Redis.
#[derive(Clone)]
pub struct Kv {
    shared: ConnectionManager,
    owned: bb8::Pool<RedisConnectionManager>,
}

/// A connection that is ours alone while we hold it.
pub type Owned = bb8::PooledConnection<'static, RedisConnectionManager>;

impl Kv {
    /// Prepares the connections; they are made when they are needed and made again when they break.
    /// Call it on the main runtime: the task that drives the shared connection lives there.
    pub async fn new(url: &str) -> Result<Self> {
        let client = redis::Client::open(url)?;
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(ANSWER))
            .set_connection_timeout(Some(ANSWER))
            .set_number_of_retries(1);
        let owned = bb8::Pool::builder()
            .max_size(SCRIPTS)
            .min_idle(Some(0))
            .connection_timeout(ANSWER)
            .build(RedisConnectionManager::new(url)?)
            .await?;
        Ok(Self { shared: ConnectionManager::new_lazy_with_config(client, config)?, owned })
    }

    /// The connection that everybody shares: single commands and pipelines, nothing that blocks.
    pub fn shared(&self) -> ConnectionManager {
        self.shared.clone()
    }

    /// How many connections for scripts there are, and how many of them nobody uses.
    pub fn connections(&self) -> (u32, u32) {
        let state = self.owned.state();
        (state.connections, state.idle_connections)
    }

    /// Whether Redis answers. Errors: [`Error::Unavailable`].
    pub async fn ping(&self) -> Result<()> {
        Ok(redis::cmd("PING").query_async(&mut self.shared()).await?)
    }

    /// A connection for a script. Errors: [`Error::Unavailable`].
    pub async fn owned(&self) -> Result<Owned> {
        self.owned.get_owned().await.map_err(|error| match error {
            RunError::User(error) => error.into(),
            RunError::TimedOut => Error::Unavailable("no connection to Redis became free".into()),
        })
    }
}
