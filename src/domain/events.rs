//! What happened, recorded in the transaction in which it happened. Ids only, never bodies, and never
//! what follows from it: that is `worker/reactions.rs`.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::db::Connection;
use crate::error::{Error, Result};
use crate::ids;
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
        /// Which of them.
        tier: Tier,
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

/// Followers whose inboxes are written to together. What a reader sees does not depend on it: what is not delivered yet is
/// in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tier {
    /// All of them, where they are few.
    Few,
    /// Who read within [`LATEST`].
    Latest,
    /// Who read within [`TODAY`].
    Today,
    /// All of them, where they are many.
    All,
}

/// The first head start is for who read their feed within this time,
pub const LATEST: TimeDelta = TimeDelta::minutes(15);

/// the second one for who read it within this one.
pub const TODAY: TimeDelta = TimeDelta::hours(24);

impl Tier {
    /// How long after its publication a message should be with all of them.
    pub const fn deadline(self) -> TimeDelta {
        match self {
            Self::Few | Self::Latest => PROMPT,
            Self::Today => TimeDelta::seconds(15),
            Self::All => TimeDelta::seconds(60),
        }
    }
}

/// Within this time a job that nobody has to wait for should be done. It is the shortest there is: what takes longer and
/// asks for no less at each step takes turns with what comes, however late it is.
pub const PROMPT: TimeDelta = TimeDelta::seconds(2);

impl Progress {
    /// Whom the next step is for, as far as is known.
    pub fn tier(self) -> Tier {
        match self {
            Self::Start => Tier::Few,
            Self::HeadStart { tier, .. } => tier,
            Self::All { .. } => Tier::All,
        }
    }
}

impl Event {
    /// Until when what follows next should be done.
    pub fn due_by(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        match self {
            Self::MessagePosted { message_id, progress, .. } => {
                (ids::time_of(*message_id) + progress.tier().deadline()).max(now + PROMPT)
            }
            Self::InboxMissed { .. } => now + PROMPT,
        }
    }

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
    let job = NewJob { kind: KIND, payload, dedupe_key: event.dedupe_key(), run_at: now, due_by: event.due_by(now) };
    queue::enqueue(conn, job).await?;
    Ok(())
}
