//! The operator's secrets, and the keys that are derived from them. Never printed.

use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// The operator's secrets: an id and at least 32 bytes each; the first one signs.
#[derive(Clone, PartialEq, Eq)]
pub struct Secrets(Vec<(u8, Vec<u8>)>);

impl Secrets {
    /// A key a secret for one `purpose`, in the same order, with the same ids (HMAC-SHA256 of the purpose).
    pub fn derive(&self, purpose: &str) -> Vec<(u8, [u8; 32])> {
        let derive = |secret: &[u8]| {
            let mut mac =
                <Hmac<Sha256> as Mac>::new_from_slice(secret).unwrap_or_else(|_| unreachable!("HMAC takes any length"));
            mac.update(purpose.as_bytes());
            mac.finalize().into_bytes().into()
        };
        self.0.iter().map(|(id, secret)| (*id, derive(secret))).collect()
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({} of them)", self.0.len())
    }
}

impl FromStr for Secrets {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut secrets: Vec<(u8, Vec<u8>)> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (id, secret) = part.split_once(':').ok_or("each secret is written id:base64url")?;
            let id = id.parse().map_err(|_| "the id of a secret is a number from 0 to 255")?;
            let secret = URL_SAFE_NO_PAD
                .decode(secret.trim_end_matches('='))
                .map_err(|_| "a secret is written in base64url (A-Z a-z 0-9 - _)")?;
            if secret.len() < 32 {
                return Err("a secret has at least 32 bytes".into());
            }
            if secrets.iter().any(|(known, _)| *known == id) {
                return Err(format!("the secret id {id} stands there twice"));
            }
            secrets.push((id, secret));
        }
        if secrets.is_empty() {
            return Err("at least one secret is needed".into());
        }
        Ok(Self(secrets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_checked_and_never_printed() {
        let good = "1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        let secrets: Secrets = good.parse().expect("valid");
        assert_eq!(format!("{secrets:?}"), "Secrets(1 of them)");
        assert_ne!(secrets.derive("cursor"), secrets.derive("token"));
        for bad in ["", "AAAA", "1:AAAA", "x:AAAA", "256:AAAA", &format!("{good},{good}")] {
            assert!(bad.parse::<Secrets>().is_err(), "{bad}");
        }
    }
}
