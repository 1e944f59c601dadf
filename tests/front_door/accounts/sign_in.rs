//! Logging in, and changing what one logs in with.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{PASSWORD, account, log_in, sign_up, signed_in, unauthenticated, who};
use crate::harness::{Answer, Client, Kith, until};

#[tokio::test]
async fn handle_and_password_sign_in_whatever_the_case_and_the_normalization() {
    let kith = Kith::start().await;
    sign_up(kith.anonymous(), account("Ada", json!({ "password": "pässword" }))).await.data();
    let answer = log_in(kith.anonymous(), "aDA", "pa\u{308}ssword").await;
    assert_eq!(answer.at("/logIn/viewer/user"), &json!({ "handle": "Ada", "isViewer": true }));
    assert_eq!(answer.at("/logIn/viewer/currentSession/isCurrent"), &json!(true));
    let (ada, _) = signed_in(kith.anonymous(), &answer, "logIn");
    assert_eq!(who(&ada).await, Ok(json!("Ada")));
    kith.finish().await;
}

#[tokio::test]
async fn it_does_not_tell_whether_the_handle_or_the_password_is_wrong() {
    let kith = Kith::start().await;
    kith.sign_up("ada").await;
    let wrong = log_in(kith.anonymous(), "ada", "wrong").await;
    assert_eq!((wrong.code(), wrong.partial()), ("UNAUTHENTICATED", &json!({ "logIn": null })));
    assert_eq!(wrong.errors()[0]["message"], "The handle or the password is wrong.");
    for handle in ["nobody_here", "ada\0", "", "no handle", "admin"] {
        assert_eq!(log_in(kith.anonymous(), handle, PASSWORD).await.body, wrong.body, "{handle:?}");
    }
    for password in ["", "\0", "Correct horse battery staple", &"x".repeat(10_000)] {
        assert_eq!(log_in(kith.anonymous(), "ada", password).await.body, wrong.body, "{password:?}");
    }
    // The quickest of some: noise only ever makes slower.
    let quickest = async |handle: &str| {
        let mut quickest = Duration::MAX;
        for _ in 0..5 {
            let start = Instant::now();
            log_in(kith.anonymous(), handle, "wrong").await;
            quickest = quickest.min(start.elapsed());
        }
        quickest
    };
    let (known, unknown) = (quickest("ada").await, quickest("nobody_here").await);
    // Without a hash it would be a tenth at most; a busy machine makes no such difference.
    assert!(unknown > known / 4, "the same work: {known:?} and {unknown:?}");
    kith.finish().await;
}

async fn change_password(client: &Client, current: &str, new: &str) -> Answer {
    let query = "mutation($input: ChangePasswordInput!) { changePassword(input: $input) {
        viewer { user { handle } sessions { nodes { isCurrent } } }
        clientMutationId
    } }";
    client
        .query(query, json!({ "input": { "currentPassword": current, "newPassword": new, "clientMutationId": "c" } }))
        .await
}

#[tokio::test]
async fn a_new_password_ends_all_other_sessions() {
    let kith = Kith::start().await;
    let ada = kith.sign_up("ada").await;
    let bob = kith.sign_up("bob").await;
    let (other, other_refresh) = signed_in(kith.anonymous(), &log_in(kith.anonymous(), "ada", PASSWORD).await, "logIn");
    assert_eq!(who(&other).await, Ok(json!("ada")));
    let answer = change_password(&ada, PASSWORD, "another passphrase").await;
    assert_eq!(answer.at("/changePassword/viewer/sessions/nodes"), &json!([{ "isCurrent": true }]));
    assert_eq!(answer.text("/changePassword/clientMutationId"), "c");
    assert_eq!(who(&other).await, unauthenticated());
    assert_eq!(super::refresh(kith.anonymous(), &other_refresh).await.code(), "UNAUTHENTICATED");
    assert_eq!((who(&ada).await, who(&bob).await), (Ok(json!("ada")), Ok(json!("bob"))));
    assert_eq!(log_in(kith.anonymous(), "ada", PASSWORD).await.code(), "UNAUTHENTICATED");
    log_in(kith.anonymous(), "ada", "another passphrase").await.data();
    log_in(kith.anonymous(), "bob", PASSWORD).await.data();
    kith.finish().await;
}

#[tokio::test]
async fn a_refused_change_names_its_field_and_changes_nothing() {
    let kith = Kith::start().await;
    let ada = kith.sign_up("ada_lovelace").await;
    for (current, new, field) in [
        ("wrong", "another passphrase", "currentPassword"),
        ("\0", "another passphrase", "currentPassword"),
        (PASSWORD, "short", "newPassword"),
        (PASSWORD, "another\0passphrase", "newPassword"),
        (PASSWORD, "Ada_Lovelace", "newPassword"),
    ] {
        let answer = change_password(&ada, current, new).await;
        assert_eq!((answer.code(), answer.field()), ("BAD_USER_INPUT", Some(field)), "{current:?} {new:?}");
    }
    log_in(kith.anonymous(), "ada_lovelace", PASSWORD).await.data();
    kith.finish().await;
}

#[tokio::test]
async fn a_log_in_does_not_slip_past_a_change_of_the_password() {
    let kith = Kith::start().await;
    kith.sign_up("ada").await;
    let sql = kith.sql().await;
    // The password changes between the comparison and the session.
    sql.batch("BEGIN; UPDATE credentials SET password_hash = '$argon2id$other'").await;
    let late = tokio::spawn({
        let client = kith.anonymous().clone();
        async move { log_in(&client, "ada", PASSWORD).await }
    });
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    until("the log-in waits", async || (sql.one::<i64>(waiting, &[]).await == 1).then_some(())).await;
    sql.batch("COMMIT").await;
    assert_eq!(late.await.expect("no panic").code(), "UNAUTHENTICATED");
    assert_eq!(sql.one::<i64>("SELECT count(*) FROM sessions", &[]).await, 1);
    kith.finish().await;
}

#[tokio::test]
async fn signing_in_gives_no_power_to_the_rest_of_the_request() {
    let kith = Kith::start().await;
    kith.sign_up("ada").await;
    let query = "mutation($in: LogInInput!) {
        logIn(input: $in) { viewer { user { handle isViewer } } }
        updateProfile(input: { bio: \"mine\" }) { user { bio } }
    }";
    let input = json!({ "in": { "handle": "ada", "password": PASSWORD } });
    let answer = kith.anonymous().query(query, input).await;
    assert_eq!(answer.code(), "UNAUTHENTICATED");
    assert_eq!(answer.partial()["logIn"]["viewer"]["user"], json!({ "handle": "ada", "isViewer": true }));
    assert_eq!(answer.partial()["updateProfile"], Value::Null);
    kith.finish().await;
}
