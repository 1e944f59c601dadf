//! Servers and workers that are killed at any moment. That one which slept through the lease of its node number makes
//! no id under it is under test in `ids`.

use super::world::World;
use crate::harness::{Person, Sql, until};

#[tokio::test]
async fn what_a_killed_server_acknowledged_is_there_and_a_retry_makes_nothing_twice() {
    let world = World::start().await;
    let (mut killed, other) = (world.serve().await, world.serve().await);
    let mut people = world.people(&killed).await;
    people.spread(&other);
    let mut load = world.load(&people);
    for _ in 0..4 {
        load.goes_on(12).await;
        let lost = world.acknowledged.counts().lost;
        killed.kill_and_start();
        load.until(|now| now.lost > lost).await;
        killed.ready().await;
    }
    load.goes_on(12).await;
    load.rest().await;
    world.is_whole(&people).await;
}

/// Has `count` people, who never come, follow `author` and be delivered to, as if they read.
async fn crowd(sql: &Sql, author: &Person, count: i64) {
    let statement = "WITH people AS (
            INSERT INTO users (id, handle, display_name, bio, created_at, updated_at)
            SELECT n, 'crowd' || n, 'Crowd', '', now(), now() FROM generate_series(1, $2::bigint) AS n RETURNING id
        ), counters AS (
            INSERT INTO user_counters (user_id, following_count) SELECT id, 1 FROM people
        ), feeds AS (
            INSERT INTO activity (user_id, channel, is_hot, generation, read_at) SELECT id, 'default', true, 1, now() FROM people
        ), count AS (
            UPDATE user_counters SET follower_count = follower_count + $2 WHERE user_id = $1
        )
        INSERT INTO follows (follower_id, followee_id, id, is_hot, created_at) SELECT id, $1, id, true, now() FROM people";
    sql.execute(statement, &[&author.viewer.user_id, &count]).await;
}

#[tokio::test]
async fn deliveries_of_a_killed_worker_come_to_their_end_and_nobody_misses_anything_meanwhile() {
    let world = World::start().await;
    let server = world.serve_only().await;
    let people = world.people(&server).await;
    let sql = world.sql().await;
    crowd(&sql, &people.authors[0], 300).await;
    let mut worker = world.worker();
    let mut load = world.load(&people);
    for _ in 0..4 {
        load.goes_on(8).await;
        let halfway = "SELECT count(*) FROM jobs WHERE leased_until > now() AND payload::text LIKE '%after%'";
        until("a delivery is under way", async || (sql.one::<i64>(halfway, &[]).await > 0).then_some(())).await;
        worker.kill_and_start();
    }
    load.goes_on(8).await;
    load.rest().await;
    world.is_whole(&people).await;
    assert_eq!(sql.one::<i64>("SELECT count(*) FROM jobs WHERE buried_at IS NOT NULL", &[]).await, 0);
}
