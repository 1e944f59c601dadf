//! What is new since a client looked: counted exactly, capped honestly, late ones too; and the latest of many people.

use std::time::Duration;

use serde_json::{Value, json};

use crate::feed::warm;
use crate::harness::{Answer, Ask, Client, Kith, Page, watch_statements};

const NEWS: &str = "query($since: String!, $known: [ID!], $channel: String = \"default\", $filter: FeedFilter = ALL) {
    feedNews(since: $since, known: $known, channel: $channel, filter: $filter) { count lateCount isCapped }
}";

/// `(count, lateCount, isCapped)`
async fn news(reader: &Client, since: &str, known: Option<&[String]>) -> (i64, i64, bool) {
    let answer = reader.query(NEWS, json!({ "since": since, "known": known })).await;
    let number = |of: &str| answer.at(&format!("/feedNews/{of}")).as_i64().expect("a number");
    (number("count"), number("lateCount"), answer.at("/feedNews/isCapped").as_bool().expect("a flag"))
}

async fn top(reader: &Client, size: i32) -> Page {
    reader.feed_page("default", &Ask { first: Some(size), ..Ask::default() }).await
}

#[tokio::test]
async fn what_is_counted_is_what_the_feed_shows_whatever_happens() {
    let kith = Kith::start().await;
    let people = kith.people(4).await;
    let (reader, ada, ben, stranger) = (&people[0], &people[1], &people[2], &people[3]);
    for author in [ada, ben] {
        reader.follow(author).await;
    }
    ada.post("seen").await;
    warm(&kith, reader).await;
    let since = top(reader, 1).await.start.expect("a cursor");
    assert_eq!(news(reader, &since, None).await, (0, 0, false));
    let first = ada.post("one").await;
    ben.post("two").await;
    reader.post("one's own").await;
    stranger.post("not followed").await;
    ada.post_in("work", "another channel").await;
    // While nothing is delivered, when it is, without Redis, and cold: the same.
    assert_eq!(news(reader, &since, None).await, (3, 0, false));
    kith.drain().await;
    assert_eq!(news(reader, &since, None).await, (3, 0, false));
    redis::cmd("FLUSHDB").exec_async(&mut kith.redis()).await.expect("Redis answers");
    assert_eq!(news(reader, &since, None).await, (3, 0, false));
    ada.delete(&first).await;
    assert_eq!(news(reader, &since, None).await, (2, 0, false));
    reader.unfollow(ben).await;
    assert_eq!(news(reader, &since, None).await, (1, 0, false));
    reader.follow(ben).await;
    reader.follow(stranger).await;
    assert_eq!(news(reader, &since, None).await, (3, 0, false));
    let newer = Ask { last: Some(100), before: Some(since), ..Ask::default() };
    assert_eq!(reader.feed_page("default", &newer).await.ids.len(), 3, "what a page towards newer ones shows");
}

#[tokio::test]
async fn the_cap_is_told_when_there_is_more_and_only_then() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (reader, ada) = (&people[0], &people[1]);
    reader.follow(ada).await;
    let seen = ada.post("seen").await;
    let since = top(reader, 1).await.start.expect("a cursor");
    for number in 1..=98 {
        ada.post(&format!("{number}")).await;
    }
    assert_eq!(news(reader, &since, None).await, (98, 0, false));
    ada.post("99").await;
    assert_eq!(news(reader, &since, None).await, (99, 0, false));
    let hundredth = ada.post("100").await;
    assert_eq!(news(reader, &since, None).await, (99, 0, true));
    // What is known is not news, and what is behind it comes into the count.
    assert_eq!(news(reader, &since, Some(&[seen, hundredth.clone()])).await, (99, 0, false));
    ada.delete(&hundredth).await;
    assert_eq!(news(reader, &since, None).await, (99, 0, false));
}

#[tokio::test]
async fn who_looked_at_too_many_that_are_hidden_says_so() {
    let kith = Kith::start_with(|config| config.scan_limit = 100).await;
    let people = kith.people(2).await;
    let (reader, ada) = (&people[0], &people[1]);
    reader.follow(ada).await;
    ada.post("seen").await;
    let since = top(reader, 1).await.start.expect("a cursor");
    ada.post("behind them").await;
    for number in 0..120 {
        let id = ada.post(&format!("{number}")).await;
        ada.delete(&id).await;
    }
    assert_eq!(news(reader, &since, None).await, (0, 0, true));
}

#[tokio::test]
async fn what_became_visible_late_counts_for_who_says_what_it_knows() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (reader, ada) = (&people[0], &people[1]);
    reader.follow(ada).await;
    ada.post("long ago").await;
    kith.advance(Duration::from_secs(60)).await;
    let ada = &kith.again(ada);
    let reader = &kith.again(reader);
    let late = ada.post("takes long to commit").await;
    kith.advance(Duration::from_secs(10)).await;
    // Another server's message, of a later moment, is seen before.
    let hide = "UPDATE messages SET status = $1::text, deleted_at = CASE $1::text WHEN 'deleted' THEN now() END WHERE content = $2";
    let sql = kith.sql().await;
    sql.execute(hide, &[&"deleted", &"takes long to commit"]).await;
    ada.post("quick").await;
    let seen = top(reader, 20).await;
    assert_eq!(seen.contents, ["quick", "long ago"]);
    sql.execute(hide, &[&"published", &"takes long to commit"]).await;
    let since = seen.start.clone().expect("a cursor");
    assert_eq!(news(reader, &since, None).await, (0, 0, false), "it is not newer");
    assert_eq!(news(reader, &since, Some(&seen.ids)).await, (1, 1, false));
    ada.post("newer").await;
    assert_eq!(news(reader, &since, Some(&seen.ids)).await, (2, 1, false));
    let all = top(reader, 20).await;
    assert!(all.ids.contains(&late));
    assert_eq!(news(reader, &all.start.expect("a cursor"), Some(&all.ids)).await, (0, 0, false));
    // What stands further below than anything can come late is not looked at.
    assert_eq!(news(reader, &since, Some(&[])).await, (2, 1, false));
}

#[tokio::test]
async fn only_what_feed_gave_out_is_a_place_to_count_from() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (reader, ada) = (&people[0], &people[1]);
    reader.follow(ada).await;
    ada.post("seen").await;
    let since = top(reader, 1).await.start.expect("a cursor");
    let refused = async |variables: Value, code: &str, field: &str| {
        let answer = reader.query(NEWS, variables).await;
        assert_eq!((answer.code(), answer.field()), (code, Some(field)));
        assert!(answer.body["data"]["feedNews"].is_null());
    };
    refused(json!({ "since": "nonsense" }), "BAD_CURSOR", "since").await;
    refused(json!({ "since": since, "channel": "work" }), "BAD_CURSOR", "since").await;
    refused(json!({ "since": since, "filter": "CLOSE" }), "BAD_CURSOR", "since").await;
    refused(json!({ "since": since, "channel": "nowhere" }), "BAD_USER_INPUT", "channel").await;
    refused(json!({ "since": since, "known": ["nonsense"] }), "BAD_USER_INPUT", "known").await;
    refused(json!({ "since": since, "known": vec![ada.id.clone(); 101] }), "BAD_USER_INPUT", "known").await;
    assert_eq!(kith.anonymous().query(NEWS, json!({ "since": since })).await.code(), "UNAUTHENTICATED");
}

#[tokio::test]
async fn counting_costs_as_much_as_a_page() {
    watch_statements();
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (reader, ada) = (&people[0], &people[1]);
    reader.follow(ada).await;
    warm(&kith, reader).await;
    ada.post("seen").await;
    let since = top(reader, 1).await.start.expect("a cursor");
    for posted in [0, 1, 40] {
        for number in 0..posted {
            ada.post(&format!("{number}")).await;
        }
        kith.drain().await;
        let before = kith.moment();
        news(reader, &since, None).await;
        let sent = kith.round_trips(before).concat();
        let messages = usize::from(posted > 0);
        assert_eq!(sent.len(), 2 + 2 * messages, "session, state, messages and relations: {sent:#?}");
    }
}

const LATEST: &str = "query($ids: [ID!]!, $channel: String = \"default\") {
    latestMessages(userIds: $ids, channel: $channel) { content likeCount author { handle viewerFollows } }
}";

fn contents(answer: &Answer) -> Vec<Option<String>> {
    let found = answer.at("/latestMessages").as_array().expect("a list");
    found.iter().map(|message| message["content"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn the_latest_of_each_comes_in_the_order_asked_for() {
    watch_statements();
    let kith = Kith::start().await;
    let people = kith.people(100).await;
    let reader = &people[0];
    for (number, author) in people.iter().enumerate().filter(|(number, _)| number % 3 != 0) {
        author.post("older").await;
        author.post(&format!("of {number}")).await;
    }
    people[4].post_in("work", "elsewhere").await;
    let ids: Vec<&String> = people.iter().rev().map(|person| &person.id).collect();
    let before = kith.moment();
    let answer = reader.query(LATEST, json!({ "ids": ids })).await;
    let statements = kith.round_trips(before).concat().len();
    let expected: Vec<Option<String>> =
        (0..100).rev().map(|number| (number % 3 != 0).then(|| format!("of {number}"))).collect();
    assert_eq!(contents(&answer), expected);
    let before = kith.moment();
    reader.query(LATEST, json!({ "ids": &ids[98..] })).await.data();
    assert_eq!(kith.round_trips(before).concat().len(), statements, "as many for two as for a hundred");
    let asked = json!({ "ids": [&people[4].id, &people[5].id, &people[4].id], "channel": "work" });
    let elsewhere = Some("elsewhere".to_owned());
    assert_eq!(contents(&reader.query(LATEST, asked).await), [elsewhere.clone(), None, elsewhere]);
    // Whoever is not signed in may ask too.
    let answer = kith.anonymous().query(LATEST, json!({ "ids": [&people[1].id] })).await;
    assert_eq!(contents(&answer), [Some("of 1".to_owned())]);
}

#[tokio::test]
async fn the_latest_is_the_latest_that_can_be_seen() {
    let kith = Kith::start().await;
    let people = kith.people(3).await;
    let (ada, ben, cleo) = (&people[0], &people[1], &people[2]);
    ada.post("can be seen").await;
    for deleted in [1, 5, 100] {
        for number in 0..deleted {
            let id = ada.post(&format!("{number}")).await;
            ada.delete(&id).await;
        }
        let id = ben.post("gone").await;
        ben.delete(&id).await;
        let answer = cleo.query(LATEST, json!({ "ids": [&ben.id, &ada.id, &cleo.id] })).await;
        assert_eq!(contents(&answer), [None, Some("can be seen".to_owned()), None]);
    }
}

#[tokio::test]
async fn who_is_not_there_has_no_latest_and_nonsense_is_named() {
    let kith = Kith::start().await;
    let people = kith.people(1).await;
    let reader = &people[0];
    let message = reader.post("a message").await;
    let nobody = kith::ids::GlobalId::User(12345).encode();
    assert_eq!(contents(&reader.query(LATEST, json!({ "ids": [nobody] })).await), [None]);
    assert!(contents(&reader.query(LATEST, json!({ "ids": [] })).await).is_empty());
    let refused = async |ids: Value| {
        let answer = reader.query(LATEST, json!({ "ids": ids })).await;
        (answer.code().to_owned(), answer.field().map(str::to_owned))
    };
    let bad = ("BAD_USER_INPUT".to_owned(), Some("userIds".to_owned()));
    assert_eq!(refused(json!(["nonsense"])).await, bad);
    assert_eq!(refused(json!(vec![&reader.id; 101])).await, bad);
    assert_eq!(refused(json!([message])).await.0, "NOT_FOUND");
}
