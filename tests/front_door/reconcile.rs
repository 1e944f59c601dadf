//! What is derived and is off is found and mended: drift is planted, `kith reconcile` and the worker of the real program
//! mend it, and people go on meanwhile. Never what keeps it right in the first place.

use std::process::{Command, Output};

use redis::AsyncCommands;
use serde_json::{Value, json};

use crate::feed::{inbox, warm};
use crate::harness::{Database, Kith, Person, Process, Walk, until};

/// Runs `kith reconcile` on the databases of `kith`.
fn reconcile(kith: &Kith, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kith"));
    command.arg("reconcile").args(arguments).env_clear();
    command.env("DATABASE_URL", kith.config.database_url.as_str()).env("REDIS_URL", kith.config.redis_url.as_str());
    command.env("KITH_CHANNELS", "default,work").output().expect("it runs")
}

/// Kind, id and what of each thing that is off, and with which code it ended.
fn told(output: &Output) -> (Vec<(String, i64, String)>, Option<i32>) {
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let drift = |drift: &Value| (text(&drift["kind"]), drift["id"].as_i64().expect("a number"), text(&drift["what"]));
    (told["drifts"].as_array().expect("a list").iter().map(drift).collect(), output.status.code())
}

/// Holds that exactly `expected` is found, twice, and by nobody else's hand mended; then mends it, and nothing is left.
async fn found_and_mended(kith: &Kith, mut expected: Vec<(&str, i64, &str)>) {
    let sorted = |mut drifts: Vec<(String, i64, String)>| {
        drifts.sort();
        drifts
    };
    expected.sort_unstable();
    let expected: Vec<_> =
        expected.into_iter().map(|(kind, id, what)| (kind.to_owned(), id, what.to_owned())).collect();
    for _ in 0..2 {
        let (drifts, code) = told(&reconcile(kith, &["--dry-run", "--format", "json"]));
        assert_eq!((sorted(drifts), code), (expected.clone(), Some(2)), "found, and left as it is");
    }
    let (drifts, code) = told(&reconcile(kith, &["--format", "json"]));
    assert_eq!((sorted(drifts), code), (expected, Some(0)), "mended");
    for arguments in [&["--format", "json"][..], &["--dry-run", "--format", "json"]] {
        assert_eq!(told(&reconcile(kith, arguments)), (vec![], Some(0)), "nothing is left");
    }
}

/// The first of these people, whom the others follow with warm inboxes.
async fn followed(kith: &Kith, count: usize) -> Vec<Person> {
    let people = kith.people(count).await;
    for reader in &people[1..] {
        reader.follow(&people[0]).await;
        warm(kith, reader).await;
    }
    people
}

#[tokio::test]
async fn counters_of_people() {
    let kith = Kith::start().await;
    let people = kith.people(4).await;
    let (ada, ben) = (people[0].viewer.user_id, people[1].viewer.user_id);
    people[0].follow(&people[1]).await;
    people[0].post("one").await;
    kith.drain().await;
    assert_eq!(told(&reconcile(&kith, &["--dry-run", "--format", "json"])), (vec![], Some(0)));
    let sql = kith.sql().await;
    sql.execute("UPDATE user_counters SET message_count = 4, following_count = 0 WHERE user_id = $1", &[&ada]).await;
    sql.execute("DELETE FROM user_counters WHERE user_id = $1", &[&ben]).await;
    let off = [(ada, "message_count"), (ada, "following_count")];
    let missing = [(ben, "message_count"), (ben, "follower_count"), (ben, "following_count")];
    found_and_mended(
        &kith,
        [&off[..], &missing].concat().into_iter().map(|(id, what)| ("user_counters", id, what)).collect(),
    )
    .await;
    let counters =
        "SELECT message_count * 100 + follower_count * 10 + following_count FROM user_counters ORDER BY user_id";
    assert_eq!(sql.column::<i64>(counters, &[]).await, [101, 10, 0, 0]);
    kith.finish().await;
}

#[tokio::test]
async fn counters_of_messages() {
    let kith = Kith::start().await;
    let people = kith.people(3).await;
    let (first, second) = (people[0].post("one").await, people[0].post("two").await);
    for message in [&first, &second] {
        people[1].like(message).await;
    }
    people[2].like(&first).await;
    people[2].unlike(&first).await;
    kith.drain().await;
    let sql = kith.sql().await;
    let ids: Vec<i64> = sql.column("SELECT id FROM messages ORDER BY id", &[]).await;
    sql.batch(
        "DELETE FROM message_counters WHERE like_ever_count = 1; UPDATE message_counters SET like_count = 0, like_ever_count = 7;
         INSERT INTO message_counters (message_id, author_id, like_ever_count) VALUES (5, 1, 1)",
    )
    .await;
    let off = |id, what| ("message_counters", id, what);
    let of_none = [off(5, "like_count"), off(5, "like_ever_count")];
    let of_both = ids.iter().flat_map(|id| [off(*id, "like_count"), off(*id, "like_ever_count")]);
    found_and_mended(&kith, of_none.into_iter().chain(of_both).collect()).await;
    let counters = "SELECT like_count * 10 + like_ever_count FROM message_counters ORDER BY message_id";
    assert_eq!(sql.column::<i64>(counters, &[]).await, [12, 11]);
    kith.finish().await;
}

#[tokio::test]
async fn the_newest_message_of_authors() {
    let kith = Kith::start().await;
    let people = kith.people(4).await;
    for author in &people {
        author.post("one").await;
        author.post("two").await;
    }
    kith.drain().await;
    let sql = kith.sql().await;
    let id = |n: usize| people[n].viewer.user_id;
    let heads = "SELECT newest_id FROM author_channels ORDER BY author_id, channel";
    let right: Vec<i64> = sql.column(heads, &[]).await;
    sql.execute("UPDATE author_channels SET newest_id = newest_id - 1 WHERE author_id = $1", &[&id(0)]).await;
    sql.execute("UPDATE author_channels SET newest_id = newest_id + 1 WHERE author_id = $1", &[&id(1)]).await;
    sql.execute("DELETE FROM author_channels WHERE author_id = $1", &[&id(2)]).await;
    sql.execute("INSERT INTO author_channels (author_id, channel, newest_id) VALUES ($1, 'work', 5)", &[&id(3)]).await;
    let off = |n, channel| ("author_channels", id(n), channel);
    found_and_mended(&kith, vec![off(0, "default"), off(1, "default"), off(2, "default"), off(3, "work")]).await;
    assert_eq!(sql.column::<i64>(heads, &[]).await, right);
    kith.finish().await;
}

#[tokio::test]
async fn hot_follows_and_feeds_of_nobody() {
    let kith = Kith::start().await;
    let people = followed(&kith, 3).await;
    let cold = &kith.people(1).await[0];
    cold.follow(&people[0]).await;
    let sql = kith.sql().await;
    let of_nobody =
        "INSERT INTO activity (user_id, channel, is_hot, generation, read_at) VALUES (7, 'default', true, 1, now())";
    sql.execute(of_nobody, &[]).await;
    // What is posted now does not come to Ben, whose edge is cold.
    let ben = people[1].viewer.user_id;
    sql.execute("UPDATE follows SET is_hot = (follower_id <> $1)", &[&ben]).await;
    people[0].post("missed").await;
    kith.drain().await;
    sql.batch("DELETE FROM in_flight").await;
    let lacking = inbox(&people[1]);
    let (drifts, _) = told(&reconcile(&kith, &["--dry-run", "--format", "json"]));
    let cold_id = cold.viewer.user_id;
    let hot = |id| ("hot_follows".to_owned(), id, "follows".to_owned());
    assert!([hot(ben), hot(cold_id)].iter().all(|drift| drifts.contains(drift)), "{drifts:?}");
    assert!(drifts.contains(&("lacking_inboxes".into(), ben, lacking.clone())), "{drifts:?}");
    let (drifts, code) = told(&reconcile(&kith, &["--format", "json"]));
    assert_eq!((drifts.len(), code), (4, Some(0)), "{drifts:?}");
    assert!(drifts.contains(&("activity".into(), 7, "default".into())), "{drifts:?}");
    // The flag was mended first, and that made the inbox void.
    assert!(drifts.contains(&("stray_inboxes".into(), ben, lacking)), "{drifts:?}");
    assert_eq!(told(&reconcile(&kith, &["--format", "json"])), (vec![], Some(0)));
    assert_eq!(people[1].walk(Walk::First(7)).await.len(), 1, "it is seen");
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn deliveries_that_nobody_is_at_and_jobs_of_nothing() {
    let kith = Kith::start().await;
    let people = followed(&kith, 2).await;
    let posted = people[0].post("its job is lost").await;
    let sql = kith.sql().await;
    sql.batch("DELETE FROM jobs; INSERT INTO in_flight (message_id, author_id, channel) VALUES (5, 6, 'default')")
        .await;
    let job = json!({ "event": "MessagePosted", "message_id": 9, "author_id": 6, "channel": "default" });
    sql.execute(
        "INSERT INTO jobs (kind, payload, run_at, due_by) VALUES ('event', $1::text::jsonb, now(), now())",
        &[&job.to_string()],
    )
    .await;
    let (id, idle): (i64, i64) =
        (sql.one("SELECT id FROM messages", &[]).await, sql.one("SELECT id FROM jobs", &[]).await);
    let off = [("in_flight", id, "delivery"), ("in_flight", 5, "delivery"), ("jobs", idle, "MessagePosted")];
    found_and_mended(&kith, off.into()).await;
    assert_eq!(kith.jobs().await, 1);
    sql.batch("UPDATE jobs SET run_at = '2026-01-01'").await;
    kith.drain().await;
    assert_eq!(kith.redis().zcard::<_, usize>(inbox(&people[1])).await, Ok(2), "it came");
    assert_eq!(people[1].walk(Walk::First(7)).await, [posted]);
    kith.finish().await;
}

#[tokio::test]
async fn inboxes_that_are_none_or_lack_something() {
    let kith = Kith::start().await;
    let people = followed(&kith, 9).await;
    let posted = people[0].post("everywhere").await;
    kith.drain().await;
    let mut redis = kith.redis();
    let sql = kith.sql().await;
    sql.batch("DELETE FROM in_flight").await;
    let name = |n: usize| inbox(&people[n]);
    redis
        .zrem::<_, _, ()>(name(1), kith.redis().zrange::<_, Vec<String>>(name(1), 1, 1).await.expect("it is there"))
        .await
        .expect("Redis answers");
    redis.set::<_, _, ()>(name(2), "not an inbox").await.expect("Redis answers");
    let many: Vec<(i64, String)> = (1..=200).map(|n| (n, format!("1:{n}"))).collect();
    redis.zadd_multiple::<_, _, _, ()>(name(3), &many).await.expect("Redis answers");
    redis.zadd::<_, _, _, ()>(name(4), "a".repeat(100), 1).await.expect("Redis answers");
    sql.execute("UPDATE activity SET generation = generation + 1 WHERE user_id = $1", &[&people[5].viewer.user_id])
        .await;
    sql.execute("DELETE FROM activity WHERE user_id = $1", &[&people[6].viewer.user_id]).await;
    sql.execute("UPDATE follows SET is_hot = false WHERE follower_id = $1", &[&people[6].viewer.user_id]).await;
    // Begun by a build whose job is there, and by one whose job is not.
    for n in [7, 8] {
        redis.unlink::<_, ()>(name(n)).await.expect("Redis answers");
        redis.zadd::<_, _, _, ()>(name(n), "~token", "+inf").await.expect("Redis answers");
    }
    people[8].walk(Walk::First(7)).await;
    let odd = ["user:{ada}:inbox:default", "user:{5}:inbox:gone"];
    for key in odd {
        redis.zadd::<_, _, _, ()>(key, "#1:1:0", 0).await.expect("Redis answers");
    }
    let names: Vec<String> = (0..9).map(name).collect();
    let mut off: Vec<_> = (2..8).map(|n| ("stray_inboxes", people[n].viewer.user_id, names[n].as_str())).collect();
    off.extend([("stray_inboxes", 0, odd[0]), ("stray_inboxes", 5, odd[1])]);
    off.push(("lacking_inboxes", people[1].viewer.user_id, names[1].as_str()));
    found_and_mended(&kith, off).await;
    assert!(redis.exists::<_, bool>(name(8)).await.expect("Redis answers"), "this one is being built");
    for reader in &people[1..] {
        assert_eq!(reader.walk(Walk::First(7)).await, std::slice::from_ref(&posted));
    }
    kith.drain().await;
    for reader in &people[1..] {
        assert_eq!(kith.redis().zcard::<_, usize>(inbox(reader)).await, Ok(2), "built anew");
    }
    kith.finish().await;
}

#[tokio::test]
async fn people_post_follow_and_like_while_it_mends() {
    let kith = Kith::start().await;
    let people = kith.people(20).await;
    for reader in &people[1..] {
        reader.follow(&people[0]).await;
    }
    let message = people[0].post("first").await;
    kith.drain().await;
    kith.sql().await.batch(
        "UPDATE user_counters SET message_count = 9, follower_count = 9, following_count = 9; UPDATE author_channels SET newest_id = 1",
    ).await;
    let mut mending = Process::spawn(&kith, &["reconcile"], &[]);
    let (mut n, mut ended) = (0, false);
    while n < 20 || !ended {
        let (one, other) = (&people[n % 20], &people[(n + 1) % 20]);
        tokio::join!(one.follow(other), other.post("meanwhile"), one.like(&message));
        n += 1;
        ended = ended || !mending.is_running();
        assert!(n < 10_000, "it comes to an end");
    }
    assert!(mending.ended().await);
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn the_worker_mends_by_itself() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    people[0].post("one").await;
    kith.drain().await;
    let sql = kith.sql().await;
    sql.batch("UPDATE user_counters SET message_count = 7; UPDATE author_channels SET newest_id = 7").await;
    kith.redis().set::<_, _, ()>(inbox(&people[1]), "not an inbox").await.expect("Redis answers");
    assert!(!kith.drifts().await.is_empty());
    let mut worker = Process::spawn(&kith, &["worker"], &[("KITH_LOG", "error")]);
    until("all is right", async || kith.drifts().await.is_empty().then_some(())).await;
    worker.signal("TERM");
    assert!(worker.ended().await);
    kith.finish().await;
}

#[tokio::test]
async fn buried_jobs_are_told_and_get_another_chance_when_asked() {
    let kith = Kith::start().await;
    let sql = kith.sql().await;
    sql.batch(
        "INSERT INTO jobs (kind, payload, dedupe_key, run_at, due_by, failures, last_error, buried_at) VALUES
            ('a', '{}', NULL, now(), now(), 20, 'broken', now()), ('b', '{}', 'key', now(), now(), 20, 'broken', now()),
            ('c', '{}', 'key', now(), now(), 20, 'broken', now()), ('d', '{}', 'other', now(), now(), 20, 'broken', now());
         INSERT INTO jobs (kind, payload, dedupe_key, run_at, due_by) VALUES ('e', '{}', 'other', now(), now())",
    )
    .await;
    let told = reconcile(&kith, &[]);
    let text = String::from_utf8_lossy(&told.stdout);
    assert!(text.contains("a: broken") && text.contains("All is right.") && text.contains("--retry-buried"), "{text}");
    assert_eq!(told.status.code(), Some(0));
    assert_eq!(kith.jobs().await, 5);
    let told: Value =
        serde_json::from_slice(&reconcile(&kith, &["--retry-buried", "--format", "json"]).stdout).expect("JSON");
    assert_eq!((told["buriedJobs"].as_array().map(Vec::len), &told["retriedJobs"]), (Some(4), &json!(2)));
    let due: Vec<String> =
        sql.column("SELECT kind FROM jobs WHERE buried_at IS NULL AND failures = 0 ORDER BY kind", &[]).await;
    assert_eq!((due, kith.jobs().await), (vec!["a".into(), "c".into(), "e".into()], 3));
}

#[tokio::test]
async fn what_stands_in_the_way_is_told_in_a_sentence() {
    let kith = Kith::start().await;
    let empty = Database::empty().await;
    let run = |database: &str, redis: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kith"));
        command.arg("reconcile").env_clear().env("DATABASE_URL", database).env("REDIS_URL", redis);
        let output = command.output().expect("it runs");
        (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
    };
    let (text, code) = run(&empty.url, kith.config.redis_url.as_str());
    assert!(text.contains("run `kith migrate`"), "{text}");
    assert_eq!(code, Some(1));
    let (text, code) = run(kith.config.database_url.as_str(), "redis://127.0.0.1:1");
    assert!(text.contains("Redis"), "{text}");
    assert_eq!(code, Some(1));
}
