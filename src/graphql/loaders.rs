//! Batches what a request asks for by key. A `Loaders` lives for one request (or until its next write)
//! and one viewer. Never decides anything: what may be seen is decided by the gate.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use dataloader::BatchFn;
use dataloader::cached::Loader;

use crate::app::App;
use crate::db::{Connection, Db};
use crate::domain::follows::{self, model::Relation};
use crate::domain::likes;
use crate::domain::messages::{self, model::Message};
use crate::domain::users::{
    self,
    model::{Counters, User},
};
use crate::error::{Error, Result};
use crate::graphql::finish::Finish;
use crate::viewer::Viewer;

/// Everything that is loaded by key.
pub struct Loaders {
    /// Whose they are, and with whose eyes what is shown now is seen.
    pub viewer: Option<Viewer>,
    /// People by id.
    pub users: Batched<Users>,
    /// Counters by the id of the person.
    pub user_counters: Batched<UserCounters>,
    /// Messages by id, whatever may be seen of them: only the gate asks.
    pub messages: Batched<Messages>,
    /// Counters by the id of the message; one without any has none.
    pub message_counters: Batched<MessageCounters>,
    /// Whether the viewer likes a message, by its id.
    pub liked: Batched<Liked>,
    /// What the viewer and a person are to each other, by the id of that person.
    pub relations: Batched<Relations>,
}

impl Loaders {
    /// Empty loaders for `viewer`.
    pub fn new(app: &App, viewer: Option<Viewer>) -> Self {
        Self {
            viewer,
            users: Batched::new(&app.db, Users),
            user_counters: Batched::new(&app.db, UserCounters),
            messages: Batched::new(&app.db, Messages),
            message_counters: Batched::new(&app.db, MessageCounters),
            liked: Batched::new(&app.db, Liked { viewer_id: viewer.map(|viewer| viewer.user_id) }),
            relations: Batched::new(&app.db, Relations { viewer_id: viewer.map(|viewer| viewer.user_id) }),
        }
    }
}

/// One statement for many keys.
pub trait Batch: Copy + Send + Sync + 'static {
    /// What is asked by.
    type Key: Eq + Hash + Copy + Send + Sync + std::fmt::Debug + 'static;
    /// What is answered; cheap to clone.
    type Value: Clone + Send + Sync + 'static;

    /// The values of these keys; a key without one is left out.
    fn load(
        &self,
        conn: &Connection,
        keys: &[Self::Key],
    ) -> impl Future<Output = Result<HashMap<Self::Key, Self::Value>>> + Send;
}

type Loaded<B> = Result<Option<<B as Batch>::Value>>;

/// A loader of the `dataloader` crate, with errors as values: an error of a batch is every waiter's.
pub struct Batched<B: Batch> {
    loader: Loader<B::Key, Loaded<B>, OnPool<B>>,
    batch: B,
}

impl<B: Batch> Batched<B>
where
    OnPool<B>: BatchFn<B::Key, Loaded<B>>,
{
    fn new(db: &Db, batch: B) -> Self {
        // The crate yields ten times by default, which costs 10 to 45 % of the CPU of a page.
        let loader = Loader::new(OnPool { db: db.clone(), batch }).with_yield_count(1).with_max_batch_size(1000);
        Self { loader, batch }
    }
}

macro_rules! batched {
    ($($batch:ty),*) => { $(
        impl Batched<$batch> {
            /// The value of `key`, if it has one.
            pub async fn load(&self, key: <$batch as Batch>::Key) -> Loaded<$batch> {
                self.load_many(vec![key]).await.map(|mut found| found.remove(&key))
            }

            /// The values of `keys`; a key without one is left out.
            ///
            /// When an error elsewhere drops the asking resolver, a batch that it was draining still reaches
            /// everybody else who waits for it.
            pub async fn load_many(
                &self,
                keys: Vec<<$batch as Batch>::Key>,
            ) -> Result<HashMap<<$batch as Batch>::Key, <$batch as Batch>::Value>> {
                if keys.is_empty() {
                    return Ok(HashMap::new());
                }
                let loader = self.loader.clone();
                let found = Finish::new(async move { loader.try_load_many(keys).await })
                    .await
                    .map_err(|error| Error::Internal(error.to_string()))?;
                found.into_iter().filter_map(|(key, value)| Some(value.transpose()?.map(|v| (key, v)))).collect()
            }

            /// Loads `keys` down `conn` whatever is known of them, and takes what was found for theirs. Several of these
            /// at once on one connection are one round trip, in the order in which they were asked.
            pub async fn fetch(
                &self,
                conn: &Connection,
                keys: &[<$batch as Batch>::Key],
            ) -> Result<HashMap<<$batch as Batch>::Key, <$batch as Batch>::Value>> {
                if keys.is_empty() {
                    return Ok(HashMap::new());
                }
                let found = self.batch.load(conn, keys).await?;
                self.loader.prime_many(keys.iter().map(|key| (*key, Ok(found.get(key).cloned())))).await;
                Ok(found)
            }

            /// Takes `value` for that of `key` without asking: it was just written.
            pub async fn learn(&self, key: <$batch as Batch>::Key, value: <$batch as Batch>::Value) {
                self.loader.prime(key, Ok(Some(value))).await;
            }
        }
    )* };
}

batched!(Users, UserCounters, Messages, MessageCounters, Liked, Relations);

/// Runs a batch on a connection of the pool.
pub struct OnPool<B> {
    db: Db,
    batch: B,
}

impl<B: Batch> BatchFn<B::Key, Loaded<B>> for OnPool<B> {
    async fn load(&mut self, keys: &[B::Key]) -> HashMap<B::Key, Loaded<B>> {
        let outcome = async {
            let conn = self.db.get().await?;
            self.batch.load(&conn, keys).await
        };
        match outcome.await {
            Ok(mut found) => keys.iter().map(|key| (*key, Ok(found.remove(key)))).collect(),
            Err(error) => keys.iter().map(|key| (*key, Err(error.clone()))).collect(),
        }
    }
}

/// See [`Loaders::users`].
#[derive(Clone, Copy)]
pub struct Users;

impl Batch for Users {
    type Key = i64;
    type Value = Arc<User>;

    async fn load(&self, conn: &Connection, keys: &[i64]) -> Result<HashMap<i64, Arc<User>>> {
        let rows = users::read::by_ids(conn, keys).await?;
        Ok(rows.into_iter().map(|user| (user.id, Arc::new(user))).collect())
    }
}

/// See [`Loaders::user_counters`].
#[derive(Clone, Copy)]
pub struct UserCounters;

impl Batch for UserCounters {
    type Key = i64;
    type Value = Counters;

    async fn load(&self, conn: &Connection, keys: &[i64]) -> Result<HashMap<i64, Counters>> {
        Ok(users::read::counters_by_ids(conn, keys).await?.into_iter().collect())
    }
}

/// See [`Loaders::messages`].
#[derive(Clone, Copy)]
pub struct Messages;

impl Batch for Messages {
    type Key = i64;
    type Value = Arc<Message>;

    async fn load(&self, conn: &Connection, keys: &[i64]) -> Result<HashMap<i64, Arc<Message>>> {
        let rows = messages::read::by_ids(conn, keys).await?;
        Ok(rows.into_iter().map(|message| (message.id, Arc::new(message))).collect())
    }
}

/// See [`Loaders::message_counters`].
#[derive(Clone, Copy)]
pub struct MessageCounters;

impl Batch for MessageCounters {
    type Key = i64;
    type Value = messages::model::Counters;

    async fn load(&self, conn: &Connection, keys: &[i64]) -> Result<HashMap<i64, Self::Value>> {
        Ok(messages::read::counters_by_ids(conn, keys).await?.into_iter().collect())
    }
}

/// See [`Loaders::liked`]. A signed-out reader likes none.
#[derive(Clone, Copy)]
pub struct Liked {
    viewer_id: Option<i64>,
}

impl Batch for Liked {
    type Key = i64;
    type Value = bool;

    async fn load(&self, conn: &Connection, keys: &[i64]) -> Result<HashMap<i64, bool>> {
        let Some(viewer_id) = self.viewer_id else { return Ok(HashMap::new()) };
        let liked = likes::read::liked_by(conn, viewer_id, keys).await?;
        Ok(liked.into_iter().map(|message_id| (message_id, true)).collect())
    }
}

/// See [`Loaders::relations`]. A signed-out reader has none.
#[derive(Clone, Copy)]
pub struct Relations {
    viewer_id: Option<i64>,
}

impl Batch for Relations {
    type Key = i64;
    type Value = Relation;

    async fn load(&self, conn: &Connection, keys: &[i64]) -> Result<HashMap<i64, Relation>> {
        match self.viewer_id {
            Some(viewer_id) => follows::read::relations(conn, viewer_id, keys).await,
            None => Ok(HashMap::new()),
        }
    }
}
