//! The pools of Postgres under trouble: what is given up leaves nothing behind, and jobs and requests do not wait for each
//! other's connections. Never faults of Postgres itself.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;

use crate::harness::{Kith, Walk, until};

/// How many wait for a lock that this very connection holds.
const WAITING: &str =
    "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))";

#[tokio::test]
async fn a_request_that_is_given_up_ends_its_statement_and_leaves_nothing() {
    let kith = Kith::start_with(|config| {
        config.request_timeout = Duration::from_secs(1);
        config.database_pool = 2;
    })
    .await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    let sql = kith.sql().await;
    let lock = "BEGIN; SELECT user_id FROM user_counters FOR UPDATE";
    sql.batch(lock).await;
    let post = "mutation { postMessage(input: { content: \"never\" }) { message { id } } }";
    let answers = join_all((0..4).map(|_| ada.query(post, json!({})))).await;
    for answer in answers {
        assert_eq!(answer.code(), "UNAVAILABLE");
    }
    until("nobody waits for the lock any more", async || (sql.one::<i64>(WAITING, &[]).await == 0).then_some(())).await;
    sql.batch("COMMIT").await;
    assert_eq!(sql.one::<i64>("SELECT count(*) FROM messages", &[]).await, 0);
    // The pool is as good as new.
    ben.follow(ada).await;
    let posted = ada.post("now").await;
    for _ in 0..4 {
        assert_eq!(ben.walk(Walk::First(7)).await, std::slice::from_ref(&posted));
    }
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn jobs_that_are_held_up_keep_no_request_waiting() {
    let kith = Kith::start_with(|config| (config.database_pool, config.worker_pool) = (1, 1)).await;
    let ada = &kith.people(1).await[0];
    let posted = ada.post("delivered later").await;
    let sql = kith.sql().await;
    sql.batch("BEGIN; LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE").await;
    let (_, ()) = tokio::join!(kith.step(), async {
        until("the worker waits", async || (sql.one::<i64>(WAITING, &[]).await == 1).then_some(())).await;
        let me = ada.query("{ viewer { user { messages { nodes { id } } } } }", json!({})).await;
        assert_eq!(me.text("/viewer/user/messages/nodes/0/id"), posted);
        sql.batch("COMMIT").await;
    });
    kith.drain().await;
    kith.finish().await;
}
