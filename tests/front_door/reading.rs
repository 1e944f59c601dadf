//! How far somebody has read: marked on one device, read back on another, and gone on from.

use serde_json::{Value, json};

use crate::harness::{Ask, Client, Kith};

const MARK: &str = "mutation($input: MarkFeedPlaceInput!) { markFeedPlace(input: $input) {
    place { cursor markedAt } clientMutationId } }";
const PLACE: &str = "query($channel: String = \"default\", $filter: FeedFilter = ALL) {
    feedPlace(channel: $channel, filter: $filter) { cursor markedAt } }";

async fn mark(reader: &Client, input: Value) -> String {
    reader.query(MARK, json!({ "input": input })).await.text("/markFeedPlace/place/cursor")
}

async fn place(reader: &Client, variables: Value) -> Option<String> {
    let answer = reader.query(PLACE, variables).await;
    answer.at("/feedPlace")["cursor"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn a_place_is_kept_for_all_devices_and_the_feed_goes_on_from_it() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (reader, ada) = (&people[0], &people[1]);
    let other_device = &reader.on(&kith.another_server().await);
    reader.follow(ada).await;
    let mut posted = Vec::new();
    for number in 0..5 {
        posted.insert(0, ada.post(&format!("{number}")).await);
    }
    assert_eq!(place(reader, json!({})).await, None, "it never was marked");
    let page = reader.feed_page("default", &Ask { first: Some(3), ..Ask::default() }).await;
    let marked = mark(reader, json!({ "cursor": page.cursors[2], "clientMutationId": "1" })).await;
    let found = place(other_device, json!({})).await.expect("it was marked");
    assert_eq!(found, marked);
    // What stood there may go.
    ada.delete(&posted[2]).await;
    let older = Ask { first: Some(10), after: Some(found.clone()), ..Ask::default() };
    assert_eq!(other_device.feed_page("default", &older).await.ids, posted[3..]);
    let newer = Ask { last: Some(10), before: Some(found), ..Ask::default() };
    assert_eq!(other_device.feed_page("default", &newer).await.ids, posted[..2]);
    // The last mark holds, also an older one.
    let again = mark(other_device, json!({ "cursor": page.cursors[0] })).await;
    assert_eq!(place(reader, json!({})).await, Some(again));
    let back = mark(other_device, json!({ "cursor": page.cursors[1] })).await;
    assert_eq!(place(reader, json!({})).await, Some(back));
}

#[tokio::test]
async fn each_person_channel_and_filter_has_a_place_of_its_own() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (reader, ada) = (&people[0], &people[1]);
    reader.post("mine").await;
    ada.post("hers").await;
    let cursor = async |reader: &Client| {
        reader.feed_page("default", &Ask::default()).await.cursors.first().expect("one message").clone()
    };
    let mine = mark(reader, json!({ "cursor": cursor(reader).await })).await;
    assert_eq!(place(ada, json!({})).await, None);
    assert_eq!(place(reader, json!({ "channel": "work" })).await, None);
    assert_eq!(place(reader, json!({ "filter": "CLOSE" })).await, None);
    mark(ada, json!({ "cursor": cursor(ada).await })).await;
    assert_eq!(place(reader, json!({})).await, Some(mine));
}

#[tokio::test]
async fn only_a_cursor_of_that_feed_is_a_place() {
    let kith = Kith::start().await;
    let people = kith.people(1).await;
    let reader = &people[0];
    reader.post("mine").await;
    let cursor = &reader.feed_page("default", &Ask::default()).await.cursors[0];
    for (input, code, field) in [
        (json!({ "cursor": "nonsense" }), "BAD_CURSOR", "cursor"),
        (json!({ "cursor": cursor, "channel": "work" }), "BAD_CURSOR", "cursor"),
        (json!({ "cursor": cursor, "filter": "CLOSE" }), "BAD_CURSOR", "cursor"),
        (json!({ "cursor": cursor, "channel": "nowhere" }), "BAD_USER_INPUT", "channel"),
    ] {
        let answer = reader.query(MARK, json!({ "input": input })).await;
        assert_eq!((answer.code(), answer.field()), (code, Some(field)), "{input}");
    }
    assert_eq!(place(reader, json!({})).await, None);
    let stranger = kith.anonymous();
    assert_eq!(stranger.query(PLACE, json!({})).await.code(), "UNAUTHENTICATED");
    assert_eq!(stranger.query(MARK, json!({ "input": { "cursor": cursor } })).await.code(), "UNAUTHENTICATED");
}
