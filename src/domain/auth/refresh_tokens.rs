//! Refresh tokens: what keeps a session alive. Never where they are stored: that is `write.rs`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::TryRngCore;
use rand::rngs::OsRng;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// 256 random bits that only the client keeps; Kith stores their hash. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct RefreshToken([u8; 32]);

impl RefreshToken {
    /// A new one. Errors: [`Error::Internal`] if the system gives no random bytes.
    pub fn random() -> Result<Self> {
        random().map(Self)
    }

    /// Reads what [`RefreshToken::encode`] wrote.
    ///
    /// Errors: [`Error::Unauthenticated`] for anything else.
    pub fn parse(text: &str) -> Result<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| Error::Unauthenticated)?;
        bytes.try_into().map(Self).map_err(|_| Error::Unauthenticated)
    }

    /// As the client keeps it: base64url, 43 characters.
    pub fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// As it is stored: SHA-256. A slow hash or a salt adds nothing to 256 random bits.
    pub fn hash(&self) -> Vec<u8> {
        Sha256::digest(self.0).to_vec()
    }
}

impl std::fmt::Debug for RefreshToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RefreshToken(…)")
    }
}

/// Random bytes of the operating system.
///
/// Errors: [`Error::Internal`] if there are none.
pub(super) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    OsRng.try_fill_bytes(&mut bytes).map_err(|error| Error::Internal(error.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_back_and_nothing_else_is_one() {
        let token = RefreshToken::random().expect("random bytes");
        assert_eq!(RefreshToken::parse(&token.encode()), Ok(token.clone()));
        assert_ne!(RefreshToken::random(), Ok(token.clone()));
        assert_eq!(format!("{token:?}"), "RefreshToken(…)");
        for bad in
            ["", "x", "\0", &token.encode()[1..], &format!("{}A", token.encode()), &format!("{}=", token.encode())]
        {
            assert_eq!(RefreshToken::parse(bad), Err(Error::Unauthenticated), "{bad:?}");
        }
    }
}
