//! Messages in the schema, and the verbs of messages.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, InputObject, Json, MaybeUndefined, Object, Result, SimpleObject};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::connection;
use crate::domain::audience::model::Visible;
use crate::domain::messages::model::{self, Draft, Kind, MessageChanges};
use crate::domain::messages::{rules, write};
use crate::error::Error;
use crate::graphql::context::ContextExt;
use crate::graphql::gate;
use crate::graphql::history::{MessageVersionConnection, history};
use crate::graphql::ids;
use crate::graphql::likes::{LikeConnection, likers};
use crate::graphql::users::{User, int};
use crate::ids::GlobalId;
use crate::page::Arguments;
use crate::text;

/// The channel of whoever names none.
pub const DEFAULT_CHANNEL: &str = "default";

/// What a message mainly is.
#[derive(Clone, Copy, PartialEq, Eq, Enum)]
pub enum MessageType {
    /// Words.
    Text,
    /// A picture; the text is its caption and may be empty.
    Image,
    /// A film; the text is its caption and may be empty.
    Video,
}

impl From<Kind> for MessageType {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text,
            Kind::Image => Self::Image,
            Kind::Video => Self::Video,
        }
    }
}

impl From<MessageType> for Kind {
    fn from(kind: MessageType) -> Self {
        match kind {
            MessageType::Text => Self::Text,
            MessageType::Image => Self::Image,
            MessageType::Video => Self::Video,
        }
    }
}

/// Something that a person posted.
pub struct Message(pub Visible<Arc<model::Message>>);

/// Something that a person posted.
#[Object]
impl Message {
    /// Opaque, for ever the same.
    pub async fn id(&self) -> ID {
        GlobalId::Message { author_id: self.0.author_id, id: self.0.id }.encode().into()
    }

    /// Who posted it.
    async fn author(&self, ctx: &Context<'_>) -> Result<User> {
        let author = ctx.loaders().users.load(self.0.author_id).await?;
        Ok(User(author.ok_or_else(|| Error::Internal(format!("message {} has no author", self.0.id)))?))
    }

    /// What it mainly is.
    #[graphql(name = "type")]
    async fn kind(&self) -> MessageType {
        Kind::parse(&self.0.kind).into()
    }

    /// The channel that it was posted to.
    async fn channel(&self) -> &str {
        &self.0.channel
    }

    /// One line above the text, if any.
    async fn title(&self) -> Option<&str> {
        self.0.title.as_deref()
    }

    /// The text, plain.
    async fn content(&self) -> &str {
        &self.0.content
    }

    /// Whatever the app keeps with it: a JSON object.
    async fn extra(&self) -> Json<&Value> {
        Json(&self.0.extra)
    }

    /// When it was published.
    async fn created_at(&self) -> DateTime<Utc> {
        self.0.created_at
    }

    /// When it was edited last, or else published.
    async fn updated_at(&self) -> DateTime<Utc> {
        self.0.updated_at
    }

    /// Whether it says something else than at first.
    async fn is_edited(&self) -> bool {
        self.0.version > 1
    }

    /// What it said before each edit, newest first; null for everybody but the author.
    async fn history(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many of the newest, 1 to 100. Without `first` and `last`: 20.")] first: Option<i32>,
        #[graphql(desc = "Only what is older than this cursor.")] after: Option<String>,
        #[graphql(desc = "How many of the oldest, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what is newer than this cursor.")] before: Option<String>,
    ) -> Option<Result<MessageVersionConnection>> {
        if !self.is_viewers(ctx) {
            return None;
        }
        Some(history(ctx, self.0.id, Arguments { first, after, last, before }).await)
    }

    /// How many people like it, for everybody.
    async fn like_count(&self, ctx: &Context<'_>) -> Result<i32> {
        let counters = ctx.loaders().message_counters.load(self.0.id).await?.unwrap_or_default();
        Ok(int(counters.like_count))
    }

    /// Whether who is signed in likes it.
    async fn viewer_has_liked(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(ctx.loaders().liked.load(self.0.id).await?.unwrap_or_default())
    }

    /// Who likes it, the newest like first.
    async fn likes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many of the newest, 1 to 100. Without `first` and `last`: 20.")] first: Option<i32>,
        #[graphql(desc = "Only what is older than this cursor.")] after: Option<String>,
        #[graphql(desc = "How many of the oldest, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what is newer than this cursor.")] before: Option<String>,
    ) -> Option<Result<LikeConnection>> {
        Some(likers(ctx, self.0.id, Arguments { first, after, last, before }).await)
    }

    /// Whether who is signed in may edit, delete and restore it.
    async fn viewer_can_edit(&self, ctx: &Context<'_>) -> bool {
        self.is_viewers(ctx)
    }
}

impl Message {
    fn is_viewers(&self, ctx: &Context<'_>) -> bool {
        ctx.reader().is_some_and(|viewer| viewer.user_id == self.0.author_id)
    }
}

connection! {
    /// Messages, newest first.
    MessageConnection of MessageEdge to Message
}

/// What to post.
#[derive(InputObject)]
pub struct PostMessageInput {
    /// The text. Only an image or a video may do without.
    content: Option<String>,
    /// One line above the text.
    title: Option<String>,
    /// What it mainly is.
    #[graphql(name = "type", default_with = "Some(MessageType::Text)")]
    kind: Option<MessageType>,
    /// One of `limits.channels`.
    #[graphql(default_with = "Some(DEFAULT_CHANNEL.to_owned())")]
    channel: Option<String>,
    /// Whatever the app wants to keep with it: a JSON object.
    extra: Option<Json<Value>>,
    /// Makes a retry safe: the same key with the same input, within 7 days, answers the message that was
    /// posted the first time.
    idempotency_key: Option<String>,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// The message is posted.
#[derive(SimpleObject)]
pub struct PostMessagePayload {
    /// The message; null only if a retry finds that it was deleted since.
    message: Option<Message>,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// What to change. What is left out stays.
#[derive(InputObject)]
pub struct EditMessageInput {
    /// The message, one's own.
    message_id: ID,
    /// A new text; not null.
    content: MaybeUndefined<String>,
    /// A new title; null takes it away.
    title: MaybeUndefined<String>,
    /// New extra JSON in place of the old; not null.
    extra: MaybeUndefined<Json<Value>>,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// The message is changed.
#[derive(SimpleObject)]
pub struct EditMessagePayload {
    /// The message, as it is now; null only if it cannot be seen any more.
    message: Option<Message>,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// What to take back.
#[derive(InputObject)]
pub struct DeleteMessageInput {
    /// The message, one's own.
    message_id: ID,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// The message is deleted.
#[derive(SimpleObject)]
pub struct DeleteMessagePayload {
    /// Its id, with which it can be restored.
    deleted_message_id: ID,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// What to put back.
#[derive(InputObject)]
pub struct RestoreMessageInput {
    /// The message, one's own.
    message_id: ID,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// The message is back where it was.
#[derive(SimpleObject)]
pub struct RestoreMessagePayload {
    /// The message; null only if it cannot be seen any more.
    message: Option<Message>,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// The verbs of messages.
#[derive(Default)]
pub struct MessageMutation;

#[Object]
impl MessageMutation {
    /// Posts a message. It is in the feeds of all followers at once.
    async fn post_message(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What to post.")] input: PostMessageInput,
    ) -> Option<Result<PostMessagePayload>> {
        Some(post_message(ctx, input).await)
    }

    /// Changes a message of one's own. What it said before is kept in its history.
    async fn edit_message(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What to change.")] input: EditMessageInput,
    ) -> Option<Result<EditMessagePayload>> {
        Some(edit_message(ctx, input).await)
    }

    /// Takes back a message of one's own: it is gone everywhere at once. It can be restored for a while, see
    /// `limits.restoreDays`. Deleting again changes nothing.
    async fn delete_message(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What to take back.")] input: DeleteMessageInput,
    ) -> Option<Result<DeleteMessagePayload>> {
        Some(delete_message(ctx, input).await)
    }

    /// Puts back a message of one's own that was deleted not too long ago.
    async fn restore_message(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What to put back.")] input: RestoreMessageInput,
    ) -> Option<Result<RestoreMessagePayload>> {
        Some(restore_message(ctx, input).await)
    }
}

async fn post_message(ctx: &Context<'_>, input: PostMessageInput) -> Result<PostMessagePayload> {
    let (viewer, app) = (ctx.viewer()?, ctx.app());
    let kind = input.kind.map_or(Kind::Text, Kind::from);
    let key = |key: &str| text::checked("idempotencyKey", key, rules::IDEMPOTENCY_KEY, text::Lines::One);
    let draft = Draft {
        channel: rules::channel(input.channel.as_deref().unwrap_or(DEFAULT_CHANNEL), &app.config.channels)?,
        title: input.title.as_deref().map(rules::title).transpose()?,
        content: rules::content(input.content.as_deref().unwrap_or_default(), kind != Kind::Text)?,
        extra: input.extra.map_or(Ok(Value::Object(Default::default())), |extra| rules::extra(extra.0))?,
        idempotency_key: input.idempotency_key.as_deref().map(key).transpose()?,
        kind,
    };
    let draft = &draft;
    let message =
        app.db.write(|mut conn| async move { write::post(&mut conn, viewer, app.next_id()?, draft).await }).await?;
    ctx.written();
    Ok(PostMessagePayload {
        message: gate::written(message).map(Message),
        client_mutation_id: input.client_mutation_id,
    })
}

async fn edit_message(ctx: &Context<'_>, input: EditMessageInput) -> Result<EditMessagePayload> {
    let (viewer, app) = (ctx.viewer()?, ctx.app());
    let reference = ids::message("messageId", &input.message_id)?;
    let title = match input.title {
        MaybeUndefined::Undefined => None,
        MaybeUndefined::Null => Some(None),
        MaybeUndefined::Value(title) => Some(Some(rules::title(&title)?)),
    };
    let changes = &MessageChanges {
        title,
        content: unless_null("content", input.content)?,
        extra: unless_null("extra", input.extra)?.map(|extra| rules::extra(extra.0)).transpose()?,
    };
    let message = app
        .db
        .write(|mut conn| async move { write::edit(&mut conn, viewer, reference, changes, app.clock.now()).await })
        .await?;
    ctx.written();
    Ok(EditMessagePayload {
        message: gate::written(message).map(Message),
        client_mutation_id: input.client_mutation_id,
    })
}

async fn delete_message(ctx: &Context<'_>, input: DeleteMessageInput) -> Result<DeleteMessagePayload> {
    let (viewer, app) = (ctx.viewer()?, ctx.app());
    let reference = ids::message("messageId", &input.message_id)?;
    app.db.write(|mut conn| async move { write::delete(&mut conn, viewer, reference, app.clock.now()).await }).await?;
    ctx.written();
    Ok(DeleteMessagePayload { deleted_message_id: input.message_id, client_mutation_id: input.client_mutation_id })
}

async fn restore_message(ctx: &Context<'_>, input: RestoreMessageInput) -> Result<RestoreMessagePayload> {
    let (viewer, app) = (ctx.viewer()?, ctx.app());
    let reference = ids::message("messageId", &input.message_id)?;
    let since = app.clock.now() - TimeDelta::days(app.config.restore_days);
    let message =
        app.db.write(|mut conn| async move { write::restore(&mut conn, viewer, reference, since).await }).await?;
    ctx.written();
    Ok(RestoreMessagePayload {
        message: gate::written(message).map(Message),
        client_mutation_id: input.client_mutation_id,
    })
}

/// What is left out stays; null would mean nothing here and is refused.
fn unless_null<T>(field: &'static str, input: MaybeUndefined<T>) -> Result<Option<T>> {
    match input {
        MaybeUndefined::Undefined => Ok(None),
        MaybeUndefined::Null => {
            Err(Error::bad_input(field, "Must not be null; leave it out to keep what is there.").into())
        }
        MaybeUndefined::Value(value) => Ok(Some(value)),
    }
}
