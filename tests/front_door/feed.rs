//! The feed by examples: its known wrong ways, and what becomes of it when things break. Cursors are
//! in `pages`; the definition itself is under test in `oracle`.

use std::time::Duration;

use redis::AsyncCommands;
use serde_json::json;

use crate::harness::{Ask, Kith, Person, Process, Walk, until, watch_statements};

const WALKS: [Walk; 8] = [
    Walk::First(1),
    Walk::First(2),
    Walk::First(7),
    Walk::First(50),
    Walk::Last(1),
    Walk::Last(2),
    Walk::Last(7),
    Walk::Last(50),
];

/// The key of somebody's inbox.
pub fn inbox(person: &Person) -> String {
    format!("user:{{{}}}:inbox:default", person.viewer.user_id)
}

/// Reads the feed once and lets the worker build the inbox.
pub async fn warm(kith: &Kith, person: &Person) {
    person.feed_page("default", &Ask::default()).await;
    kith.drain().await;
    let first: Vec<String> = kith.redis().zrange(inbox(person), 0, 0).await.expect("Redis answers");
    assert!(first.first().is_some_and(|marker| marker.starts_with('#')), "the inbox is finished: {first:?}");
}

async fn newest_first(mut posted: Vec<String>) -> Vec<String> {
    posted.reverse();
    posted
}

#[tokio::test]
async fn fifty_messages_of_one_millisecond_are_served_once_at_any_page_size() {
    let kith = Kith::start().await;
    let people = kith.people(4).await;
    let reader = &people[3];
    for author in &people[..3] {
        reader.follow(author).await;
    }
    warm(&kith, reader).await;
    let mut posted = Vec::new();
    for n in 0..50 {
        posted.push(people[n % 3].post(&n.to_string()).await);
    }
    let expected = newest_first(posted).await;
    for walk in WALKS {
        assert_eq!(reader.walk(walk).await, expected, "{walk:?}, nothing delivered yet");
    }
    kith.drain().await;
    for walk in WALKS {
        assert_eq!(reader.walk(walk).await, expected, "{walk:?}, delivered");
    }
    kith.finish().await;
}

#[tokio::test]
async fn a_walk_goes_on_while_others_post_and_the_worker_stands_still() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    ben.follow(ada).await;
    let mut posted = Vec::new();
    for n in 0..10 {
        posted.push(ada.post(&format!("old {n}")).await);
    }
    warm(&kith, ben).await;
    for n in 10..20 {
        posted.push(ada.post(&format!("not delivered {n}")).await);
        kith.clock.advance(Duration::from_millis(3));
    }
    let (mut ask, mut walked) = (Ask { first: Some(3), ..Ask::default() }, Vec::new());
    loop {
        let page = ben.feed_page("default", &ask).await;
        walked.extend(page.ids);
        // Above the reader, and in the middle of the walk; some of it is delivered, some is not.
        ada.post("new").await;
        kith.step().await;
        if !page.has_next {
            break;
        }
        ask.after = page.end;
    }
    assert_eq!(walked, newest_first(posted).await);
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn ones_own_messages_are_there_at_once_and_channels_do_not_leak() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    ben.follow(ada).await;
    for reader in [ada, ben] {
        warm(&kith, reader).await;
    }
    let (here, there) = (ada.post("here").await, ada.post_in("work", "there").await);
    for _ in 0..2 {
        for reader in [ada, ben] {
            assert_eq!(reader.walk(Walk::First(5)).await, [here.clone()]);
            assert_eq!(reader.walk_channel("work", Walk::First(5)).await, [there.clone()]);
        }
        kith.drain().await;
    }
    let answer = ada.ask_feed("nowhere", &Ask::default()).await;
    assert_eq!((answer.code(), answer.field()), ("BAD_USER_INPUT", Some("channel")));
    kith.finish().await;
}

#[tokio::test]
async fn deleted_messages_leave_full_pages_and_the_flags_true() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    ben.follow(ada).await;
    let mut posted = Vec::new();
    for n in 0..60 {
        posted.push(ada.post(&n.to_string()).await);
    }
    warm(&kith, ben).await;
    for n in [58, 57, 40, 0] {
        ada.delete(&posted[n]).await;
    }
    let visible: Vec<String> =
        posted.iter().enumerate().filter(|(n, _)| ![58, 57, 40, 0].contains(n)).map(|(_, id)| id.clone()).collect();
    let visible = newest_first(visible).await;
    let page = ben.feed_page("default", &Ask { first: Some(30), ..Ask::default() }).await;
    assert_eq!(page.ids, visible[..30]);
    assert!(page.has_next && !page.has_previous);
    // The only thing below is deleted: the flag looks for what can be seen.
    let page = ben.feed_page("default", &Ask { first: Some(56), ..Ask::default() }).await;
    assert_eq!((page.ids.len(), page.has_next), (56, false));
    for walk in WALKS {
        assert_eq!(ben.walk(walk).await, visible, "{walk:?}");
    }
    // Restored, it is back in its place.
    ada.restore(&posted[57]).await;
    assert_eq!(ben.walk(Walk::First(7)).await[1], posted[57]);
    kith.finish().await;
}

#[tokio::test]
async fn when_the_newest_are_all_deleted_the_older_ones_appear() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    ben.follow(ada).await;
    let mut posted = Vec::new();
    for n in 0..230 {
        posted.push(ada.post(&n.to_string()).await);
        kith.clock.advance(Duration::from_millis(1));
    }
    for id in &posted[20..] {
        ada.delete(id).await;
    }
    let expected = newest_first(posted[..20].to_vec()).await;
    for _ in 0..2 {
        assert_eq!(ben.walk(Walk::First(50)).await, expected);
        assert_eq!(ben.walk(Walk::Last(7)).await, expected);
        kith.drain().await;
    }
    kith.finish().await;
}

#[tokio::test]
async fn the_walk_crosses_from_the_inbox_into_postgres_without_a_seam() {
    let kith = Kith::start().await;
    let people = kith.people(6).await;
    let reader = &people[5];
    for author in &people[..5] {
        reader.follow(author).await;
    }
    warm(&kith, reader).await;
    let mut posted = Vec::new();
    for n in 0..260 {
        posted.push(people[n % 5].post(&n.to_string()).await);
        if n % 3 == 0 {
            kith.clock.advance(Duration::from_millis(1));
        }
    }
    kith.drain().await;
    let size: usize = kith.redis().zcard(inbox(reader)).await.expect("Redis answers");
    assert!((50..=127).contains(&size), "the inbox was trimmed: {size}");
    let encoding: String =
        redis::cmd("OBJECT").arg("ENCODING").arg(inbox(reader)).query_async(&mut kith.redis()).await.expect("Redis");
    assert_eq!(encoding, "listpack");
    kith.advance(Duration::from_secs(60)).await;
    kith.tick().await;
    let reader = kith.again(reader);
    let expected = newest_first(posted).await;
    for walk in [Walk::First(100), Walk::First(33), Walk::Last(100), Walk::Last(33)] {
        assert_eq!(reader.walk(walk).await, expected, "{walk:?}");
    }
    // Adjacent to the cursor, across the seam.
    let page = reader.feed_page("default", &Ask { first: Some(100), ..Ask::default() }).await;
    let ask = Ask { last: Some(3), before: page.cursors.last().cloned(), ..Ask::default() };
    assert_eq!(reader.feed_page("default", &ask).await.ids, expected[96..99]);
    kith.finish().await;
}

#[tokio::test]
async fn following_brings_the_history_in_and_unfollowing_takes_it_out_at_once() {
    let kith = Kith::start().await;
    let people = kith.people(3).await;
    let (ada, ben, cy) = (&people[0], &people[1], &people[2]);
    let mut history = Vec::new();
    for n in 0..50 {
        history.push(ada.post(&n.to_string()).await);
    }
    warm(&kith, cy).await;
    // Nothing is in flight any more, so that it is not what brings the history in.
    kith.advance(Duration::from_secs(60)).await;
    kith.tick().await;
    assert!(cy.walk(Walk::First(7)).await.is_empty());
    cy.follow(ada).await;
    cy.follow(ben).await;
    assert_eq!(cy.walk(Walk::First(7)).await, newest_first(history.clone()).await);
    kith.drain().await;
    let other = ben.post("from Ben").await;
    kith.drain().await;
    cy.unfollow(ada).await;
    assert_eq!(cy.walk(Walk::First(7)).await, [other.clone()]);
    // What is delivered after the unfollowing does not arrive either.
    ada.post("unseen").await;
    kith.drain().await;
    assert_eq!(cy.walk(Walk::Last(7)).await, [other]);
    kith.finish().await;
}

#[tokio::test]
async fn a_reader_who_passes_over_much_that_has_no_reason_gets_a_new_inbox() {
    let kith = Kith::start().await;
    let people = kith.people(3).await;
    let (ada, ben, cy) = (&people[0], &people[1], &people[2]);
    cy.follow(ada).await;
    cy.follow(ben).await;
    let kept = ben.post("kept").await;
    for n in 0..40 {
        ada.post(&n.to_string()).await;
    }
    warm(&kith, cy).await;
    cy.unfollow(ada).await;
    assert_eq!(cy.walk(Walk::First(20)).await, [kept.clone()]);
    kith.drain().await;
    let members: Vec<String> = kith.redis().zrange(inbox(cy), 0, -1).await.expect("Redis answers");
    assert_eq!(members.len(), 2, "a marker and one reference: {members:?}");
    assert_eq!(cy.walk(Walk::First(20)).await, [kept]);
    kith.finish().await;
}

#[tokio::test]
async fn a_lost_inbox_changes_nothing_and_is_built_again() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    ben.follow(ada).await;
    let mut posted = Vec::new();
    for n in 0..50 {
        posted.push(ada.post(&n.to_string()).await);
    }
    warm(&kith, ben).await;
    let expected = newest_first(posted).await;
    redis::cmd("FLUSHDB").query_async::<()>(&mut kith.redis()).await.expect("Redis answers");
    assert_eq!(ben.walk(Walk::First(7)).await, expected);
    kith.drain().await;
    let size: usize = kith.redis().zcard(inbox(ben)).await.expect("Redis answers");
    assert_eq!(size, 51, "built again: the marker and fifty references");
    assert_eq!(ben.walk(Walk::Last(7)).await, expected);
    // Every inbox can be voided at once.
    kith.sql().await.execute("UPDATE inbox_epoch SET epoch = epoch + 1", &[]).await;
    assert_eq!(ben.walk(Walk::First(7)).await, expected);
    assert_eq!(kith.jobs().await, 1, "a build is asked for");
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn all_of_a_thousand_can_be_reached_and_every_page_size_sees_the_same() {
    let kith = Kith::start().await;
    let people = kith.people(6).await;
    let reader = &people[5];
    for author in &people[..5] {
        reader.follow(author).await;
    }
    // Planted, for it is not the posting that is under test; many share a millisecond.
    let plant = "INSERT INTO messages (id, author_id, channel, kind, status, content, extra, version, created_at, updated_at)
        SELECT $1::bigint + ((n / 7)::bigint << 22) + n, ($2::bigint[])[1 + n % 5], 'default', 'text', 'published', n::text, '{}', 1, now(), now()
        FROM generate_series(1, 1000) AS n";
    let from = kith::ids::floor_of_ms(crate::harness::START_MS - 1_000_000);
    let authors: Vec<i64> = people[..5].iter().map(|author| author.viewer.user_id).collect();
    kith.sql().await.execute(plant, &[&from, &authors]).await;
    let heads = "INSERT INTO author_channels (author_id, channel, newest_id)
        SELECT author_id, channel, max(id) FROM messages GROUP BY author_id, channel";
    kith.sql().await.execute(heads, &[]).await;
    let counts = "UPDATE user_counters SET message_count = (SELECT count(*) FROM messages WHERE author_id = user_id)";
    kith.sql().await.execute(counts, &[]).await;
    warm(&kith, reader).await;
    let whole = reader.walk(Walk::First(100)).await;
    assert_eq!(whole.len(), 1000);
    for walk in [Walk::First(7), Walk::First(50), Walk::Last(100), Walk::Last(33)] {
        assert_eq!(reader.walk(walk).await, whole, "{walk:?}");
    }
    kith.finish().await;
}

#[tokio::test]
async fn a_connection_that_died_in_the_pool_is_not_handed_out() {
    let kith = Kith::start().await;
    let people = kith.people(1).await;
    let first = Ask::default();
    let ask = || people[0].feed_page("default", &first);
    futures_util::future::join_all((0..20).map(|_| ask())).await;
    let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    assert!(kith.sql().await.one::<i64>(others, &[]).await > 1);
    let left = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    until("they are gone", async || (kith.sql().await.one::<i64>(left, &[]).await == 0).then_some(())).await;
    for _ in 0..20 {
        ask().await;
    }
    kith.drain().await;
}

#[tokio::test]
async fn without_redis_the_feed_is_answered_by_postgres() {
    let kith = Kith::start_with(|config| config.redis_url = "redis://127.0.0.1:1/0".parse().expect("a URL")).await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    ben.follow(ada).await;
    let posted = ada.post("still here").await;
    assert_eq!(ben.walk(Walk::First(7)).await, [posted]);
}

#[tokio::test]
async fn a_warm_page_asks_the_inbox_and_not_the_authors() {
    watch_statements();
    let kith = Kith::start().await;
    let people = kith.people(3).await;
    let (ada, ben, stranger) = (&people[0], &people[1], &people[2]);
    ben.follow(ada).await;
    let posted = ada.post("indexed").await;
    let planted = stranger.post("planted").await;
    warm(&kith, ben).await;
    kith.advance(Duration::from_secs(60)).await;
    kith.tick().await;
    let ben = &kith.again(ben);
    assert_eq!(kith.sql().await.one::<i64>("SELECT count(*) FROM in_flight", &[]).await, 0);
    let before = kith.statements("AS contributor");
    assert!(before > 0, "the first page, without an inbox, was pulled");
    assert_eq!(ben.walk(Walk::First(7)).await, [posted.clone()]);
    assert_eq!(kith.statements("AS contributor"), before);
    // Nor could it hide one: what is not in the inbox does not come.
    let mut redis = kith.redis();
    let members: Vec<String> = redis.zrange(inbox(ben), 1, -1).await.expect("Redis answers");
    assert_eq!(members.len(), 1);
    let score: f64 = redis.zscore(inbox(ben), &members[0]).await.expect("Redis answers");
    assert_eq!(score as i64, kith::ids::ms_of(members[0].split_once(':').expect("a pair").1.parse().expect("an id")));
    redis.zrem::<_, _, ()>(inbox(ben), &members[0]).await.expect("Redis answers");
    assert!(ben.walk(Walk::First(7)).await.is_empty(), "the index is really used");
    // A planted reference reaches the candidates: it is passed over for want of a reason, and shown with one.
    redis.zadd::<_, _, _, ()>(inbox(ben), &members[0], score).await.expect("Redis answers");
    let id: i64 = kith.sql().await.one("SELECT id FROM messages WHERE content = 'planted'", &[]).await;
    let member = format!("{}:{id}", stranger.viewer.user_id);
    redis.zadd::<_, _, _, ()>(inbox(ben), member, score).await.expect("Redis answers");
    assert_eq!(ben.walk(Walk::First(7)).await, [posted.clone()]);
    let edge = "INSERT INTO follows (followee_id, follower_id, id, is_hot, created_at) VALUES ($1, $2, 1, true, now())";
    kith.sql().await.execute(edge, &[&stranger.viewer.user_id, &ben.viewer.user_id]).await;
    assert_eq!(ben.walk(Walk::First(7)).await, [planted, posted]);
    assert_eq!(kith.jobs().await, 0);
}

#[tokio::test]
async fn a_delivery_goes_on_from_its_last_step() {
    let kith = Kith::start_with(|config| config.delivery_chunk = 2).await;
    let people = kith.people(8).await;
    let ada = &people[0];
    for follower in &people[1..] {
        follower.follow(ada).await;
        warm(&kith, follower).await;
    }
    let posted = ada.post("for seven").await;
    let have = async || {
        let mut have = 0;
        for follower in &people[1..] {
            have += kith.redis().zcard::<_, usize>(inbox(follower)).await.expect("Redis answers") - 1;
        }
        have
    };
    for expected in [2, 4, 6, 7] {
        assert!(kith.step().await);
        assert_eq!(have().await, expected);
        for follower in &people[1..] {
            assert_eq!(follower.walk(Walk::First(1)).await, [posted.clone()], "everybody sees it meanwhile");
        }
    }
    kith.finish().await;
}

#[tokio::test]
async fn a_worker_killed_in_the_middle_loses_and_doubles_nothing() {
    let kith = Kith::start_with(|config| config.delivery_chunk = 2).await;
    let people = kith.people(8).await;
    let ada = &people[0];
    for follower in &people[1..] {
        follower.follow(ada).await;
        warm(&kith, follower).await;
    }
    let posted = ada.post("for seven").await;
    // Whoever delivers cannot write down that a step is done: it stands in the middle, its writes in Redis.
    let sql = kith.sql().await;
    sql.batch(
        "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NEW; END $$;
         CREATE TRIGGER hold BEFORE UPDATE OF payload ON jobs FOR EACH ROW EXECUTE FUNCTION hold();
         SELECT pg_advisory_lock(42)",
    )
    .await;
    let environment = [("KITH_DELIVERY_CHUNK", "2"), ("KITH_JOB_LEASE", "600"), ("KITH_WORKER_JOBS", "1")];
    let worker = Process::spawn(&kith, &["worker"], &environment);
    let have = async || {
        let mut have = 0;
        for follower in &people[1..] {
            have += kith.redis().zcard::<_, usize>(inbox(follower)).await.expect("Redis answers") - 1;
        }
        have
    };
    until("the first step is in Redis", async || (have().await == 2).then_some(())).await;
    worker.signal("KILL");
    drop(worker);
    for follower in &people[1..] {
        assert_eq!(follower.walk(Walk::First(1)).await, [posted.clone()], "everybody sees it meanwhile");
    }
    sql.batch("SELECT pg_advisory_unlock(42); DROP TRIGGER hold ON jobs").await;
    // The lease of the killed one (by the machine's clock) is over.
    sql.batch("UPDATE jobs SET run_at = '2026-01-01', leased_until = '2026-01-01'").await;
    kith.drain().await;
    assert_eq!(have().await, 7, "each has it once");
    for follower in &people[1..] {
        assert_eq!(follower.walk(Walk::First(1)).await, [posted.clone()]);
    }
    kith.finish().await;
}

#[tokio::test]
async fn the_order_is_that_of_publishing_for_every_follower_and_nobody_sets_it() {
    let kith = Kith::start().await;
    let people = kith.people(4).await;
    let (ada, ben) = (&people[0], &people[1]);
    for reader in &people[2..] {
        reader.follow(ada).await;
        reader.follow(ben).await;
        warm(&kith, reader).await;
    }
    let first = ada.post("first").await;
    kith.clock.advance(Duration::from_millis(5));
    let second = ben.post("second").await;
    // The second is delivered before the first.
    let sql = kith.sql().await;
    sql.execute(
        "UPDATE jobs SET run_at = run_at - interval '1 hour' WHERE payload ->> 'author_id' = $1",
        &[&ben.viewer.user_id.to_string()],
    )
    .await;
    assert!(kith.step().await);
    for _ in 0..2 {
        for reader in &people[2..] {
            assert_eq!(reader.walk(Walk::First(1)).await, [second.clone(), first.clone()]);
        }
        kith.drain().await;
    }
    // The clock stepping back repeats no id and leaves the order as it is.
    kith.clock.rewind(Duration::from_secs(10));
    let third = kith.again(ada).post("third").await;
    assert_eq!(kith.again(&people[2]).walk(Walk::First(7)).await, [third, second, first]);
    let dated =
        "mutation { postMessage(input: { content: \"x\", createdAt: \"2030-01-01T00:00:00Z\" }) { message { id } } }";
    assert_eq!(kith.again(ada).query(dated, json!({})).await.code(), "BAD_USER_INPUT");
    kith.drain().await;
}

#[tokio::test]
async fn the_feed_needs_somebody_who_reads_it() {
    let kith = Kith::start().await;
    let answer = kith.anonymous().ask_feed("default", &Ask::default()).await;
    assert_eq!(answer.code(), "UNAUTHENTICATED");
    assert!(answer.partial()["feed"].is_null());
}
