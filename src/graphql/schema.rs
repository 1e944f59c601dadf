//! The roots of the schema and how it is put together. Never a resolver of a noun.
//!
//! Fields that may be null are `Option<Result<_>>`, not `Result<Option<_>>`: of the latter, async-graphql lets an
//! error take the parent with it, at the root the whole answer, and what mutations before have already done.

use async_graphql::{EmptySubscription, MergedObject};

use crate::graphql::accounts::{AccountMutation, AccountQuery};
use crate::graphql::auth::AuthMutation;
use crate::graphql::feed::FeedQuery;
use crate::graphql::follows::FollowMutation;
use crate::graphql::likes::LikeMutation;
use crate::graphql::limits::LimitQuery;
use crate::graphql::messages::MessageMutation;
use crate::graphql::news::NewsQuery;
use crate::graphql::nodes::NodeQuery;
use crate::graphql::reading::{ReadingMutation, ReadingQuery};
use crate::graphql::sessions::SessionMutation;
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
pub struct Query(AccountQuery, NodeQuery, UserQuery, FeedQuery, NewsQuery, ReadingQuery, LimitQuery);

/// What can be done. The mutations of a request run one after the other, each with its whole payload.
#[derive(MergedObject, Default)]
pub struct Mutation(
    AuthMutation,
    SessionMutation,
    AccountMutation,
    FollowMutation,
    MessageMutation,
    LikeMutation,
    ReadingMutation,
);
