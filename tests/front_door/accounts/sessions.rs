//! The list of sessions, and ending them.

use std::time::Duration;

use serde_json::{Value, json};

use super::{DAY, PASSWORD, log_in, refresh, signed_in, unauthenticated, who};
use crate::harness::{Answer, Client, Kith};

const LOG_OUT: &str = "mutation { logOut(input: { clientMutationId: \"o\" }) {
    session { id revokedAt isCurrent } clientMutationId
} }";

async fn another(kith: &Kith) -> (Client, String, String) {
    let answer = log_in(kith.anonymous(), "ada", PASSWORD).await;
    let (client, refresh_token) = signed_in(kith.anonymous(), &answer, "logIn");
    (client, refresh_token, answer.text("/logIn/viewer/currentSession/id"))
}

async fn revoke(client: &Client, session_id: &str) -> Answer {
    let query = "mutation($input: RevokeSessionInput!) { revokeSession(input: $input) {
        session { id revokedAt isCurrent } clientMutationId
    } }";
    client.query(query, json!({ "input": { "sessionId": session_id, "clientMutationId": "r" } })).await
}

async fn list(client: &Client, arguments: &str) -> Answer {
    let query = format!(
        "{{ viewer {{ sessions{arguments} {{
            edges {{ cursor node {{ id }} }} nodes {{ id }}
            pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }}
        }} }} }}"
    );
    client.query(&query, json!({})).await
}

fn ids(answer: &Answer) -> Vec<String> {
    let nodes = answer.at("/viewer/sessions/nodes").as_array().expect("a list");
    nodes.iter().map(|node| node["id"].as_str().expect("a text").to_owned()).collect()
}

#[tokio::test]
async fn log_out_ends_this_session_at_once_and_no_other() {
    let kith = Kith::start().await;
    let ada = kith.sign_up("ada").await;
    let (other, refresh_token, id) = another(&kith).await;
    let answer = other.query(LOG_OUT, json!({})).await;
    let ended = json!({ "session": { "id": id, "revokedAt": "2026-03-02T09:00:00+00:00", "isCurrent": true }, "clientMutationId": "o" });
    assert_eq!(answer.at("/logOut"), &ended);
    assert_eq!(who(&other).await, unauthenticated());
    assert_eq!(refresh(kith.anonymous(), &refresh_token).await.code(), "UNAUTHENTICATED");
    assert_eq!(who(&ada).await, Ok(json!("ada")));
    kith.finish().await;
}

#[tokio::test]
async fn what_follows_in_a_request_that_logs_out_is_signed_out() {
    let kith = Kith::start().await;
    kith.sign_up("ada").await;
    for end in [
        "logOut(input: {}) { session { isCurrent } }",
        "revokeSession(input: { sessionId: \"ID\" }) { session { isCurrent } }",
    ] {
        let (client, _, id) = another(&kith).await;
        let query = format!(
            "mutation {{ end: {} updateProfile(input: {{ bio: \"b\" }}) {{ user {{ bio }} }} }}",
            end.replace("ID", &id)
        );
        let answer = client.query(&query, json!({})).await;
        assert_eq!(answer.code(), "UNAUTHENTICATED");
        assert_eq!(answer.partial(), &json!({ "end": { "session": { "isCurrent": true } }, "updateProfile": null }));
    }
    kith.finish().await;
}

#[tokio::test]
async fn one_ends_ones_own_sessions_and_nobody_elses() {
    let kith = Kith::start().await;
    let (ada, bob) = (kith.sign_up("ada").await, kith.sign_up("bob").await);
    let (other, refresh_token, id) = another(&kith).await;
    assert_eq!(revoke(&bob, &id).await.code(), "NOT_FOUND");
    assert_eq!(revoke(&ada, &bob.id).await.code(), "NOT_FOUND");
    for nonsense in ["", "nonsense", "a\0"] {
        let answer = revoke(&ada, nonsense).await;
        assert_eq!((answer.code(), answer.field()), ("BAD_USER_INPUT", Some("sessionId")), "{nonsense:?}");
    }
    assert_eq!(who(&other).await, Ok(json!("ada")));

    let answer = revoke(&ada, &id).await;
    let ended = json!({ "session": { "id": id, "revokedAt": "2026-03-02T09:00:00+00:00", "isCurrent": false }, "clientMutationId": "r" });
    assert_eq!(answer.at("/revokeSession"), &ended);
    assert_eq!(who(&other).await, unauthenticated());
    assert_eq!(refresh(kith.anonymous(), &refresh_token).await.code(), "UNAUTHENTICATED");
    kith.advance(Duration::from_secs(60)).await;
    assert_eq!(revoke(&ada, &id).await.at("/revokeSession"), &ended, "again changes nothing");
    assert_eq!(who(&ada).await, Ok(json!("ada")));
    kith.finish().await;
}

#[tokio::test]
async fn the_list_has_the_live_sessions_newest_first_in_pages() {
    let kith = Kith::start().await;
    let (ada, bob) = (kith.sign_up("ada").await, kith.sign_up("bob").await);
    let mut made = ids(&list(&ada, "").await);
    for _ in 0..4 {
        made.insert(0, another(&kith).await.2);
    }
    revoke(&ada, &made.remove(1)).await.data();
    assert_eq!(ids(&list(&ada, "").await), made);
    let first = list(&ada, "(first: 2)").await;
    assert_eq!(ids(&first), made[..2]);
    let info = |answer: &Answer, name: &str| answer.at("/viewer/sessions/pageInfo")[name].clone();
    assert_eq!((info(&first, "hasNextPage"), info(&first, "hasPreviousPage")), (json!(true), json!(false)));
    let end = info(&first, "endCursor");
    let rest = list(&ada, &format!("(first: 2, after: {end})")).await;
    assert_eq!(ids(&rest), made[2..]);
    assert_eq!((info(&rest, "hasNextPage"), info(&rest, "hasPreviousPage")), (json!(false), json!(true)));
    assert_eq!(ids(&list(&ada, &format!("(last: 1, before: {end})")).await), made[..1]);
    let foreign = list(&bob, &format!("(first: 2, after: {end})")).await;
    assert_eq!((foreign.code(), foreign.field()), ("BAD_CURSOR", Some("after")));
    assert_eq!(list(&ada, "(first: 101)").await.field(), Some("first"));
    kith.advance(DAY * 60).await;
    let (client, _, id) = another(&kith).await;
    assert_eq!(ids(&list(&client, "").await), [id], "the others have expired");
    kith.finish().await;
}

#[tokio::test]
async fn a_session_says_what_client_it_is_of() {
    let kith = Kith::start().await;
    kith.sign_up("ada").await;
    let (client, _, _) = another(&kith).await;
    let user_agent = async |text: &str| {
        let query = "mutation($i: LogInInput!) { logIn(input: $i) { viewer { currentSession { userAgent } } } }";
        let body = json!({ "query": query, "variables": { "i": { "handle": "ada", "password": PASSWORD } } });
        let request = kith.anonymous().raw(reqwest::Method::POST, "/graphql").header("user-agent", text).json(&body);
        let answer: Value = request.send().await.expect("an answer").json().await.expect("JSON");
        answer["data"]["logIn"]["viewer"]["currentSession"]["userAgent"].clone()
    };
    assert_eq!(user_agent("Kith for Amiga/1.0").await, json!("Kith for Amiga/1.0"));
    assert_eq!(user_agent(&"x".repeat(2_000)).await, json!("x".repeat(256)));
    let current = client.query("{ viewer { currentSession { userAgent isCurrent } } }", json!({})).await;
    assert_eq!(current.at("/viewer/currentSession"), &json!({ "userAgent": "", "isCurrent": true }));
    kith.finish().await;
}

#[tokio::test]
async fn what_has_ended_is_purged_but_never_before_its_access_tokens() {
    let kith = Kith::start().await;
    kith.sign_up("ada").await;
    let (client, _, _) = another(&kith).await;
    client.query(LOG_OUT, json!({})).await.data();
    let sessions = async || {
        kith.tick().await;
        kith.sql().await.one::<i64>("SELECT count(*) FROM sessions", &[]).await
    };
    assert_eq!(sessions().await, 2);
    kith.advance(DAY).await;
    assert_eq!(sessions().await, 2);
    kith.advance(Duration::from_millis(1)).await;
    assert_eq!(sessions().await, 1);
    kith.advance(DAY * 61).await;
    assert_eq!(sessions().await, 0);
    assert_eq!(kith.sql().await.one::<i64>("SELECT count(*) FROM refresh_tokens", &[]).await, 0);
    kith.finish().await;
}

#[tokio::test]
async fn none_of_this_is_for_who_is_signed_out() {
    let kith = Kith::start().await;
    for mutation in [
        "logOut(input: {}) { clientMutationId }",
        "revokeSession(input: { sessionId: \"cwAAAAAAAAAB\" }) { clientMutationId }",
        "updateProfile(input: { bio: \"\" }) { clientMutationId }",
        "changePassword(input: { currentPassword: \"a\", newPassword: \"another passphrase\" }) { clientMutationId }",
    ] {
        let answer = kith.anonymous().query(&format!("mutation {{ {mutation} }}"), json!({})).await;
        assert_eq!(answer.code(), "UNAUTHENTICATED", "{mutation}");
    }
    kith.finish().await;
}
