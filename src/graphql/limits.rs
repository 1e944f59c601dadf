//! The limits in the schema, so that a client can check what is typed before it is sent.

use async_graphql::{Object, SimpleObject};

use crate::domain::users::rules;
use crate::page;
use crate::text;

/// How long a text may be. Both maxima hold. What is counted is the text as it is stored: in Unicode's
/// normalization form C, with LF for CRLF.
#[derive(SimpleObject)]
pub struct TextLimit {
    /// At least so many characters, as a reader counts them (extended grapheme clusters).
    min_graphemes: i32,
    /// At most so many characters, as a reader counts them (extended grapheme clusters).
    max_graphemes: i32,
    /// At most so many bytes of UTF-8.
    max_bytes: i32,
}

impl From<text::Limit> for TextLimit {
    fn from(limit: text::Limit) -> Self {
        Self {
            min_graphemes: limit.min_graphemes as i32,
            max_graphemes: limit.max_graphemes as i32,
            max_bytes: limit.max_bytes as i32,
        }
    }
}

/// What this server accepts.
pub struct Limits;

/// What this server accepts.
#[Object]
impl Limits {
    /// Of a handle: the letters a to z in either case, digits and underscores, at least one letter.
    async fn handle(&self) -> TextLimit {
        rules::HANDLE.into()
    }

    /// Of a display name: one line, with something visible in it.
    async fn display_name(&self) -> TextLimit {
        rules::DISPLAY_NAME.into()
    }

    /// Of a bio.
    async fn bio(&self) -> TextLimit {
        rules::BIO.into()
    }

    /// Of a new password: no control characters, and not the handle.
    async fn password(&self) -> TextLimit {
        rules::PASSWORD.into()
    }

    /// How many bytes the URL of an avatar may have.
    async fn avatar_url_max_bytes(&self) -> i32 {
        rules::AVATAR_URL_BYTES as i32
    }

    /// How many items a page of any connection may have.
    async fn page_size_max(&self) -> i32 {
        *page::SIZES.end()
    }
}

/// The question about limits.
#[derive(Default)]
pub struct LimitQuery;

#[Object]
impl LimitQuery {
    /// What this server accepts: how long texts and pages may be.
    async fn limits(&self) -> Limits {
        Limits
    }
}
