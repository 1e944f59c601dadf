//! What happened, recorded in the transaction in which it happened. Ids only, never bodies, and never
//! what follows from it: that is `worker/reactions.rs`.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::db::Connection;
use crate::error::{Error, Result};
use crate::queue::{self, NewJob};

/// The kind of the jobs that carry events.
pub const KIND: &str = "event";

/// Something that happened and that something follows from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event")]
pub enum Event {
    /// A message became visible; it has to reach the inboxes.
    MessagePosted {
        /// The message.
        message_id: i64,
        /// Its author.
        author_id: i64,
        /// Its channel.
        channel: String,
        /// How far its delivery is.
        #[serde(default)]
        progress: Progress,
    },
    /// A feed was read that has no valid inbox; one has to be built.
    InboxMissed {
        /// Whose feed.
        user_id: i64,
        /// Which channel.
        channel: String,
    },
}

/// How far a delivery is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Progress {
    /// Nothing is done.
    #[default]
    Start,
    /// Those who read lately.
    HeadStart {
        /// Which of the tiers.
        tier: usize,
        /// Everybody of it who read at this moment or later has it.
        read_at: DateTime<Utc>,
        /// How many more may get a head start.
        left: i64,
        /// Whether that is all: the others merge it when they read.
        is_pulled: bool,
    },
    /// All hot followers, by key, whoever had a head start, so that nobody who changed tier meanwhile is missed.
    All {
        /// Everybody up to this follower has it.
        after: i64,
    },
}

impl Event {
    /// Events of the same key need to be reacted to once, however often they are recorded.
    pub fn dedupe_key(&self) -> Option<String> {
        match self {
            Self::MessagePosted { .. } => None,
            Self::InboxMissed { user_id, channel } => Some(format!("inbox-missed:{user_id}:{channel}")),
        }
    }
}

/// Records `event`: what follows from it happens after the caller's transaction is committed.
pub async fn record(conn: &mut Connection, event: &Event, now: DateTime<Utc>) -> Result<()> {
    let payload = serde_json::to_value(event).map_err(|error| Error::Internal(error.to_string()))?;
    let job = NewJob { kind: KIND, payload, dedupe_key: event.dedupe_key(), run_at: now };
    queue::enqueue(conn, job).await?;
    Ok(())
}
