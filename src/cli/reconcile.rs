//! `kith reconcile`: finds what is derived and is off, mends it, and says what that was. `docs/reconcile.md` describes
//! what it prints.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::cli::checks;
use crate::cli::start::{self, Outcome};
use crate::config::{Channels, DatabaseUrl, RedisUrl};
use crate::domain::drift::Drift;
use crate::domain::reconcile::{Means, REPAIRS};
use crate::error::Error;
use crate::kv::Kv;
use crate::queue;
use crate::telemetry::metrics::Errors;
use crate::time::Clock;

/// How many buried jobs are told one by one.
const BURIED: i64 = 100;

/// What `kith reconcile` ends with when it found something off and was told to change nothing.
const DRIFT: u8 = 2;

/// What `kith reconcile` needs to know.
#[derive(Args)]
#[command(
    after_help = "Ends with 0 when nothing was off or all is mended, with 1 when it could not look or mend, and with 2 \
                        when --dry-run found something off."
)]
pub struct Reconcile {
    /// Where Postgres is: postgres://user:password@host:port/database
    #[arg(long, env = "DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: DatabaseUrl,

    /// Where Redis is: redis://:password@host:port/database
    #[arg(long, env = "REDIS_URL", value_name = "URL", hide_env_values = true)]
    redis_url: RedisUrl,

    /// File of certificates (PEM) that are trusted for a Redis with TLS, instead of the system's.
    #[arg(long, env = "KITH_REDIS_ROOT_CERT", value_name = "FILE")]
    redis_root_cert: Option<PathBuf>,

    /// Channels that messages can be posted to, separated by commas, as for the server: inboxes of others are dropped.
    /// `default` is always one.
    #[arg(long, env = "KITH_CHANNELS", default_value = "default")]
    channels: Channels,

    /// Only tell what is off.
    #[arg(long)]
    dry_run: bool,

    /// Give the jobs that failed too often another chance.
    #[arg(long, conflicts_with = "dry_run")]
    retry_buried: bool,

    /// How to tell it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How something is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Lines, for people.
    Text,
    /// One JSON object.
    Json,
}

/// Tells each thing that is off, and mends it. Running it again finds nothing more; people may go on meanwhile.
pub async fn run(reconcile: Reconcile) -> Outcome<ExitCode> {
    let mut conn = checks::migrated(&reconcile.database_url).await?;
    let kv = Kv::new(&reconcile.redis_url, reconcile.redis_root_cert.as_deref(), Errors::default()).await;
    let kv = kv.map_err(start::words)?;
    checks::redis(&kv).await?;
    let now = Clock::System.now();
    let mut means = Means { conn: &mut conn, kv: &kv, channels: &reconcile.channels, now };
    let mut drifts = Vec::new();
    for repair in REPAIRS {
        let stopped = |error: Error| {
            let cause = start::words(error);
            format!(
                "{repair:?} could not be looked through; do Postgres (DATABASE_URL) and Redis (REDIS_URL) answer? {cause}"
            )
        };
        let mut at = 0;
        loop {
            let slice = match reconcile.dry_run {
                true => repair.look(&mut means, at).await,
                false => repair.mend(&mut means, at).await,
            };
            let slice = slice.map_err(stopped)?;
            if reconcile.format == Format::Text {
                slice.drifts.iter().for_each(|drift| println!("{}", line(drift, reconcile.dry_run)));
            }
            drifts.extend(slice.drifts);
            at = slice.next;
            if at == 0 {
                break;
            }
        }
    }
    let buried = queue::buried(&mut conn, BURIED).await.map_err(start::database)?;
    let retried = match reconcile.retry_buried {
        true => queue::retry_buried(&mut conn, now).await.map_err(start::database)?,
        false => 0,
    };
    match reconcile.format {
        Format::Text => tell(&drifts, &buried, retried, reconcile.dry_run),
        Format::Json => println!(
            "{}",
            json!({ "dryRun": reconcile.dry_run, "drifts": drifts, "buriedJobs": buried, "retriedJobs": retried })
        ),
    }
    Ok(if reconcile.dry_run && !drifts.is_empty() { ExitCode::from(DRIFT) } else { ExitCode::SUCCESS })
}

fn line(drift: &Drift, is_dry_run: bool) -> String {
    let Drift { kind, id, what, found, expected } = drift;
    match is_dry_run {
        true => format!("{kind}: {id} {what} is {found}, should be {expected}"),
        false => format!("{kind}: {id} {what} was {found}, is {expected}"),
    }
}

fn tell(drifts: &[Drift], buried: &[queue::Buried], retried: usize, is_dry_run: bool) {
    for queue::Buried { id, kind, last_error } in buried {
        println!("buried: job {id}, {kind}: {}", last_error.as_deref().unwrap_or("it is not known why"));
    }
    match (drifts.len(), is_dry_run) {
        (0, _) => println!("All is right."),
        (off, true) => println!("{off} are off; without --dry-run they are mended."),
        (off, false) => println!("{off} were off and are mended."),
    }
    match (buried.len(), retried) {
        (0, _) => {}
        (_, 0) => println!("Jobs failed too often and are buried; --retry-buried gives them another chance."),
        (_, retried) => println!("{retried} buried jobs get another chance."),
    }
}
