//! Who is delivered to by when, while somebody whom a million people read posts. Never whether feeds are right meanwhile.

use std::time::Duration;

use crate::harness::{Kith, Person};
use crate::metrics::{scrape, value};

const FOLLOWERS: i64 = 1_000_000;

/// A step takes so long, on a slow day.
const STEP: Duration = Duration::from_millis(100);

/// Inboxes a step: fifty steps a delivery.
const CHUNK: i64 = 20_000;

/// Somebody whom a million people read, a hundred of them just now and ten thousand today, and all are pushed to; and
/// somebody whom one person reads.
async fn world() -> (Kith, Person, Person) {
    let kith = Kith::start_with(|config| {
        config.pull_from = 2 * FOLLOWERS;
        config.delivery_chunk = CHUNK;
    })
    .await;
    let mut people = kith.people(2).await;
    let (Some(small), Some(celebrity)) = (people.pop(), people.pop()) else { panic!("two people") };
    let plant = "WITH followers AS (
            INSERT INTO follows (followee_id, follower_id, id, is_hot, created_at)
            SELECT $1::bigint, n, n, true, now() FROM generate_series(1, $3::bigint) AS n
            UNION ALL SELECT $2, 1, $3 + 1, true, now()
         ) INSERT INTO activity (user_id, channel, is_hot, generation, read_at)
         SELECT n, 'default', true, 1, to_timestamp($4::bigint / 1000.0) - CASE
            WHEN n % 10000 = 0 THEN interval '1 minute' WHEN n % 100 = 0 THEN interval '5 hours' ELSE interval '3 days' END
         FROM generate_series(1, $3::bigint) AS n";
    let (of, by) = (celebrity.viewer.user_id, small.viewer.user_id);
    let sql = kith.sql().await;
    sql.execute(plant, &[&of, &by, &FOLLOWERS, &kith.clock.now_ms()]).await;
    sql.batch("ANALYZE follows; ANALYZE activity").await;
    (kith, celebrity, small)
}

/// A step that takes a while. Answers whether it delivered something of `author` to the end.
async fn step(kith: &Kith, takes: Duration, author: &Person) -> bool {
    kith.clock.advance(takes);
    assert!(kith.step().await);
    let delivered = "SELECT EXISTS (SELECT FROM in_flight WHERE author_id = $1 AND delivered_at = to_timestamp($2::bigint / 1000.0))";
    kith.sql().await.one(delivered, &[&author.viewer.user_id, &kith.clock.now_ms()]).await
}

/// How many steps it takes until what `author` posts now is delivered.
async fn steps(kith: &Kith, takes: Duration, author: &Person) -> usize {
    kith.again(author).post("small").await;
    let mut steps = 1;
    while !step(kith, takes, author).await {
        steps += 1;
    }
    steps
}

#[tokio::test]
async fn with_a_million_readers_every_tier_keeps_its_deadline_and_nobody_small_waits() {
    let (kith, celebrity, small) = world().await;
    for n in 0..2 {
        celebrity.post(&format!("to a million {n}")).await;
    }
    // Nine steps of theirs, one of the small one.
    loop {
        for _ in 0..9 {
            if kith.jobs().await > 0 {
                step(&kith, STEP, &celebrity).await;
            }
        }
        if kith.jobs().await == 0 {
            break;
        }
        assert_eq!(steps(&kith, STEP, &small).await, 1);
    }
    let kept = scrape(&kith.ops()).await;
    for (tier, deadline, steps) in [("few", 2, 11..13), ("latest", 2, 2..5), ("today", 15, 2..5), ("all", 60, 2..3)] {
        let count = value(&kept, &format!("kith_delivery_lag_seconds_count{{tier=\"{tier}\"}}"));
        let in_time = value(&kept, &format!("kith_delivery_lag_seconds_bucket{{tier=\"{tier}\",le=\"{deadline}\"}}"));
        assert!(steps.contains(&(count as i32)), "{count} steps to {tier}");
        assert_eq!(in_time, count, "steps to {tier} in time");
    }
    let all = value(&kept, "kith_deliveries_total{tier=\"all\"}");
    assert!(all >= (2 * FOLLOWERS) as f64, "{all} inboxes");

    // Far too few workers: all that is for a million is late, and all take turns.
    for n in 0..2 {
        kith.again(&celebrity).post(&format!("to a million, late {n}")).await;
    }
    for _ in 0..6 {
        step(&kith, STEP, &celebrity).await;
    }
    kith.advance(Duration::from_secs(70)).await;
    for _ in 0..3 {
        let waited = steps(&kith, STEP, &small).await;
        assert!(waited <= 1 + 2, "{waited} steps, and two are long under way");
    }
}
