//! A Redis that is away, slow, silent, cut off or full: everything is answered, by Postgres, and right; deliveries wait
//! and go on by themselves.

use std::time::Duration;

use super::proxy::Weather;
use super::servers::Server;
use super::world::{World, missing};
use crate::harness::{Walk, until};

#[tokio::test]
async fn without_redis_everything_is_answered_and_what_waited_goes_on_when_it_is_back() {
    let world = World::start().await;
    let server = world.serve().await;
    let people = world.people(&server).await;
    let mut load = world.load(&people);
    load.goes_on(10).await;
    world.servers.end(Server::Redis, "TERM").await;
    load.goes_on(20).await;
    assert_eq!(missing(&server).await, ["redis"]);
    let in_flight = "SELECT count(*) FROM in_flight WHERE delivered_at IS NULL";
    assert!(world.sql().await.one::<i64>(in_flight, &[]).await > 0, "deliveries wait");
    world.servers.start_again().await;
    world.nobody_noticed(load, &people).await;
    assert_eq!(missing(&server).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_stopped_redis_holds_nobody_up_for_long() {
    let world = World::start().await;
    let server = world.serve().await;
    let people = world.people(&server).await;
    let mut load = world.load(&people);
    load.goes_on(10).await;
    world.servers.signal(Server::Redis, "STOP");
    load.goes_on(10).await;
    world.servers.signal(Server::Redis, "CONT");
    world.nobody_noticed(load, &people).await;
}

#[tokio::test]
async fn however_slow_the_way_to_redis_is_pages_are_right_and_in_time() {
    let world = World::start().await;
    let server = world.serve_behind_proxies().await;
    let people = world.people(&server).await;
    let mut load = world.load(&people);
    load.goes_on(10).await;
    for weather in [
        Weather::Slow(Duration::from_millis(100)),
        Weather::Slow(Duration::from_millis(700)),
        Weather::Still,
        Weather::Lost,
    ] {
        world.redis.weather(weather);
        load.goes_on(6).await;
        world.redis.weather(Weather::Fair);
        until(&format!("Redis is there after {weather:?}"), async || missing(&server).await.is_empty().then_some(()))
            .await;
    }
    world.nobody_noticed(load, &people).await;
}

#[tokio::test]
async fn a_way_to_redis_that_is_cut_in_the_middle_of_answers_spoils_no_page() {
    let world = World::start().await;
    let server = world.serve_behind_proxies().await;
    let people = world.people(&server).await;
    let mut load = world.load(&people);
    load.goes_on(15).await;
    for bytes in [1, 5, 40, 200, 700, 3000] {
        world.redis.weather(Weather::CutAfter(bytes));
        load.goes_on(4).await;
    }
    load.rest().await;
    world.redis.weather(Weather::CutAfter(400));
    let whole = people.reader.walk(Walk::First(100)).await;
    for bytes in [3, 90, 400, 2000] {
        world.redis.weather(Weather::CutAfter(bytes));
        assert_eq!(people.reader.walk(Walk::First(2)).await, whole, "cut after {bytes} bytes");
    }
    world.redis.weather(Weather::Fair);
    assert_eq!(world.acknowledged.counts().unavailable, 0);
    world.is_whole(&people).await;
}

#[tokio::test]
async fn a_full_redis_keeps_nobody_from_posting_and_reading() {
    let world = World::start().await;
    let server = world.serve().await;
    let people = world.people(&server).await;
    let mut load = world.load(&people);
    load.goes_on(10).await;
    let limit = async |bytes: u64| {
        let mut set = redis::cmd("CONFIG");
        set.arg("SET").arg("maxmemory").arg(bytes).exec_async(&mut world.redis().await).await.expect("Redis answers");
    };
    limit(1).await;
    load.goes_on(15).await;
    let failed = "SELECT count(*) FROM jobs WHERE last_error LIKE '%OOM%' AND failures = 0";
    let sql = world.sql().await;
    until("deliveries wait", async || (sql.one::<i64>(failed, &[]).await > 0).then_some(())).await;
    limit(0).await;
    world.nobody_noticed(load, &people).await;
}
