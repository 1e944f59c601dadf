//! `kith capacity`: what a Kith of some size takes. `docs/capacity.md` explains the formulae.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::cli::checks;
use crate::cli::reconcile::Format;
use crate::cli::start::{self, Outcome};
use crate::config::{DatabaseUrl, RedisUrl};
use crate::domain::capacity::model::{Load, Plan, Rate, Sizes, Table};
use crate::domain::capacity::{measure, rules};
use crate::error::Error;
use crate::kv::Kv;
use crate::telemetry::metrics::Errors;

/// What `kith capacity` needs to know.
#[derive(Args)]
pub struct Capacity {
    /// How many people.
    #[arg(long)]
    users: u64,

    /// Whom each follows, on average.
    #[arg(long, default_value_t = 50.0, value_parser = positive)]
    follows_per_user: f64,

    /// Messages a day, of all people together.
    #[arg(long, value_parser = positive)]
    messages_per_day: f64,

    /// For how many days there are messages: nothing is removed by age.
    #[arg(long, default_value_t = 365.0, value_parser = positive)]
    days: f64,

    /// Bytes of a message's title and text, on average.
    #[arg(long, default_value_t = 140.0, value_parser = positive)]
    content_bytes: f64,

    /// Likes that a message ever gets, on average.
    #[arg(long, default_value_t = 5.0, value_parser = positive)]
    likes_per_message: f64,

    /// Living sessions of a person, on average.
    #[arg(long, default_value_t = 1.5, value_parser = positive)]
    sessions_per_user: f64,

    /// Refresh tokens that are kept of a session: how often it is refreshed within 60 days.
    #[arg(long, default_value_t = 120.0, value_parser = positive)]
    tokens_per_session: f64,

    /// What part of the people read a feed within KITH_COLD_DAYS.
    #[arg(long, default_value_t = 0.3, value_parser = share)]
    hot_share: f64,

    /// Channels that each of them reads.
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    channels_read: f64,

    /// Channels that each author posts to.
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    channels_posted: f64,

    /// Followers of the average message's author, as a multiple of the average person's.
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    reach: f64,

    /// The busiest second, as a multiple of the average one.
    #[arg(long, default_value_t = 4.0, value_parser = positive)]
    peak_factor: f64,

    /// Days for which an inbox keeps references, as the server has it.
    #[arg(long, env = "KITH_INBOX_DAYS", default_value_t = 30.0, value_parser = positive)]
    inbox_days: f64,

    /// Inboxes that one step of a delivery writes to, as the server has it.
    #[arg(long, env = "KITH_DELIVERY_CHUNK", default_value_t = 1000.0, value_parser = positive)]
    delivery_chunk: f64,

    /// Take the sizes of rows and inboxes from a running Kith. ANALYZE its database before.
    #[arg(long, requires_all = ["database_url", "redis_url"])]
    measure: bool,

    /// Where Postgres is, to measure: postgres://user:password@host:port/database
    #[arg(long, env = "DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: Option<DatabaseUrl>,

    /// Where Redis is, to measure: redis://:password@host:port/database
    #[arg(long, env = "REDIS_URL", value_name = "URL", hide_env_values = true)]
    redis_url: Option<RedisUrl>,

    /// File of certificates (PEM) that are trusted for a Redis with TLS, instead of the system's.
    #[arg(long, env = "KITH_REDIS_ROOT_CERT", value_name = "FILE")]
    redis_root_cert: Option<PathBuf>,

    /// How to tell it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Prints what the load comes to. Only measuring asks Postgres and Redis anything.
pub async fn run(capacity: Capacity) -> Outcome {
    let sizes = match (capacity.measure, &capacity.database_url, &capacity.redis_url) {
        (true, Some(database_url), Some(redis_url)) => {
            measured(database_url, redis_url, capacity.redis_root_cert.as_deref()).await?
        }
        _ => rules::sizes(),
    };
    let plan = rules::plan(&capacity.load(), &sizes);
    match capacity.format {
        Format::Text => tell(&plan, &sizes),
        Format::Json => {
            let rows: Vec<_> = sizes
                .rows
                .iter()
                .map(|row| json!({ "table": row.table, "heap": row.heap, "indexes": row.indexes }))
                .collect();
            let inbox = json!({ "empty": sizes.inbox.empty, "member": sizes.inbox.member });
            println!("{}", json!({ "plan": plan, "bytesPerRow": rows, "bytesPerInbox": inbox }));
        }
    }
    Ok(())
}

impl Capacity {
    fn load(&self) -> Load {
        Load {
            users: self.users,
            follows_per_user: self.follows_per_user,
            messages_per_day: self.messages_per_day,
            days: self.days,
            content_bytes: self.content_bytes,
            likes_per_message: self.likes_per_message,
            sessions_per_user: self.sessions_per_user,
            tokens_per_session: self.tokens_per_session,
            hot_share: self.hot_share,
            channels_read: self.channels_read,
            channels_posted: self.channels_posted,
            reach: self.reach,
            peak_factor: self.peak_factor,
            inbox_days: self.inbox_days,
            delivery_chunk: self.delivery_chunk,
        }
    }
}

async fn measured(database_url: &DatabaseUrl, redis_url: &RedisUrl, roots: Option<&Path>) -> Outcome<Sizes> {
    let mut conn = checks::migrated(database_url).await?;
    let kv = Kv::new(redis_url, roots, Errors::default()).await.map_err(start::words)?;
    checks::redis(&kv).await?;
    let failed = |error: Error| {
        let cause = start::words(error);
        format!("nothing could be measured; do Postgres (DATABASE_URL) and Redis (REDIS_URL) answer? {cause}")
    };
    measure::sizes(&mut conn, &kv).await.map_err(failed)
}

fn tell(plan: &Plan, sizes: &Sizes) {
    println!("{:<18}{:>16}{:>12}{:>12}", "table", "rows", "heap", "indexes");
    for Table { name, rows, heap_bytes, index_bytes } in &plan.tables {
        println!("{name:<18}{rows:>16}{:>12}{:>12}", bytes(*heap_bytes), bytes(*index_bytes));
    }
    println!();
    println!("Postgres: {}", bytes(plan.disk_bytes));
    println!(
        "Redis: {} in {} inboxes of {:.0} members ({:.1} bytes each)",
        bytes(plan.redis_bytes),
        plan.inboxes,
        plan.members_per_inbox,
        sizes.inbox.member
    );
    let rate = |what: &str, Rate { average, peak }: Rate| println!("{what}: {average:.1} a second, {peak:.1} at peak");
    rate("Messages", plan.messages);
    rate("Deliveries", plan.deliveries);
    rate("Steps of jobs", plan.job_steps);
    println!("In flight at peak: {} messages", plan.in_flight);
}

/// In the largest unit of 1024 that leaves at least 1, with one digit behind the point.
fn bytes(number: u64) -> String {
    let (mut amount, mut unit) = (number as f64, "B");
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
        if amount < 1024.0 {
            break;
        }
        (amount, unit) = (amount / 1024.0, larger);
    }
    format!("{amount:.1} {unit}")
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if f64::is_finite(number) && number >= 0.0 => Ok(number),
        _ => Err("must be a number, not below 0".into()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    positive(text).ok().filter(|share| *share <= 1.0).ok_or_else(|| "must be a number from 0 to 1".into())
}
