//! Where Postgres and Redis are. Printed without what may be secret. Never a connection.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use url::form_urlencoded;

/// Where Postgres is, and how the way there is secured.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl {
    text: String,
    place: String,
    ssl_mode: SslMode,
    ssl_root_cert: Option<PathBuf>,
}

/// How the way to Postgres is secured, as libpq means it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SslMode {
    /// Not at all.
    Disable,
    /// Encrypted if the server can; whoever answers is believed.
    Prefer,
    /// Encrypted; whoever answers is believed, unless the roots to trust are given: then as [`SslMode::VerifyCa`].
    Require,
    /// Encrypted, and the certificate is of somebody whom we trust.
    VerifyCa,
    /// Encrypted, and the certificate is of somebody whom we trust, for this very host.
    VerifyFull,
}

impl DatabaseUrl {
    /// As it was written, with the password.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same without `sslmode` and `sslrootcert`.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Its `sslmode`; [`SslMode::Prefer`] where none is written.
    pub fn ssl_mode(&self) -> SslMode {
        self.ssl_mode
    }

    /// Its `sslrootcert`, the file of certificates to trust instead of the system's.
    pub fn ssl_root_cert(&self) -> Option<&Path> {
        self.ssl_root_cert.as_deref()
    }
}

impl FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
            return Err("it is written postgres://user:password@host:port/database".into());
        }
        let (place, options) = text.split_once('?').unwrap_or((text, ""));
        let (mut ssl_mode, mut ssl_root_cert) = (SslMode::Prefer, None);
        let mut others = Vec::new();
        for option in options.split('&').filter(|option| !option.is_empty()) {
            // Unlike in a form, a + stands for itself.
            let literal = option.replace('+', "%2B");
            match form_urlencoded::parse(literal.as_bytes()).next() {
                Some((name, value)) if name == "sslmode" => ssl_mode = value.parse()?,
                Some((name, value)) if name == "sslrootcert" => {
                    ssl_root_cert = (value != "system").then(|| PathBuf::from(value.as_ref()));
                }
                _ => others.push(option),
            }
        }
        let separator = if others.is_empty() { "" } else { "?" };
        let place = format!("{place}{separator}{}", others.join("&"));
        Ok(Self { text: text.to_owned(), place, ssl_mode, ssl_root_cert })
    }
}

impl FromStr for SslMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "disable" => Ok(Self::Disable),
            "prefer" => Ok(Self::Prefer),
            "require" => Ok(Self::Require),
            "verify-ca" => Ok(Self::VerifyCa),
            "verify-full" => Ok(Self::VerifyFull),
            _ => Err("its sslmode is one of disable, prefer, require, verify-ca, verify-full".into()),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseUrl(not shown)")
    }
}

/// Where Redis is.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisUrl(String);

impl RedisUrl {
    /// As it was written, with the password.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RedisUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !["redis://", "rediss://", "redis+unix://"].iter().any(|scheme| text.starts_with(scheme)) {
            return Err("it is written redis://:password@host:port/database, or rediss:// for TLS".into());
        }
        if text.contains('#') {
            return Err("nothing may follow a #; write one that belongs to the password as %23".into());
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RedisUrl(not shown)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libpq_says_about_tls_is_taken_out_of_the_address() {
        let url: DatabaseUrl = "postgres://a:b@c:1/d?sslmode=verify-full&application_name=x&sslrootcert=/a%20b.pem"
            .parse()
            .expect("valid");
        assert_eq!(url.place(), "postgres://a:b@c:1/d?application_name=x");
        assert_eq!((url.ssl_mode(), url.ssl_root_cert()), (SslMode::VerifyFull, Some(Path::new("/a b.pem"))));
        let plain: DatabaseUrl = "postgresql:///d".parse().expect("valid");
        assert_eq!((plain.place(), plain.ssl_mode()), ("postgresql:///d", SslMode::Prefer));
        for bad in ["", "c:1/d", "redis://c", "postgres://c/d?sslmode=maybe"] {
            assert!(bad.parse::<DatabaseUrl>().is_err(), "{bad}");
        }
    }

    #[test]
    fn addresses_are_never_printed() {
        let (postgres, redis) =
            ("postgres://a:hunter2@c".parse::<DatabaseUrl>(), "redis://:hunter2@c".parse::<RedisUrl>());
        assert!(!format!("{postgres:?} {redis:?}").contains("hunter2"));
    }
}
