//! Changing one's profile.

use std::time::Duration;

use serde_json::{Value, json};

use super::{account, sign_up, signed_in};
use crate::harness::{Answer, Client, Kith};

async fn update(client: &Client, input: Value) -> Answer {
    let query = "mutation($input: UpdateProfileInput!) { updateProfile(input: $input) {
        user { handle displayName bio avatarUrl isViewer } clientMutationId
    } }";
    client.query(query, json!({ "input": input })).await
}

#[tokio::test]
async fn what_is_given_changes_and_the_rest_stays() {
    let kith = Kith::start().await;
    let other = json!({ "bio": "Old.", "avatarUrl": "https://example.com/old" });
    let answer = sign_up(kith.anonymous(), account("ada", other)).await;
    let (ada, _) = signed_in(kith.anonymous(), &answer, "signUp");
    let mut expected = json!({ "handle": "ada", "displayName": "Ada Lovelace", "bio": "Old.", "avatarUrl": "https://example.com/old", "isViewer": true });
    for (input, now) in [
        (json!({}), json!({})),
        (json!({ "displayName": " Ada \u{2066}L. " }), json!({ "displayName": "Ada L." })),
        (json!({ "bio": "New\r\nbio" }), json!({ "bio": "New\nbio" })),
        (json!({ "avatarUrl": "https://example.com/new" }), json!({ "avatarUrl": "https://example.com/new" })),
        (json!({ "avatarUrl": null }), json!({ "avatarUrl": null })),
        (json!({ "bio": "", "handle": null, "displayName": null }), json!({ "bio": "" })),
        (json!({ "handle": "ADA" }), json!({ "handle": "ADA" })),
        (
            json!({ "handle": "countess", "avatarUrl": "https://a.example" }),
            json!({ "handle": "countess", "avatarUrl": "https://a.example/" }),
        ),
    ] {
        for (name, value) in now.as_object().expect("an object") {
            expected[name] = value.clone();
        }
        let answer = update(&ada, input.clone()).await;
        assert_eq!(answer.at("/updateProfile/user"), &expected, "{input}");
    }
    let query =
        "{ old: user(handle: \"ada\") { id } new: user(handle: \"COUNTESS\") { handle } viewer { user { handle } } }";
    let answer = ada.query(query, json!({})).await;
    assert_eq!(
        answer.data(),
        &json!({ "old": null, "new": { "handle": "countess" }, "viewer": { "user": { "handle": "countess" } } })
    );
    sign_up(kith.anonymous(), account("ada", json!({}))).await.data();
    kith.finish().await;
}

#[tokio::test]
async fn a_taken_handle_is_a_conflict_and_nothing_changes() {
    let kith = Kith::start().await;
    let ada = kith.sign_up("ada").await;
    kith.sign_up("Bob").await;
    let answer = update(&ada, json!({ "handle": "bOB", "bio": "lost" })).await;
    assert_eq!((answer.code(), answer.field()), ("CONFLICT", Some("handle")));
    assert_eq!(update(&ada, json!({})).await.at("/updateProfile/user/bio"), &json!(""));
    kith.finish().await;
}

#[tokio::test]
async fn every_refusal_names_its_field() {
    let kith = Kith::start().await;
    let ada = kith.sign_up("ada").await;
    for (field, values) in [
        ("handle", vec!["", "ab", "a\0b", "support", "123"]),
        ("displayName", vec!["", "\u{200B}", "\u{202E}", "a\0", "a\tb"]),
        ("bio", vec!["a\0", "\u{8}"]),
        ("avatarUrl", vec!["", "a", "https://u@example.com", "https://example.com/\0", "file:///etc/passwd"]),
    ] {
        for value in values {
            let answer = update(&ada, json!({ field: value, "clientMutationId": "\0" })).await;
            assert_eq!((answer.code(), answer.field()), ("BAD_USER_INPUT", Some(field)), "{value:?}");
        }
    }
    kith.finish().await;
}

#[tokio::test]
async fn the_time_of_the_last_change_moves_with_a_change_only() {
    let kith = Kith::start().await;
    let ada = kith.sign_up("ada").await;
    let sql = kith.sql().await;
    let updated = async || sql.one::<String>("SELECT (updated_at AT TIME ZONE 'UTC')::text FROM users", &[]).await;
    kith.advance(Duration::from_secs(60)).await;
    update(&ada, json!({ "displayName": "ada", "bio": "", "avatarUrl": null })).await.data();
    assert_eq!(updated().await, "2026-03-02 09:00:00");
    update(&ada, json!({ "displayName": "Ada" })).await.data();
    assert_eq!(updated().await, "2026-03-02 09:01:00");
    kith.finish().await;
}

#[tokio::test]
async fn the_payload_echoes_the_client() {
    let kith = Kith::start().await;
    let ada = kith.sign_up("ada").await;
    let answer = update(&ada, json!({ "clientMutationId": "\0 any text" })).await;
    assert_eq!(answer.text("/updateProfile/clientMutationId"), "\0 any text");
    kith.finish().await;
}
