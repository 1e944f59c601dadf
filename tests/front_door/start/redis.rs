//! What is said about a Redis that cannot be reached, is not fit, or is not sound.

use super::{is_silent_about, refuses, warns};
use crate::harness::{Database, RedisServer};

#[tokio::test]
async fn a_redis_that_is_away_hinders_nothing() {
    let database = Database::migrated().await;
    let environment = [("DATABASE_URL", database.url.as_str()), ("REDIS_URL", "redis://:hunter2@127.0.0.1:1")];
    warns(&environment, &["Redis does not answer", "REDIS_URL", "going on"]).await;
}

#[tokio::test]
async fn what_keeps_it_from_using_redis_is_named_with_the_remedy() {
    let database = Database::migrated().await;
    let redis = RedisServer::start(&["--requirepass", "right", "--databases", "2"]).await;
    let port = redis.port;
    let url = |place: &str| format!("redis://{}", place.replace("PORT", &format!("127.0.0.1:{port}")));
    for (place, words) in [
        ("PORT/0", ["password", "REDIS_URL"]),
        (":hunter2@PORT/0", ["password", "REDIS_URL"]),
        ("somebody:right@PORT/0", ["user", "REDIS_URL"]),
        (":right@PORT/2", ["database", "REDIS_URL"]),
    ] {
        for command in ["serve", "worker", "reconcile"] {
            refuses(command, &[("DATABASE_URL", &database.url), ("REDIS_URL", &url(place))], &words).await;
        }
    }
    // Without a database, and with a user.
    for place in [":right@PORT", "default:right@PORT/1"] {
        is_silent_about("Redis", &[("DATABASE_URL", &database.url), ("REDIS_URL", &url(place))]).await;
    }
}

#[tokio::test]
async fn a_redis_that_drops_keys_is_warned_of() {
    let database = Database::migrated().await;
    for (policy, is_warned) in
        [("allkeys-lru", true), ("allkeys-random", true), ("volatile-lru", false), ("noeviction", false)]
    {
        let redis = RedisServer::start(&["--maxmemory", "100mb", "--maxmemory-policy", policy]).await;
        let environment = [("DATABASE_URL", database.url.as_str()), ("REDIS_URL", &redis.url)];
        match is_warned {
            true => warns(&environment, &["maxmemory-policy", "REDIS_URL", policy, "noeviction"]).await,
            false => is_silent_about("maxmemory", &environment).await,
        }
    }
}

#[tokio::test]
async fn a_redis_cluster_is_refused() {
    let database = Database::migrated().await;
    let redis = RedisServer::start(&["--cluster-enabled", "yes"]).await;
    let environment = [("DATABASE_URL", database.url.as_str()), ("REDIS_URL", &redis.url)];
    refuses("serve", &environment, &["REDIS_URL", "Cluster", "one Redis"]).await;
}

#[tokio::test]
async fn what_redis_does_not_tell_is_said() {
    let database = Database::migrated().await;
    let redis = RedisServer::start(&["--user", "kith", "on", ">right", "~*", "&*", "+@all", "-info", "-config"]).await;
    let url = format!("redis://kith:right@127.0.0.1:{}", redis.port);
    let environment = [("DATABASE_URL", database.url.as_str()), ("REDIS_URL", &url)];
    warns(&environment, &["INFO server", "REDIS_URL", "+info"]).await;
    warns(&environment, &["maxmemory-policy", "REDIS_URL", "could not be asked"]).await;
}
