//! Like and unlike, one at a time.

use chrono::{DateTime, Utc};
use kith::ids::GlobalId;
use serde_json::{Value, json};

use super::{LIKE, UNLIKE, counted, reference, shown, state, verb};
use crate::harness::{Kith, Person};

/// Who, what, and what they see after it; then what [`counted`] says.
type Step<'a> = (&'a Person, &'a str, (i64, bool), [i64; 4]);

#[tokio::test]
async fn verbs_are_sets_and_the_payload_is_of_after_the_write() {
    let kith = Kith::start().await;
    let people = kith.people(3).await;
    let (ada, ben, eve) = (&people[0], &people[1], &people[2]);
    let message = ada.post("Hello.").await;
    let steps: [Step; 11] = [
        (ben, UNLIKE, (0, false), [0, 0, 0, 0]),
        (ben, LIKE, (1, true), [1, 1, 1, 1]),
        (ben, LIKE, (1, true), [1, 1, 1, 1]),
        (ada, LIKE, (2, true), [2, 2, 2, 2]),
        (eve, UNLIKE, (2, false), [2, 2, 2, 2]),
        (ben, UNLIKE, (1, false), [1, 2, 1, 2]),
        (ben, UNLIKE, (1, false), [1, 2, 1, 2]),
        (ben, LIKE, (2, true), [2, 2, 2, 2]),
        (eve, LIKE, (3, true), [3, 3, 3, 3]),
        (ada, UNLIKE, (2, false), [2, 3, 2, 3]),
        (ben, UNLIKE, (1, false), [1, 3, 1, 3]),
    ];
    for (n, (who, what, expected, rows)) in steps.into_iter().enumerate() {
        let answer = verb(who, what, &message).await;
        assert_eq!((state(&answer), answer.text("/verb/message/id")), (expected, message.clone()), "step {n}");
        assert_eq!((shown(who, &message).await, counted(&kith).await), (expected, rows), "step {n}");
    }
    assert_eq!(shown(kith.anonymous(), &message).await, (1, false));
    let input = json!({ "input": { "messageId": message, "clientMutationId": "c1" } });
    for what in [LIKE, UNLIKE] {
        assert_eq!(ben.query(what, input.clone()).await.text("/verb/clientMutationId"), "c1");
    }
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn liking_again_is_a_new_place_and_the_first_time_is_kept() {
    let kith = Kith::start().await;
    let people = kith.people(1).await;
    let (ada, sql) = (&people[0], kith.sql().await);
    let message = ada.post("Hello.").await;
    let row = async || -> (i64, DateTime<Utc>) {
        let row = sql.rows("SELECT id, created_at FROM likes", &[]).await.remove(0);
        let ms: i64 = sql.one("SELECT (extract(epoch FROM created_at) * 1000)::bigint FROM likes", &[]).await;
        (row.get(0), DateTime::from_timestamp_millis(ms).expect("a moment"))
    };
    ada.like(&message).await;
    let (first, created_at) = row().await;
    assert_eq!(created_at, kith::ids::time_of(first));
    kith.clock.advance(std::time::Duration::from_secs(5));
    ada.like(&message).await;
    assert_eq!(row().await, (first, created_at), "liking twice is liking once");
    ada.unlike(&message).await;
    ada.like(&message).await;
    let (second, still) = row().await;
    assert!(second > first);
    assert_eq!(still, created_at);
}

#[tokio::test]
async fn what_cannot_be_seen_cannot_be_liked_but_a_like_of_it_can_be_taken_back() {
    let kith = Kith::start().await;
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    let (deleted, other) = (ada.post("Soon gone.").await, ada.post("Stays.").await);
    ben.like(&deleted).await;
    ada.delete(&deleted).await;
    let id = reference(&other).id;
    let wrong_author = GlobalId::Message { author_id: ben.viewer.user_id, id }.encode();
    let nowhere = GlobalId::Message { author_id: ada.viewer.user_id, id: id + 1 }.encode();
    for hidden in [&deleted, &wrong_author, &nowhere] {
        assert_eq!(verb(ben, LIKE, hidden).await.code(), "NOT_FOUND", "{hidden}");
        assert_eq!(verb(ben, UNLIKE, hidden).await.at("/verb/message"), &Value::Null, "{hidden}");
    }
    assert_eq!(counted(&kith).await, [0, 1, 0, 1], "it was taken back");
    for what in [LIKE, UNLIKE] {
        for (id, code, field) in [
            (ada.id.as_str(), "NOT_FOUND", None),
            ("nonsense", "BAD_USER_INPUT", Some("messageId")),
            ("", "BAD_USER_INPUT", Some("messageId")),
        ] {
            let answer = verb(ben, what, id).await;
            assert_eq!((answer.code(), answer.field()), (code, field), "{id}");
        }
        assert_eq!(verb(kith.anonymous(), what, &other).await.code(), "UNAUTHENTICATED");
    }
    assert_eq!(counted(&kith).await, [0, 1, 0, 1]);
    kith.drain().await;
}

#[tokio::test]
async fn likes_of_a_deleted_message_are_back_when_it_is_restored() {
    let kith = Kith::start().await;
    let people = kith.people(3).await;
    let (ada, ben, eve) = (&people[0], &people[1], &people[2]);
    let message = ada.post("Hello.").await;
    ben.like(&message).await;
    eve.like(&message).await;
    ada.delete(&message).await;
    let gone = ben.query("query($id: ID!) { node(id: $id) { id } }", json!({ "id": message })).await;
    assert!(gone.at("/node").is_null());
    eve.unlike(&message).await;
    ada.restore(&message).await;
    assert_eq!((shown(ben, &message).await, shown(eve, &message).await), ((1, true), (1, false)));
    kith.drain().await;
}

#[tokio::test]
async fn each_payload_of_a_request_is_of_its_own_moment() {
    let kith = Kith::start().await;
    let people = kith.people(1).await;
    let ada = &people[0];
    let message = ada.post("Hello.").await;
    let query = "mutation($like: LikeMessageInput!, $unlike: UnlikeMessageInput!) {
        a: likeMessage(input: $like) { message { likeCount viewerHasLiked likes { nodes { id } } } }
        b: unlikeMessage(input: $unlike) { message { likeCount viewerHasLiked likes { nodes { id } } } }
        c: likeMessage(input: $like) { message { likeCount viewerHasLiked likes { nodes { id } } } }
    }";
    let input = json!({ "messageId": message });
    let answer = ada.query(query, json!({ "like": input, "unlike": input })).await;
    let liked = json!({ "likeCount": 1, "viewerHasLiked": true, "likes": { "nodes": [{ "id": ada.id }] } });
    let not = json!({ "likeCount": 0, "viewerHasLiked": false, "likes": { "nodes": [] } });
    assert_eq!(["/a", "/b", "/c"].map(|at| answer.at(&format!("{at}/message"))), [&liked, &not, &liked]);
}
