//! Likes and unlikes, many in one transaction. Whoever changes the likes of a message holds the row of its
//! counters first, those of several messages in id order: so batches of several processes take turns and never
//! block each other for good.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use diesel::sql_types::{Array, BigInt, Nullable, Timestamptz};
use diesel_async::{AsyncConnection, RunQueryDsl};

use crate::db::{Connection, shared_commit};
use crate::domain::audience::rules::judge;
use crate::domain::likes::model::{Like, Op, Outcome, Verb};
use crate::domain::likes::rules::{Change, apply, change};
use crate::domain::messages::model::Message;
use crate::domain::messages::read;
use crate::error::{Error, Result};
use crate::statement;

statement! {
    /// Locks the counters of these messages in the order given; a message that has none yet gets them.
    struct Lock { message_ids: Vec<i64>, author_ids: Vec<i64> } -> ()
    "INSERT INTO message_counters (message_id, author_id)
     SELECT asked.* FROM unnest(" (message_ids: Array<BigInt>)
    ", " (author_ids: Array<BigInt>)
    ") AS asked ORDER BY 1
     ON CONFLICT (message_id) DO UPDATE SET author_id = excluded.author_id WHERE false"
}

statement! {
    /// Of each pair of a message with counters and a person: how many like it, and the like of that person.
    struct Standing { message_ids: Vec<i64>, user_ids: Vec<i64> }
        -> (BigInt, BigInt, BigInt, Nullable<BigInt>, Nullable<Timestamptz>, Nullable<Timestamptz>)
    "SELECT asked.message_id, asked.user_id, like_count, likes.id, likes.created_at, likes.cancelled_at
     FROM unnest(" (message_ids: Array<BigInt>)
    ", " (user_ids: Array<BigInt>)
    ") AS asked (message_id, user_id)
     JOIN message_counters USING (message_id) LEFT JOIN likes USING (message_id, user_id)"
}

statement! {
    /// Writes these likes, and moves the counters of their messages, each once.
    struct Write {
        message_ids: Vec<i64>,
        user_ids: Vec<i64>,
        ids: Vec<i64>,
        author_ids: Vec<i64>,
        created: Vec<DateTime<Utc>>,
        cancelled: Vec<Option<DateTime<Utc>>>,
        changed: Vec<i64>,
        now: Vec<i64>,
        ever: Vec<i64>,
    } -> ()
    "WITH written AS (
        INSERT INTO likes (message_id, user_id, id, author_id, created_at, cancelled_at)
        SELECT * FROM unnest(" (message_ids: Array<BigInt>)
    ", " (user_ids: Array<BigInt>)
    ", " (ids: Array<BigInt>)
    ", " (author_ids: Array<BigInt>)
    ", " (created: Array<Timestamptz>)
    ", " (cancelled: Array<Nullable<Timestamptz>>)
    ") ON CONFLICT (message_id, user_id) DO UPDATE SET id = excluded.id, cancelled_at = excluded.cancelled_at
    )
    UPDATE message_counters AS counters
    SET like_count = like_count + change.now, like_ever_count = like_ever_count + change.ever
    FROM unnest(" (changed: Array<BigInt>)
    ", " (now: Array<BigInt>)
    ", " (ever: Array<BigInt>)
    ") AS change (message_id, now, ever) WHERE counters.message_id = change.message_id"
}

impl shared_commit::Op for Op {
    type Answer = Outcome;

    /// An op on a message that is not there (any more): [`Error::NotFound`] for a like; an unlike is done whether
    /// its message can be seen or not.
    async fn commit(conn: &mut Connection, ops: &[Op]) -> Result<Vec<Result<Outcome>>> {
        conn.transaction(async move |conn| {
            // A message that is deleted from now on was liked before that: nothing has to keep its author waiting.
            let messages = messages(conn, ops).await?;
            lock(conn, &messages).await?;
            let mut ledger = Ledger::open(conn, ops).await?;
            let outcomes = ops.iter().map(|op| ledger.enter(op, &messages)).collect();
            ledger.write(conn, &messages).await?;
            Ok(outcomes)
        })
        .await
    }
}

async fn messages(conn: &mut Connection, ops: &[Op]) -> Result<BTreeMap<i64, Arc<Message>>> {
    let mut ids: Vec<i64> = ops.iter().map(|op| op.message.id).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = read::by_ids(conn, &ids).await?;
    Ok(found.into_iter().map(|message| (message.id, Arc::new(message))).collect())
}

async fn lock(conn: &mut Connection, messages: &BTreeMap<i64, Arc<Message>>) -> Result<()> {
    let (message_ids, author_ids) = messages.values().map(|message| (message.id, message.author_id)).unzip();
    Lock { message_ids, author_ids }.execute(conn).await?;
    Ok(())
}

/// What is stored, and what becomes of it op by op.
struct Ledger {
    like_counts: HashMap<i64, i64>,
    likes: HashMap<(i64, i64), Entry>,
}

#[derive(Default)]
struct Entry {
    stored: Option<Like>,
    like: Option<Like>,
}

type StandingRow = (i64, i64, i64, Option<i64>, Option<DateTime<Utc>>, Option<DateTime<Utc>>);

impl Ledger {
    /// Asked once the counters are locked, in a statement of its own: it sees what was committed until then.
    async fn open(conn: &mut Connection, ops: &[Op]) -> Result<Self> {
        let (message_ids, user_ids) = ops.iter().map(|op| (op.message.id, op.user_id)).unzip();
        let rows: Vec<StandingRow> = Standing { message_ids, user_ids }.load(conn).await?;
        let mut ledger = Self { like_counts: HashMap::new(), likes: HashMap::new() };
        for (message_id, user_id, like_count, id, created_at, cancelled_at) in rows {
            let like = id.zip(created_at).map(|(id, created_at)| Like { id, created_at, cancelled_at });
            ledger.like_counts.insert(message_id, like_count);
            ledger.likes.insert((message_id, user_id), Entry { stored: like, like });
        }
        Ok(ledger)
    }

    fn enter(&mut self, op: &Op, messages: &BTreeMap<i64, Arc<Message>>) -> Result<Outcome> {
        let stored = messages.get(&op.message.id).filter(|message| message.author_id == op.message.author_id);
        let message = stored.and_then(|message| judge(message.clone()).visible());
        if message.is_none() && matches!(op.verb, Verb::Like { .. }) {
            return Err(Error::NotFound { what: "message" });
        }
        if stored.is_none() {
            return Ok(Outcome { message, has_liked: false, like_count: 0 });
        }
        let entry = self.likes.entry((op.message.id, op.user_id)).or_default();
        let after = apply(entry.like, op.verb);
        let like_count = self.like_counts.entry(op.message.id).or_default();
        *like_count += change(entry.like, after).now;
        entry.like = after;
        let has_liked = after.is_some_and(|like| like.is_standing());
        Ok(Outcome { message, has_liked, like_count: *like_count })
    }

    async fn write(self, conn: &mut Connection, messages: &BTreeMap<i64, Arc<Message>>) -> Result<()> {
        let mut write = Write {
            message_ids: vec![],
            user_ids: vec![],
            ids: vec![],
            author_ids: vec![],
            created: vec![],
            cancelled: vec![],
            changed: vec![],
            now: vec![],
            ever: vec![],
        };
        let mut changes: BTreeMap<i64, Change> = BTreeMap::new();
        for ((message_id, user_id), entry) in self.likes {
            let (Some(like), Some(message)) = (entry.like, messages.get(&message_id)) else { continue };
            if entry.like == entry.stored {
                continue;
            }
            write.message_ids.push(message_id);
            write.user_ids.push(user_id);
            write.ids.push(like.id);
            write.author_ids.push(message.author_id);
            write.created.push(like.created_at);
            write.cancelled.push(like.cancelled_at);
            let moved = change(entry.stored, entry.like);
            let sum = changes.entry(message_id).or_default();
            *sum = Change { now: sum.now + moved.now, ever: sum.ever + moved.ever };
        }
        if write.ids.is_empty() {
            return Ok(());
        }
        for (message_id, change) in changes {
            write.changed.push(message_id);
            write.now.push(change.now);
            write.ever.push(change.ever);
        }
        write.execute(conn).await?;
        Ok(())
    }
}
