//! Refresh tokens: each works once, and what is stolen ends the session.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kith::domain::auth::rules::{SESSION_LIFE, SESSION_LIFE_AT_MOST};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{DAY, PASSWORD, account, log_in, refresh, sign_up, signed_in, unauthenticated, who};
use crate::harness::{Answer, Kith};

async fn ada(kith: &Kith) -> Answer {
    sign_up(kith.anonymous(), account("ada", json!({}))).await
}

#[tokio::test]
async fn it_gives_new_tokens_and_lengthens_the_session() {
    let kith = Kith::start().await;
    let signed_up = ada(&kith).await;
    let (old, first) = signed_in(kith.anonymous(), &signed_up, "signUp");
    kith.advance(DAY).await;
    assert_eq!(who(&old).await, unauthenticated(), "its quarter of an hour is over");
    let answer = refresh(kith.anonymous(), &first).await;
    let (new, second) = signed_in(kith.anonymous(), &answer, "refreshSession");
    let now = kith.app.clock.now();
    let time = |pointer: &str| answer.text(pointer).parse::<DateTime<Utc>>().expect("a time");
    assert_eq!(answer.at("/refreshSession/viewer/user"), &json!({ "handle": "ada", "isViewer": true }));
    assert_eq!(time("/refreshSession/viewer/currentSession/lastUsedAt"), now);
    assert_eq!(time("/refreshSession/viewer/currentSession/expiresAt"), now + SESSION_LIFE);
    assert_eq!(time("/refreshSession/tokens/refreshTokenExpiresAt"), now + SESSION_LIFE);
    assert_eq!(answer.at("/refreshSession/viewer/currentSession/id"), signed_up.at("/signUp/viewer/currentSession/id"));
    assert_ne!(first, second);
    assert_eq!(who(&new).await, Ok(json!("ada")));
    kith.finish().await;
}

#[tokio::test]
async fn only_hashes_are_stored() {
    let kith = Kith::start().await;
    let (_, token) = signed_in(kith.anonymous(), &ada(&kith).await, "signUp");
    let token = URL_SAFE_NO_PAD.decode(token).expect("base64url");
    assert_eq!(token.len(), 32);
    let stored: Vec<Vec<u8>> = kith.sql().await.column("SELECT token_hash FROM refresh_tokens", &[]).await;
    assert_eq!(stored, [Sha256::digest(token).to_vec()]);
    kith.finish().await;
}

#[tokio::test]
async fn a_token_that_comes_twice_ends_its_session_and_no_other() {
    let kith = Kith::start().await;
    let (_, first) = signed_in(kith.anonymous(), &ada(&kith).await, "signUp");
    let (other, _) = signed_in(kith.anonymous(), &log_in(kith.anonymous(), "ada", PASSWORD).await, "logIn");
    let (new, second) = signed_in(kith.anonymous(), &refresh(kith.anonymous(), &first).await, "refreshSession");
    assert_eq!(who(&new).await, Ok(json!("ada")));
    assert_eq!(refresh(kith.anonymous(), &first).await.code(), "UNAUTHENTICATED");
    assert_eq!(who(&new).await, unauthenticated());
    assert_eq!(refresh(kith.anonymous(), &second).await.code(), "UNAUTHENTICATED");
    assert_eq!(who(&other).await, Ok(json!("ada")));
    kith.finish().await;
}

#[tokio::test]
async fn of_those_who_come_at_once_with_one_token_one_wins_and_the_session_ends() {
    let kith = Kith::start().await;
    let (_, token) = signed_in(kith.anonymous(), &ada(&kith).await, "signUp");
    let answers = join_all((0..8).map(|_| refresh(kith.anonymous(), &token))).await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.errors().is_empty());
    assert_eq!((won.len(), lost.len()), (1, 7));
    assert!(lost.iter().all(|answer| answer.code() == "UNAUTHENTICATED"));
    let (winner, next) = signed_in(kith.anonymous(), won[0], "refreshSession");
    assert_eq!(who(&winner).await, unauthenticated());
    assert_eq!(refresh(kith.anonymous(), &next).await.code(), "UNAUTHENTICATED");
    let made: i64 = kith.sql().await.one("SELECT count(*) FROM refresh_tokens", &[]).await;
    assert_eq!(made, 2, "the losers made none");
    kith.finish().await;
}

#[tokio::test]
async fn a_session_ends_when_it_is_not_refreshed() {
    let kith = Kith::start().await;
    let (_, token) = signed_in(kith.anonymous(), &ada(&kith).await, "signUp");
    kith.advance(SESSION_LIFE.to_std().expect("positive")).await;
    assert_eq!(refresh(kith.anonymous(), &token).await.code(), "UNAUTHENTICATED");
    kith.finish().await;
}

#[tokio::test]
async fn a_session_ends_after_a_year_however_often_it_is_refreshed() {
    let kith = Kith::start().await;
    let start = kith.app.clock.now();
    let (_, mut token) = signed_in(kith.anonymous(), &ada(&kith).await, "signUp");
    for _ in 0..7 {
        kith.advance(DAY * 52).await;
        let answer = refresh(kith.anonymous(), &token).await;
        token = answer.text("/refreshSession/tokens/refreshToken");
        let ends: DateTime<Utc> = answer.text("/refreshSession/tokens/refreshTokenExpiresAt").parse().expect("a time");
        assert_eq!(ends, (kith.app.clock.now() + SESSION_LIFE).min(start + SESSION_LIFE_AT_MOST));
    }
    assert_eq!(start + SESSION_LIFE_AT_MOST - kith.app.clock.now(), TimeDelta::days(1));
    let kept: i64 = kith.sql().await.one("SELECT count(*) FROM refresh_tokens", &[]).await;
    assert_eq!(kept, 3, "the living one, and two that could still be known to somebody");
    kith.advance(DAY).await;
    assert_eq!(refresh(kith.anonymous(), &token).await.code(), "UNAUTHENTICATED");
    kith.finish().await;
}

#[tokio::test]
async fn what_is_no_refresh_token_is_refused() {
    let kith = Kith::start().await;
    let signed_up = ada(&kith).await;
    let access = signed_up.text("/signUp/tokens/accessToken");
    for token in ["", "\0", "nonsense", &"A".repeat(43), &access] {
        assert_eq!(refresh(kith.anonymous(), token).await.code(), "UNAUTHENTICATED", "{token:?}");
    }
    kith.finish().await;
}
