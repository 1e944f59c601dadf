//! What a page costs, counted: round trips to Postgres and the statements in each, and what Redis is asked.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::json;

use crate::faults::{Proxy, Weather};
use crate::feed::{inbox, warm};
use crate::harness::{Answer, Ask, Kith, Person, redis_url, until, watch_statements};

/// All that an app shows of a message in a list.
const PAGE: &str = "query($first: Int, $after: String, $last: Int, $before: String) {
    feed(first: $first, after: $after, last: $last, before: $before) {
        edges { cursor node {
            id type channel title content extra createdAt updatedAt isEdited likeCount viewerHasLiked
            author { id handle displayName messageCount followerCount viewerFollows followsViewer }
        } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
}";

/// What each round trip is told by, in the order of the statements: who is signed in, step one, and the page.
const SESSION: &[&str] = &["\"sessions\""];
const STATE: &[&str] = &["WITH reason AS MATERIALIZED"];
const WAVE: &[&str] = &[
    "\"messages\".\"id\" = ANY",
    "LEFT JOIN follows",
    "\"users\".\"id\" = ANY",
    "\"user_counters\".\"user_id\" = ANY",
    "\"message_counters\".\"message_id\" = ANY",
    "\"likes\".\"message_id\" = ANY",
];

/// Somebody with a warm inbox, 120 messages of six authors in it, and nothing in flight.
async fn reader(kith: &Kith) -> (Person, Vec<String>) {
    let people = kith.people(7).await;
    let (reader, authors) = people.split_first().expect("seven");
    for author in authors {
        reader.follow(author).await;
    }
    warm(kith, reader).await;
    let mut posted = Vec::new();
    for number in 0..110 {
        posted.insert(0, authors[number % authors.len()].post(&format!("message {number}")).await);
    }
    kith.drain().await;
    kith.advance(Duration::from_secs(60)).await;
    kith.tick().await;
    (kith.again(reader), posted)
}

/// Holds if these statements were sent since a moment, and no other.
fn took(kith: &Kith, since: usize, expected: &[&[&str]]) {
    let (sent, expected) = (kith.round_trips(since).concat(), expected.concat());
    let is_it = sent.len() == expected.len() && sent.iter().zip(&expected).all(|(sent, part)| sent.contains(part));
    assert!(is_it, "expected {expected:#?}, sent {sent:#?}");
}

async fn page(reader: &Person, ask: &Ask) -> Answer {
    reader.query(PAGE, ask.variables("default")).await
}

fn ids(answer: &Answer) -> Vec<String> {
    let edges = answer.at("/feed/edges").as_array().expect("edges");
    edges.iter().map(|edge| edge["node"]["id"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn a_warm_page_of_any_size_is_one_small_statement_and_one_round_trip() {
    watch_statements();
    let kith = Kith::start().await;
    let (reader, posted) = reader(&kith).await;
    let mut after = None;
    for size in [1, 2, 7, 50, 20] {
        let since = kith.moment();
        let answer = page(&reader, &Ask { first: Some(size), after: after.clone(), ..Ask::default() }).await;
        took(&kith, since, &[SESSION, STATE, WAVE]);
        assert_eq!(ids(&answer).len(), size as usize);
        after = Some(answer.text("/feed/pageInfo/endCursor"));
        // Towards the newer ones it is the same.
        let since = kith.moment();
        let back = page(&reader, &Ask { last: Some(size), before: after.clone(), ..Ask::default() }).await;
        took(&kith, since, &[SESSION, STATE, WAVE]);
        assert!(back.at("/feed/pageInfo/hasNextPage").as_bool().expect("a flag"));
    }
    let since = kith.moment();
    let whole = page(&reader, &Ask { first: Some(100), ..Ask::default() }).await;
    took(&kith, since, &[SESSION, STATE, WAVE]);
    assert_eq!(ids(&whole), posted[..100]);
}

#[tokio::test]
async fn the_statements_of_a_page_are_on_their_way_together() {
    watch_statements();
    let mut way = None;
    let kith = Kith::start_with(|config| {
        let proxy = way.insert(Proxy::before(config.database_url.as_str()));
        config.database_url = proxy.url.parse().expect("a URL");
        // One whose statements are prepared.
        config.database_pool = 1;
    })
    .await;
    let (reader, posted) = reader(&kith).await;
    let ten = Ask { first: Some(10), ..Ask::default() };
    page(&reader, &ten).await.data();
    // No answer comes before all that does not wait for one was sent.
    let way = way.expect("it was made");
    way.weather(Weather::Slow(Duration::from_millis(200)));
    let since = kith.moment();
    let answer = page(&reader, &ten).await;
    took(&kith, since, &[SESSION, STATE, WAVE]);
    let sizes: Vec<usize> = kith.round_trips(since).iter().map(Vec::len).collect();
    assert_eq!(sizes, [1, 1, WAVE.len()]);
    assert_eq!(ids(&answer), posted[..10]);
}

#[tokio::test]
async fn what_is_not_selected_is_not_asked_for() {
    watch_statements();
    let kith = Kith::start().await;
    let (reader, _) = reader(&kith).await;
    for (fields, expected) in [
        ("nodes { id content }", &[0, 1][..]),
        ("nodes { ...on Message { likeCount } }", &[0, 1, 4]),
        ("edges { cursor node { viewerHasLiked } }", &[0, 1, 5]),
        ("nodes { id } edges { node { author { handle } } }", &[0, 1, 2]),
        ("nodes { author { ...on User { followingCount } } }", &[0, 1, 2, 3]),
        ("nodes { id likeCount @include(if: false) }", &[0, 1]),
    ] {
        let since = kith.moment();
        reader.query(&format!("{{ feed {{ {fields} }} }}"), json!({})).await.data();
        let wave: Vec<&str> = expected.iter().map(|at| WAVE[*at]).collect();
        took(&kith, since, &[SESSION, STATE, &wave]);
    }
}

#[tokio::test]
async fn each_window_more_is_one_round_trip_more() {
    watch_statements();
    let kith = Kith::start().await;
    let (reader, posted) = reader(&kith).await;
    // Of the first window, five, two are left; of the second, ten, enough.
    let gone = "UPDATE messages SET status = 'deleted', deleted_at = now() WHERE content = ANY($1)";
    let contents: Vec<String> = [109, 108, 107].map(|number| format!("message {number}")).into();
    kith.sql().await.execute(gone, &[&contents]).await;
    let since = kith.moment();
    let answer = page(&reader, &Ask { first: Some(4), ..Ask::default() }).await;
    took(&kith, since, &[SESSION, STATE, WAVE, WAVE]);
    assert_eq!(ids(&answer), posted[3..7]);
}

#[tokio::test]
async fn redis_is_asked_once_beside_postgres() {
    watch_statements();
    let redis = redis_url().await;
    let proxy = Proxy::before(&redis);
    let kith = Kith::start_with(|config| config.redis_url = proxy.url.parse().expect("a URL")).await;
    let (reader, posted) = reader(&kith).await;
    let five = Ask { first: Some(5), ..Ask::default() };
    let database = redis.rsplit('/').next().expect("a database").to_owned();
    let client = redis::Client::open(redis.as_str()).expect("a URL");
    let monitor = client.get_async_monitor().await.expect("Redis answers");
    let mut commands = monitor.into_on_message::<String>();
    // While Redis is silent, Postgres is asked and answers.
    let since = kith.moment();
    proxy.weather(Weather::Still);
    let (answer, ()) = tokio::join!(page(&reader, &five), async {
        until("Postgres has told the state", async || (kith.moment() == since + 4).then_some(())).await;
        took(&kith, since, &[SESSION, STATE]);
        proxy.weather(Weather::Fair);
    });
    assert_eq!(ids(&answer), posted[..5]);
    // While Postgres is silent, Redis is asked.
    let lock = kith.sql().await;
    lock.batch("BEGIN; LOCK TABLE inbox_epoch IN ACCESS EXCLUSIVE MODE").await;
    let mut asked = Vec::new();
    let (answer, ()) = tokio::join!(page(&reader, &five), async {
        while asked.len() < 4 {
            let line = commands.next().await.expect("Redis goes on");
            if line.contains(&format!("[{database} ")) {
                asked.push(line);
            }
        }
        lock.batch("COMMIT").await;
    });
    assert_eq!(ids(&answer), posted[..5]);
    for page in asked.chunks(2) {
        assert!(page[0].contains("\"GET\" \"inbox:heartbeat\""), "{asked:#?}");
        assert!(page[1].contains(&format!("\"ZRANGE\" \"{}\"", inbox(&reader))), "{asked:#?}");
    }
}

#[tokio::test]
async fn a_profile_takes_as_many_statements_whatever_its_size() {
    watch_statements();
    let kith = Kith::start().await;
    let (reader, _) = reader(&kith).await;
    let author = &kith
        .sql()
        .await
        .one::<String>("SELECT handle FROM users JOIN messages ON author_id = users.id LIMIT 1", &[])
        .await;
    let query = "query($handle: String!, $first: Int) { user(handle: $handle) { messages(first: $first) {
        nodes { content likeCount viewerHasLiked author { handle viewerFollows } } pageInfo { hasNextPage } } } }";
    for size in [1, 2, 7, 15] {
        let since = kith.moment();
        reader.query(query, json!({ "handle": author, "first": size })).await.data();
        let by_handle = &["lower(users.handle"][..];
        took(
            &kith,
            since,
            &[SESSION, by_handle, &["\"messages\".\"author_id\" ="], &[WAVE[0], WAVE[1], WAVE[2], WAVE[4], WAVE[5]]],
        );
    }
}
