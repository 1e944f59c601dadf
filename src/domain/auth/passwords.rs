//! Hashing of passwords: argon2id, away from the async threads, a few at a time. Never where hashes are
//! stored: that is `write.rs`.

use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;
use std::time::Duration;

use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use argon2::{Argon2, password_hash};
use tokio::sync::Semaphore;

use crate::domain::auth::refresh_tokens::random;
use crate::domain::users::rules::Password;
use crate::error::{Error, Result};

/// How long somebody who signs in waits for their turn before they are told UNAVAILABLE.
const WAIT: Duration = Duration::from_secs(3);

/// What is compared with where no hash is stored. Made once, before anybody could measure that.
static DECOY: LazyLock<Result<String>> = LazyLock::new(|| hash(b"nobody's"));

/// Hashes and compares passwords with argon2's default parameters (argon2id, 19 MiB, 2 passes; about 17 ms).
/// A turn a core: a flood of log-ins takes neither all memory nor all threads.
pub struct Passwords {
    turns: Arc<Semaphore>,
    wait: Duration,
    decoy: String,
}

impl Passwords {
    /// Costs one hash, the first time.
    pub fn new() -> Result<Self> {
        let cores = available_parallelism().map_or(1, Into::into);
        Ok(Self { turns: Arc::new(Semaphore::new(cores)), wait: WAIT, decoy: DECOY.clone()? })
    }

    /// The hash to be stored, with its parameters and its salt (a PHC string).
    ///
    /// Errors: [`Error::Unavailable`] when too many are ahead.
    pub async fn hash(&self, password: Password) -> Result<String> {
        self.in_turn(move || hash(password.as_bytes())).await
    }

    /// Whether `password` is the one that was stored. Where none was, it is not, after the same work: the
    /// time that it takes does not tell who exists.
    ///
    /// Errors: [`Error::Unavailable`] when too many are ahead.
    pub async fn is_right(&self, password: Password, stored: Option<&str>) -> Result<bool> {
        let exists = stored.is_some();
        let against = stored.unwrap_or(&self.decoy).to_owned();
        let is_same = self.in_turn(move || is_same(password.as_bytes(), &against)).await?;
        Ok(exists && is_same)
    }

    async fn in_turn<T: Send + 'static>(&self, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        let busy = || Error::Unavailable("too many passwords are being hashed".into());
        let turn = tokio::time::timeout(self.wait, self.turns.clone().acquire_owned()).await;
        let turn = turn.map_err(|_| busy())?.map_err(|_| busy())?;
        let done = tokio::task::spawn_blocking(move || {
            // Kept by the work, not by the request: that may be gone before.
            let _turn = turn;
            work()
        });
        done.await.map_err(|error| Error::Internal(error.to_string()))?
    }
}

fn hash(password: &[u8]) -> Result<String> {
    let salt = SaltString::encode_b64(&random::<16>()?).map_err(internal)?;
    Ok(Argon2::default().hash_password(password, &salt).map_err(internal)?.to_string())
}

fn is_same(password: &[u8], stored: &str) -> Result<bool> {
    let stored = PasswordHash::new(stored).map_err(internal)?;
    match Argon2::default().verify_password(password, &stored) {
        Ok(()) => Ok(true),
        Err(password_hash::Error::Password) => Ok(false),
        Err(error) => Err(internal(error)),
    }
}

fn internal(error: password_hash::Error) -> Error {
    Error::Internal(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_stored_password_is_right() {
        let passwords = Passwords::new().expect("a hash");
        let stored = passwords.hash(Password::typed("correct horse")).await.expect("a hash");
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert_ne!(passwords.hash(Password::typed("correct horse")).await, Ok(stored.clone()), "salted");
        let ask = async |text, stored| passwords.is_right(Password::typed(text), stored).await;
        assert_eq!(ask("correct horse", Some(stored.as_str())).await, Ok(true));
        assert_eq!(ask("correct hors", Some(stored.as_str())).await, Ok(false));
        assert_eq!(ask("nobody's", None).await, Ok(false));
        assert!(matches!(ask("a", Some("damaged")).await, Err(Error::Internal(_))));
    }

    #[tokio::test]
    async fn who_waits_too_long_is_told() {
        let turns = Arc::new(Semaphore::new(0));
        let passwords = Passwords { turns, wait: Duration::from_millis(5), decoy: String::new() };
        assert!(matches!(passwords.hash(Password::typed("a")).await, Err(Error::Unavailable(_))));
        passwords.turns.add_permits(1);
        assert!(passwords.hash(Password::typed("a")).await.is_ok());
        assert!(passwords.hash(Password::typed("b")).await.is_ok(), "the turn was given back");
    }
}
