//! What people may call themselves, say about themselves and sign in with. A value of these types has
//! been checked. Pure: never what is taken already, that is decided by the database.

use url::Url;

use crate::error::{Error, Result};
use crate::text::{self, Limit, Lines};

/// How long a handle may be.
pub const HANDLE: Limit = Limit { min_graphemes: 3, max_graphemes: 30, max_bytes: 30 };

/// How long a display name may be.
pub const DISPLAY_NAME: Limit = Limit { min_graphemes: 1, max_graphemes: 50, max_bytes: 200 };

/// How long a bio may be.
pub const BIO: Limit = Limit { min_graphemes: 0, max_graphemes: 500, max_bytes: 4_000 };

/// How long a new password may be. There are no rules of composition: they make passwords worse
/// (NIST SP 800-63B).
pub const PASSWORD: Limit = Limit { min_graphemes: 8, max_graphemes: 128, max_bytes: 512 };

/// How many bytes the URL of an avatar may have.
pub const AVATAR_URL_BYTES: usize = 2_048;

/// Handles that could be taken for the operator, for everybody, or for a place in the API, in lower case.
const RESERVED: [&str; 40] = [
    "about",
    "abuse",
    "account",
    "accounts",
    "admin",
    "administrator",
    "all",
    "anonymous",
    "api",
    "channel",
    "everyone",
    "feed",
    "graphql",
    "help",
    "here",
    "info",
    "kith",
    "login",
    "logout",
    "mail",
    "mod",
    "moderator",
    "news",
    "nobody",
    "null",
    "official",
    "postmaster",
    "privacy",
    "root",
    "security",
    "settings",
    "signup",
    "staff",
    "support",
    "system",
    "team",
    "undefined",
    "user",
    "viewer",
    "webmaster",
];

/// The name in addresses and mentions: ASCII letters, digits and underscores, at least one letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handle(String);

impl Handle {
    /// A handle by its form alone, as for looking somebody up. The case stays as it was typed.
    ///
    /// Errors: [`Error::BadUserInput`] with field `handle`.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |message| Err(Error::bad_input("handle", message));
        if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return bad("Must consist of the letters a to z, digits and underscores.");
        }
        text::within("handle", text, HANDLE)?;
        if !text.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            return bad("Must contain a letter.");
        }
        Ok(Self(text.to_owned()))
    }

    /// A handle that somebody wants to have.
    ///
    /// Errors: as [`Handle::parse`], and for a name that is reserved.
    pub fn chosen(text: &str) -> Result<Self> {
        let handle = Self::parse(text)?;
        if RESERVED.contains(&handle.folded().as_str()) {
            return Err(Error::bad_input("handle", "This handle is reserved."));
        }
        Ok(handle)
    }

    /// As it was typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form that is unique: lower case.
    pub fn folded(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

/// The name as shown: one line with something visible in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayName(pub(super) String);

impl DisplayName {
    /// Errors: [`Error::BadUserInput`] with field `displayName`.
    pub fn parse(text: &str) -> Result<Self> {
        text::checked("displayName", text, DISPLAY_NAME, Lines::One).map(Self)
    }
}

/// What people say about themselves; may be empty and have several lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bio(pub(super) String);

impl Bio {
    /// Errors: [`Error::BadUserInput`] with field `bio`.
    pub fn parse(text: &str) -> Result<Self> {
        text::checked("bio", text, BIO, Lines::Many).map(Self)
    }
}

/// Where a picture is: an http or https URL with a host and without a user or password in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AvatarUrl(pub(super) String);

impl AvatarUrl {
    /// Kept in the normal form of the URL standard.
    ///
    /// Errors: [`Error::BadUserInput`] with field `avatarUrl`.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |message: &str| Err(Error::bad_input("avatarUrl", message));
        // The standard drops some of these without a word.
        if text.contains(|c: char| c.is_control() || c.is_whitespace()) {
            return bad("Must not contain white space or control characters.");
        }
        let Ok(url) = Url::parse(text) else {
            return bad("Must be an absolute URL.");
        };
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return bad("Must be an http or https URL.");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return bad("Must not contain a user name or password.");
        }
        if text.len() > AVATAR_URL_BYTES || url.as_str().len() > AVATAR_URL_BYTES {
            return bad(&format!("Must have at most {AVATAR_URL_BYTES} bytes."));
        }
        Ok(Self(url.into()))
    }
}

/// A password, in Unicode's normalization form C: keyboards differ in what they send. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// A password that somebody with this `handle` wants to have; `field` is where it was typed.
    ///
    /// Errors: [`Error::BadUserInput`] with `field`.
    pub fn chosen(field: &'static str, text: &str, handle: &str) -> Result<Self> {
        let Self(text) = Self::typed(text);
        if text.contains(char::is_control) {
            return Err(Error::bad_input(field, "Must not contain control characters."));
        }
        text::within(field, &text, PASSWORD)?;
        if text.eq_ignore_ascii_case(handle) {
            return Err(Error::bad_input(field, "Must not be the same as the handle."));
        }
        Ok(Self(text))
    }

    /// A password that is to be compared, right or wrong: whatever was typed.
    pub fn typed(text: &str) -> Self {
        Self(text::nfc(text))
    }

    /// What is hashed.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused<T: std::fmt::Debug>(outcome: Result<T>, of: &str) {
        assert!(matches!(&outcome, Err(Error::BadUserInput { field, .. }) if field == of), "{outcome:?}");
    }

    #[test]
    fn handles() {
        for good in ["ada", "Ada_99", "___a", "a23", &"x".repeat(30)] {
            assert_eq!(Handle::chosen(good).map(|handle| handle.0), Ok(good.to_owned()));
        }
        for bad in [
            "",
            "ab",
            "123",
            "___",
            "a b",
            "ada\0",
            " ada",
            "a-b",
            "a.b",
            "@ada",
            "ad\u{430}",
            "àda",
            "\u{212A}ith",
            "ada\u{200B}",
        ] {
            refused(Handle::parse(bad), "handle");
        }
        refused(Handle::parse(&"x".repeat(31)), "handle");
        for reserved in RESERVED {
            assert!(Handle::parse(reserved).is_ok(), "{reserved} needs no entry");
            refused(Handle::chosen(&reserved.to_ascii_uppercase()), "handle");
        }
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn display_names() {
        let name = |text: &str| DisplayName::parse(text).map(|name| name.0);
        assert_eq!(name("  Ada\u{202E} Lovelace "), Ok("Ada Lovelace".into()));
        assert_eq!(name("Zoe\u{308}"), Ok("Zoë".into()));
        assert_eq!(name(&"x".repeat(50)), Ok("x".repeat(50)));
        for bad in
            ["", "   ", "\u{200B}\u{200B}", "\u{3164}", "\u{202E}", "a\nb", "a\0", &"x".repeat(51), &"👨‍👩‍👧‍👦".repeat(9)]
        {
            refused(DisplayName::parse(bad), "displayName");
        }
    }

    #[test]
    fn bios() {
        assert_eq!(Bio::parse("").map(|bio| bio.0), Ok(String::new()));
        assert_eq!(Bio::parse("a\r\nb").map(|bio| bio.0), Ok("a\nb".into()));
        assert!(Bio::parse(&"🇫🇮".repeat(500)).is_ok());
        for bad in ["a\0", "\u{1b}[31m", &"x".repeat(501), &"👨‍👩‍👧‍👦".repeat(200)] {
            refused(Bio::parse(bad), "bio");
        }
    }

    #[test]
    fn avatar_urls() {
        let url = |text: &str| AvatarUrl::parse(text).map(|url| url.0);
        assert_eq!(url("https://example.com/a.png?b=c#d"), Ok("https://example.com/a.png?b=c#d".into()));
        assert_eq!(url("HTTP://EXAMPLE.com"), Ok("http://example.com/".into()));
        assert_eq!(url("https://münchen.example/ü"), Ok("https://xn--mnchen-3ya.example/%C3%BC".into()));
        for bad in [
            "",
            "example.com/a.png",
            "/a.png",
            "//example.com",
            "https://",
            "https:///",
            "ftp://example.com",
            "data:,a",
            "javascript:alert(1)",
            "https://ada@example.com",
            "https://ada:pw@example.com",
            "https://:pw@example.com",
            "https://exam ple.com",
            " https://example.com",
            "https://example.com/\0",
            "\0https://example.com",
            "java\nscript:alert(1)",
            "https://example.com:99999",
            &format!("https://example.com/{}", "a".repeat(2_048)),
            &format!("https://example.com/{}", "ü".repeat(700)),
        ] {
            refused(AvatarUrl::parse(bad), "avatarUrl");
        }
    }

    #[test]
    fn passwords() {
        let chosen = |text: &str| Password::chosen("newPassword", text, "ada_lovelace");
        for good in ["12345678", "  spaces  ", "漢字漢字漢字漢字", &"x".repeat(128), &"🔑".repeat(128)] {
            assert!(chosen(good).is_ok(), "{good}");
        }
        for bad in ["1234567", &"x".repeat(129), "1234567\0", "Ada_Lovelace", &"🇫🇮".repeat(65)] {
            refused(chosen(bad), "newPassword");
        }
        assert_eq!(Password::typed("pässword"), Password::typed("pa\u{308}ssword"));
        assert_eq!(format!("{:?}", Password::typed("secret")), "Password(…)");
    }
}
