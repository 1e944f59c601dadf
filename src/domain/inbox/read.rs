//! The feed fetcher: references of a feed in their order, out of the inbox, what is in flight, and
//! Postgres below the horizon. The answer is the same whatever Redis holds.

use diesel::sql_types::{BigInt, Nullable, Text};
use diesel_async::RunQueryDsl;
use futures_util::join;

use crate::db::Db;
use crate::domain::inbox::model::{IN_FLIGHT_BOUND, Validity, Window};
use crate::domain::inbox::pull::{self, Reader};
use crate::domain::messages::model::Reference;
use crate::error::{Error, Result};
use crate::kv::{Kv, keys};
use crate::statement;

/// Fewer references without a reason than this are not worth a build.
const STALE: usize = 10;

/// A feed that is being read.
pub struct Feed {
    viewer_id: i64,
    channel: String,
    db: Db,
    window: Option<Window>,
    is_missed: bool,
}

impl Feed {
    /// Opens the feed of `viewer_id` in `channel`: Redis and Postgres are asked at the same time.
    ///
    /// What was committed before is in the window or in flight. A delivery that happens between the two
    /// looks is still in flight at the second, for a row stays longer than a request lives.
    pub async fn open(db: &Db, kv: &Kv, viewer_id: i64, channel: &str) -> Result<Self> {
        let (members, state) = join!(members(kv, viewer_id, channel), state(db, viewer_id, channel));
        let state = state?;
        let mut feed = Self { viewer_id, channel: channel.to_owned(), db: db.clone(), window: None, is_missed: false };
        match members {
            Ok((heartbeat, members)) => {
                feed.window = state.validity.and_then(|validity| Window::parse(&members, validity));
                feed.is_missed = feed.window.is_none();
                // Redis may have lost what it had when Postgres was told of a later one; the next tick finds out.
                if heartbeat < state.heartbeat {
                    feed.window = None;
                }
            }
            Err(error) => tracing::warn!(?error, "the inbox could not be read"),
        }
        if state.in_flight.len() > IN_FLIGHT_BOUND {
            feed.window = None;
        }
        if let Some(window) = &mut feed.window {
            window.merge(&state.in_flight);
        }
        Ok(feed)
    }

    /// Whether there is no valid inbox and one should be built.
    pub fn is_missed(&self) -> bool {
        self.is_missed
    }

    /// Whether a new inbox is worth it, when a page passed over `without_reason` of the `looked_at` references
    /// because nothing puts them in this feed any more.
    pub fn is_stale(&self, without_reason: usize, looked_at: usize) -> bool {
        self.window.is_some() && without_reason >= STALE && without_reason * 2 >= looked_at
    }

    /// At most `limit` references below `below`, newest first; fewer only if there are no more.
    pub async fn older(&self, below: i64, limit: usize) -> Result<Vec<Reference>> {
        let Some(window) = &self.window else {
            return self.pull_older(below, limit).await;
        };
        let start = window.references.partition_point(|reference| reference.id >= below);
        let mut page: Vec<Reference> = window.references[start..].iter().take(limit).copied().collect();
        if page.len() < limit && window.horizon > 0 {
            page.extend(self.pull_older(below.min(window.horizon), limit - page.len()).await?);
        }
        Ok(page)
    }

    /// At most `limit` references above `above`, oldest first; fewer only if there are no more.
    pub async fn newer(&self, above: i64, limit: usize) -> Result<Vec<Reference>> {
        match &self.window {
            Some(window) if window.horizon == 0 || above >= window.horizon - 1 => {
                let end = window.references.partition_point(|reference| reference.id > above);
                Ok(window.references[..end].iter().rev().take(limit).copied().collect())
            }
            _ => self.pull_newer(above, limit).await,
        }
    }

    async fn pull_older(&self, below: i64, limit: usize) -> Result<Vec<Reference>> {
        pull::older(&mut *self.db.get().await?, self.reader(), below, limit).await
    }

    async fn pull_newer(&self, above: i64, limit: usize) -> Result<Vec<Reference>> {
        pull::newer(&mut *self.db.get().await?, self.reader(), above, limit).await
    }

    fn reader(&self) -> Reader<'_> {
        Reader { user_id: self.viewer_id, channel: &self.channel }
    }
}

/// The heartbeat of Redis, and the members of an inbox: all of them, at most 127, so a page never has to ask Redis
/// twice.
async fn members(kv: &Kv, viewer_id: i64, channel: &str) -> Result<(i64, Vec<String>)> {
    let mut asked = redis::pipe();
    asked.get(keys::HEARTBEAT).zrange(keys::inbox(viewer_id, channel), 0, -1);
    let (heartbeat, members): (Option<i64>, _) = asked.query_async(&mut kv.shared()).await?;
    Ok((heartbeat.unwrap_or(0), members))
}

struct State {
    validity: Option<Validity>,
    heartbeat: i64,
    in_flight: Vec<Reference>,
}

statement! {
    /// What makes an inbox valid, and what is in flight for its reader: a row at least, and one for each
    /// message in flight.
    struct FeedState {
        viewer_id: i64, channel: String, channel_again: String, viewer_id_again: i64, viewer_id_self: i64, bound: i64,
    } -> (Nullable<BigInt>, BigInt, BigInt, Nullable<BigInt>, Nullable<BigInt>)
    "SELECT activity.generation, inbox_epoch.epoch, inbox_epoch.heartbeat, flying.message_id, flying.author_id
     FROM inbox_epoch
     LEFT JOIN activity ON activity.is_hot AND activity.user_id = " (viewer_id: BigInt)
    " AND activity.channel = " (channel: Text)
    " LEFT JOIN LATERAL (
        SELECT message_id, author_id FROM in_flight WHERE channel = " (channel_again: Text)
    " AND author_id IN (SELECT followee_id FROM follows WHERE follower_id = " (viewer_id_again: BigInt)
    " UNION ALL SELECT " (viewer_id_self: BigInt)
    ") ORDER BY message_id DESC LIMIT " (bound: BigInt)
    ") AS flying ON true"
}

async fn state(db: &Db, viewer_id: i64, channel: &str) -> Result<State> {
    let ask = FeedState {
        viewer_id,
        channel: channel.to_owned(),
        channel_again: channel.to_owned(),
        viewer_id_again: viewer_id,
        viewer_id_self: viewer_id,
        bound: IN_FLIGHT_BOUND as i64 + 1,
    };
    type Row = (Option<i64>, i64, i64, Option<i64>, Option<i64>);
    let rows: Vec<Row> = ask.load(&mut *db.get().await?).await?;
    let &(generation, epoch, heartbeat, ..) =
        rows.split_first().map(|(row, _)| row).ok_or_else(|| Error::Internal("the inbox epoch is missing".into()))?;
    let flying = |&(_, _, _, id, author_id): &Row| Some(Reference { id: id?, author_id: author_id? });
    Ok(State {
        heartbeat,
        validity: generation.map(|generation| Validity { generation, epoch }),
        in_flight: rows.iter().filter_map(flying).collect(),
    })
}
