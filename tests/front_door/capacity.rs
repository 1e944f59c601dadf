//! `kith capacity`: what it prints, and that it foretells what a Kith really takes.

use std::process::{Command, Output};
use std::time::Duration;

use redis::AsyncCommands;
use serde_json::Value;

use crate::feed::{inbox, warm};
use crate::harness::{Kith, Sql};

/// Runs `kith capacity` with nothing but this environment.
fn capacity(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kith"));
    command.arg("capacity").args(arguments).env_clear().envs(environment.iter().copied()).output().expect("it runs")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// How far `foretold` may be from `real`: pages are filled more or less, by how rows came.
#[track_caller]
fn near(what: &str, foretold: f64, real: f64) {
    assert!((0.7..1.3).contains(&(foretold / real)), "{what}: {foretold} foretold, {real} real");
}

/// Heap and indexes of a table, its partitions too.
async fn sizes(sql: &Sql, table: &str) -> (f64, f64) {
    let sum = |size: &str| {
        format!(
            "SELECT sum({size}(part))::float8 FROM (SELECT '{table}'::regclass::oid AS part
             UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = '{table}'::regclass) AS parts"
        )
    };
    (sql.one(&sum("pg_table_size"), &[]).await, sql.one(&sum("pg_indexes_size"), &[]).await)
}

#[tokio::test]
async fn rows_take_what_it_says() {
    let kith = Kith::start().await;
    let sql = kith.sql().await;
    // Ids as they are made, in the order in which things happen: people first, then each follows, posts, likes.
    sql.batch(
        "CREATE FUNCTION pg_temp.id(n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT ((5216400000 + n * 60000) << 22) | (1 << 12)';
         INSERT INTO users SELECT pg_temp.id(n), 'person_' || n, 'Some Person ' || n, repeat('b', 60), NULL, now(), now() FROM generate_series(1, 4000) AS n;
         INSERT INTO credentials SELECT id, repeat('x', 97), now() FROM users;
         INSERT INTO user_counters SELECT id FROM users;
         INSERT INTO follows (followee_id, follower_id, id, is_hot, created_at)
            SELECT pg_temp.id((n * 7919 + n / 4000) % 4000 + 1), pg_temp.id(n % 4000 + 1), pg_temp.id(n), true, now()
            FROM generate_series(1, 80000) AS n WHERE (n * 7919 + n / 4000) % 4000 <> n % 4000 ON CONFLICT DO NOTHING;
         INSERT INTO messages (id, author_id, channel, kind, status, content, extra, version, created_at, updated_at)
            SELECT pg_temp.id(n), pg_temp.id(n * 31 % 4000 + 1), 'default', 'text', 'published', repeat('c', 140), '{}', 1, now(), now()
            FROM generate_series(1, 20000) AS n;
         INSERT INTO author_channels (author_id, channel, newest_id)
            SELECT author_id, channel, max(id) FROM messages GROUP BY author_id, channel;
         INSERT INTO likes SELECT pg_temp.id((n * 7919 + n / 20000) % 20000 + 1), pg_temp.id(n % 4000 + 1), pg_temp.id(n), 1, now(), NULL
            FROM generate_series(1, 60000) AS n ON CONFLICT DO NOTHING;
         INSERT INTO message_counters SELECT message_id, 1, count(*), count(*) FROM likes GROUP BY message_id;
         INSERT INTO activity SELECT id, 'default', true, 1, now() FROM users;
         ANALYZE",
    )
    .await;
    let follows: i64 = sql.one("SELECT count(*) FROM follows", &[]).await;
    let follows_per_user = (follows as f64 / 4000.0).to_string();
    let arguments = [
        "--users",
        "4000",
        "--follows-per-user",
        &follows_per_user,
        "--messages-per-day",
        "200",
        "--days",
        "100",
        "--likes-per-message",
        "3",
        "--hot-share",
        "1",
        "--format",
        "json",
    ];
    let foretold = json(&capacity(&arguments, &[]));
    let environment =
        [("DATABASE_URL", kith.config.database_url.as_str()), ("REDIS_URL", kith.config.redis_url.as_str())];
    let measured = json(&capacity(&[&arguments[..], &["--measure"]].concat(), &environment));
    let tables = [
        "users",
        "credentials",
        "user_counters",
        "follows",
        "messages",
        "author_channels",
        "likes",
        "message_counters",
        "activity",
    ];
    for table in tables {
        let (heap, indexes) = sizes(sql, table).await;
        for (how, told) in [("foretold", &foretold), ("measured", &measured)] {
            let rows = told["plan"]["tables"].as_array().expect("a list");
            let row = rows.iter().find(|row| row["name"] == table).expect("its row");
            near(&format!("{how}, heap of {table}"), row["heapBytes"].as_f64().expect("a number"), heap);
            near(&format!("{how}, indexes of {table}"), row["indexBytes"].as_f64().expect("a number"), indexes);
        }
    }
}

#[tokio::test]
async fn inboxes_take_what_it_says_and_an_entry_no_more_than_56_bytes() {
    let kith = Kith::start().await;
    let people = kith.people(13).await;
    let (ada, readers) = (&people[0], &people[1..]);
    for reader in readers {
        reader.follow(ada).await;
        warm(&kith, reader).await;
    }
    // Some are trimmed, by real deliveries, and at different times.
    let mut redis = kith.redis();
    for n in 0..130 {
        kith.clock.advance(Duration::from_secs(1));
        ada.post(&n.to_string()).await;
        kith.drain().await;
        if n % 10 == 0 {
            redis.unlink::<_, ()>(inbox(&readers[n / 11])).await.expect("Redis answers");
            warm(&kith, &readers[n / 11]).await;
        }
    }
    let (mut bytes, mut members) = (0, 0);
    for reader in readers {
        let usage = redis::cmd("MEMORY").arg("USAGE").arg(inbox(reader)).query_async::<usize>(&mut redis).await;
        bytes += usage.expect("Redis answers");
        members += redis.zcard::<_, usize>(inbox(reader)).await.expect("Redis answers");
    }
    assert!(members > readers.len() * 100, "they are full");
    let each = bytes as f64 / members as f64;
    assert!(each <= 56.0, "{each} bytes an entry, the key included");
    let load = [
        "--users",
        "12",
        "--follows-per-user",
        "12",
        "--messages-per-day",
        "120",
        "--days",
        "30",
        "--hot-share",
        "1",
        "--format",
        "json",
    ];
    let environment =
        [("DATABASE_URL", kith.config.database_url.as_str()), ("REDIS_URL", kith.config.redis_url.as_str())];
    for told in [capacity(&load, &[]), capacity(&[&load[..], &["--measure"]].concat(), &environment)] {
        let plan = &json(&told)["plan"];
        assert_eq!(plan["inboxes"], 12);
        near("Redis", plan["redisBytes"].as_f64().expect("a number"), bytes as f64);
    }
}

#[test]
fn the_example_of_the_document_is_what_it_prints() {
    let document =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/capacity.md")).expect("it is there");
    let mut blocks = document.split("\n$ kith capacity ").skip(1);
    let (command, printed) = blocks.next().and_then(|block| block.split_once('\n')).expect("an example");
    let printed = printed.split("```").next().expect("its end");
    let output = capacity(&command.split(' ').collect::<Vec<_>>(), &[]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), printed);
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let complaint = |arguments: &[&str]| {
        let output = capacity(arguments, &[]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(complaint(&["--users", "5"]).contains("--messages-per-day"));
    assert!(complaint(&["--users", "5", "--messages-per-day", "1", "--hot-share", "2"]).contains("from 0 to 1"));
    let measured = complaint(&["--users", "5", "--messages-per-day", "1", "--measure"]);
    assert!(measured.contains("DATABASE_URL") && measured.contains("REDIS_URL"), "{measured}");
}
