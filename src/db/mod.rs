//! Postgres: the pool, transactions that are tried once more, and how its errors become Kith's.
//! Never a statement about a noun: those live in the rooms of `domain`.

mod connect;
mod errors;
pub mod migrations;
pub mod nodes;
pub mod schema;
pub mod server;
pub mod shared_commit;
mod silence;
mod statement;
mod watch;

use std::time::Duration;

use diesel::ConnectionError;
use diesel_async::pooled_connection::bb8::{Pool, PooledConnection, RunError};
use diesel_async::pooled_connection::{
    AsyncDieselConnectionManager, ManagerConfig, PoolableConnection, RecyclingMethod,
};
use diesel_async::{AsyncConnection, AsyncPgConnection};
use futures_util::FutureExt;
use tokio::runtime::Handle;

use crate::config::DatabaseUrl;
use crate::db::connect::Connector;
use crate::db::watch::Watch;
use crate::error::{Error, Result};
use crate::telemetry::metrics::Errors;
use crate::telemetry::metrics::labels::Trouble;

/// A connection to Postgres, as the functions of `domain` are given it.
pub type Connection = AsyncPgConnection;

/// A connection out of the pool; it goes back when dropped, unless it broke or holds an open transaction.
pub type Pooled = PooledConnection<'static, AsyncPgConnection>;

/// How long a request waits for a free connection before it is told UNAVAILABLE.
const CHECKOUT: Duration = Duration::from_secs(2);

/// What a pool is for, in numbers.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at most.
    pub connections: u32,
    /// How long those who use it live: the life of a request, or the lease of a job. A statement is ended by Postgres
    /// a little earlier, so that no lock or plan holds a connection for nobody.
    pub life: Duration,
}

impl Limits {
    /// What each connection begins with: what Postgres ends by itself.
    fn settings(self) -> String {
        let (life, statement) = (self.life.as_millis(), self.life.as_millis() * 9 / 10);
        format!("-c statement_timeout={statement} -c idle_in_transaction_session_timeout={life} -c jit=off")
    }
}

/// The pool.
#[derive(Clone, Debug)]
pub struct Db {
    pool: Pool<AsyncPgConnection>,
    errors: Errors,
}

impl Db {
    /// Prepares a pool within `limits`; connections are made when they are needed, and count their `errors`.
    ///
    /// Call it on the main runtime: the tasks that drive the connections live there, for on a busy
    /// HTTP thread they would stall everybody else's statements.
    pub async fn new(url: &DatabaseUrl, limits: Limits, errors: Errors) -> Result<Self> {
        let connector = Connector::new(url, &limits.settings())?;
        let mut config = ManagerConfig::<AsyncPgConnection>::default();
        config.recycling_method = RecyclingMethod::Fast;
        let (main, watched) = (Handle::current(), errors.clone());
        config.custom_setup = Box::new(move |_| {
            let (connector, main, watched) = (connector.clone(), main.clone(), watched.clone());
            async move {
                let connected = main.spawn(async move {
                    // A statement that Postgres has not ended by itself by then is not going to be answered.
                    let (mut conn, silence) = connector.connect_with_patience(limits.life).await?;
                    conn.set_instrumentation(Watch::new(watched, silence));
                    Ok(conn)
                });
                match connected.await.map_err(|error| ConnectionError::BadConnection(error.to_string()))? {
                    Ok(conn) => Ok(conn),
                    Err(Error::Unavailable(cause)) => Err(ConnectionError::BadConnection(cause)),
                    Err(other) => Err(ConnectionError::BadConnection(format!("{other:?}"))),
                }
            }
            .boxed()
        });
        // The connector knows where.
        let manager = AsyncDieselConnectionManager::new_with_config("", config);
        let pool = Pool::builder()
            .max_size(limits.connections)
            .min_idle(Some(0))
            .test_on_check_out(false)
            .connection_timeout(CHECKOUT)
            .build(manager)
            .await
            .map_err(|error| Error::Unavailable(error.to_string()))?;
        Ok(Self { pool, errors })
    }

    /// How the pool stands.
    pub fn state(&self) -> bb8::State {
        self.pool.state()
    }

    /// A connection. Errors: [`Error::Unavailable`] when none is free in time or Postgres is away.
    pub async fn get(&self) -> Result<Pooled> {
        loop {
            let mut conn = self.pool.get_owned().await.map_err(|error| match error {
                RunError::User(error) => {
                    watch::count(&self.errors, Trouble::Unavailable);
                    Error::Unavailable(error.to_string())
                }
                RunError::TimedOut => {
                    watch::count(&self.errors, Trouble::NoConnection);
                    Error::Unavailable("no connection to Postgres became free".into())
                }
            })?;
            // One that died while it waited in the pool is thrown away as it goes back.
            if !conn.is_broken() {
                return Ok(conn);
            }
        }
    }

    /// Runs a writing verb on a connection of its own, and once more if it met a deadlock or a
    /// serialization failure: the one place where Kith does so.
    pub async fn write<T, F, Fut>(&self, verb: F) -> Result<T>
    where
        F: Fn(Pooled) -> Fut,
        Fut: Future<Output = Result<T>>,
    {
        match verb(self.get().await?).await {
            Err(Error::Contention(_)) => verb(self.get().await?).await,
            outcome => outcome,
        }
    }
}

/// A connection outside of any pool, for migrations, repair and checks.
pub async fn connect(url: &DatabaseUrl) -> Result<Connection> {
    Connector::new(url, "")?.connect().await
}
