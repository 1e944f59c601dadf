//! What an operator is told at start: one sentence that names the variable, what is wrong and the remedy, by the real
//! program on real servers. Never what it does once it runs.

mod postgres;
mod redis;
mod settings;
mod tls;

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use crate::harness::SECRETS;

/// An address that is never ours, so that a program that got that far ends there.
const NOWHERE: &str = "203.0.113.1:1";

/// What `kith` says on stderr until it ends, which it does without success, with this environment and nothing else.
async fn said(argument: &str, environment: &[(&str, &str)]) -> String {
    let standard = [
        ("DATABASE_URL", "postgres://kith:hunter2@127.0.0.1:1/x"),
        ("REDIS_URL", "redis://:hunter2@127.0.0.1:1"),
        ("KITH_SECRETS", SECRETS),
        ("KITH_ADDR", NOWHERE),
        ("KITH_LOG", "error"),
    ];
    let mut kith = Command::new(env!("CARGO_BIN_EXE_kith"));
    kith.arg(argument).env_clear().envs(standard).envs(environment.iter().copied());
    kith.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let output = timeout(Duration::from_secs(60), kith.output()).await.expect("it ends").expect("it runs");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
    text
}

/// Asserts that `kith` refuses to start with one line that has all of `words`.
async fn refuses(argument: &str, environment: &[(&str, &str)], words: &[&str]) {
    let text = said(argument, environment).await;
    assert_eq!(text.lines().count(), 1, "{text}");
    for word in words {
        assert!(text.contains(word), "{word:?} is missing in: {text}");
    }
}

/// Asserts that `kith serve` warns with all of `words` in one line, and goes on, up to the address that is not ours.
async fn warns(environment: &[(&str, &str)], words: &[&str]) {
    let text = said("serve", &[environment, &[("KITH_LOG", "warn")]].concat()).await;
    assert!(text.lines().last().expect("a line").contains("KITH_ADDR"), "{text}");
    assert!(text.lines().any(|line| words.iter().all(|word| line.contains(word))), "{words:?} is missing in: {text}");
}

/// Asserts that `kith serve` gets up to the address that is not ours without a word about `subject`.
async fn is_silent_about(subject: &str, environment: &[(&str, &str)]) {
    let text = said("serve", &[environment, &[("KITH_LOG", "warn")]].concat()).await;
    let lines: Vec<&str> = text.lines().collect();
    let (last, before) = lines.split_last().expect("a line");
    assert!(last.contains("KITH_ADDR") && !before.iter().any(|line| line.contains(subject)), "{text}");
}
