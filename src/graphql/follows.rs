//! The follow graph in the schema: the lists of people, and follow and unfollow.

use std::sync::Arc;

use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};
use chrono::{DateTime, Utc};

use crate::connection;
use crate::domain::follows::model::Edge;
use crate::domain::follows::{read, write};
use crate::error::Error;
use crate::graphql::connection::page;
use crate::graphql::context::ContextExt;
use crate::graphql::fill::Source;
use crate::graphql::ids::user_id;
use crate::graphql::loaders::Loaders;
use crate::graphql::users::User;
use crate::page::{Arguments, Connection, Scope};

connection! {
    /// People who follow somebody, or whom somebody follows: the newest follow first.
    FollowConnection of FollowEdge to User where {
        /// Since when the one follows the other.
        followed_at: DateTime<Utc>
    }
}

/// The followers of a person, or the people whom they follow.
pub async fn people(ctx: &Context<'_>, of: read::Of, arguments: Arguments) -> Result<FollowConnection> {
    let scope = match of {
        read::Of::Followee(id) => Scope::new(Connection::Followers, id, ""),
        read::Of::Follower(id) => Scope::new(Connection::Following, id, ""),
    };
    let source = People { ctx, of, loaders: ctx.loaders() };
    Ok(page(ctx, scope, &arguments, &source).await?.into())
}

struct People<'a> {
    ctx: &'a Context<'a>,
    of: read::Of,
    loaders: Arc<Loaders>,
}

impl Source for People<'_> {
    type Candidate = Edge;
    type Node = (User, DateTime<Utc>);

    fn position(edge: &Edge) -> i64 {
        edge.id
    }

    async fn older(&self, below: i64, limit: usize) -> crate::error::Result<Vec<Edge>> {
        read::page_older(&mut *self.ctx.app().db.get().await?, self.of, below, limit).await
    }

    async fn newer(&self, above: i64, limit: usize) -> crate::error::Result<Vec<Edge>> {
        read::page_newer(&mut *self.ctx.app().db.get().await?, self.of, above, limit).await
    }

    async fn admit(&self, edges: &[Edge]) -> crate::error::Result<Vec<Option<Self::Node>>> {
        let people = self.loaders.users.load_many(edges.iter().map(|edge| edge.user_id).collect()).await?;
        let node = |edge: &Edge| Some((User(people.get(&edge.user_id)?.clone()), edge.created_at));
        Ok(edges.iter().map(node).collect())
    }
}

/// Whom to follow.
#[derive(InputObject)]
pub struct FollowUserInput {
    /// The person.
    user_id: ID,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// The person is followed.
#[derive(SimpleObject)]
pub struct FollowUserPayload {
    /// The person, as they are now.
    user: User,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// Whom to follow no longer.
#[derive(InputObject)]
pub struct UnfollowUserInput {
    /// The person.
    user_id: ID,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// The person is not followed.
#[derive(SimpleObject)]
pub struct UnfollowUserPayload {
    /// The person, as they are now.
    user: User,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// Whom to follow closely, or not.
#[derive(InputObject)]
pub struct SetCloseFollowInput {
    /// A person whom the viewer follows.
    user_id: ID,
    /// Whether closely.
    is_close: bool,
    /// Sent back as it came.
    client_mutation_id: Option<String>,
}

/// The follow is as it was wanted.
#[derive(SimpleObject)]
pub struct SetCloseFollowPayload {
    /// The person, as they are now.
    user: User,
    /// As it was sent.
    client_mutation_id: Option<String>,
}

/// The verbs of the follow graph.
#[derive(Default)]
pub struct FollowMutation;

#[Object]
impl FollowMutation {
    /// Follows a person: their messages, old ones too, are in the feed at once. Following again changes nothing.
    async fn follow_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Whom to follow.")] input: FollowUserInput,
    ) -> Option<Result<FollowUserPayload>> {
        Some(follow_user(ctx, input).await)
    }

    /// Follows a person no longer: their messages leave the feed at once. Doing it again changes nothing.
    async fn unfollow_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Whom to follow no longer.")] input: UnfollowUserInput,
    ) -> Option<Result<UnfollowUserPayload>> {
        Some(unfollow_user(ctx, input).await)
    }

    /// Makes a follow a close one, so that `feed(filter: CLOSE)` shows it, or an ordinary one again. Only the viewer
    /// knows which are close. Following anew begins as ordinary.
    async fn set_close_follow(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Whom, and whether.")] input: SetCloseFollowInput,
    ) -> Option<Result<SetCloseFollowPayload>> {
        Some(set_close_follow(ctx, input).await)
    }
}

async fn person(ctx: &Context<'_>, id: i64) -> Result<User> {
    let user = ctx.loaders().users.load(id).await?.ok_or(Error::NotFound { what: "user" })?;
    Ok(User(user))
}

async fn follow_user(ctx: &Context<'_>, input: FollowUserInput) -> Result<FollowUserPayload> {
    let (viewer, app) = (ctx.viewer()?, ctx.app());
    let followee_id = user_id("userId", &input.user_id)?;
    app.db.write(|mut conn| async move { write::follow(&mut conn, viewer, app.next_id()?, followee_id).await }).await?;
    ctx.written();
    Ok(FollowUserPayload { user: person(ctx, followee_id).await?, client_mutation_id: input.client_mutation_id })
}

async fn unfollow_user(ctx: &Context<'_>, input: UnfollowUserInput) -> Result<UnfollowUserPayload> {
    let (viewer, app) = (ctx.viewer()?, ctx.app());
    let followee_id = user_id("userId", &input.user_id)?;
    app.db.write(|mut conn| async move { write::unfollow(&mut conn, viewer, followee_id).await }).await?;
    ctx.written();
    Ok(UnfollowUserPayload { user: person(ctx, followee_id).await?, client_mutation_id: input.client_mutation_id })
}

async fn set_close_follow(ctx: &Context<'_>, input: SetCloseFollowInput) -> Result<SetCloseFollowPayload> {
    let (viewer, app) = (ctx.viewer()?, ctx.app());
    let followee_id = user_id("userId", &input.user_id)?;
    let is_close = input.is_close;
    app.db.write(|mut conn| async move { write::set_close(&mut conn, viewer, followee_id, is_close).await }).await?;
    ctx.written();
    Ok(SetCloseFollowPayload { user: person(ctx, followee_id).await?, client_mutation_id: input.client_mutation_id })
}
