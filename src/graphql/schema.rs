//! The roots of the schema and how it is put together. Never a resolver of a noun.

use async_graphql::{EmptyMutation, EmptySubscription, MergedObject};

use crate::graphql::users::UserQuery;

/// The whole schema.
pub type Schema = async_graphql::Schema<Query, EmptyMutation, EmptySubscription>;

/// Builds the schema. Who asks and what they can reach is in each request's [`crate::graphql::context::Caller`].
pub fn build() -> Schema {
    async_graphql::Schema::build(Query::default(), EmptyMutation, EmptySubscription).finish()
}

/// What can be asked.
#[derive(MergedObject, Default)]
pub struct Query(UserQuery);
