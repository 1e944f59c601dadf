//! People in the schema.

use std::sync::Arc;

use async_graphql::{Context, ID, Object, Result};
use chrono::{DateTime, Utc};

use crate::domain::follows::model::Relation;
use crate::domain::follows::read::Of;
use crate::domain::users::model::Counters;
use crate::domain::users::{model, read};
use crate::graphql::context::ContextExt;
use crate::graphql::feed::outbox;
use crate::graphql::follows::{FollowConnection, people};
use crate::graphql::messages::MessageConnection;
use crate::ids::GlobalId;
use crate::page::Arguments;

/// A person.
pub struct User(pub Arc<model::User>);

/// A person.
#[Object]
impl User {
    /// Opaque, for ever the same.
    pub async fn id(&self) -> ID {
        GlobalId::User(self.0.id).encode().into()
    }

    /// The name in addresses and mentions: letters, digits and underscores; unique whatever the case.
    async fn handle(&self) -> &str {
        &self.0.handle
    }

    /// The name as shown.
    async fn display_name(&self) -> &str {
        &self.0.display_name
    }

    /// What the person says about themselves; may be empty.
    async fn bio(&self) -> &str {
        &self.0.bio
    }

    /// Where a picture of the person is.
    async fn avatar_url(&self) -> Option<&str> {
        self.0.avatar_url.as_deref()
    }

    /// When the person signed up.
    async fn created_at(&self) -> DateTime<Utc> {
        self.0.created_at
    }

    /// How many messages of the person are not deleted, over all channels and for everybody.
    async fn message_count(&self, ctx: &Context<'_>) -> Result<i32> {
        self.count(ctx, |counters| counters.message_count).await
    }

    /// How many people follow this person, for everybody.
    async fn follower_count(&self, ctx: &Context<'_>) -> Result<i32> {
        self.count(ctx, |counters| counters.follower_count).await
    }

    /// How many people this person follows, for everybody.
    async fn following_count(&self, ctx: &Context<'_>) -> Result<i32> {
        self.count(ctx, |counters| counters.following_count).await
    }

    /// Whether this is who is signed in.
    async fn is_viewer(&self, ctx: &Context<'_>) -> bool {
        ctx.reader().is_some_and(|viewer| viewer.user_id == self.0.id)
    }

    /// Whether who is signed in follows this person.
    async fn viewer_follows(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(self.relation(ctx).await?.viewer_follows)
    }

    /// Whether who is signed in follows this person closely.
    async fn viewer_follows_closely(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(self.relation(ctx).await?.is_close)
    }

    /// Whether this person follows who is signed in.
    async fn follows_viewer(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(self.relation(ctx).await?.follows_viewer)
    }

    /// Whether this person and who is signed in follow each other.
    async fn is_friend(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(self.relation(ctx).await?.is_friend())
    }

    /// Who follows this person, the newest follow first.
    async fn followers(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many of the newest, 1 to 100. Without `first` and `last`: 20.")] first: Option<i32>,
        #[graphql(desc = "Only what is older than this cursor.")] after: Option<String>,
        #[graphql(desc = "How many of the oldest, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what is newer than this cursor.")] before: Option<String>,
    ) -> Option<Result<FollowConnection>> {
        Some(people(ctx, Of::Followee(self.0.id), Arguments { first, after, last, before }).await)
    }

    /// Whom this person follows, the newest follow first.
    async fn following(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many of the newest, 1 to 100. Without `first` and `last`: 20.")] first: Option<i32>,
        #[graphql(desc = "Only what is older than this cursor.")] after: Option<String>,
        #[graphql(desc = "How many of the oldest, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what is newer than this cursor.")] before: Option<String>,
    ) -> Option<Result<FollowConnection>> {
        Some(people(ctx, Of::Follower(self.0.id), Arguments { first, after, last, before }).await)
    }

    /// What this person posted, newest first.
    async fn messages(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which channel, one of `limits.channels`.", default = "default")] channel: String,
        #[graphql(desc = "How many of the newest, 1 to 100. Without `first` and `last`: 20.")] first: Option<i32>,
        #[graphql(desc = "Only what is older than this cursor.")] after: Option<String>,
        #[graphql(desc = "How many of the oldest, 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what is newer than this cursor.")] before: Option<String>,
    ) -> Option<Result<MessageConnection>> {
        Some(outbox(ctx, self.0.id, &channel, Arguments { first, after, last, before }).await)
    }
}

impl User {
    async fn relation(&self, ctx: &Context<'_>) -> Result<Relation> {
        Ok(ctx.loaders().relations.load(self.0.id).await?.unwrap_or_default())
    }

    async fn count(&self, ctx: &Context<'_>, which: impl Fn(Counters) -> i64) -> Result<i32> {
        let count = ctx.loaders().user_counters.load(self.0.id).await?.map_or(0, which);
        Ok(int(count))
    }
}

/// A count as GraphQL's Int, which has 32 bits.
pub fn int(count: i64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// The questions about people.
#[derive(Default)]
pub struct UserQuery;

#[Object]
impl UserQuery {
    /// The person with this handle, whatever its case.
    async fn user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The handle, without an @.")] handle: String,
    ) -> Option<Result<User>> {
        by_handle(ctx, &handle).await.transpose()
    }
}

async fn by_handle(ctx: &Context<'_>, handle: &str) -> Result<Option<User>> {
    let mut conn = ctx.app().db.get().await?;
    let user = read::by_handle(&mut conn, handle).await?;
    Ok(user.map(|user| User(Arc::new(user))))
}
