//! The limits in the schema, so that a client can check what is typed before it is sent.

use async_graphql::{Context, Object, SimpleObject};

use crate::domain::messages::rules as messages;
use crate::domain::users::rules;
use crate::graphql::context::ContextExt;
use crate::graphql::{news, nodes};
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

    /// Of the title of a message: one line.
    async fn message_title(&self) -> TextLimit {
        messages::TITLE.into()
    }

    /// Of the text of a message. An image or a video may do without.
    async fn message_content(&self) -> TextLimit {
        messages::CONTENT.into()
    }

    /// How many bytes the extra JSON of a message may have, written without white space.
    async fn extra_max_bytes(&self) -> i32 {
        messages::EXTRA_MAX_BYTES as i32
    }

    /// How deep objects and arrays may be nested in the extra JSON of a message; the outermost object is 1.
    async fn extra_max_depth(&self) -> i32 {
        messages::EXTRA_MAX_DEPTH as i32
    }

    /// Of an idempotency key.
    async fn idempotency_key(&self) -> TextLimit {
        messages::IDEMPOTENCY_KEY.into()
    }

    /// The channels that can be posted to and read, `default` first.
    async fn channels<'a>(&self, ctx: &'a Context<'_>) -> &'a [String] {
        ctx.app().config.channels.names()
    }

    /// How many days a deleted message can be restored.
    async fn restore_days(&self, ctx: &Context<'_>) -> i32 {
        i32::try_from(ctx.app().config.restore_days).unwrap_or(i32::MAX)
    }

    /// How many ids `nodes` takes at once.
    async fn nodes_max(&self) -> i32 {
        nodes::MAX_NODES as i32
    }

    /// How many people `latestMessages` takes at once.
    async fn latest_messages_max(&self) -> i32 {
        news::MAX_PEOPLE as i32
    }

    /// How many messages `feedNews` counts before it is capped.
    async fn feed_news_max(&self) -> i32 {
        news::MAX_NEWS as i32
    }

    /// How many seconds after the moment at which it stands in the feed a message can become visible.
    async fn lateness(&self, ctx: &Context<'_>) -> i32 {
        i32::try_from(ctx.app().config.lateness().num_seconds()).unwrap_or(i32::MAX)
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
