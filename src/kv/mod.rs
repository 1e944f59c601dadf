//! Redis: one shared connection for pipelines and reads, a pool for scripts. Never what a key means.

mod errors;
pub mod keys;
pub mod server;
mod shared;

use std::path::Path;
use std::time::Duration;

use bb8::RunError;
use bb8_redis::RedisConnectionManager;

use crate::config::RedisUrl;
use crate::error::{Error, Result};
pub use crate::kv::shared::Shared;
use crate::kv::shared::count;
use crate::telemetry::metrics::Errors;
use crate::telemetry::metrics::labels::Trouble;
use crate::tls;

/// How long an answer of Redis is waited for. Everything in Redis has another way round it.
const ANSWER: Duration = Duration::from_millis(500);

/// How many scripts run side by side.
pub const SCRIPTS: u32 = 8;

/// Keys that one SCAN looks at, roughly.
const SCANNED: usize = 100;

/// The ways to Redis.
#[derive(Clone)]
pub struct Kv {
    shared: Shared,
    owned: bb8::Pool<RedisConnectionManager>,
    errors: Errors,
}

/// A connection that is ours alone while we hold it.
pub type Owned = bb8::PooledConnection<'static, RedisConnectionManager>;

impl Kv {
    /// Prepares the connections; they are made when they are needed and made again when they break. With `rediss://`
    /// the certificates to trust are those in the file `roots` (PEM), or else the system's.
    ///
    /// Call it on the main runtime: the task that drives the shared connection lives there.
    /// Errors: [`Error::Unavailable`] with a sentence for the operator.
    pub async fn new(url: &RedisUrl, roots: Option<&Path>, errors: Errors) -> Result<Self> {
        let client = client(url, roots).map_err(Error::Unavailable)?;
        let owned = bb8::Pool::builder()
            .max_size(SCRIPTS)
            .min_idle(Some(0))
            // Longer than the test of one that is there: one which falls silent is thrown away, not put back.
            .connection_timeout(ANSWER * 3)
            .build(RedisConnectionManager::new(client.get_connection_info().clone())?)
            .await?;
        Ok(Self { shared: Shared::start(client, errors.clone()), owned, errors })
    }

    /// The connection that everybody shares: single commands and pipelines, nothing that blocks.
    pub fn shared(&self) -> Shared {
        self.shared.clone()
    }

    /// How the pool of connections for scripts stands.
    pub fn state(&self) -> bb8::State {
        self.owned.state()
    }

    /// Whether Redis answers. Errors: [`Error::Unavailable`].
    pub async fn ping(&self) -> Result<()> {
        let ask = async || redis::cmd("PING").query_async(&mut self.shared()).await;
        // That a connection is broken is found by the first command on it, which fails: that one tells nothing.
        match ask().await {
            Ok(()) => Ok(()),
            Err(_) => Ok(ask().await?),
        }
    }

    /// Some keys that match `pattern`, and the cursor to go on from: 0 at first, and 0 at the end. It goes through one
    /// Redis: with a cluster each master would have to be gone through.
    ///
    /// Errors: [`Error::Unavailable`].
    pub async fn scan(&self, cursor: u64, pattern: &str) -> Result<(u64, Vec<String>)> {
        let mut scan = redis::cmd("SCAN");
        scan.cursor_arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(SCANNED);
        Ok(scan.query_async(&mut self.shared()).await?)
    }

    /// A connection for a script. Errors: [`Error::Unavailable`].
    pub async fn owned(&self) -> Result<Owned> {
        self.owned.get_owned().await.map_err(|error| match error {
            RunError::User(error) => {
                count(&self.errors, Trouble::Unavailable);
                error.into()
            }
            RunError::TimedOut => {
                count(&self.errors, Trouble::NoConnection);
                Error::Unavailable("no connection to Redis became free".into())
            }
        })
    }
}

fn client(url: &RedisUrl, roots: Option<&Path>) -> Result<redis::Client, String> {
    tls::install();
    // The client names what is wrong, never the address.
    let unreadable = |error: redis::RedisError| {
        format!(
            "REDIS_URL cannot be read ({error}): write redis://:password@host:port/database, and / : @ ? # % in a password as \
             %2F %3A %40 %3F %23 %25"
        )
    };
    let plain = redis::Client::open(url.as_str()).map_err(unreadable)?;
    match (roots, plain.get_connection_info().addr()) {
        (Some(path), redis::ConnectionAddr::TcpTls { .. }) => {
            let root_cert = tls::pem(path).map_err(|cause| format!("KITH_REDIS_ROOT_CERT is not valid: {cause}"))?;
            let trusted = redis::TlsCertificates { client_tls: None, root_cert: Some(root_cert) };
            redis::Client::build_with_tls(url.as_str(), trusted).map_err(unreadable)
        }
        _ => Ok(plain),
    }
}
