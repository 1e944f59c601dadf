//! Settings that cannot be read or used, whatever the servers say.

use std::net::TcpListener;

use super::refuses;
use crate::harness::{Database, redis_url};

#[tokio::test]
async fn each_setting_that_cannot_be_read_is_named_with_the_remedy() {
    for (name, value, remedy) in [
        ("DATABASE_URL", "kith:hunter2@127.0.0.1/x", "postgres://user:password@host:port/database"),
        ("DATABASE_URL", "mysql://kith:hunter2@127.0.0.1/x", "postgres://user:password@host:port/database"),
        ("DATABASE_URL", "postgres://127.0.0.1:hunter2/x", "%2F"),
        ("DATABASE_URL", "postgres://kith:x@127.0.0.1/x?hunter2=y", "%3F"),
        ("DATABASE_URL", "postgres://kith:hunter2@127.0.0.1/x?sslmode=yes", "verify-full"),
        (
            "DATABASE_URL",
            "postgres://kith:hunter2@127.0.0.1/x?sslmode=verify-full&sslrootcert=/nowhere.pem",
            "/nowhere.pem",
        ),
        ("REDIS_URL", "127.0.0.1:6379", "redis://:password@host:port/database"),
        ("REDIS_URL", "http://:hunter2@127.0.0.1:6379", "redis://:password@host:port/database"),
        ("REDIS_URL", "rediss://:hunter2@127.0.0.1:6379/#insecure", "%23"),
        ("KITH_ADDR", "localhost", "host:port"),
        ("KITH_ADDR", "::1:4000", "[::]:4000"),
        ("KITH_ADDR", "127.0.0.1:http", "host:port"),
        ("KITH_OPS_ADDR", "localhost", "host:port"),
        ("KITH_LOG", "informative", "debug"),
        ("KITH_LOG", "info,kith=verbose", "info,kith=debug"),
        ("KITH_LOG_FORMAT", "xml", "json"),
        ("KITH_SECRETS", "1:aHVudGVyMg", "32 bytes"),
        ("KITH_SECRETS", "hunter2", "id:base64url"),
        ("KITH_REQUEST_TIMEOUT", "0", "from 1 to 86400"),
        ("KITH_DATABASE_POOL", "0", "at least 1"),
        ("KITH_WORKER_POOL", "many", "at least 1"),
        ("KITH_CHANNELS", "A B", "a-z"),
        ("KITH_ALLOWED_ORIGINS", "app.example", "https://host"),
    ] {
        refuses("serve", &[(name, value)], &[name, remedy]).await;
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_listened_on_is_named_with_the_remedy() {
    let database = Database::migrated().await;
    let redis = redis_url().await;
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = taken.local_addr().expect("an address").to_string();
    for (addr, remedy) in
        [(taken.as_str(), "choose another port"), (super::NOWHERE, "0.0.0.0"), ("nobody.invalid:4000", "127.0.0.1")]
    {
        let environment = [("DATABASE_URL", database.url.as_str()), ("REDIS_URL", &redis), ("KITH_ADDR", addr)];
        refuses("serve", &environment, &["KITH_ADDR", addr, remedy]).await;
    }
}

#[tokio::test]
async fn an_address_of_redis_that_its_client_cannot_read_is_named_with_the_remedy() {
    let database = Database::migrated().await;
    for redis in ["redis://127.0.0.1:6379/first", "redis://:hunter2@host:port/0", "redis://:hunt/er2@127.0.0.1/0"] {
        let environment = [("DATABASE_URL", database.url.as_str()), ("REDIS_URL", redis)];
        refuses("serve", &environment, &["REDIS_URL", "redis://:password@host:port/database"]).await;
    }
    let environment = [
        ("DATABASE_URL", database.url.as_str()),
        ("REDIS_URL", "rediss://127.0.0.1:1"),
        ("KITH_REDIS_ROOT_CERT", "/nowhere.pem"),
    ];
    refuses("serve", &environment, &["KITH_REDIS_ROOT_CERT", "/nowhere.pem"]).await;
}
