//! The verbs of messages: one function, one transaction each. Only the author may edit, delete or
//! restore. Nothing here waits for Redis or for a reader.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel_async::{AsyncConnection, RunQueryDsl};
use serde_json::json;

use crate::db::Connection;
use crate::db::schema::{in_flight, message_versions, messages, user_counters};
use crate::domain::events::{self, Event, Progress};
use crate::domain::idempotency::{self, Claim};
use crate::domain::messages::model::{DELETED, Draft, Message, MessageChanges, PUBLISHED, Reference, Version};
use crate::domain::messages::rules;
use crate::error::{Error, Result};
use crate::ids;
use crate::statement;
use crate::viewer::Viewer;

/// Publishes `draft` under `id`. With the idempotency key of an earlier call it publishes nothing and
/// answers that call's message, as it is now.
///
/// The in-flight row makes it part of every follower's feed from the commit on; delivery comes behind.
///
/// Errors: [`Error::IdempotencyMismatch`].
pub async fn post(conn: &mut Connection, viewer: Viewer, id: i64, draft: &Draft) -> Result<Message> {
    conn.transaction(async move |conn| {
        if let Some(earlier) = claim(conn, viewer, id, draft).await? {
            return own(conn, viewer, earlier).await;
        }
        let message = insert(conn, viewer, id, draft).await?;
        count(conn, viewer, 1).await?;
        let head = Head { author_id: viewer.user_id, channel: draft.channel.clone(), newest_id: id };
        head.execute(conn).await?;
        let flight = (
            in_flight::message_id.eq(id),
            in_flight::author_id.eq(viewer.user_id),
            in_flight::channel.eq(&draft.channel),
        );
        diesel::insert_into(in_flight::table).values(flight).execute(conn).await?;
        let posted = Event::MessagePosted {
            message_id: id,
            author_id: viewer.user_id,
            channel: draft.channel.clone(),
            progress: Progress::Start,
        };
        events::record(conn, &posted, message.created_at).await?;
        Ok(message)
    })
    .await
}

/// Changes a message and keeps what it said before. Changing nothing makes no version.
///
/// Errors: [`Error::NotFound`], [`Error::Forbidden`] for another's message.
pub async fn edit(
    conn: &mut Connection,
    viewer: Viewer,
    message: Reference,
    changes: &MessageChanges,
    now: DateTime<Utc>,
) -> Result<Message> {
    conn.transaction(async move |conn| {
        let before = locked(conn, viewer, message).await?;
        if before.status == DELETED {
            return Err(NOT_FOUND);
        }
        let content = match &changes.content {
            Some(content) => rules::content(content, before.kind != "text")?,
            None => before.content.clone(),
        };
        let title = changes.title.clone().unwrap_or_else(|| before.title.clone());
        let extra = changes.extra.clone().unwrap_or_else(|| before.extra.clone());
        if (&title, &content, &extra) == (&before.title, &before.content, &before.extra) {
            return Ok(before);
        }
        let after = diesel::update(messages::table.find(before.id))
            .set((
                messages::title.eq(title),
                messages::content.eq(content),
                messages::extra.eq(extra),
                messages::version.eq(before.version + 1),
                messages::updated_at.eq(now),
            ))
            .returning(Message::as_returning())
            .get_result(conn)
            .await?;
        let kept = Version {
            message_id: before.id,
            version: before.version,
            title: before.title,
            content: before.content,
            extra: before.extra,
            written_at: before.updated_at,
        };
        diesel::insert_into(message_versions::table).values(kept).execute(conn).await?;
        Ok(after)
    })
    .await
}

/// Takes a message back. It stays stored and its references stay where they are; who reads it passes
/// it over. Deleting again changes nothing.
///
/// Errors: [`Error::NotFound`], [`Error::Forbidden`] for another's message.
pub async fn delete(conn: &mut Connection, viewer: Viewer, message: Reference, now: DateTime<Utc>) -> Result<()> {
    conn.transaction(async move |conn| {
        let before = locked(conn, viewer, message).await?;
        if before.status == DELETED {
            return Ok(());
        }
        set_status(conn, before.id, DELETED, Some(now)).await?;
        count(conn, viewer, -1).await
    })
    .await
}

/// Puts a deleted message back where it was, if it was deleted at `since` or later. Restoring what is
/// not deleted changes nothing.
///
/// Errors: [`Error::NotFound`] also for another's deleted message, [`Error::Forbidden`] for another's,
/// [`Error::Conflict`] when it is too late.
pub async fn restore(
    conn: &mut Connection,
    viewer: Viewer,
    message: Reference,
    since: DateTime<Utc>,
) -> Result<Message> {
    conn.transaction(async move |conn| {
        let before = locked(conn, viewer, message).await?;
        let Some(deleted_at) = before.deleted_at else {
            return Ok(before);
        };
        if deleted_at < since {
            return Err(Error::Conflict { field: Some("messageId"), message: "The time to restore it is over." });
        }
        let after = set_status(conn, before.id, PUBLISHED, None).await?;
        count(conn, viewer, 1).await?;
        Ok(after)
    })
    .await
}

const NOT_FOUND: Error = Error::NotFound { what: "message" };

/// The message, locked, if it is the viewer's own. What is another's and deleted does not exist.
async fn locked(conn: &mut Connection, viewer: Viewer, message: Reference) -> Result<Message> {
    let found: Option<Message> = messages::table
        .filter(messages::id.eq(message.id).and(messages::author_id.eq(message.author_id)))
        .select(Message::as_select())
        .for_no_key_update()
        .first(conn)
        .await
        .optional()?;
    match found {
        Some(found) if found.author_id == viewer.user_id => Ok(found),
        Some(found) if found.status == PUBLISHED => Err(Error::Forbidden),
        _ => Err(NOT_FOUND),
    }
}

async fn own(conn: &mut Connection, viewer: Viewer, id: i64) -> Result<Message> {
    let found = messages::table
        .filter(messages::id.eq(id).and(messages::author_id.eq(viewer.user_id)))
        .select(Message::as_select())
        .first(conn)
        .await;
    found.optional()?.ok_or(NOT_FOUND)
}

async fn claim(conn: &mut Connection, viewer: Viewer, id: i64, draft: &Draft) -> Result<Option<i64>> {
    let Some(key) = &draft.idempotency_key else {
        return Ok(None);
    };
    let input = json!([draft.channel, draft.kind.as_str(), draft.title, draft.content, draft.extra]).to_string();
    let claim = Claim { user_id: viewer.user_id, verb: "postMessage", key, input: input.as_bytes(), result_id: id };
    idempotency::claim(conn, claim, ids::time_of(id)).await
}

async fn insert(conn: &mut Connection, viewer: Viewer, id: i64, draft: &Draft) -> Result<Message> {
    let message = Message {
        id,
        author_id: viewer.user_id,
        channel: draft.channel.clone(),
        kind: draft.kind.as_str().to_owned(),
        status: PUBLISHED.to_owned(),
        title: draft.title.clone(),
        content: draft.content.clone(),
        extra: draft.extra.clone(),
        version: 1,
        created_at: ids::time_of(id),
        updated_at: ids::time_of(id),
        deleted_at: None,
    };
    let inserted = diesel::insert_into(messages::table).values(&message).execute(conn).await?;
    debug_assert_eq!(inserted, 1);
    Ok(message)
}

statement! {
    /// Moves the head of an author's channel to a new message.
    struct Head { author_id: i64, channel: String, newest_id: i64 } -> ()
    "INSERT INTO author_channels AS head (author_id, channel, newest_id) VALUES (" (author_id: BigInt)
    ", " (channel: Text)
    ", " (newest_id: BigInt)
    ") ON CONFLICT (author_id, channel) DO UPDATE SET
        newest_id = greatest(head.newest_id, excluded.newest_id),
        last_pulled_id = CASE WHEN head.is_pulled THEN greatest(head.last_pulled_id, excluded.newest_id)
                         ELSE head.last_pulled_id END"
}

async fn set_status(
    conn: &mut Connection,
    id: i64,
    status: &str,
    deleted_at: Option<DateTime<Utc>>,
) -> Result<Message> {
    let changed = diesel::update(messages::table.find(id))
        .set((messages::status.eq(status), messages::deleted_at.eq(deleted_at)))
        .returning(Message::as_returning())
        .get_result(conn);
    Ok(changed.await?)
}

async fn count(conn: &mut Connection, viewer: Viewer, by: i64) -> Result<()> {
    let changed = diesel::update(user_counters::table.find(viewer.user_id))
        .set(user_counters::message_count.eq(user_counters::message_count + by))
        .execute(conn)
        .await?;
    if changed == 1 { Ok(()) } else { Err(Error::Unauthenticated) }
}
