//! What Kith asks of the servers that it stands on, and what an operator is told where they do not have it. What would
//! make an answer wrong ends the start; what makes Kith slower, or may lose data by the operator's choice, is a warning.

use crate::cli::start::{self, Outcome};
use crate::config::DatabaseUrl;
use crate::db::migrations::{self, Schema};
use crate::db::server::{self, MAX_SKEW};
use crate::db::{self, Connection};
use crate::kv::server::Silence;
use crate::kv::{self, Kv};
use crate::time::Clock;

/// The oldest Postgres that will do, as it counts its versions.
const POSTGRES: i32 = 150_000;

/// The oldest major version of Redis that Kith is tested with.
const REDIS: u32 = 7;

/// Connects to a Postgres that Kith can work with, migrated or not.
pub async fn postgres(url: &DatabaseUrl) -> Outcome<Connection> {
    let mut conn = db::connect(url).await.map_err(start::database)?;
    let server = server::ask(&mut conn).await.map_err(start::database)?;
    if server.version < POSTGRES {
        let major = server.version / 10_000;
        return Err(format!("the Postgres of DATABASE_URL is {major}, and Kith needs 15 or newer: upgrade it"));
    }
    if server.encoding != "UTF8" {
        return Err(format!(
            "the database of DATABASE_URL writes {}, and Kith needs UTF8: create one with ENCODING 'UTF8' TEMPLATE template0",
            server.encoding
        ));
    }
    if !server.speaks_english {
        return Err(
            "the errors of the Postgres of DATABASE_URL are not in English, by which Kith tells a deadlock from a \
                    fault: ALTER DATABASE its database SET lc_messages = 'C', as a superuser"
                .into(),
        );
    }
    Ok(conn)
}

/// Connects to a Postgres that Kith can work with, and whose schema is the one of this program.
pub async fn migrated(url: &DatabaseUrl) -> Outcome<Connection> {
    let conn = postgres(url).await?;
    match migrations::compare(url).await.map_err(start::database)? {
        Schema::Current => Ok(conn),
        Schema::Behind(names) => {
            Err(format!("the database of DATABASE_URL lacks {}: run `kith migrate`", names.join(", ")))
        }
        Schema::Ahead(versions) => Err(format!(
            "the database of DATABASE_URL is newer than this kith, which does not know its migrations {}: run a newer kith",
            versions.join(", ")
        )),
    }
}

/// Whether what is written to Postgres is right and stays there.
pub async fn sound(conn: &mut Connection) -> Outcome {
    let skew = server::skew(conn, &Clock::System).await.map_err(start::database)?;
    if let Some(server::Skew { ours, theirs }) = skew {
        return Err(format!(
            "the clock of this machine shows {ours} and that of Postgres (DATABASE_URL) {theirs}, and ids carry the time: set \
             them right, at most {} ms apart, such as by NTP",
            MAX_SKEW.num_milliseconds()
        ));
    }
    for name in server::ask(conn).await.map_err(start::database)?.not_durable {
        tracing::warn!(
            "{name} is off in the Postgres of DATABASE_URL: what was answered for may be lost when it crashes; set it to on"
        );
    }
    Ok(())
}

/// Whether Redis is one that Kith can work with. That it is away hinders nothing, for it can come later.
pub async fn redis(kv: &Kv) -> Outcome {
    let server = match kv::server::ask(kv).await {
        Ok(server) => server,
        Err(Silence::Refused(sentence)) => return Err(sentence),
        Err(Silence::Away(sentence)) => {
            tracing::warn!("{sentence}; going on, as it can come later");
            return Ok(());
        }
    };
    if server.is_cluster {
        return Err(
            "the Redis of REDIS_URL is a Redis Cluster, which Kith does not support yet: give it one Redis".into()
        );
    }
    match server.version.as_deref().map(|version| (version, major(version))) {
        Some((version, Some(number))) if number < REDIS => {
            tracing::warn!("the Redis of REDIS_URL is {version}, and Kith is tested with {REDIS} or newer: upgrade it");
        }
        Some(_) => {}
        None => tracing::error!(
            "the Redis of REDIS_URL does not tell INFO server, without which a Redis that lost data cannot be noticed: no \
             worker clears what is in flight, and feeds become slow; allow it with ACL SETUSER, +info"
        ),
    }
    match server.maxmemory_policy.as_deref() {
        // Never a refusal: whatever Redis drops, the answers stay the same.
        Some(policy) if policy.starts_with("allkeys-") => tracing::warn!(
            "maxmemory-policy of the Redis of REDIS_URL is {policy}: when its memory is full it drops inboxes and, with the \
             heartbeat, all of them at once, which are built again; set noeviction, and enough memory"
        ),
        Some(_) => {}
        None => tracing::warn!(
            "maxmemory-policy of the Redis of REDIS_URL could not be asked: see that it is noeviction, and memory enough"
        ),
    }
    Ok(())
}

fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}
