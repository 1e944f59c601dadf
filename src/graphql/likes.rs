//! Likes in the schema: like and unlike, who likes a message, and what the viewer likes.

use std::sync::Arc;

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};
use chrono::{DateTime, Utc};

use crate::connection;
use crate::domain::likes::model::{Edge, Op, Outcome, Verb};
use crate::domain::likes::read::{self, Of};
use crate::domain::messages::model::Counters;
use crate::error::Error;
use crate::graphql::connection::page;
use crate::graphql::context::ContextExt;
use crate::graphql::fill::Source;
use crate::graphql::loaders::Loaders;
use crate::graphql::messages::Message;
use crate::graphql::users::User;
use crate::graphql::wave::{self, Fields};
use crate::graphql::{gate, ids};
use crate::ids::time_of;
use crate::page::{Arguments, Connection, Scope};

connection! {
    /// People who like a message: the newest like first.
    LikeConnection of LikeEdge to User where {
        /// Since when.
        liked_at: DateTime<Utc>
    }
}

connection! {
    /// Messages that a person likes: the newest like first.
    LikedMessageConnection of LikedMessageEdge to Message where {
        /// Since when.
        liked_at: DateTime<Utc>
    }
}

/// Who likes a message. Whoever calls this has made sure that the viewer may see it.
pub async fn likers(ctx: &Context<'_>, message_id: i64, arguments: Arguments) -> Result<LikeConnection> {
    let scope = Scope::new(Connection::Likes, message_id, "");
    Ok(page(ctx, scope, &arguments, &Likers { ctx, message_id, loaders: ctx.loaders() }).await?.into())
}

/// What a person likes, as far as the viewer may see it.
pub async fn liked_messages(ctx: &Context<'_>, user_id: i64, arguments: Arguments) -> Result<LikedMessageConnection> {
    let scope = Scope::new(Connection::LikedMessages, user_id, "");
    let source = LikedMessages { ctx, user_id, fields: Fields::of_connection(ctx), loaders: ctx.loaders() };
    Ok(page(ctx, scope, &arguments, &source).await?.into())
}

struct Likers<'a> {
    ctx: &'a Context<'a>,
    message_id: i64,
    loaders: Arc<Loaders>,
}

impl Source for Likers<'_> {
    type Candidate = Edge;
    type Node = (User, DateTime<Utc>);

    fn position(like: &Edge) -> i64 {
        like.id
    }

    async fn older(&self, below: i64, limit: usize) -> crate::error::Result<Vec<Edge>> {
        read::page_older(&mut *self.ctx.app().db.get().await?, Of::Message(self.message_id), below, limit).await
    }

    async fn newer(&self, above: i64, limit: usize) -> crate::error::Result<Vec<Edge>> {
        read::page_newer(&mut *self.ctx.app().db.get().await?, Of::Message(self.message_id), above, limit).await
    }

    async fn admit(&self, likes: &[Edge]) -> crate::error::Result<Vec<Option<Self::Node>>> {
        let people = self.loaders.users.load_many(likes.iter().map(|like| like.user_id).collect()).await?;
        let node = |like: &Edge| Some((User(people.get(&like.user_id)?.clone()), time_of(like.id)));
        Ok(likes.iter().map(node).collect())
    }
}

struct LikedMessages<'a> {
    ctx: &'a Context<'a>,
    user_id: i64,
    fields: Fields,
    loaders: Arc<Loaders>,
}

impl Source for LikedMessages<'_> {
    type Candidate = Edge;
    type Node = (Message, DateTime<Utc>);

    fn position(like: &Edge) -> i64 {
        like.id
    }

    async fn older(&self, below: i64, limit: usize) -> crate::error::Result<Vec<Edge>> {
        read::page_older(&mut *self.ctx.app().db.get().await?, Of::Person(self.user_id), below, limit).await
    }

    async fn newer(&self, above: i64, limit: usize) -> crate::error::Result<Vec<Edge>> {
        read::page_newer(&mut *self.ctx.app().db.get().await?, Of::Person(self.user_id), above, limit).await
    }

    async fn admit(&self, likes: &[Edge]) -> crate::error::Result<Vec<Option<Self::Node>>> {
        let references: Vec<_> = likes.iter().map(|like| like.message).collect();
        wave::fetch(self.ctx, &references, self.fields).await?;
        let messages = gate::messages(&self.loaders, &references).await?;
        let nodes = likes.iter().zip(messages);
        Ok(nodes.map(|(like, message)| Some((Message(message?), time_of(like.id)))).collect())
    }
}

/// What to like.
#[derive(InputObject)]
pub struct LikeMessageInput {
    /// The message; one's own is no exception.
    message_id: ID,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// The message is liked.
#[derive(SimpleObject)]
pub struct LikeMessagePayload {
    /// The message, with `likeCount` and `viewerHasLiked` as of right after the like; null only if it cannot be
    /// seen any more.
    message: Option<Message>,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// What to like no longer.
#[derive(InputObject)]
pub struct UnlikeMessageInput {
    /// The message.
    message_id: ID,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// The message is not liked.
#[derive(SimpleObject)]
pub struct UnlikeMessagePayload {
    /// The message, with `likeCount` and `viewerHasLiked` as of right after that; null if there is none, or none
    /// that the viewer may see.
    message: Option<Message>,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// The verbs of likes.
#[derive(Default)]
pub struct LikeMutation;

#[Object]
impl LikeMutation {
    /// Likes a message. Liking again changes nothing.
    async fn like_message(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What to like.")] input: LikeMessageInput,
    ) -> Option<Result<LikeMessagePayload>> {
        Some(like_message(ctx, input).await)
    }

    /// Likes a message no longer. Doing it again, or without ever having liked it, changes nothing. A like can
    /// be taken back also when the message cannot be seen any more.
    async fn unlike_message(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What to like no longer.")] input: UnlikeMessageInput,
    ) -> Option<Result<UnlikeMessagePayload>> {
        Some(unlike_message(ctx, input).await)
    }
}

async fn like_message(ctx: &Context<'_>, input: LikeMessageInput) -> Result<LikeMessagePayload> {
    let (viewer, app) = (ctx.viewer()?, ctx.app());
    let message = ids::message("messageId", &input.message_id)?;
    let seen = gate::messages(&ctx.loaders(), &[message]).await?;
    if seen.iter().all(Option::is_none) {
        return Err(Error::NotFound { what: "message" }.into());
    }
    let op = Op { user_id: viewer.user_id, message, verb: Verb::Like { id: app.next_id()? } };
    let message = written(ctx, app.likes.ask(op).await?).await;
    Ok(LikeMessagePayload { message, client_mutation_id: input.client_mutation_id })
}

async fn unlike_message(ctx: &Context<'_>, input: UnlikeMessageInput) -> Result<UnlikeMessagePayload> {
    let (viewer, app) = (ctx.viewer()?, ctx.app());
    let message = ids::message("messageId", &input.message_id)?;
    let op = Op { user_id: viewer.user_id, message, verb: Verb::Unlike { at: app.clock.now() } };
    let message = written(ctx, app.likes.ask(op).await?).await;
    Ok(UnlikeMessagePayload { message, client_mutation_id: input.client_mutation_id })
}

/// The message of a payload. What was committed is known, so nothing has to be asked again.
async fn written(ctx: &Context<'_>, outcome: Outcome) -> Option<Message> {
    ctx.written();
    let message = outcome.message?;
    let loaders = ctx.loaders();
    loaders.message_counters.learn(message.id, Counters { like_count: outcome.like_count }).await;
    loaders.liked.learn(message.id, outcome.has_liked).await;
    Some(Message(message))
}
