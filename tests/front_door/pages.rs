//! Pages: cursors, sizes, page info, and fields that fail beside others.

use serde_json::json;

use crate::harness::{Answer, Ask, Kith, Walk};

fn newest_first(mut posted: Vec<String>) -> Vec<String> {
    posted.reverse();
    posted
}

#[tokio::test]
async fn cursors_are_positions_and_nothing_else_is_a_cursor() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    ben.follow(ada).await;
    let mut posted = Vec::new();
    for n in 0..5 {
        posted.push(ada.post(&n.to_string()).await);
    }
    let all = ben.feed_page("default", &Ask { first: Some(5), ..Ask::default() }).await;
    let (cursor, expected) = (all.cursors[1].clone(), newest_first(posted));
    let after = |cursor: &str| Ask { first: Some(2), after: Some(cursor.to_owned()), ..Ask::default() };
    assert_eq!(ben.feed_page("default", &after(&cursor)).await.ids, expected[2..4]);
    // It outlives what it points at, and the size of the page that it came from.
    ada.delete(&expected[1]).await;
    let page = ben.feed_page("default", &after(&cursor)).await;
    assert_eq!(page.ids, expected[2..4]);
    assert!(page.has_next && page.has_previous);
    // Between `after` and `before`.
    let range = Ask { before: Some(all.cursors[4].clone()), first: Some(9), ..after(&cursor) };
    let page = ben.feed_page("default", &range).await;
    assert_eq!((page.ids.as_slice(), page.has_next), (&expected[2..4], true), "the oldest lies beyond the range");

    let own = ada.query("{ viewer { user { messages(first: 2) { pageInfo { endCursor } } } } }", json!({})).await;
    let foreign = own.text("/viewer/user/messages/pageInfo/endCursor");
    let mut tampered = cursor.clone().into_bytes();
    tampered[20] = if tampered[20] == b'A' { b'B' } else { b'A' };
    let tampered = String::from_utf8(tampered).expect("ASCII");
    for bad in ["", "x", "\u{0}", &cursor[..cursor.len() - 2], &format!("{cursor}A"), &tampered, &foreign] {
        let answer = ben.ask_feed("default", &after(bad)).await;
        assert_eq!((answer.code(), answer.field()), ("BAD_CURSOR", Some("after")), "{bad:?}");
        assert!(answer.partial()["feed"].is_null(), "never a page");
        let before = Ask { last: Some(2), before: Some(bad.to_owned()), ..Ask::default() };
        let answer = ben.ask_feed("default", &before).await;
        assert_eq!((answer.code(), answer.field()), ("BAD_CURSOR", Some("before")), "{bad:?}");
    }
    // Of the same connection, with another filter.
    let answer = ben.ask_feed("work", &after(&cursor)).await;
    assert_eq!(answer.code(), "BAD_CURSOR");
    kith.drain().await;
}

#[tokio::test]
async fn page_sizes_are_checked_and_page_info_is_true_at_both_ends() {
    let kith = Kith::start().await;
    let people = kith.people(1).await;
    let ada = &people[0];
    let empty = ada.feed_page("default", &Ask::default()).await;
    assert_eq!((empty.ids.len(), empty.has_next, empty.has_previous, empty.end), (0, false, false, None));
    for n in 0..25 {
        ada.post(&n.to_string()).await;
    }
    assert_eq!(ada.feed_page("default", &Ask::default()).await.ids.len(), 20);
    for (first, last, field) in
        [(Some(0), None, "first"), (Some(101), None, "first"), (None, Some(-1), "last"), (Some(1), Some(1), "last")]
    {
        let answer = ada.ask_feed("default", &Ask { first, last, ..Ask::default() }).await;
        assert_eq!((answer.code(), answer.field()), ("BAD_USER_INPUT", Some(field)));
    }
    let oldest = ada.feed_page("default", &Ask { last: Some(2), ..Ask::default() }).await;
    assert_eq!((oldest.contents, oldest.has_previous, oldest.has_next), (vec!["1".into(), "0".into()], true, false));
    let past = Ask { first: Some(5), after: oldest.end, ..Ask::default() };
    let past = ada.feed_page("default", &past).await;
    assert_eq!((past.ids.len(), past.has_next, past.has_previous), (0, false, true));
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn a_page_that_met_the_bound_is_short_with_a_true_flag_and_a_cursor_that_moved() {
    let kith = Kith::start_with(|config| config.scan_limit = 10).await;
    let people = kith.people(1).await;
    let ada = &people[0];
    let mut posted = Vec::new();
    for n in 0..60 {
        posted.push(ada.post(&n.to_string()).await);
    }
    for id in &posted[5..] {
        ada.delete(id).await;
    }
    let page = ada.feed_page("default", &Ask { first: Some(5), ..Ask::default() }).await;
    assert!(page.ids.is_empty() && page.has_next && page.end.is_some());
    assert_eq!(ada.walk(Walk::First(5)).await, newest_first(posted[..5].to_vec()));
    assert_eq!(ada.walk(Walk::Last(3)).await, newest_first(posted[..5].to_vec()));
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn a_field_that_fails_leaves_the_others_alone() {
    let kith = Kith::start().await;
    let people = kith.people(1).await;
    let ada = &people[0];
    let query = "query($id: ID!, $many: [ID!]!) {
        bad: feed(first: 0) { nodes { id } }
        node(id: $id) { id }
        far: nodes(ids: []) { id }
        many: nodes(ids: $many) { id }
        user: node(id: $id) { ... on User { messages(after: \"x\") { nodes { id } } followers(first: 0) { nodes { id } } } }
        feed { nodes { id } }
    }";
    let answer = ada.query(query, json!({ "id": ada.id, "many": vec![&ada.id; 101] })).await;
    assert_eq!(answer.errors().len(), 4);
    let expected = json!({ "bad": null, "node": { "id": ada.id }, "far": [], "many": null,
        "user": { "messages": null, "followers": null }, "feed": { "nodes": [] } });
    assert_eq!(answer.partial(), &expected);
    // A mutation that fails does not take with it what others have done.
    let mutation = "mutation($bad: FollowUserInput!) {
        good: postMessage(input: { content: \"kept\" }) { message { content } }
        bad: followUser(input: $bad) { user { id } }
    }";
    let answer = ada.query(mutation, json!({ "bad": { "userId": ada.id } })).await;
    assert_eq!(answer.partial(), &json!({ "good": { "message": { "content": "kept" } }, "bad": null }));
    kith.drain().await;
}

#[tokio::test]
async fn a_profile_shows_a_persons_own_messages_in_both_directions() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    let mut posted = Vec::new();
    for n in 0..5 {
        posted.push(ada.post(&n.to_string()).await);
        ben.post("another's").await;
    }
    ada.post_in("work", "elsewhere").await;
    ada.delete(&posted[3]).await;
    let query = "query($id: ID!, $first: Int, $after: String, $last: Int) { node(id: $id) { ... on User {
        messages(first: $first, after: $after, last: $last) { nodes { id } pageInfo { hasNextPage hasPreviousPage endCursor } }
    } } }";
    let ids = |answer: &Answer| {
        let nodes = answer.at("/node/messages/nodes").as_array().expect("a list").clone();
        nodes.iter().map(|node| node["id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    let first = kith.anonymous().query(query, json!({ "id": ada.id, "first": 2 })).await;
    assert_eq!(ids(&first), [posted[4].clone(), posted[2].clone()]);
    let after = first.text("/node/messages/pageInfo/endCursor");
    let second = kith.anonymous().query(query, json!({ "id": ada.id, "first": 2, "after": after })).await;
    assert_eq!(ids(&second), [posted[1].clone(), posted[0].clone()]);
    assert_eq!(second.at("/node/messages/pageInfo/hasNextPage"), false);
    assert_eq!(second.at("/node/messages/pageInfo/hasPreviousPage"), true);
    // A cursor of one person's list is none of another's.
    let answer = kith.anonymous().query(query, json!({ "id": ben.id, "first": 2, "after": after })).await;
    assert_eq!(answer.code(), "BAD_CURSOR");
    let oldest = kith.anonymous().query(query, json!({ "id": ada.id, "last": 1 })).await;
    assert_eq!(ids(&oldest), [posted[0].clone()]);
    kith.drain().await;
}
