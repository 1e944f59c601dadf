//! The program as an operator meets it: what it prints, what it refuses, how it ends. Never what it serves.

use std::process::{Command, Output};

use crate::harness::{Database, Kith, Process};

/// Runs `kith` with nothing but this environment.
pub fn run(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kith"));
    command.args(arguments).env_clear().envs(environment.iter().copied()).output().expect("it runs")
}

/// The only line on stderr of a program that refused.
#[track_caller]
fn complaint(output: Output) -> String {
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn what_is_missing_is_named_in_one_line() {
    let text = complaint(run(&["serve"], &[]));
    assert!(["DATABASE_URL", "REDIS_URL", "KITH_SECRETS"].iter().all(|name| text.contains(name)), "{text}");
    let text = complaint(run(&["migrate"], &[]));
    assert!(text.contains("DATABASE_URL"), "{text}");
    assert!(complaint(run(&["sevre"], &[])).contains("sevre"));
}

#[tokio::test]
async fn a_database_that_is_not_current_is_not_served() {
    let database = Database::empty().await;
    let environment = [
        ("DATABASE_URL", database.url.as_str()),
        ("REDIS_URL", "redis://127.0.0.1:1"),
        ("KITH_SECRETS", "1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        ("KITH_ADDR", "203.0.113.1:1"),
    ];
    let text = complaint(run(&["serve"], &environment));
    assert!(text.contains("kith migrate"), "{text}");
    let first = run(&["migrate"], &environment);
    assert!(first.status.success() && first.stdout.starts_with(b"0001"), "{first:?}");
    let again = run(&["migrate"], &environment);
    assert!(again.status.success() && !again.stdout.starts_with(b"0001"), "{again:?}");
    // Past the migrations now, on to an address that is not ours. That Redis is away does not hinder it.
    let quiet = [&environment[..], &[("KITH_LOG", "error")]].concat();
    let text = complaint(run(&["serve"], &quiet));
    assert!(text.contains("KITH_ADDR"), "{text}");
}

#[tokio::test]
async fn a_signal_ends_it_in_order() {
    let kith = Kith::start().await;
    for signal in ["TERM", "INT"] {
        let mut served = Process::serve(&kith, &[]).await;
        served.signal(signal);
        assert!(served.ended().await, "serve, {signal}");
    }
    let mut worker = Process::spawn(&kith, &["worker"], &[]);
    let leased = "SELECT count(*) FROM nodes WHERE leased_until > now()";
    let sql = kith.sql().await;
    crate::harness::until("the worker has begun", async || (sql.one::<i64>(leased, &[]).await == 2).then_some(()))
        .await;
    worker.signal("TERM");
    assert!(worker.ended().await, "worker");
}
