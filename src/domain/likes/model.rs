//! The shapes of likes.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::domain::audience::model::Visible;
use crate::domain::messages::model::{Message, Reference};

/// A like as it is stored; the row stays when the like is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Like {
    /// The position in connections, with the moment of the like in it. Liking again takes a new one.
    pub id: i64,
    /// When this person liked this message for the first time.
    pub created_at: DateTime<Utc>,
    /// When it was taken back, if it is.
    pub cancelled_at: Option<DateTime<Utc>>,
}

impl Like {
    /// Whether the person likes the message now.
    pub fn is_standing(&self) -> bool {
        self.cancelled_at.is_none()
    }
}

/// What a person does to a message. Both are sets, not toggles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Like it; `id` becomes the id of the like if they do not like it already.
    Like {
        /// A fresh id.
        id: i64,
    },
    /// Take the like back, if there is one.
    Unlike {
        /// When.
        at: DateTime<Utc>,
    },
}

/// A verb, whose, and to which message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Who does it.
    pub user_id: i64,
    /// To which message.
    pub message: Reference,
    /// What they do.
    pub verb: Verb,
}

/// How it stands right after an op, as it was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The message, if whoever did it may see it.
    pub message: Option<Visible<Arc<Message>>>,
    /// Whether they like it.
    pub has_liked: bool,
    /// How many people like it.
    pub like_count: i64,
}

/// A like seen from one of its ends, for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The id of the like, its position.
    pub id: i64,
    /// Who likes.
    pub user_id: i64,
    /// What.
    pub message: Reference,
}
