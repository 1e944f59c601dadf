//! Every setting of Kith, read once at start from flags and environment. Never read anywhere else.

use std::str::FromStr;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use clap::Args;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use url::Url;

/// The settings. `.env.example` lists the same names; a test holds the two together.
#[derive(Args, Clone, Debug)]
pub struct Config {
    /// Where Postgres is: postgres://user:password@host:port/database
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: String,

    /// Where Redis is: redis://:password@host:port/database
    #[arg(long, env = "REDIS_URL", hide_env_values = true)]
    pub redis_url: String,

    /// Secrets that sign tokens and cursors, id:base64url separated by commas. The first signs, all are
    /// accepted. An id is 0 to 255, a secret at least 32 bytes: `echo 1:$(head -c 32 /dev/urandom | basenc --base64url | tr -d =)`
    #[arg(long, env = "KITH_SECRETS", hide_env_values = true)]
    pub secrets: Secrets,

    /// Address and port to listen on.
    #[arg(long, env = "KITH_ADDR", default_value = "127.0.0.1:4000")]
    pub addr: String,

    /// Address and port at which operators find /metrics, /healthz and /readyz, and nobody else should. Without it a
    /// server has /metrics at its public address, and a worker has none.
    #[arg(long, env = "KITH_OPS_ADDR")]
    pub ops_addr: Option<String>,

    /// Origins (https://host, https://host:port) whose web pages may call the API, separated by commas; * for
    /// any. Nobody is at risk by it, for a browser sends no token by itself. The playground needs none.
    #[arg(long, env = "KITH_ALLOWED_ORIGINS", default_value = "")]
    pub allowed_origins: Origins,

    /// Channels that messages can be posted to, separated by commas. `default` is always one.
    #[arg(long, env = "KITH_CHANNELS", default_value = "default")]
    pub channels: Channels,

    /// Threads that answer HTTP. 0 means one a core.
    #[arg(long, env = "KITH_HTTP_THREADS", default_value_t = 0)]
    pub http_threads: usize,

    /// Connections to Postgres for requests.
    #[arg(long, env = "KITH_DATABASE_POOL", default_value_t = 16, value_parser = at_least_one::<u32>)]
    pub database_pool: u32,

    /// Connections to Postgres for the jobs of this process and what its clock calls for.
    #[arg(long, env = "KITH_WORKER_POOL", default_value_t = 6, value_parser = at_least_one::<u32>)]
    pub worker_pool: u32,

    /// Jobs that the worker runs side by side.
    #[arg(long, env = "KITH_WORKER_JOBS", default_value_t = 4, value_parser = at_least_one::<usize>)]
    pub worker_jobs: usize,

    /// Inboxes that one step of a delivery writes to.
    #[arg(long, env = "KITH_DELIVERY_CHUNK", default_value_t = 1000, value_parser = at_least_one::<i64>)]
    pub delivery_chunk: i64,

    /// Hot followers from which on the messages of an author are pulled: merged by readers instead of pushed to all.
    /// Below half of it they are pushed again.
    #[arg(long, env = "KITH_PULL_FROM", default_value_t = 10_000, value_parser = at_least_one::<i64>)]
    pub pull_from: i64,

    /// Days for which an inbox keeps references; what is older is read from Postgres.
    #[arg(long, env = "KITH_INBOX_DAYS", default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=36_500))]
    pub inbox_days: i64,

    /// Days after which a feed that nobody reads is cold: nothing is delivered to it until it is read again.
    #[arg(long, env = "KITH_COLD_DAYS", default_value_t = 14, value_parser = clap::value_parser!(i64).range(1..=36_500))]
    pub cold_days: i64,

    /// Seconds that a worker owns a job before another may take it over.
    #[arg(long, env = "KITH_JOB_LEASE", default_value = "30", value_parser = seconds)]
    pub job_lease: Duration,

    /// Seconds that a process owns its node number without renewing it.
    #[arg(long, env = "KITH_NODE_LEASE", default_value = "30", value_parser = seconds)]
    pub node_lease: Duration,

    /// Seconds after which a request is given up with UNAVAILABLE.
    #[arg(long, env = "KITH_REQUEST_TIMEOUT", default_value = "15", value_parser = seconds)]
    pub request_timeout: Duration,

    /// Days in which an author can restore a deleted message.
    #[arg(long, env = "KITH_RESTORE_DAYS", default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=36_500))]
    pub restore_days: i64,

    /// Candidates that one look may pass, for a page or for one of its flags; only a page that met this bound may be short.
    #[arg(long, env = "KITH_SCAN_LIMIT", default_value_t = 10_000, value_parser = at_least_one::<usize>)]
    pub scan_limit: usize,

    /// Bytes that the body of a request may have.
    #[arg(long, env = "KITH_BODY_LIMIT", default_value_t = 262_144, value_parser = at_least_one::<usize>)]
    pub body_limit: usize,

    /// How the log is written: pretty or json.
    #[arg(long, env = "KITH_LOG_FORMAT", default_value = "pretty")]
    pub log_format: LogFormat,

    /// What is logged, as a tracing filter.
    #[arg(long, env = "KITH_LOG", default_value = "info,actix_server=warn")]
    pub log: String,
}

impl Config {
    /// The age from which on nothing is kept in an inbox.
    pub fn inbox_age(&self) -> TimeDelta {
        TimeDelta::days(self.inbox_days)
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

/// Whose web pages may call the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origins {
    /// Everybody's.
    Any,
    /// Those of these origins, as browsers write them.
    Listed(Vec<String>),
}

impl FromStr for Origins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "*" {
            return Ok(Self::Any);
        }
        let mut listed = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            match Url::parse(part) {
                Ok(url) if url.origin().is_tuple() && url.origin().ascii_serialization() == part => {
                    listed.push(part.to_owned());
                }
                _ => return Err(format!("{part:?} is no origin: write https://host or https://host:port")),
            }
        }
        Ok(Self::Listed(listed))
    }
}

/// The operator's list of channels, `default` first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels(Vec<String>);

impl Channels {
    /// Whether messages can be posted to `channel` and its feed be read.
    pub fn contains(&self, channel: &str) -> bool {
        self.0.iter().any(|known| known == channel)
    }

    /// The names, `default` first.
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

impl FromStr for Channels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut names = vec!["default".to_owned()];
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
            if name.len() > 32 || !name.chars().all(fits) {
                return Err(format!("{name:?} is no channel name: 1 to 32 of a-z, 0-9, _ and -"));
            }
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        Ok(Self(names))
    }
}

/// The operator's secrets: an id and at least 32 bytes each; the first one signs.
#[derive(Clone, PartialEq, Eq)]
pub struct Secrets(Vec<(u8, Vec<u8>)>);

impl Secrets {
    /// A key a secret for one `purpose`, in the same order, with the same ids (HMAC-SHA256 of the purpose).
    pub fn derive(&self, purpose: &str) -> Vec<(u8, [u8; 32])> {
        let derive = |secret: &[u8]| {
            let mut mac =
                <Hmac<Sha256> as Mac>::new_from_slice(secret).unwrap_or_else(|_| unreachable!("HMAC takes any length"));
            mac.update(purpose.as_bytes());
            mac.finalize().into_bytes().into()
        };
        self.0.iter().map(|(id, secret)| (*id, derive(secret))).collect()
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({} of them)", self.0.len())
    }
}

impl FromStr for Secrets {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut secrets: Vec<(u8, Vec<u8>)> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (id, secret) = part.split_once(':').ok_or("each secret is written id:base64url")?;
            let id = id.parse().map_err(|_| "the id of a secret is a number from 0 to 255")?;
            let secret = URL_SAFE_NO_PAD
                .decode(secret.trim_end_matches('='))
                .map_err(|_| "a secret is written in base64url (A-Z a-z 0-9 - _)")?;
            if secret.len() < 32 {
                return Err("a secret has at least 32 bytes".into());
            }
            if secrets.iter().any(|(known, _)| *known == id) {
                return Err(format!("the secret id {id} stands there twice"));
            }
            secrets.push((id, secret));
        }
        if secrets.is_empty() {
            return Err("at least one secret is needed".into());
        }
        Ok(Self(secrets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_checked_and_never_printed() {
        let good = "1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        let secrets: Secrets = good.parse().expect("valid");
        assert_eq!(format!("{secrets:?}"), "Secrets(1 of them)");
        assert_ne!(secrets.derive("cursor"), secrets.derive("token"));
        for bad in ["", "AAAA", "1:AAAA", "x:AAAA", "256:AAAA", &format!("{good},{good}")] {
            assert!(bad.parse::<Secrets>().is_err(), "{bad}");
        }
    }

    #[test]
    fn origins_are_written_as_browsers_write_them() {
        assert_eq!("*".parse(), Ok(Origins::Any));
        assert_eq!("".parse(), Ok(Origins::Listed(vec![])));
        let listed = Origins::Listed(vec!["https://a.example".into(), "http://localhost:5173".into()]);
        assert_eq!("https://a.example, http://localhost:5173".parse(), Ok(listed));
        for bad in
            ["a.example", "https://a.example/", "https://a.example/x", "https://a.example:443", "*,https://a.example"]
        {
            assert!(bad.parse::<Origins>().is_err(), "{bad}");
        }
    }

    #[test]
    fn default_is_always_a_channel() {
        assert_eq!("work, play,work".parse::<Channels>().expect("valid").names(), ["default", "work", "play"]);
        for bad in ["Work", "a b", "ü", &"x".repeat(33)] {
            assert!(bad.parse::<Channels>().is_err(), "{bad}");
        }
    }
}
