//! The feed fetcher: references of a feed in their order, out of the inbox, what is in flight, who is pulled, and
//! Postgres below the horizon. The answer is the same whatever Redis holds and however it was delivered.

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::join;

use crate::db::Db;
use crate::domain::inbox::model::{Circle, Reader, Window, is_in_step};
use crate::domain::inbox::pull;
use crate::domain::inbox::state::{Slice, State, state};
use crate::domain::messages::model::Reference;
use crate::error::Result;
use crate::ids;
use crate::kv::{Kv, keys};
use crate::page::Request;
use crate::telemetry::metrics::labels::Source;

/// Fewer references without a reason than this are not worth a build.
const STALE: usize = 10;

/// How much later than it was last noted a reading is noted again.
const NOTED_FOR: TimeDelta = TimeDelta::minutes(5);

/// No clock is further ahead than this: one that is off by half a second makes no ids (`/readyz`).
const AHEAD: TimeDelta = TimeDelta::days(1);

/// A feed that is being read.
pub struct Feed {
    viewer_id: i64,
    channel: String,
    circle: Circle,
    db: Db,
    window: Option<Window>,
    source: Source,
    read_at: Option<DateTime<Utc>>,
    /// Above this there is nothing, and so no partition is looked into.
    ceiling: i64,
    pulled: Option<Pulled>,
}

/// What is known of the authors of a feed who are pulled.
struct Pulled {
    /// Below this nobody is merged; what was last pulled before it lies below the horizon.
    floor: i64,
    older: Slice,
    newer: Slice,
}

/// Which feed is read, and from where.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// Whose.
    pub viewer_id: i64,
    /// Which channel.
    pub channel: &'a str,
    /// The page.
    pub request: Request,
    /// The age beyond which inboxes hold nothing: the moment of it.
    pub oldest: DateTime<Utc>,
    /// The present moment.
    pub now: DateTime<Utc>,
}

impl Feed {
    /// Opens a feed: Redis and Postgres are asked at the same time.
    ///
    /// What was committed before is in the window, in flight, or by somebody who is pulled. A delivery that happens
    /// between the two looks is still in flight at the second, for a row stays longer than a request lives.
    pub async fn open(db: &Db, kv: &Kv, reading: Reading<'_>) -> Result<Self> {
        let Reading { viewer_id, channel, request, oldest, now } = reading;
        let floor = ids::floor_of_ms(oldest.timestamp_millis());
        let ask = async {
            let mut conn = db.get().await?;
            state(&mut conn, Reader { user_id: viewer_id, channel }, request.into(), floor).await
        };
        let (members, state) = join!(members(kv, viewer_id, channel), ask);
        let state = state?;
        let found = members.map(|(heartbeat, members)| {
            (heartbeat, state.validity.and_then(|validity| Window::parse(&members, validity)))
        });
        let (window, source) = match found {
            Ok((_, None)) => (None, Source::NoInbox),
            // The next tick finds out.
            Ok((heartbeat, _)) if !is_in_step(heartbeat, state.heartbeat) => (None, Source::RedisBehind),
            Ok((_, Some(window))) => match window.complete(&state, floor) {
                Some(window) => (Some(window), Source::Inbox),
                None => (None, Source::Backlog),
            },
            Err(error) => {
                tracing::warn!(?error, "the inbox could not be read");
                (None, Source::RedisAway)
            }
        };
        let State { read_at, has_pulled, older, newer, .. } = state;
        Ok(Self {
            viewer_id,
            channel: channel.to_owned(),
            circle: Circle::Everybody,
            db: db.clone(),
            window,
            source,
            read_at,
            ceiling: ceiling(now),
            pulled: has_pulled.then_some(Pulled { floor, older, newer }),
        })
    }

    /// The part of a feed that is by those whom the reader follows closely. They are few, so it has no inbox.
    pub fn close(db: &Db, reading: Reading<'_>) -> Self {
        Self {
            viewer_id: reading.viewer_id,
            channel: reading.channel.to_owned(),
            circle: Circle::Close,
            db: db.clone(),
            window: None,
            source: Source::Close,
            read_at: None,
            ceiling: ceiling(reading.now),
            pulled: None,
        }
    }

    /// What it is read from above the horizon.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Whether there is no valid inbox and one should be built.
    pub fn is_missed(&self) -> bool {
        self.source == Source::NoInbox
    }

    /// Whether a new inbox is worth it, when a page passed over `without_reason` of the `looked_at` references
    /// because nothing puts them in this feed any more.
    pub fn is_stale(&self, without_reason: usize, looked_at: usize) -> bool {
        self.window.is_some() && without_reason >= STALE && without_reason * 2 >= looked_at
    }

    /// Whether it is worth noting that the feed was read at `now`: it is hot, and that was noted a while ago.
    pub fn is_to_be_noted(&self, now: DateTime<Utc>) -> bool {
        self.read_at.is_some_and(|read_at| read_at + NOTED_FOR < now)
    }

    /// At most `limit` references below `below`, newest first; fewer only if there are no more.
    pub async fn older(&self, below: i64, limit: usize) -> Result<Vec<Reference>> {
        let Some(window) = &self.window else {
            return self.pull_older(below, limit).await;
        };
        let start = window.references.partition_point(|reference| reference.id >= below);
        let mut page: Vec<Reference> = window.references[start..].iter().take(limit).copied().collect();
        if let Some(pulled) = &self.pulled {
            let pulled = self.pulled_older(pulled, below, limit).await?;
            page.extend(pulled.into_iter().filter(|reference| reference.id >= window.horizon));
            page.sort_unstable_by(|a, b| b.cmp(a));
            page.dedup();
            page.truncate(limit);
        }
        if page.len() < limit && window.horizon > 0 {
            page.extend(self.pull_older(below.min(window.horizon), limit - page.len()).await?);
        }
        Ok(page)
    }

    /// At most `limit` references above `above`, oldest first; fewer only if there are no more.
    pub async fn newer(&self, above: i64, limit: usize) -> Result<Vec<Reference>> {
        let window = match &self.window {
            Some(window) if window.horizon == 0 || above >= window.horizon - 1 => window,
            _ => return self.pull_newer(above, limit).await,
        };
        let end = window.references.partition_point(|reference| reference.id > above);
        let mut page: Vec<Reference> = window.references[..end].iter().rev().take(limit).copied().collect();
        if let Some(pulled) = &self.pulled {
            page.extend(self.pulled_newer(pulled, above, limit).await?);
            page.sort_unstable();
            page.dedup();
            page.truncate(limit);
        }
        Ok(page)
    }

    async fn pull_older(&self, below: i64, limit: usize) -> Result<Vec<Reference>> {
        let below = below.min(self.ceiling);
        pull::older(&mut *self.db.get().await?, self.reader(), self.circle, below, limit).await
    }

    async fn pull_newer(&self, above: i64, limit: usize) -> Result<Vec<Reference>> {
        pull::newer(&mut *self.db.get().await?, self.reader(), self.circle, above, limit).await
    }

    /// What the first look did not bring is asked for.
    async fn pulled_older(&self, pulled: &Pulled, below: i64, limit: usize) -> Result<Vec<Reference>> {
        let circle = Circle::Pulled { floor: pulled.floor };
        match pulled.older.answer(below, limit) {
            Some(references) => Ok(references),
            None => pull::older(&mut *self.db.get().await?, self.reader(), circle, below, limit).await,
        }
    }

    async fn pulled_newer(&self, pulled: &Pulled, above: i64, limit: usize) -> Result<Vec<Reference>> {
        let circle = Circle::Pulled { floor: pulled.floor };
        match pulled.newer.answer(above, limit) {
            Some(references) => Ok(references),
            None => pull::newer(&mut *self.db.get().await?, self.reader(), circle, above, limit).await,
        }
    }

    fn reader(&self) -> Reader<'_> {
        Reader { user_id: self.viewer_id, channel: &self.channel }
    }
}

fn ceiling(now: DateTime<Utc>) -> i64 {
    ids::floor_of_ms((now + AHEAD).timestamp_millis())
}

/// The heartbeat of Redis, and the members of an inbox: all of them, at most 127, so a page never has to ask Redis
/// twice.
async fn members(kv: &Kv, viewer_id: i64, channel: &str) -> Result<(i64, Vec<String>)> {
    let mut asked = redis::pipe();
    asked.get(keys::HEARTBEAT).zrange(keys::inbox(viewer_id, channel), 0, -1);
    let (heartbeat, members): (Option<i64>, _) = asked.query_async(&mut kv.shared()).await?;
    Ok((heartbeat.unwrap_or(0), members))
}
