//! Access tokens: short-lived JWTs that name a person and a session. Never whether that session still
//! lives: that is `read.rs`.

use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, decode_header, encode};
use serde::{Deserialize, Serialize};

use crate::config::Secrets;
use crate::error::{Error, Result};
use crate::viewer::Viewer;

/// How long an access token is valid.
pub const LIFE: TimeDelta = TimeDelta::minutes(15);

/// How far the clocks of two servers may be apart: what a token is still accepted after its end. (A server
/// more than half a second away from Postgres is not ready.)
pub const LEEWAY: TimeDelta = TimeDelta::seconds(1);

/// Who issues tokens, and who they are for.
const KITH: &str = "kith";

/// Issues and verifies access tokens. The first secret signs, each of them verifies; `kid` says which.
pub struct Tokens {
    keys: Vec<Key>,
    validation: Validation,
}

struct Key {
    id: String,
    signs: EncodingKey,
    verifies: DecodingKey,
}

/// What a token says. Ids are strings, for JavaScript loses the last digits of 64-bit numbers; times are
/// whole seconds since the Unix epoch. A claim of another type is as wrong as a missing one.
#[derive(Serialize, Deserialize)]
struct Claims {
    sub: String,
    sid: String,
    iat: i64,
    exp: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nbf: Option<i64>,
    aud: String,
    iss: String,
}

impl Tokens {
    /// Tokens under keys that are derived from the operator's secrets.
    pub fn new(secrets: &Secrets) -> Result<Self> {
        let key = |(id, secret): (u8, [u8; 32])| {
            let (signs, verifies) = (EncodingKey::from_secret(&secret)?, DecodingKey::from_secret(&secret)?);
            Ok(Key { id: id.to_string(), signs, verifies })
        };
        let keys: jsonwebtoken::errors::Result<_> = secrets.derive("token").into_iter().map(key).collect();
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        validation.set_audience(&[KITH]);
        validation.set_issuer(&[KITH]);
        // The crate would ask the machine's clock; the times are checked below, against ours.
        validation.validate_exp = false;
        Ok(Self { keys: keys.map_err(internal)?, validation })
    }

    /// A token for `viewer`, valid until [`expires_at`].
    pub fn issue(&self, viewer: Viewer, now: DateTime<Utc>) -> Result<String> {
        let key = self.keys.first().ok_or_else(|| Error::Internal("there is no secret".into()))?;
        let claims = Claims {
            sub: viewer.user_id.to_string(),
            sid: viewer.session_id.to_string(),
            iat: now.timestamp(),
            exp: expires_at(now).timestamp(),
            nbf: None,
            aud: KITH.into(),
            iss: KITH.into(),
        };
        let header = Header { kid: Some(key.id.clone()), ..Header::new(Algorithm::HS256) };
        encode(&header, &claims, &key.signs).map_err(internal)
    }

    /// Whom a token names. Its session may have ended: ask [`super::read::is_live`] as well.
    ///
    /// Errors: [`Error::Unauthenticated`] for anything that [`Tokens::issue`] did not write, or that is
    /// not valid at `now`.
    pub fn verify(&self, token: &str, now: DateTime<Utc>) -> Result<Viewer> {
        self.claims(token).and_then(|claims| viewer(&claims, now)).ok_or(Error::Unauthenticated)
    }

    fn claims(&self, token: &str) -> Option<Claims> {
        let kid = decode_header(token).ok()?.kid?;
        let key = self.keys.iter().find(|key| key.id == kid)?;
        Some(decode(token, &key.verifies, &self.validation).ok()?.claims)
    }
}

/// When a token ends that is issued at `now`: a whole second, as in the token.
pub fn expires_at(now: DateTime<Utc>) -> DateTime<Utc> {
    let end = now + LIFE;
    DateTime::from_timestamp(end.timestamp(), 0).unwrap_or(end)
}

fn viewer(claims: &Claims, now: DateTime<Utc>) -> Option<Viewer> {
    let time = |seconds| DateTime::from_timestamp(seconds, 0);
    let starts_at = time(claims.iat.max(claims.nbf.unwrap_or(claims.iat)))?;
    let is_over = now >= time(claims.exp)?.checked_add_signed(LEEWAY)?;
    if is_over || starts_at > now + LEEWAY {
        return None;
    }
    Some(Viewer { user_id: claims.sub.parse().ok()?, session_id: claims.sid.parse().ok()? })
}

fn internal(error: jsonwebtoken::errors::Error) -> Error {
    Error::Internal(error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ONE: &str = "1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const TWO: &str = "2:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA";
    const VIEWER: Viewer = Viewer { user_id: i64::MAX, session_id: 7 };

    fn tokens(secrets: &str) -> Tokens {
        Tokens::new(&secrets.parse().expect("valid secrets")).expect("keys")
    }

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp_millis(1_800_000_000_400).expect("a time")
    }

    /// Signs anything, with the first key of [`ONE`] unless told otherwise.
    fn forge(header: &Header, claims: &Value, key: &EncodingKey) -> String {
        encode(header, claims, key).expect("signed")
    }

    #[test]
    fn a_token_comes_back_until_its_end_plus_the_leeway() {
        let tokens = tokens(ONE);
        let token = tokens.issue(VIEWER, now()).expect("issued");
        let end = expires_at(now());
        assert_eq!(end.timestamp_millis(), 1_800_000_900_000);
        let just_before = end + LEEWAY - TimeDelta::milliseconds(1);
        assert_eq!(tokens.verify(&token, now()), Ok(VIEWER));
        assert_eq!(tokens.verify(&token, just_before), Ok(VIEWER));
        assert_eq!(tokens.verify(&token, end + LEEWAY), Err(Error::Unauthenticated));
        assert_eq!(tokens.verify(&token, now() - TimeDelta::seconds(2)), Err(Error::Unauthenticated));
        const { assert!(LEEWAY.num_seconds() <= 5) };
    }

    #[test]
    fn the_first_secret_signs_and_each_verifies() {
        let (old, both, new) = (tokens(ONE), tokens(&format!("{TWO},{ONE}")), tokens(TWO));
        let (of_old, of_both) = (old.issue(VIEWER, now()).expect("issued"), both.issue(VIEWER, now()).expect("issued"));
        assert_eq!(both.verify(&of_old, now()), Ok(VIEWER));
        assert_eq!(new.verify(&of_both, now()), Ok(VIEWER));
        assert_eq!(old.verify(&of_both, now()), Err(Error::Unauthenticated));
        assert_eq!(new.verify(&of_old, now()), Err(Error::Unauthenticated));
    }

    #[test]
    fn claims_that_are_odd_are_refused() {
        let tokens = tokens(ONE);
        let header = Header { kid: Some("1".into()), ..Header::new(Algorithm::HS256) };
        let seconds = now().timestamp();
        let good = json!({"sub": "5", "sid": "7", "iat": seconds, "exp": seconds + 900, "aud": "kith", "iss": "kith"});
        let ask = |claims: &Value| tokens.verify(&forge(&header, claims, &tokens.keys[0].signs), now());
        assert_eq!(ask(&good), Ok(Viewer { user_id: 5, session_id: 7 }));
        let odd = [
            ("exp", json!("never")),
            ("exp", json!((seconds + 900).to_string())),
            ("exp", json!(1e300)),
            ("exp", json!(null)),
            ("exp", json!(i64::MAX)),
            ("exp", json!(seconds - 1)),
            ("iat", json!(seconds + 60)),
            ("nbf", json!(seconds + 60)),
            ("nbf", json!("soon")),
            ("nbf", json!(i64::MAX)),
            ("aud", json!("others")),
            ("aud", json!(["kith", "others"])),
            ("iss", json!("others")),
            ("sub", json!(5)),
            ("sub", json!("five")),
            ("sid", json!("")),
        ];
        for (claim, value) in odd {
            let mut claims = good.clone();
            claims[claim] = value.clone();
            assert_eq!(ask(&claims), Err(Error::Unauthenticated), "{claim} {value}");
        }
        for claim in ["sub", "sid", "iat", "exp", "aud", "iss"] {
            let mut claims = good.clone();
            claims.as_object_mut().expect("an object").remove(claim);
            assert_eq!(ask(&claims), Err(Error::Unauthenticated), "no {claim}");
        }
    }

    #[test]
    fn headers_that_are_odd_are_refused() {
        let tokens = tokens(ONE);
        let token = tokens.issue(VIEWER, now()).expect("issued");
        let (_, rest) = token.split_once('.').expect("three parts");
        let claims = json!({"sub": "5", "sid": "7", "iat": now().timestamp(), "exp": now().timestamp() + 9, "aud": "kith", "iss": "kith"});
        let kid = |kid: Option<&str>, algorithm| Header { kid: kid.map(Into::into), ..Header::new(algorithm) };
        let mine = &tokens.keys[0].signs;
        let other = EncodingKey::from_secret(&[9; 32]).expect("a key");
        for (what, forged) in [
            ("no kid", forge(&kid(None, Algorithm::HS256), &claims, mine)),
            ("unknown kid", forge(&kid(Some("2"), Algorithm::HS256), &claims, mine)),
            ("kid in another spelling", forge(&kid(Some("01"), Algorithm::HS256), &claims, mine)),
            ("other algorithm of the family", forge(&kid(Some("1"), Algorithm::HS512), &claims, mine)),
            ("other key", forge(&kid(Some("1"), Algorithm::HS256), &claims, &other)),
            ("alg none", format!("eyJhbGciOiJub25lIiwia2lkIjoiMSJ9.{rest}")),
            ("no signature", token.rsplit_once('.').map(|(body, _)| format!("{body}.")).expect("three parts")),
            ("cut", token[..token.len() - 2].to_owned()),
            ("empty", String::new()),
        ] {
            assert_eq!(tokens.verify(&forged, now()), Err(Error::Unauthenticated), "{what}");
        }
    }
}
