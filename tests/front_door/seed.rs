//! A demo world, made by the program: it is what a real history would have left, and whoever looks around in it finds
//! what they should. Never whether it is believable: that is for people to judge.

use std::process::{Command, Output};

use chrono::DateTime;
use kith::viewer::Viewer;
use serde_json::json;

use crate::harness::{Kith, Person, START_MS, Sql, Walk};

fn kith_with(kith: &Kith, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kith"));
    command.args(arguments).env_clear();
    command.env("DATABASE_URL", kith.config.database_url.as_str()).env("REDIS_URL", kith.config.redis_url.as_str());
    command.env("KITH_CHANNELS", "default,work").output().expect("it runs")
}

fn seed(kith: &Kith, seed: &str) -> Output {
    let until = DateTime::from_timestamp_millis(START_MS).expect("a time").to_rfc3339();
    let size = ["--users", "80", "--follows", "1200", "--messages", "900", "--likes", "2000"];
    kith_with(kith, &[&["seed", "--seed", seed, "--until", &until], &size[..]].concat())
}

/// Everything in the tables of a world but the salt of its password, a line each.
async fn content(sql: &Sql) -> Vec<String> {
    let statement = "SELECT 'u' || users::text FROM users UNION ALL SELECT 'f' || follows::text FROM follows
        UNION ALL SELECT 'm' || messages::text FROM messages UNION ALL SELECT 'l' || likes::text FROM likes
        UNION ALL SELECT 'c' || user_counters::text FROM user_counters
        UNION ALL SELECT 'n' || message_counters::text FROM message_counters ORDER BY 1";
    sql.column(statement, &[]).await
}

#[tokio::test]
async fn a_world_is_what_a_real_history_would_have_left() {
    let kith = Kith::start().await;
    let sql = kith.sql().await;
    // A process that is gone had this number; who knows what ids it made.
    sql.batch("INSERT INTO nodes VALUES (1023, gen_random_uuid(), now() - interval '1 day', 0)").await;
    let output = seed(&kith, "7");
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    for (table, rows) in
        [("users", 80), ("follows", 1200), ("messages", 900), ("likes", 2000), ("jobs", 0), ("in_flight", 0)]
    {
        assert_eq!(sql.one::<i64>(&format!("SELECT count(*) FROM {table}"), &[]).await, rows, "{table}");
    }
    let ids = "SELECT id, created_at FROM users UNION ALL SELECT id, created_at FROM follows
        UNION ALL SELECT id, created_at FROM messages UNION ALL SELECT id, created_at FROM likes";
    let off = format!(
        "SELECT count(*) - count(DISTINCT id) + count(*) FILTER (WHERE (id >> 12) & 1023 <> 1022
        OR (id >> 22) + 1767225600000 <> extract(epoch FROM created_at) * 1000) FROM ({ids}) AS made"
    );
    assert_eq!(sql.one::<i64>(&off, &[]).await, 0, "ids are of their moment and of a node that nobody had");
    let heads = "SELECT count(*) FROM author_channels FULL JOIN (SELECT author_id, channel, max(id) AS newest_id
        FROM messages GROUP BY 1, 2) AS found USING (author_id, channel, newest_id)
        WHERE found.author_id IS NULL OR is_pulled IS NOT false";
    assert_eq!(sql.one::<i64>(heads, &[]).await, 0);
    assert_eq!(sql.one::<i64>("SELECT count(*) FROM messages WHERE channel = 'work'", &[]).await.signum(), 1);
    assert_eq!(sql.one::<i64>("SELECT count(*) FROM likes WHERE user_id = author_id", &[]).await, 0);
    for handle in ["grace_demo", "jonas_demo", "yuki_demo"] {
        assert!(printed.contains(handle), "{printed}");
        let log_in = "mutation($input: LogInInput!) { logIn(input: $input) { tokens { accessToken } } }";
        let input = json!({ "input": { "handle": handle, "password": "kith-demo-world" } });
        let token = kith.anonymous().query(log_in, input).await.text("/logIn/tokens/accessToken");
        let viewer: Viewer = kith.app.tokens.verify(&token, kith.app.clock.now()).expect("a token");
        let person = Person::new(kith.anonymous(), viewer, handle, token);
        let feed = "SELECT translate(rtrim(encode('m'::bytea || int8send(author_id) || int8send(id), 'base64'), '='), '+/', '-_')
            FROM messages WHERE channel = 'default' AND (author_id = $1
                OR author_id IN (SELECT followee_id FROM follows WHERE follower_id = $1)) ORDER BY id DESC";
        let expected: Vec<String> = sql.column(feed, &[&viewer.user_id]).await;
        assert!(expected.len() > 50, "{handle} has something to read");
        assert_eq!(person.walk(Walk::First(50)).await, expected);
        kith.drain().await;
        assert_eq!(person.walk(Walk::Last(50)).await, expected, "with an inbox as well");
    }
    // The time of it, in milliseconds: what a Redis knows of an earlier copy of this world counts no more.
    let epoch: i64 = sql.one("SELECT epoch FROM inbox_epoch", &[]).await;
    assert!((chrono::Utc::now().timestamp_millis() - epoch).abs() < 3_600_000, "{epoch}");
    let reconciled = kith_with(&kith, &["reconcile", "--dry-run"]);
    assert_eq!(String::from_utf8_lossy(&reconciled.stdout), "All is right.\n", "{reconciled:?}");
    let again = seed(&kith, "7");
    assert!(!again.status.success() && String::from_utf8_lossy(&again.stderr).contains("people in this database"));
    kith.finish().await;
}

#[tokio::test]
async fn a_seed_names_a_world() {
    let (one, same, other) = (Kith::start().await, Kith::start().await, Kith::start().await);
    for (kith, number) in [(&one, "3"), (&same, "3"), (&other, "4")] {
        assert!(seed(kith, number).status.success());
    }
    let world = content(one.sql().await).await;
    assert_eq!(world, content(same.sql().await).await);
    assert_ne!(world, content(other.sql().await).await);
}

#[tokio::test]
async fn a_world_that_cannot_be_is_refused_in_one_line() {
    let kith = Kith::start().await;
    for (arguments, word) in [
        (["--users", "10", "--follows", "91"], "--follows"),
        (["--users", "1", "--messages", "2"], "--users"),
        (["--messages", "2", "--likes", "399"], "--likes"),
        (["--until", "2099-01-01T00:00:00Z", "--seed", "1"], "--until"),
        (["--until", "2025-12-31T00:00:00Z", "--seed", "1"], "--until"),
    ] {
        let output = kith_with(&kith, &[&["seed"], &arguments[..]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(word) && said.lines().count() == 1, "{said}");
    }
}
