//! Jobs: leases, retries with backoff, burial; and that readers see what was posted all the while.

use std::time::Duration;

use kith::error::Error;
use kith::queue::{self, MAX_FAILURES, Step};

use crate::harness::{Kith, Walk, until};

/// Steps the worker through `tries` failures of the only job, each not before its time, `longest` seconds at most.
async fn fail(kith: &Kith, tries: i32, longest: u64) {
    let mut pause = 1;
    for attempt in 1..=tries {
        assert!(kith.step().await, "attempt {attempt}");
        assert_eq!(kith.sql().await.one::<i32>("SELECT attempts FROM jobs", &[]).await, attempt);
        kith.advance(Duration::from_secs(pause) - Duration::from_millis(1)).await;
        assert!(!kith.step().await, "not before its time");
        kith.advance(Duration::from_millis(1)).await;
        pause = (pause * 2).min(longest);
    }
}

#[tokio::test]
async fn a_job_that_fails_comes_back_later_and_is_buried_at_last() {
    let kith = Kith::start().await;
    let sql = kith.sql().await;
    sql.batch("INSERT INTO jobs (kind, payload, run_at, due_by) VALUES ('unknown', '{}', '2026-01-01', '2026-01-01')")
        .await;
    fail(&kith, MAX_FAILURES, 600).await;
    assert!(!kith.step().await, "a buried job is not run");
    assert!(sql.one::<bool>("SELECT buried_at IS NOT NULL FROM jobs", &[]).await);
    let reason: String = sql.one("SELECT last_error FROM jobs", &[]).await;
    assert!(reason.contains("no kind of job"), "{reason}");
}

#[tokio::test]
async fn a_delivery_waits_for_redis_as_long_as_it_takes_and_readers_see_the_message() {
    let kith = Kith::start_with(|config| config.redis_url = "redis://127.0.0.1:1/0".parse().expect("a URL")).await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    ben.follow(ada).await;
    // Ben's feed is hot, so that there is something to deliver to.
    let sql = kith.sql().await;
    sql.execute("UPDATE follows SET is_hot = true", &[]).await;
    let hot =
        "INSERT INTO activity (user_id, channel, is_hot, generation, read_at) VALUES ($1, 'default', true, 1, now())";
    sql.execute(hot, &[&ben.viewer.user_id]).await;
    let posted = ada.post("still seen").await;
    fail(&kith, MAX_FAILURES + 2, 10).await;
    assert!(sql.one::<bool>("SELECT buried_at IS NULL FROM jobs", &[]).await);
    assert!(kith::worker::clock::tick(&kith.app).await.is_err(), "nothing is swept while Redis is away");
    assert_eq!(kith.again(ben).walk(Walk::First(7)).await, [posted]);
}

#[tokio::test]
async fn a_leased_job_is_nobody_elses_until_the_lease_is_over_and_then_no_longer_its_holders() {
    let kith = Kith::start().await;
    let people = kith.people(1).await;
    people[0].post("one job").await;
    let mut conn = kith.app.db.get().await.expect("a connection");
    let (start, lease) = (kith.app.clock.now(), Duration::from_secs(30));
    let held = queue::claim(&mut conn, start, lease).await.expect("Postgres answers").expect("a job is due");
    let before = start + lease - Duration::from_millis(1);
    assert!(queue::claim(&mut conn, before, lease).await.expect("Postgres answers").is_none());
    let taken =
        queue::claim(&mut conn, start + lease, lease).await.expect("Postgres answers").expect("it is free again");
    assert_eq!((held.id, taken.attempts), (taken.id, 2));
    for step in [Step::Done, Step::More { payload: serde_json::json!({}), due_by: start }] {
        let lost = queue::settle(&mut conn, &held, step, start).await;
        assert!(matches!(lost, Err(Error::Contention(_))), "{lost:?}");
    }
    assert!(queue::fail(&mut conn, &held, "late", start).await.is_err());
    queue::settle(&mut conn, &taken, Step::Done, start).await.expect("it is held");
    assert_eq!(kith.jobs().await, 0);
}

#[tokio::test]
async fn a_job_that_kills_whoever_runs_it_is_buried_at_last_and_one_that_gets_on_is_not() {
    let kith = Kith::start().await;
    let sql = kith.sql().await;
    sql.batch("INSERT INTO jobs (kind, payload, run_at, due_by) VALUES ('deadly', '{}', '2026-01-01', '2026-01-01')")
        .await;
    let mut conn = kith.app.db.get().await.expect("a connection");
    let lease = Duration::from_secs(30);
    // Claimed, and never heard of again.
    let mut vanish = async |times| {
        for _ in 0..times {
            let job = queue::claim(&mut conn, kith.app.clock.now(), lease).await.expect("Postgres answers");
            assert!(job.is_some());
            kith.clock.advance(lease);
        }
        let job = queue::claim(&mut conn, kith.app.clock.now(), lease).await.expect("Postgres answers");
        if let Some(job) = &job {
            let now = kith.app.clock.now();
            let on = Step::More { payload: serde_json::json!({}), due_by: now };
            queue::settle(&mut conn, job, on, now).await.expect("it is held");
        }
        job.is_some()
    };
    assert!(vanish(MAX_FAILURES - 1).await);
    assert!(vanish(MAX_FAILURES - 1).await, "it got on, so it counts anew");
    assert!(!vanish(MAX_FAILURES).await);
    let (buried, reason) = ("SELECT buried_at IS NOT NULL FROM jobs", "SELECT last_error FROM jobs");
    assert!(sql.one::<bool>(buried, &[]).await);
    assert_eq!(sql.one::<String>(reason, &[]).await, "whoever ran it vanished");
}

#[tokio::test]
async fn a_long_delivery_lets_others_pass_and_parallel_workers_share_the_jobs() {
    let kith = Kith::start_with(|config| config.delivery_chunk = 1).await;
    let people = kith.people(6).await;
    let (ada, ben) = (&people[0], &people[1]);
    for reader in &people[2..] {
        reader.follow(ada).await;
        reader.walk(Walk::First(7)).await;
    }
    people[2].follow(ben).await;
    people[2].walk(Walk::First(7)).await;
    kith.drain().await;
    let long = ada.post("to four").await;
    kith.clock.advance(Duration::from_millis(1));
    let short = ben.post("to one").await;
    // The short one is done first, though it came later.
    for _ in 0..2 {
        kith.clock.advance(Duration::from_millis(1));
        assert!(kith.step().await);
    }
    let done: Vec<i64> =
        kith.sql().await.column("SELECT author_id FROM in_flight WHERE delivered_at IS NOT NULL", &[]).await;
    assert_eq!(done, [ben.viewer.user_id]);
    let steps = futures_util::future::join_all((0..20).map(|_| kith.step())).await;
    assert!(steps.iter().any(|had_one| *had_one));
    kith.drain().await;
    assert_eq!(people[2].walk(Walk::First(7)).await, [short, long]);
    kith.finish().await;
}

#[tokio::test]
async fn a_message_is_in_flight_for_a_requests_life_after_the_end_of_its_delivery_not_after_its_start() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    people[1].follow(&people[0]).await;
    people[0].post("slowly").await;
    let sql = kith.sql().await;
    // The delivery waits for who its readers are, longer than any request may last.
    sql.batch("BEGIN; LOCK TABLE follows IN ACCESS EXCLUSIVE MODE").await;
    let life = kith.config.request_timeout + Duration::from_secs(10);
    let waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'follows'::regclass)";
    tokio::join!(kith.step(), async {
        until("the delivery waits", async || sql.one::<bool>(waits, &[]).await.then_some(())).await;
        kith.clock.advance(life);
        sql.batch("COMMIT").await;
    });
    let in_flight = async || sql.one::<i64>("SELECT count(*) FROM in_flight", &[]).await;
    kith.tick().await;
    assert_eq!(in_flight().await, 1, "it was delivered this moment");
    kith.clock.advance(life);
    kith.tick().await;
    assert_eq!(in_flight().await, 0);
    kith.finish().await;
}

#[tokio::test]
async fn a_message_is_in_flight_until_its_last_step_however_long_that_waits() {
    let kith = Kith::start_with(|config| config.delivery_chunk = 1).await;
    let people = kith.people(3).await;
    for reader in &people[1..] {
        reader.follow(&people[0]).await;
        reader.walk(Walk::First(7)).await;
    }
    kith.drain().await;
    let posted = people[0].post("in two steps").await;
    assert!(kith.step().await);
    kith.advance(kith.config.request_timeout + Duration::from_secs(10)).await;
    kith.tick().await;
    for reader in &people[1..] {
        assert_eq!(reader.walk(Walk::First(7)).await, [posted.clone()], "whether it has come to them or not");
    }
    kith.drain().await;
    kith.finish().await;
}
