//! Access tokens: which are accepted, and until when.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use kith::domain::auth::tokens::{LEEWAY, LIFE};
use serde_json::{Value, json};

use super::{unauthenticated, who};
use crate::harness::{Kith, Person};

#[tokio::test]
async fn a_token_ends_at_its_time_plus_a_small_leeway() {
    let kith = Kith::start().await;
    let ada = kith.sign_up("ada").await;
    let (life, leeway) = (LIFE.to_std().expect("positive"), LEEWAY.to_std().expect("positive"));
    assert!(leeway <= Duration::from_secs(5));
    kith.advance(life + leeway - Duration::from_millis(1)).await;
    assert_eq!(who(&ada).await, Ok(json!("ada")));
    kith.advance(Duration::from_millis(1)).await;
    assert_eq!(who(&ada).await, unauthenticated());
    kith.finish().await;
}

struct Forge {
    key: EncodingKey,
    claims: Value,
}

impl Forge {
    fn new(kith: &Kith, ada: &Person) -> Self {
        let (_, key) = kith.config.secrets.derive("token")[0];
        let seconds = kith.clock.now_ms() / 1000;
        let claims = json!({
            "sub": ada.viewer.user_id.to_string(), "sid": ada.viewer.session_id.to_string(),
            "iat": seconds, "exp": seconds + 900, "aud": "kith", "iss": "kith",
        });
        Self { key: EncodingKey::from_secret(&key).expect("a key"), claims }
    }

    fn with(&self, claim: &str, value: Value) -> String {
        let mut claims = self.claims.clone();
        match value {
            Value::Null => drop(claims.as_object_mut().expect("an object").remove(claim)),
            value => claims[claim] = value,
        }
        encode(&header("1", Algorithm::HS256), &claims, &self.key).expect("signed")
    }

    fn under(&self, header: &Header, key: &EncodingKey) -> String {
        encode(header, &self.claims, key).expect("signed")
    }
}

fn header(kid: &str, algorithm: Algorithm) -> Header {
    Header { kid: Some(kid.into()), ..Header::new(algorithm) }
}

/// The same token with another header, and the signature that it had.
fn with_header(token: &str, header: Value) -> String {
    let (_, rest) = token.split_once('.').expect("three parts");
    format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header.to_string()))
}

#[tokio::test]
async fn forged_tokens_are_refused() {
    let kith = Kith::start().await;
    let (ada, bob) = (kith.sign_up("ada").await, kith.sign_up("bob").await);
    let forge = Forge::new(&kith, &ada);
    let good = forge.under(&header("1", Algorithm::HS256), &forge.key);
    assert_eq!(who(&kith.anonymous().with_token(&good)).await, Ok(json!("ada")), "the forge works");

    let seconds = kith.clock.now_ms() / 1000;
    let unsigned = |header: Value| {
        let whole = with_header(&good, header);
        whole.rsplit_once('.').map(|(body, _)| format!("{body}.")).expect("three parts")
    };
    let cursor_key = EncodingKey::from_secret(&kith.config.secrets.derive("cursor")[0].1).expect("a key");
    let forged = [
        ("exp never", forge.with("exp", json!("never"))),
        ("exp as text", forge.with("exp", json!((seconds + 900).to_string()))),
        ("no exp", forge.with("exp", json!(null))),
        ("exp beyond all time", forge.with("exp", json!(i64::MAX))),
        ("exp in the past", forge.with("exp", json!(seconds - 60))),
        ("nbf in the future", forge.with("nbf", json!(seconds + 60))),
        ("nbf beyond all time", forge.with("nbf", json!(i64::MAX))),
        ("iat in the future", forge.with("iat", json!(seconds + 60))),
        ("other aud", forge.with("aud", json!("others"))),
        ("no aud", forge.with("aud", json!(null))),
        ("other iss", forge.with("iss", json!("others"))),
        ("sub as number", forge.with("sub", json!(ada.viewer.user_id))),
        ("somebody else's session", forge.with("sub", json!(bob.viewer.user_id.to_string()))),
        ("no session", forge.with("sid", json!("1"))),
        ("no sid", forge.with("sid", json!(null))),
        ("none", unsigned(json!({ "alg": "none", "kid": "1" }))),
        ("None", unsigned(json!({ "alg": "None", "kid": "1" }))),
        ("none with a signature", with_header(&good, json!({ "alg": "none", "kid": "1" }))),
        ("RS256 in name", with_header(&good, json!({ "alg": "RS256", "kid": "1" }))),
        ("HS512", forge.under(&header("1", Algorithm::HS512), &forge.key)),
        ("other key", forge.under(&header("1", Algorithm::HS256), &EncodingKey::from_secret(&[7; 32]).expect("a key"))),
        ("the key of cursors", forge.under(&header("1", Algorithm::HS256), &cursor_key)),
        ("unknown kid", forge.under(&header("2", Algorithm::HS256), &forge.key)),
        ("no kid", forge.under(&Header::new(Algorithm::HS256), &forge.key)),
        ("no signature", unsigned(json!({ "alg": "HS256", "kid": "1" }))),
        ("nonsense", "nonsense".into()),
    ];
    for (what, token) in forged {
        assert_eq!(who(&kith.anonymous().with_token(&token)).await, unauthenticated(), "{what}");
    }
    kith.finish().await;
}

#[tokio::test]
async fn secrets_rotate_with_overlap() {
    let old = "1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let both = format!("2:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA,{old}");
    let kith = Kith::start_with(|config| config.secrets = both.parse().expect("valid")).await;
    let ada = kith.sign_up("ada").await;
    let by = |secrets: &str| kith::domain::auth::tokens::Tokens::new(&secrets.parse().expect("valid")).expect("keys");
    let of_old = by(old).issue(ada.viewer, kith.app.clock.now()).expect("a token");
    assert_eq!(who(&kith.anonymous().with_token(&of_old)).await, Ok(json!("ada")));
    assert!(by(old).verify(&ada.token, kith.app.clock.now()).is_err(), "the first signs");
    kith.finish().await;
}

#[tokio::test]
async fn ids_in_a_token_are_texts() {
    let kith = Kith::start().await;
    let ada = kith.sign_up("ada").await;
    let claims = ada.token.split('.').nth(1).expect("three parts");
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).expect("base64url")).expect("JSON");
    assert_eq!(claims["sub"], json!(ada.viewer.user_id.to_string()));
    assert_eq!(claims["sid"], json!(ada.viewer.session_id.to_string()));
    kith.finish().await;
}
