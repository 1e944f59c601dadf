//! What kind of Redis it is, asked at start. Never what follows from that.

use redis::{ErrorKind, RedisError, RedisResult, ServerErrorKind};

use crate::kv::Kv;
use crate::tls;

/// What Redis says about itself. What it does not tell us is `None`: it may be forbidden, or the service hide it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// 7.0.15; `None` also means that the run id cannot be asked.
    pub version: Option<String>,
    /// Whether it is a node of a Redis Cluster.
    pub is_cluster: bool,
    /// What it drops when its memory is full: `noeviction`, `allkeys-lru`.
    pub maxmemory_policy: Option<String>,
}

/// Why Redis does not answer, as a sentence for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Silence {
    /// It may come later.
    Away(String),
    /// Nothing but another setting mends it.
    Refused(String),
}

/// Asks Redis about itself.
pub async fn ask(kv: &Kv) -> Result<Server, Silence> {
    kv.command(redis::cmd("PING")).await.map_err(|error| silence(&error))?;
    let told = kv.command(redis::cmd("INFO").arg("server")).await.ok();
    let field = |name| field(told.as_deref().unwrap_or_default(), name);
    let version = field("run_id").and(field("redis_version")).map(str::to_owned);
    let is_cluster = field("redis_mode").is_some_and(|mode| mode == "cluster");
    Ok(Server { version, is_cluster, maxmemory_policy: policy(kv).await })
}

/// CONFIG is forbidden more often than INFO, which has it as well.
async fn policy(kv: &Kv) -> Option<String> {
    let told = kv.command(redis::cmd("INFO").arg("memory")).await.ok()?;
    field(&told, "maxmemory_policy").map(str::to_owned)
}

/// What INFO says about `name`.
pub fn field<'a>(told: &'a str, name: &str) -> Option<&'a str> {
    told.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

fn silence(error: &RedisError) -> Silence {
    if let Some(complaint) = tls::complaint(error, "KITH_REDIS_ROOT_CERT") {
        return Silence::Refused(format!("Redis (REDIS_URL) cannot be trusted: {complaint}"));
    }
    match (error.kind(), error.code()) {
        (ErrorKind::AuthenticationFailed, _) | (_, Some("NOAUTH" | "WRONGPASS")) => Silence::Refused(
            "Redis refuses the user or the password of REDIS_URL, or misses one: write redis://user:password@host:port/0, \
             without the user for the one called default"
                .into(),
        ),
        (ErrorKind::Server(ServerErrorKind::NoPerm), _) => Silence::Refused(format!(
            "the user of REDIS_URL may not use Redis ({error}): allow it the commands, and the keys user:* and inbox:*, \
             with ACL SETUSER"
        )),
        (ErrorKind::Server(ServerErrorKind::ResponseError), _) => Silence::Refused(format!(
            "Redis does not take what REDIS_URL says ({error}): the database in it must be one that Redis has, 0 without one"
        )),
        _ => Silence::Away(format!(
            "Redis does not answer; see that it runs, that host and port of REDIS_URL are right and that redis:// (plain) or \
             rediss:// (TLS) is what it speaks there ({error})"
        )),
    }
}

impl Kv {
    async fn command(&self, command: impl std::borrow::Borrow<redis::Cmd>) -> RedisResult<String> {
        command.borrow().query_async(&mut self.shared()).await
    }
}
