//! The shapes of messages.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use serde_json::Value;

use crate::db::schema::{message_counters, message_versions, messages};
use crate::domain::audience::model::Subject;

/// A message as it is stored, whatever may be seen of it.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = messages)]
pub struct Message {
    /// Snowflake, taken when it was published; feeds are ordered by it.
    pub id: i64,
    /// Who wrote it.
    pub author_id: i64,
    /// One of the operator's channels.
    pub channel: String,
    /// See [`Kind`].
    pub kind: String,
    /// `published` or `deleted`.
    pub status: String,
    /// One line, if any.
    pub title: Option<String>,
    /// The text; may be empty for an image or a video.
    pub content: String,
    /// Whatever the app keeps with it: a JSON object.
    pub extra: Value,
    /// 1 at first, one more an edit.
    pub version: i32,
    /// When it was published.
    pub created_at: DateTime<Utc>,
    /// When this version was written.
    pub updated_at: DateTime<Utc>,
    /// When it was deleted, if it is.
    pub deleted_at: Option<DateTime<Utc>>,
}

/// The status of what can be seen.
pub const PUBLISHED: &str = "published";
/// The status of what its author took back.
pub const DELETED: &str = "deleted";

impl Subject for Message {
    fn is_deleted(&self) -> bool {
        self.status == DELETED
    }
}

/// What a message mainly is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Text,
    /// A picture.
    Image,
    /// A film.
    Video,
}

impl Kind {
    /// As it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Image => "image",
            Self::Video => "video",
        }
    }

    /// From how it is stored.
    pub fn parse(stored: &str) -> Self {
        match stored {
            "image" => Self::Image,
            "video" => Self::Video,
            _ => Self::Text,
        }
    }
}

/// How many of what a message has. Moved in the transaction of its cause; a message without any has no row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = message_counters)]
pub struct Counters {
    /// People who like it now.
    pub like_count: i64,
}

/// What a message said before an edit.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = message_versions)]
pub struct Version {
    /// The message.
    pub message_id: i64,
    /// 1 for the first.
    pub version: i32,
    /// Its title then.
    pub title: Option<String>,
    /// Its text then.
    pub content: String,
    /// Its extra JSON then.
    pub extra: Value,
    /// When that was written.
    pub written_at: DateTime<Utc>,
}

/// A reference to a message: enough to find it, in any shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    /// The message. First, so that references sort like messages.
    pub id: i64,
    /// Its author.
    pub author_id: i64,
}

/// An input that passed the rules and can be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// One of the operator's channels.
    pub channel: String,
    /// What it mainly is.
    pub kind: Kind,
    /// One line.
    pub title: Option<String>,
    /// The text.
    pub content: String,
    /// A JSON object.
    pub extra: Value,
    /// With a key, a repeated call creates nothing new.
    pub idempotency_key: Option<String>,
}

/// What an edit changes; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageChanges {
    /// A new title, or none any more.
    pub title: Option<Option<String>>,
    /// A new text.
    pub content: Option<String>,
    /// New extra JSON.
    pub extra: Option<Value>,
}
