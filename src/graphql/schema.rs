//! The roots of the schema and how it is put together. Never a resolver of a noun.

use async_graphql::{EmptySubscription, MergedObject};

use crate::graphql::feed::FeedQuery;
use crate::graphql::follows::FollowMutation;
use crate::graphql::messages::MessageMutation;
use crate::graphql::nodes::NodeQuery;
use crate::graphql::users::UserQuery;

/// The whole schema.
pub type Schema = async_graphql::Schema<Query, Mutation, EmptySubscription>;

/// Builds the schema. Who asks and what they can reach is in each request's [`crate::graphql::context::Caller`].
pub fn build() -> Schema {
    async_graphql::Schema::build(Query::default(), Mutation::default(), EmptySubscription)
        .disable_suggestions()
        .finish()
}

/// What can be asked.
#[derive(MergedObject, Default)]
pub struct Query(NodeQuery, UserQuery, FeedQuery);

/// What can be done.
#[derive(MergedObject, Default)]
pub struct Mutation(FollowMutation, MessageMutation);
