//! `kith rebuild`: builds inboxes anew, of some people or of all. Never SQL.

use std::path::PathBuf;

use chrono::TimeDelta;
use clap::Args;

use crate::cli::checks;
use crate::cli::start::{self, Outcome};
use crate::config::{DatabaseUrl, RedisUrl};
use crate::domain::{inbox, users};
use crate::error::Error;
use crate::kv::Kv;
use crate::telemetry::metrics::Errors;
use crate::time::Clock;

/// What `kith rebuild` needs to know.
#[derive(Args)]
pub struct Rebuild {
    /// Whose inboxes, by their handles.
    handles: Vec<String>,

    /// Those of everybody who reads.
    #[arg(long, conflicts_with = "handles")]
    all: bool,

    /// Where Postgres is: postgres://user:password@host:port/database
    #[arg(long, env = "DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: DatabaseUrl,

    /// Where Redis is: redis://:password@host:port/database
    #[arg(long, env = "REDIS_URL", value_name = "URL", hide_env_values = true)]
    redis_url: RedisUrl,

    /// File of certificates (PEM) that are trusted for a Redis with TLS, instead of the system's.
    #[arg(long, env = "KITH_REDIS_ROOT_CERT", value_name = "FILE")]
    redis_root_cert: Option<PathBuf>,

    /// Days for which an inbox keeps references, as for the server.
    #[arg(long, env = "KITH_INBOX_DAYS", value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=36_500))]
    inbox_days: i64,
}

/// Builds each inbox, one after the other, and says how many. People go on reading meanwhile.
pub async fn run(rebuild: Rebuild) -> Outcome {
    if rebuild.handles.is_empty() && !rebuild.all {
        return Err("whose inboxes? Give handles, or --all".into());
    }
    let mut conn = checks::migrated(&rebuild.database_url).await?;
    let kv = Kv::new(&rebuild.redis_url, rebuild.redis_root_cert.as_deref(), Errors::default()).await;
    let kv = kv.map_err(start::words)?;
    checks::redis(&kv).await?;
    let oldest = Clock::System.now() - TimeDelta::days(rebuild.inbox_days);
    let stopped = |error: Error| {
        let cause = start::words(error);
        format!("not all is built; do Postgres (DATABASE_URL) and Redis (REDIS_URL) answer? {cause}")
    };
    let mut people = Vec::new();
    for handle in &rebuild.handles {
        let found = users::read::by_handle(&mut conn, handle).await.map_err(stopped)?;
        people.push(found.ok_or_else(|| format!("nobody has the handle {handle:?}"))?.id);
    }
    let (mut built, mut after) = (0, 0);
    loop {
        for user_id in &people {
            built += inbox::repair::rebuild::of(&mut conn, &kv, *user_id, oldest).await.map_err(stopped)?;
        }
        if rebuild.all {
            people = inbox::repair::rebuild::readers(&mut conn, after).await.map_err(stopped)?;
        } else {
            people.clear();
        }
        match people.last() {
            Some(last) => after = *last,
            None => break,
        }
    }
    println!("{built} inboxes are built.");
    Ok(())
}
