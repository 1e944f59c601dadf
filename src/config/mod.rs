//! Every setting of Kith, read once at start from flags and environment. Never read anywhere else.

mod addresses;
mod lists;
mod secrets;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use chrono::TimeDelta;
use clap::Args;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use url::Url;

pub use addresses::{DatabaseUrl, RedisUrl, SslMode};
pub use lists::{Channels, Origins};
pub use secrets::Secrets;

/// The settings. `.env.example` lists the same names and docs/configuration.md is written from this; tests hold them together.
#[derive(Args, Clone, Debug)]
pub struct Config {
    /// Where Postgres is: postgres://user:password@host:port/database. As for libpq, `?sslmode=` says how the way there is
    /// secured (disable, prefer, require, verify-ca, verify-full) and `sslrootcert=` which file (PEM) has the roots to trust.
    #[arg(long, env = "DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: DatabaseUrl,

    /// Where Redis is: redis://:password@host:port/database, or rediss:// for TLS.
    #[arg(long, env = "REDIS_URL", value_name = "URL", hide_env_values = true)]
    pub redis_url: RedisUrl,

    /// File of certificates (PEM) that are trusted for a Redis with TLS, instead of the system's.
    #[arg(long, env = "KITH_REDIS_ROOT_CERT", value_name = "FILE")]
    pub redis_root_cert: Option<PathBuf>,

    /// Secrets that sign tokens and cursors, id:base64url separated by commas. The first signs, all are
    /// accepted. An id is 0 to 255, a secret at least 32 bytes: `echo 1:$(head -c 32 /dev/urandom | basenc --base64url | tr -d =)`
    #[arg(long, env = "KITH_SECRETS", value_name = "SECRETS", hide_env_values = true)]
    pub secrets: Secrets,

    /// Address and port to listen on.
    #[arg(long, env = "KITH_ADDR", value_name = "HOST:PORT", default_value = "127.0.0.1:4000", value_parser = host_and_port)]
    pub addr: String,

    /// Address and port at which operators find /metrics, /healthz and /readyz, and strangers should not. Without it there
    /// are no metrics, and of a worker nothing is served. Each process on a machine needs its own.
    #[arg(long, env = "KITH_OPS_ADDR", value_name = "HOST:PORT", value_parser = host_and_port)]
    pub ops_addr: Option<String>,

    /// Origins (https://host, https://host:port) whose web pages may call the API, separated by commas; * for
    /// any. Nobody is at risk by it, for a browser sends no token by itself. The playground needs none.
    #[arg(long, env = "KITH_ALLOWED_ORIGINS", value_name = "ORIGINS", default_value = "")]
    pub allowed_origins: Origins,

    /// Channels that messages can be posted to, separated by commas. `default` is always one.
    #[arg(long, env = "KITH_CHANNELS", value_name = "CHANNELS", default_value = "default")]
    pub channels: Channels,

    /// Threads that answer HTTP. 0 means one a core.
    #[arg(long, env = "KITH_HTTP_THREADS", value_name = "THREADS", default_value_t = 0)]
    pub http_threads: usize,

    /// Connections to Postgres for requests.
    #[arg(long, env = "KITH_DATABASE_POOL", value_name = "CONNECTIONS", default_value_t = 16, value_parser = at_least_one::<u32>)]
    pub database_pool: u32,

    /// Connections to Postgres for the jobs of this process and what its clock calls for.
    #[arg(long, env = "KITH_WORKER_POOL", value_name = "CONNECTIONS", default_value_t = 6, value_parser = at_least_one::<u32>)]
    pub worker_pool: u32,

    /// Jobs that the worker runs side by side.
    #[arg(long, env = "KITH_WORKER_JOBS", value_name = "JOBS", default_value_t = 4, value_parser = at_least_one::<usize>)]
    pub worker_jobs: usize,

    /// Inboxes that one step of a delivery writes to.
    #[arg(long, env = "KITH_DELIVERY_CHUNK", value_name = "INBOXES", default_value_t = 1000, value_parser = at_least_one::<i64>)]
    pub delivery_chunk: i64,

    /// Hot followers from which on the messages of an author are pulled: merged by readers instead of pushed to all.
    /// Below half of it they are pushed again.
    #[arg(long, env = "KITH_PULL_FROM", value_name = "FOLLOWERS", default_value_t = 10_000, value_parser = at_least_one::<i64>)]
    pub pull_from: i64,

    /// Days for which an inbox keeps references; what is older is read from Postgres.
    #[arg(long, env = "KITH_INBOX_DAYS", value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=36_500))]
    pub inbox_days: i64,

    /// Days after which a feed that nobody reads is cold: nothing is delivered to it until it is read again.
    #[arg(long, env = "KITH_COLD_DAYS", value_name = "DAYS", default_value_t = 14, value_parser = clap::value_parser!(i64).range(1..=36_500))]
    pub cold_days: i64,

    /// Seconds that a worker owns a job before another may take it over.
    #[arg(long, env = "KITH_JOB_LEASE", value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub job_lease: Duration,

    /// Seconds that a process owns its node number without renewing it.
    #[arg(long, env = "KITH_NODE_LEASE", value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub node_lease: Duration,

    /// Seconds after which a request is given up with UNAVAILABLE.
    #[arg(long, env = "KITH_REQUEST_TIMEOUT", value_name = "SECONDS", default_value = "15", value_parser = seconds)]
    pub request_timeout: Duration,

    /// Seconds in which a server that is asked to end still takes requests, and says by /readyz that it ends: so long may a
    /// proxy take to notice.
    #[arg(long, env = "KITH_DRAIN", value_name = "SECONDS", default_value = "0", value_parser = drain)]
    pub drain: Duration,

    /// Days in which an author can restore a deleted message.
    #[arg(long, env = "KITH_RESTORE_DAYS", value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=36_500))]
    pub restore_days: i64,

    /// Candidates that one look may pass, for a page or for one of its flags; only a page that met this bound may be short.
    #[arg(long, env = "KITH_SCAN_LIMIT", value_name = "CANDIDATES", default_value_t = 10_000, value_parser = at_least_one::<usize>)]
    pub scan_limit: usize,

    /// Bytes that the body of a request may have.
    #[arg(long, env = "KITH_BODY_LIMIT", value_name = "BYTES", default_value_t = 262_144, value_parser = at_least_one::<usize>)]
    pub body_limit: usize,

    /// How the log is written: pretty or json.
    #[arg(long, env = "KITH_LOG_FORMAT", value_name = "FORMAT", default_value = "pretty")]
    pub log_format: LogFormat,

    /// What is logged, as a tracing filter.
    #[arg(long, env = "KITH_LOG", value_name = "FILTER", default_value = "info,actix_server=warn", value_parser = filter)]
    pub log: String,

    /// Where an OpenTelemetry collector takes traces by OTLP over HTTP: http://host:4318. Without it none are sent. The other
    /// OTEL_* variables of the standard hold as well, but no other endpoint.
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL", value_parser = collector)]
    pub otlp_endpoint: Option<String>,
}

impl Config {
    /// The age from which on nothing is kept in an inbox.
    pub fn inbox_age(&self) -> TimeDelta {
        TimeDelta::days(self.inbox_days)
    }

    /// How long after the moment in its id a message can become visible, at most: the longest request, and the clocks of two
    /// servers, each at most half a second from that of Postgres (`/readyz`).
    pub fn lateness(&self) -> TimeDelta {
        TimeDelta::from_std(self.request_timeout).unwrap_or(TimeDelta::MAX) + TimeDelta::seconds(1)
    }

    /// How long a feed stays hot without being read.
    pub fn cold_after(&self) -> TimeDelta {
        TimeDelta::days(self.cold_days)
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<u64>() {
        Ok(n @ 1..=86_400) => Ok(Duration::from_secs(n)),
        _ => Err("must be a whole number of seconds from 1 to 86400 (a day)".into()),
    }
}

fn drain(text: &str) -> Result<Duration, String> {
    match text.parse::<u64>() {
        Ok(n @ 0..=600) => Ok(Duration::from_secs(n)),
        _ => Err("must be a whole number of seconds from 0 to 600".into()),
    }
}

fn host_and_port(text: &str) -> Result<String, String> {
    let named = text
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && !host.contains(':') && port.parse::<u16>().is_ok());
    match named || text.parse::<SocketAddr>().is_ok() {
        true => Ok(text.to_owned()),
        false => Err("it is written host:port, such as 127.0.0.1:4000, localhost:4000 or [::]:4000".into()),
    }
}

/// A word alone is a level: taken for a target, as tracing does, a misspelt level would silence the log.
fn filter(text: &str) -> Result<String, String> {
    let is_level = |word: &str| word.parse::<LevelFilter>().is_ok();
    let misspelt = text.split(',').map(str::trim).find(|part| !part.contains(['=', '[']) && !is_level(part));
    match misspelt {
        Some(word) => Err(format!("{word:?} is no level: write error, warn, info, debug or trace, or target=level")),
        None => match EnvFilter::try_new(text) {
            Ok(_) => Ok(text.to_owned()),
            Err(error) => Err(format!("it is no filter such as info,kith=debug: {error}")),
        },
    }
}

fn collector(text: &str) -> Result<String, String> {
    match Url::parse(text) {
        Ok(url) if url.scheme() == "http" => Ok(text.to_owned()),
        _ => Err("write http://host:port; where the way must be encrypted, send to a collector on this machine".into()),
    }
}

fn at_least_one<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    match text.parse() {
        Ok(number) if number >= T::from(1) => Ok(number),
        _ => Err("must be a whole number, at least 1".into()),
    }
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    Pretty,
    /// One JSON object a line.
    Json,
}
