//! A Postgres that restarts, breaks, falls silent or takes no writes: answers are right or UNAVAILABLE, what was
//! acknowledged is there, and everything goes on by itself when it is back.

use std::time::Duration;

use serde_json::json;

use super::load::{Attempt, attempt};
use super::proxy::Weather;
use super::servers::Server;
use super::world::{World, missing};
use crate::harness::until;

const POST: &str = "mutation($input: PostMessageInput!) { postMessage(input: $input) { message { id content } } }";

#[tokio::test]
async fn a_postgres_that_restarts_or_is_killed_loses_nothing_and_is_found_again() {
    let world = World::start().await;
    let server = world.serve().await;
    let people = world.people(&server).await;
    let mut load = world.load(&people);
    load.goes_on(10).await;
    for signal in ["INT", "QUIT", "INT"] {
        let unavailable = world.acknowledged.counts().unavailable;
        world.servers.end(Server::Postgres, signal).await;
        load.until(|now| now.unavailable > unavailable + 3).await;
        assert!(missing(&server).await.contains(&"postgres".to_owned()));
        world.servers.start_again().await;
        load.goes_on(10).await;
    }
    load.rest().await;
    world.is_whole(&people).await;
    assert_eq!(world.acknowledged.counts().lost, 0);
}

#[tokio::test]
async fn a_postgres_whose_processes_crash_is_found_again() {
    let world = World::start().await;
    let server = world.serve().await;
    let people = world.people(&server).await;
    let mut load = world.load(&people);
    for _ in 0..3 {
        load.goes_on(10).await;
        let unavailable = world.acknowledged.counts().unavailable;
        // One that is killed takes all others with it, and Postgres recovers from its log.
        let sql = world.sql().await;
        let pid: i32 = sql.one("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' ORDER BY query_start DESC LIMIT 1", &[]).await;
        let killed = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        assert!(killed.expect("kill").success());
        load.until(|now| now.unavailable > unavailable).await;
    }
    world.goes_well(load, &people).await;
}

#[tokio::test]
async fn a_silent_postgres_is_unavailable_in_time_and_found_again() {
    let world = World::start().await;
    let server = world.serve_behind_proxies().await;
    let people = world.people(&server).await;
    let mut load = world.load(&people);
    load.goes_on(10).await;
    world.postgres.weather(Weather::Slow(Duration::from_millis(20)));
    load.goes_on(5).await;
    assert_eq!(world.acknowledged.counts().unavailable, 0, "slow is not away");
    for weather in [Weather::Still, Weather::Lost, Weather::Refused] {
        let unavailable = world.acknowledged.counts().unavailable;
        world.postgres.weather(weather);
        load.until(|now| now.unavailable > unavailable + 5).await;
        assert!(missing(&server).await.contains(&"postgres".to_owned()), "{weather:?}");
        world.postgres.weather(Weather::Fair);
        load.goes_on(10).await;
        until("the server is ready", async || missing(&server).await.is_empty().then_some(())).await;
    }
    load.rest().await;
    world.is_whole(&people).await;
    assert_eq!(world.acknowledged.counts().lost, 0);
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_unavailable_and_its_retry_is_safe() {
    let world = World::start().await;
    let server = world.serve_behind_proxies().await;
    let people = world.people(&server).await;
    let (author, sql) = (&people.authors[0], world.sql().await);
    for (number, word) in ["COMMIT", "INSERT INTO \"messages\"", "BEGIN"].into_iter().enumerate() {
        let content = format!("message {number}");
        let variables = json!({ "input": { "content": content, "idempotencyKey": content } });
        world.postgres.weather(Weather::CutBehind(word));
        let told = attempt(author, POST, &variables).await;
        assert!(matches!(told, Attempt::Unavailable), "{word}");
        let stored = "SELECT count(*) FROM messages WHERE content = $1";
        let count = async || sql.one::<i64>(stored, &[&content]).await;
        match word {
            "COMMIT" => until("it is committed", async || (count().await == 1).then_some(())).await,
            _ => assert_eq!(count().await, 0, "{word}"),
        }
        world.postgres.weather(Weather::Fair);
        let again = author.query(POST, variables).await;
        assert_eq!(again.text("/postMessage/message/content"), content);
        assert_eq!(count().await, 1);
    }
    world.feeds_are_right(&people).await;
    world.landed().await;
    assert_eq!(crate::oracle::definition::miscounted(&sql).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_postgres_that_takes_no_writes_is_read_and_mutations_are_unavailable() {
    let world = World::start().await;
    let server = world.serve().await;
    let people = world.people(&server).await;
    let mut load = world.load(&people);
    load.goes_on(10).await;
    let sql = world.sql().await;
    let turn = async |on: &str| {
        sql.batch(&format!("ALTER DATABASE kith SET default_transaction_read_only = {on}")).await;
        sql.batch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'kith'",
        )
        .await;
    };
    turn("on").await;
    let before = world.acknowledged.counts();
    load.until(|now| now.unavailable > before.unavailable + 10 && now.pages > before.pages + 20).await;
    let refused = attempt(&people.authors[0], POST, &json!({ "input": { "content": "not now" } })).await;
    assert!(matches!(refused, Attempt::Unavailable));
    sql.batch("SET default_transaction_read_only = off").await;
    turn("off").await;
    world.goes_well(load, &people).await;
}

#[tokio::test]
async fn a_postgres_whose_disk_is_full_is_read_and_mutations_are_unavailable() {
    let world = World::start().await;
    let server = world.serve().await;
    let people = world.people(&server).await;
    // A disk cannot be filled for one test alone: what Postgres says then. It is switched by a row: a trigger that comes or
    // goes locks the partitions in an order of its own, and Postgres would end it for a deadlock with readers.
    let sql = world.sql().await;
    sql.batch(
        "CREATE TABLE full_disks ();
        CREATE FUNCTION is_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF EXISTS (SELECT FROM full_disks) THEN
                RAISE disk_full USING MESSAGE = 'could not extend file \"base/5/16384\": No space left on device';
            END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER is_full BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION is_full()",
    )
    .await;
    let mut load = world.load(&people);
    load.goes_on(10).await;
    sql.batch("INSERT INTO full_disks DEFAULT VALUES").await;
    let before = world.acknowledged.counts();
    load.until(|now| now.unavailable > before.unavailable + 10 && now.pages > before.pages + 20).await;
    sql.batch("DELETE FROM full_disks").await;
    world.goes_well(load, &people).await;
}
