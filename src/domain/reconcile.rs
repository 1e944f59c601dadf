//! Every repair of what is derived: one list, for `kith reconcile` and for the clock. Never how one is done: that is
//! in the rooms' `repair`.

use chrono::{DateTime, Utc};

use crate::config::Channels;
use crate::db::Connection;
use crate::domain::drift::Slice;
use crate::domain::inbox::repair::{flights, hot, strays};
use crate::domain::{likes, messages, users};
use crate::error::Result;
use crate::kv::Kv;

/// How much is mended in one transaction: little, so that nobody waits for long.
const CHUNK: usize = 50;

/// A repair. Each goes through what it is about slice by slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// How many messages, followers and followees people have.
    UserCounters,
    /// How many likes messages have.
    MessageCounters,
    /// The newest message of each author and channel.
    AuthorChannels,
    /// The feeds of people who do not exist.
    Activity,
    /// Whether deliveries go to whom they should.
    HotFollows,
    /// Deliveries that nobody is at any more.
    InFlight,
    /// Deliveries of messages that do not exist.
    Jobs,
    /// What Redis holds, against what it should hold.
    Inboxes,
}

/// All of them, in an order in which none makes work for one before it.
pub const REPAIRS: [Repair; 8] = [
    Repair::UserCounters,
    Repair::MessageCounters,
    Repair::AuthorChannels,
    Repair::Activity,
    Repair::HotFollows,
    Repair::InFlight,
    Repair::Jobs,
    Repair::Inboxes,
];

/// What repairs work with.
pub struct Means<'a> {
    /// Postgres.
    pub conn: &'a mut Connection,
    /// Redis.
    pub kv: &'a Kv,
    /// The operator's channels.
    pub channels: &'a Channels,
    /// The present moment.
    pub now: DateTime<Utc>,
}

impl Repair {
    /// What is off in the slice that begins at `at`; the first one begins at 0. Changes nothing.
    ///
    /// Errors: [`crate::error::Error::Unavailable`] when Redis or Postgres is away.
    pub async fn look(self, means: &mut Means<'_>, at: i64) -> Result<Slice> {
        let Means { conn, kv, channels, .. } = means;
        match self {
            Self::UserCounters => users::repair::look(conn, at).await,
            Self::MessageCounters => likes::repair::look(conn, at).await,
            Self::AuthorChannels => messages::repair::look(conn, at).await,
            Self::Activity => hot::look_for_nobodys(conn, at).await,
            Self::HotFollows => hot::look(conn, at).await,
            Self::InFlight => flights::look(conn, at).await,
            Self::Jobs => flights::look_for_idle(conn, at).await,
            Self::Inboxes => strays::look(conn, kv, channels, at).await,
        }
    }

    /// Looks at a slice and mends what is off in it. The slice that is answered tells what really was off.
    pub async fn mend(self, means: &mut Means<'_>, at: i64) -> Result<Slice> {
        let Slice { drifts: found, next } = self.look(means, at).await?;
        let mut drifts = Vec::new();
        let Means { conn, kv, now, .. } = means;
        for found in found.chunks(CHUNK) {
            drifts.extend(match self {
                Self::UserCounters => users::repair::mend(conn, found).await?,
                Self::MessageCounters => likes::repair::mend(conn, found).await?,
                Self::AuthorChannels => messages::repair::mend(conn, found).await?,
                Self::Activity => hot::forget(conn, found).await.map(|()| found.to_vec())?,
                Self::HotFollows => hot::mend(conn, found).await?,
                Self::InFlight => flights::mend(conn, found, *now).await?,
                Self::Jobs => flights::remove_idle(conn, found).await.map(|()| found.to_vec())?,
                Self::Inboxes => strays::drop_all(kv, found).await.map(|()| found.to_vec())?,
            });
        }
        Ok(Slice { drifts, next })
    }
}
