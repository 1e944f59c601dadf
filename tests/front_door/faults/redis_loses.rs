//! A Redis that comes back with less than it had: nothing, or what it had at another time. Readers are told the truth
//! by Postgres at every moment, and inboxes are built anew.

use super::servers::{RedisData, Server};
use super::world::{People, World};
use crate::harness::Process;

/// A server, a worker apart from it, and people whose inboxes are there.
async fn begin(world: &World) -> (Process, Process, People) {
    let (server, worker) = (world.serve_only().await, world.worker());
    let people = world.people(&server).await;
    let load = world.load(&people);
    world.goes_well(load, &people).await;
    (server, worker, people)
}

/// A copy of what Redis has before more is delivered; and the epoch after that. From here on only Redis, and the copy of
/// it, tell who was delivered what.
async fn outdated_copy(world: &World, people: &People) -> (RedisData, i64) {
    let copy = world.servers.redis_data();
    let mut load = world.load(people);
    load.goes_on(10).await;
    load.rest().await;
    world.landed().await;
    (copy, world.epoch().await)
}

/// Ends Redis without warning and starts it with `data`.
async fn restart_redis(world: &World, data: &RedisData) {
    world.servers.end(Server::Redis, "KILL").await;
    world.servers.put_redis_data(data);
    world.servers.start_again().await;
}

#[tokio::test]
async fn an_empty_redis_hides_nothing() {
    let world = World::start().await;
    let (_server, _worker, people) = begin(&world).await;
    let mut load = world.load(&people);
    load.goes_on(5).await;
    restart_redis(&world, &RedisData::default()).await;
    world.nobody_noticed(load, &people).await;
}

#[tokio::test]
async fn a_redis_that_is_flushed_while_it_is_read_hides_nothing() {
    let world = World::start().await;
    let (_server, _worker, people) = begin(&world).await;
    let mut load = world.load(&people);
    for _ in 0..5 {
        load.goes_on(3).await;
        redis::cmd("FLUSHALL").exec_async(&mut world.redis().await).await.expect("Redis answers");
    }
    world.nobody_noticed(load, &people).await;
}

#[tokio::test]
async fn a_redis_put_back_to_an_older_copy_hides_nothing_before_the_worker_has_noticed() {
    let world = World::start().await;
    let (_server, worker, people) = begin(&world).await;
    let (copy, epoch) = outdated_copy(&world, &people).await;
    worker.signal("STOP");
    restart_redis(&world, &copy).await;
    world.feeds_are_right(&people).await;
    let mut load = world.load(&people);
    load.goes_on(10).await;
    assert_eq!(world.epoch().await, epoch, "nobody has noticed");
    worker.signal("CONT");
    world.nobody_noticed(load, &people).await;
    assert!(world.epoch().await > epoch, "noticed");
}

#[tokio::test]
async fn a_redis_put_back_to_an_older_copy_again_and_again_hides_nothing_while_the_worker_notices() {
    let world = World::start().await;
    let (_server, _worker, people) = begin(&world).await;
    let (copy, epoch) = outdated_copy(&world, &people).await;
    let mut load = world.load(&people);
    for _ in 0..2 {
        restart_redis(&world, &copy).await;
        load.goes_on(10).await;
    }
    load.rest().await;
    assert_eq!(world.acknowledged.counts().unavailable, 0);
    world.is_whole(&people).await;
    assert!(world.epoch().await > epoch, "noticed");
}
