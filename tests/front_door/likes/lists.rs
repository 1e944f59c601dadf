//! Who likes a message, what one likes, and what a page of messages costs.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Client, Kith, Person, Walk, watch_statements};

const LIKES: &str = "query($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    list: node(id: $id) { ... on Message { list: likes(first: $first, after: $after, last: $last, before: $before) {
        edges { cursor likedAt node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    } } }
}";
const LIKED: &str = "query($first: Int, $after: String, $last: Int, $before: String) {
    list: viewer { list: likedMessages(first: $first, after: $after, last: $last, before: $before) {
        edges { cursor likedAt node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    } }
}";

/// Walks a list of either kind: the ids and times of its items, newest first. Every page but the last is full.
async fn walk(client: &Client, query: &str, id: &str, walk: Walk) -> Vec<(String, String)> {
    let (mut items, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let (size, variables) = match walk {
            Walk::First(size) => (size, json!({ "id": id, "first": size, "after": cursor })),
            Walk::Last(size) => (size, json!({ "id": id, "last": size, "before": cursor })),
        };
        let answer = client.query(query, variables).await;
        let page = answer.at("/list/list");
        let edges = page["edges"].as_array().expect("edges").iter();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let found: Vec<_> = edges.map(|edge| (text(&edge["node"]["id"]), text(&edge["likedAt"]))).collect();
        let (more, back, next) = match walk {
            Walk::First(_) => ("hasNextPage", "hasPreviousPage", "endCursor"),
            Walk::Last(_) => ("hasPreviousPage", "hasNextPage", "startCursor"),
        };
        let (more, back) = (page["pageInfo"][more] == true, page["pageInfo"][back] == true);
        assert_eq!(back, !cursor.is_null(), "something lies behind every page but the first");
        assert!(!more || found.len() == size as usize, "a page that is not the last is full");
        match walk {
            Walk::First(_) => items.extend(found),
            Walk::Last(_) => drop(items.splice(0..0, found)),
        }
        if !more {
            return items;
        }
        cursor = page["pageInfo"][next].clone();
    }
}

const WALKS: [Walk; 6] =
    [Walk::First(1), Walk::First(3), Walk::First(50), Walk::Last(1), Walk::Last(3), Walk::Last(50)];

fn ids(items: Vec<(String, String)>) -> Vec<String> {
    items.into_iter().map(|(id, _)| id).collect()
}

#[tokio::test]
async fn who_likes_a_message_is_a_list_in_the_order_of_the_likes() {
    let kith = Kith::start().await;
    let people = kith.people(8).await;
    let message = people[0].post("Hello.").await;
    for person in &people {
        kith.clock.advance(Duration::from_secs(1));
        person.like(&message).await;
    }
    people[2].unlike(&message).await;
    people[5].unlike(&message).await;
    kith.clock.advance(Duration::from_secs(1));
    people[2].like(&message).await;
    let expected: Vec<&str> = [2, 7, 6, 4, 3, 1, 0].map(|n: usize| people[n].id.as_str()).into();
    for way in WALKS {
        for client in [&people[3].client, kith.anonymous()] {
            let items = walk(client, LIKES, &message, way).await;
            assert_eq!(items[0].1, "2026-03-02T09:00:09+00:00", "when it was liked again");
            assert_eq!(items[1].1, "2026-03-02T09:00:08+00:00");
            assert_eq!(ids(items), expected, "{way:?}");
        }
    }
    kith.drain().await;
}

#[tokio::test]
async fn what_one_likes_is_ones_own_list_without_what_cannot_be_seen() {
    let kith = Kith::start().await;
    let people = kith.people(3).await;
    let (ada, ben, eve) = (&people[0], &people[1], &people[2]);
    let mut posted = Vec::new();
    for n in 0..10 {
        posted.push(ada.post_in(if n % 2 == 0 { "default" } else { "work" }, &n.to_string()).await);
    }
    // In an order of its own.
    for n in [3, 1, 4, 0, 5, 9, 2, 6, 8, 7] {
        ben.like(&posted[n]).await;
    }
    for n in [7, 4, 0, 5] {
        ada.delete(&posted[n]).await;
    }
    ben.unlike(&posted[9]).await;
    let likes = |order: &[usize]| order.iter().map(|n| posted[*n].clone()).collect::<Vec<_>>();
    for way in WALKS {
        assert_eq!(ids(walk(ben, LIKED, "", way).await), likes(&[8, 6, 2, 1, 3]), "{way:?}");
        assert!(walk(eve, LIKED, "", way).await.is_empty());
    }
    ada.restore(&posted[0]).await;
    assert_eq!(ids(walk(ben, LIKED, "", Walk::First(2)).await), likes(&[8, 6, 2, 0, 1, 3]));
    let cursor = "{ viewer { likedMessages(first: 1) { pageInfo { endCursor } } } }";
    let cursor = ben.query(cursor, json!({})).await.text("/viewer/likedMessages/pageInfo/endCursor");
    for (query, who) in [(LIKED, eve), (LIKES, ben)] {
        let answer = who.query(query, json!({ "id": posted[8], "first": 1, "after": cursor })).await;
        assert_eq!(answer.code(), "BAD_CURSOR", "a cursor of another list");
    }
    kith.drain().await;
}

/// How many statements of any kind one request sends.
async fn cost(kith: &Kith, person: &Person, query: &str) -> usize {
    let before = kith.statements("");
    person.query(query, json!({})).await.data();
    kith.statements("") - before
}

#[tokio::test]
async fn counts_and_ones_own_likes_take_one_statement_each_for_a_whole_page() {
    watch_statements();
    let kith = Kith::start().await;
    let people = kith.people(3).await;
    let (ada, ben) = (&people[0], &people[1]);
    ben.follow(ada).await;
    for n in 0..20 {
        let message = ada.post(&n.to_string()).await;
        if n % 2 == 0 {
            ben.like(&message).await;
        }
        if n % 3 == 0 {
            people[2].like(&message).await;
        }
    }
    kith.drain().await;
    crate::feed::warm(&kith, ben).await;
    let page = |size: usize, fields: &str| format!("{{ feed(first: {size}) {{ nodes {{ id {fields} }} }} }}");
    // Once for nothing: connections and what is prepared on them are there afterwards.
    cost(&kith, ben, &page(20, "likeCount viewerHasLiked")).await;
    for size in [1, 2, 20] {
        let plain = cost(&kith, ben, &page(size, "")).await;
        let liked = cost(&kith, ben, &page(size, "likeCount viewerHasLiked")).await;
        assert_eq!(liked - plain, 2, "a page of {size}");
    }
    // The payload of a like knows what was committed.
    let like = |id: &str, fields: &str| {
        format!("mutation {{ likeMessage(input: {{ messageId: \"{id}\" }}) {{ message {{ id {fields} }} }} }}")
    };
    let message = ada.post("20").await;
    let plain = cost(&kith, ada, &like(&message, "")).await;
    assert_eq!(cost(&kith, ada, &like(&message, "likeCount viewerHasLiked")).await + 1, plain, "nothing to write");
    ada.delete(&message).await;
    kith.drain().await;
    let answer = ben.query(&page(20, "likeCount viewerHasLiked"), json!({})).await;
    for (n, node) in answer.at("/feed/nodes").as_array().expect("nodes").iter().rev().enumerate() {
        let (mine, theirs) = (n % 2 == 0, n % 3 == 0);
        let count = i64::from(mine) + i64::from(theirs);
        assert_eq!((&node["likeCount"], &node["viewerHasLiked"]), (&json!(count), &json!(mine)), "message {n}");
    }
    kith.finish().await;
}
