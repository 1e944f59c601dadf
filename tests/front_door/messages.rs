//! Messages: posting, editing, deleting, restoring, and retries that create nothing twice.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::harness::{Answer, Kith, Person};

const POST: &str = "mutation($input: PostMessageInput!) { postMessage(input: $input) {
    message { id type channel title content extra createdAt updatedAt isEdited viewerCanEdit author { id messageCount } }
    clientMutationId
} }";
const EDIT: &str = "mutation($input: EditMessageInput!) { editMessage(input: $input) {
    message { id title content extra isEdited updatedAt history { nodes { version title content writtenAt } } }
} }";
const DELETE: &str = "mutation($input: DeleteMessageInput!) { deleteMessage(input: $input) { deletedMessageId } }";
const RESTORE: &str = "mutation($input: RestoreMessageInput!) { restoreMessage(input: $input) {
    message { id author { messageCount } }
} }";

const DAY: Duration = Duration::from_secs(86_400);

async fn post(person: &Person, input: Value) -> Answer {
    person.query(POST, json!({ "input": input })).await
}

async fn message_count(kith: &Kith, person: &Person) -> i64 {
    let query = "query($id: ID!) { node(id: $id) { ... on User { messageCount } } }";
    kith.anonymous().query(query, json!({ "id": person.id })).await.at("/node/messageCount").as_i64().expect("a number")
}

async fn by_id(kith: &Kith, id: &str) -> Value {
    let query = "query($id: ID!) { node(id: $id) { id ... on Message { content } } }";
    kith.anonymous().query(query, json!({ "id": id })).await.at("/node").clone()
}

#[tokio::test]
async fn a_message_is_what_was_posted() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let ada = &people[0];
    let input = json!({ "content": "Grüße\r\nin zwei Zeilen", "title": " Gruß ", "type": "IMAGE", "channel": "work",
        "extra": { "place": "Köln", "at": [50.9, 6.9] }, "clientMutationId": "7" });
    let answer = post(ada, input).await;
    let message = answer.at("/postMessage/message");
    let id = answer.text("/postMessage/message/id");
    let expected = json!({ "id": id, "type": "IMAGE", "channel": "work", "title": "Gruß", "content": "Grüße\nin zwei Zeilen",
        "extra": { "place": "Köln", "at": [50.9, 6.9] }, "createdAt": "2026-03-02T09:00:00+00:00",
        "updatedAt": "2026-03-02T09:00:00+00:00", "isEdited": false, "viewerCanEdit": true,
        "author": { "id": ada.id, "messageCount": 1 } });
    assert_eq!(message, &expected);
    assert_eq!(answer.text("/postMessage/clientMutationId"), "7");
    let seen = people[1]
        .query(
            "query($id: ID!) { node(id: $id) { ... on Message { viewerCanEdit history { nodes { version } } } } }",
            json!({ "id": id }),
        )
        .await;
    assert_eq!(seen.at("/node"), &json!({ "viewerCanEdit": false, "history": null }));
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn inputs_are_checked_and_name_their_field() {
    let kith = Kith::start().await;
    let people = kith.people(1).await;
    let ada = &people[0];
    let deep = (0..9).fold(json!({}), |inner, _| json!({ "a": inner }));
    for (input, field) in [
        (json!({ "content": "" }), "content"),
        (json!({ "content": " \n\t\u{200b} " }), "content"),
        (json!({ "content": "a\u{0}b" }), "content"),
        (json!({ "content": "a\u{1b}b" }), "content"),
        (json!({ "content": "x".repeat(5001) }), "content"),
        (json!({ "content": "🏳️‍🌈".repeat(5001) }), "content"),
        (json!({ "content": "x", "title": "two\nlines" }), "title"),
        (json!({ "content": "x", "title": "\u{0}" }), "title"),
        (json!({ "content": "x", "title": "x".repeat(201) }), "title"),
        (json!({ "content": "x", "title": "" }), "title"),
        (json!({ "content": "x", "channel": "nowhere" }), "channel"),
        (json!({ "content": "x", "channel": "\u{0}" }), "channel"),
        (json!({ "content": "x", "extra": [1] }), "extra"),
        (json!({ "content": "x", "extra": { "a": "\u{0}" } }), "extra"),
        (json!({ "content": "x", "extra": deep }), "extra"),
        (json!({ "content": "x", "extra": { "a": "x".repeat(9000) } }), "extra"),
        (json!({ "content": "x", "idempotencyKey": "" }), "idempotencyKey"),
        (json!({ "content": "x", "idempotencyKey": "\u{0}" }), "idempotencyKey"),
    ] {
        let answer = post(ada, input.clone()).await;
        assert_eq!((answer.code(), answer.field()), ("BAD_USER_INPUT", Some(field)), "{input}");
        assert!(answer.partial()["postMessage"].is_null());
    }
    // At the bound, counted as readers count and after normalisation.
    for content in ["x".repeat(5000), "e\u{301}".repeat(5000), "世".repeat(5000), "a\r\n".repeat(2500)] {
        post(ada, json!({ "content": content })).await.data();
    }
    // Few graphemes can be many bytes: both bounds hold.
    assert_eq!(post(ada, json!({ "content": "👨‍👩‍👧‍👦".repeat(2000) })).await.code(), "BAD_USER_INPUT");
    post(ada, json!({ "content": "👨‍👩‍👧‍👦".repeat(500) })).await.data();
    // A picture may do without words.
    post(ada, json!({ "type": "IMAGE" })).await.data();
    let answer = kith.anonymous().query(POST, json!({ "input": { "content": "x" } })).await;
    assert_eq!(answer.code(), "UNAUTHENTICATED");
    assert_eq!(message_count(&kith, ada).await, 6);
    kith.drain().await;
}

#[tokio::test]
async fn the_limits_can_be_read_in_the_schema() {
    let kith = Kith::start().await;
    let query =
        "{ limits { messageTitle { maxGraphemes maxBytes } messageContent { minGraphemes maxGraphemes maxBytes }
        extraMaxBytes extraMaxDepth idempotencyKey { maxBytes } channels restoreDays nodesMax pageSizeMax } }";
    let expected = json!({ "messageTitle": { "maxGraphemes": 200, "maxBytes": 1000 },
        "messageContent": { "minGraphemes": 1, "maxGraphemes": 5000, "maxBytes": 40000 },
        "extraMaxBytes": 8192, "extraMaxDepth": 8, "idempotencyKey": { "maxBytes": 200 },
        "channels": ["default", "work"], "restoreDays": 30, "nodesMax": 100, "pageSizeMax": 100 });
    assert_eq!(kith.anonymous().query(query, json!({})).await.at("/limits"), &expected);
}

#[tokio::test]
async fn one_key_posts_once_also_in_parallel() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    let input = json!({ "content": "once", "extra": { "a": 1 }, "idempotencyKey": "key 1" });
    let answers = join_all((0..10).map(|_| post(ada, input.clone()))).await;
    let ids: Vec<String> = answers.iter().map(|answer| answer.text("/postMessage/message/id")).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(post(ada, input.clone()).await.text("/postMessage/message/id"), ids[0]);
    assert_eq!(message_count(&kith, ada).await, 1);
    assert_eq!(kith.jobs().await, 1, "one message, one delivery");
    // As it is now, not as it was.
    ada.edit(&ids[0], "edited").await;
    assert_eq!(post(ada, input.clone()).await.text("/postMessage/message/content"), "edited");
    ada.delete(&ids[0]).await;
    assert!(post(ada, input.clone()).await.at("/postMessage/message").is_null());
    // Another input is a mistake, another person's key is another key.
    let other = json!({ "content": "twice", "extra": { "a": 1 }, "idempotencyKey": "key 1" });
    assert_eq!(post(ada, other).await.code(), "IDEMPOTENCY_MISMATCH");
    assert_ne!(post(ben, input.clone()).await.text("/postMessage/message/id"), ids[0]);
    // Kept for seven days.
    kith.advance(7 * DAY).await;
    kith.tick().await;
    let ada = &kith.again(ada);
    assert!(post(ada, input.clone()).await.at("/postMessage/message").is_null());
    kith.advance(Duration::from_millis(1)).await;
    kith.tick().await;
    let ada = &kith.again(ada);
    assert_ne!(post(ada, input).await.text("/postMessage/message/id"), ids[0]);
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn a_retry_after_a_lost_connection_posts_nothing_twice() {
    let kith = Kith::start().await;
    let people = kith.people(1).await;
    let ada = &people[0];
    let input = json!({ "content": "once", "idempotencyKey": "lost" });
    // The client goes away at various moments: before, within and after the work.
    for wait in [0, 1, 2, 3, 5, 8, 13] {
        let _ = tokio::time::timeout(Duration::from_millis(wait), post(ada, input.clone())).await;
    }
    let id = post(ada, input.clone()).await.text("/postMessage/message/id");
    assert_eq!(post(ada, input).await.text("/postMessage/message/id"), id);
    assert_eq!((message_count(&kith, ada).await, kith.jobs().await), (1, 1));
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn an_edit_shows_everywhere_at_once_and_keeps_what_was_said() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    ben.follow(ada).await;
    let id = post(ada, json!({ "content": "one", "title": "first" })).await.text("/postMessage/message/id");
    ben.feed_page("default", &Default::default()).await;
    kith.drain().await;
    kith.clock.advance(Duration::from_secs(5));
    let edit = |input: Value| ada.query(EDIT, json!({ "input": input }));
    let answer = edit(json!({ "messageId": id, "content": "two" })).await;
    let expected = json!({ "id": id, "title": "first", "content": "two", "extra": {}, "isEdited": true,
        "updatedAt": "2026-03-02T09:00:05+00:00", "history": { "nodes": [
            { "version": 1, "title": "first", "content": "one", "writtenAt": "2026-03-02T09:00:00+00:00" }] } });
    assert_eq!(answer.at("/editMessage/message"), &expected);
    assert_eq!(kith.jobs().await, 0, "nothing is delivered again");
    assert_eq!(ben.feed_page("default", &Default::default()).await.contents, ["two"]);
    // The same again is no version; null takes the title away, leaving it out does not.
    edit(json!({ "messageId": id, "content": "two" })).await.data();
    let answer = edit(json!({ "messageId": id, "title": null, "extra": { "a": 1 } })).await;
    assert_eq!(answer.at("/editMessage/message/title"), &Value::Null);
    assert_eq!(answer.at("/editMessage/message/extra"), &json!({ "a": 1 }));
    let versions = answer.at("/editMessage/message/history/nodes").as_array().expect("a list").clone();
    let versions: Vec<_> = versions.iter().map(|version| version["version"].as_i64()).collect();
    assert_eq!(versions, [Some(2), Some(1)]);
    for (input, field) in [
        (json!({ "messageId": id, "content": "" }), "content"),
        (json!({ "messageId": id, "content": "\u{0}" }), "content"),
        (json!({ "messageId": id, "extra": 1 }), "extra"),
        (json!({ "messageId": id, "content": null }), "content"),
        (json!({ "messageId": id, "extra": null }), "extra"),
        (json!({ "messageId": "?", "content": "x" }), "messageId"),
    ] {
        let answer = edit(input).await;
        assert_eq!((answer.code(), answer.field()), ("BAD_USER_INPUT", Some(field)));
    }
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn parallel_edits_lose_no_version() {
    let kith = Kith::start().await;
    let people = kith.people(1).await;
    let ada = &people[0];
    let id = ada.post("0").await;
    join_all((1..=10).map(|n| ada.query(EDIT, json!({ "input": { "messageId": id, "content": n.to_string() } }))))
        .await;
    let said: Vec<String> = kith.sql().await.column("SELECT content FROM message_versions ORDER BY version", &[]).await;
    let now: String = kith.sql().await.one("SELECT content FROM messages", &[]).await;
    let mut all: Vec<u32> = said.iter().chain([&now]).map(|text| text.parse().expect("a number")).collect();
    assert_eq!(all[0], 0, "the first is kept");
    all.sort_unstable();
    assert_eq!(all, (0..=10).collect::<Vec<_>>());
    kith.drain().await;
}

#[tokio::test]
async fn deleting_hides_and_restoring_shows_within_the_grace_time() {
    let kith = Kith::start().await;
    let people = kith.people(1).await;
    let ada = &people[0];
    let id = ada.post("here").await;
    let input = json!({ "input": { "messageId": id } });
    for _ in 0..2 {
        assert_eq!(ada.query(DELETE, input.clone()).await.text("/deleteMessage/deletedMessageId"), id);
        assert_eq!((message_count(&kith, ada).await, by_id(&kith, &id).await), (0, Value::Null));
    }
    let edit = ada.query(EDIT, json!({ "input": { "messageId": id, "content": "x" } })).await;
    assert_eq!(edit.code(), "NOT_FOUND");
    kith.advance(30 * DAY).await;
    let ada = &kith.again(ada);
    for _ in 0..2 {
        let answer = ada.query(RESTORE, input.clone()).await;
        assert_eq!(answer.at("/restoreMessage/message"), &json!({ "id": id, "author": { "messageCount": 1 } }));
    }
    ada.delete(&id).await;
    kith.advance(30 * DAY + Duration::from_millis(1)).await;
    let answer = kith.again(ada).query(RESTORE, input).await;
    assert_eq!((answer.code(), by_id(&kith, &id).await), ("CONFLICT", Value::Null));
    kith.drain().await;
}

#[tokio::test]
async fn only_the_author_changes_a_message() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    let id = ada.post("Ada's").await;
    let input = json!({ "input": { "messageId": id } });
    let edit = json!({ "input": { "messageId": id, "content": "Ben's" } });
    for (verb, input) in [(EDIT, &edit), (DELETE, &input), (RESTORE, &input)] {
        assert_eq!(ben.query(verb, input.clone()).await.code(), "FORBIDDEN");
        assert_eq!(kith.anonymous().query(verb, input.clone()).await.code(), "UNAUTHENTICATED");
    }
    assert_eq!(by_id(&kith, &id).await["content"], "Ada's");
    // What is deleted does not exist for anybody else.
    ada.delete(&id).await;
    for (verb, input) in [(EDIT, &edit), (DELETE, &input), (RESTORE, &input)] {
        assert_eq!(ben.query(verb, input.clone()).await.code(), "NOT_FOUND");
    }
    // A right message id with a wrong author is no message.
    let stored: i64 = kith.sql().await.one("SELECT id FROM messages", &[]).await;
    ada.restore(&id).await;
    let wrong = kith::ids::GlobalId::Message { author_id: ben.viewer.user_id, id: stored }.encode();
    assert_eq!(by_id(&kith, &wrong).await, Value::Null);
    for verb in [DELETE, RESTORE] {
        assert_eq!(ada.query(verb, json!({ "input": { "messageId": wrong } })).await.code(), "NOT_FOUND");
    }
    kith.drain().await;
}

#[tokio::test]
async fn nodes_come_in_the_order_of_their_ids_and_strangers_are_null() {
    let kith = Kith::start().await;
    let people = kith.people(1).await;
    let ada = &people[0];
    let (one, two) = (ada.post("one").await, ada.post("two").await);
    let query = "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }";
    let ids =
        json!([two, "nonsense", ada.id, one, two, "", kith::ids::GlobalId::Session(ada.viewer.session_id).encode()]);
    let answer = kith.anonymous().query(query, json!({ "ids": ids })).await;
    let message = |id: &str| json!({ "__typename": "Message", "id": id });
    let expected =
        json!([message(&two), null, { "__typename": "User", "id": ada.id }, message(&one), message(&two), null, null]);
    assert_eq!(answer.at("/nodes"), &expected);
    let many: Vec<&str> = vec![&one; 101];
    let answer = kith.anonymous().query(query, json!({ "ids": many })).await;
    assert_eq!((answer.code(), answer.field()), ("BAD_USER_INPUT", Some("ids")));
    kith.drain().await;
}

#[tokio::test]
async fn the_clock_makes_partitions_ahead() {
    let kith = Kith::start().await;
    let partitions = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'messages'::regclass";
    let before: i64 = kith.sql().await.one(partitions, &[]).await;
    assert!(before >= 13);
    kith.advance(400 * DAY).await;
    kith.tick().await;
    kith.tick().await;
    let after: i64 = kith.sql().await.one(partitions, &[]).await;
    assert!(after > before, "{after}");
    let people = kith.people(1).await;
    people[0].post("a year later").await;
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn the_clock_clears_what_is_over_however_much_and_nothing_else() {
    let kith = Kith::start().await;
    let sql = kith.sql().await;
    // More than a few chunks of each; every tenth is still needed.
    sql.batch(
        "CREATE TEMP TABLE planted AS SELECT n, to_timestamp(1772442000) - CASE WHEN n % 10 = 0 THEN interval '3 seconds' ELSE interval '90 days' END AS at
            FROM generate_series(1, 3500) AS n;
         INSERT INTO in_flight SELECT n, 1, 'default', at FROM planted;
         INSERT INTO idempotency_keys SELECT 1, 'postMessage', n::text, '', 1, at FROM planted;
         INSERT INTO sessions SELECT n, 1, '', at, at, at FROM planted",
    )
    .await;
    kith.tick().await;
    for table in ["in_flight", "idempotency_keys", "sessions"] {
        let left: i64 = sql.one(&format!("SELECT count(*) FROM {table}"), &[]).await;
        assert_eq!(left, 350, "{table}");
    }
}
