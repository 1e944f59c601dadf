//! The shared handles of a running Kith, made in one place for the program and for the tests.
//! Never decisions, never a transport.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use uuid::Uuid;

use crate::config::Config;
use crate::db::shared_commit::SharedCommit;
use crate::db::{self, Db, Limits};
use crate::domain::auth::passwords::Passwords;
use crate::domain::auth::tokens::Tokens;
use crate::domain::likes;
use crate::error::Result;
use crate::ids::Generator;
use crate::kv::Kv;
use crate::page::Cursors;
use crate::telemetry::metrics::Metrics;
use crate::time::Clock;

/// What operators ask must never weigh on Postgres: nothing of it takes a second.
const OPS: Limits = Limits { connections: 1, life: Duration::from_secs(1) };

/// What a request or a job needs to reach the world.
pub struct App {
    /// The settings.
    pub config: Config,
    /// What time it is.
    pub clock: Clock,
    /// Makes ids while a node number is held.
    pub ids: Generator,
    /// Postgres, for requests.
    pub db: Db,
    /// Postgres, for jobs and the clock: they never keep a request waiting for a connection.
    pub jobs_db: Db,
    /// Postgres, for what operators ask: one connection, so that they are answered also when the others are all in use.
    pub ops_db: Db,
    /// Redis.
    pub kv: Kv,
    /// What is counted and measured.
    pub metrics: Metrics,
    /// Reads and writes cursors.
    pub cursors: Cursors,
    /// Issues and verifies access tokens.
    pub tokens: Tokens,
    /// Hashes and compares passwords.
    pub passwords: Passwords,
    /// Likes and unlikes, which share their commits.
    pub likes: SharedCommit<likes::model::Op>,
    holder: Uuid,
    is_ending: AtomicBool,
}

impl App {
    /// Makes the handles. Nothing is connected yet, and no id can be made before [`App::lease_node`].
    ///
    /// Call it on the main runtime, which drives the connections and what is written in batches.
    pub async fn new(config: Config, clock: Clock) -> Result<Arc<Self>> {
        let requests = Limits { connections: config.database_pool, life: config.request_timeout };
        let jobs = Limits { connections: config.worker_pool, life: config.job_lease };
        let metrics = Metrics::new();
        let errors = || metrics.store_errors.clone();
        let db = Db::new(&config.database_url, requests, errors()).await?;
        Ok(Arc::new(Self {
            likes: SharedCommit::start(db.clone()),
            db,
            jobs_db: Db::new(&config.database_url, jobs, errors()).await?,
            ops_db: Db::new(&config.database_url, OPS, errors()).await?,
            kv: Kv::new(&config.redis_url, config.redis_root_cert.as_deref(), errors()).await?,
            metrics,
            cursors: Cursors::new(&config.secrets),
            tokens: Tokens::new(&config.secrets)?,
            passwords: Passwords::new()?,
            ids: Generator::default(),
            holder: Uuid::new_v4(),
            is_ending: AtomicBool::new(false),
            clock,
            config,
        }))
    }

    /// Leases a node number, or renews the one that is held.
    pub async fn lease_node(&self) -> Result<()> {
        let mut conn = self.db.get().await?;
        let lease = db::nodes::lease(&mut conn, self.holder, self.config.node_lease, self.clock.now_ms()).await?;
        self.ids.hold(lease);
        Ok(())
    }

    /// Gives the node number back, so that another process can have it at once. No id is made from then on.
    pub async fn release_node(&self) -> Result<()> {
        let last_ms = self.ids.release();
        db::nodes::release(&mut *self.db.get().await?, self.holder, last_ms).await
    }

    /// Waits until all that was taken in is written and answered; from now on nothing more is taken in.
    pub async fn finish(&self) {
        self.likes.finish().await;
    }

    /// The process was asked to end: it is not ready any more.
    pub fn end(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
    }

    /// Whether the process was asked to end.
    pub fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// The next id. Errors: [`crate::error::Error::Unavailable`] without a lease.
    pub fn next_id(&self) -> Result<i64> {
        self.ids.next(self.clock.now_ms())
    }
}
