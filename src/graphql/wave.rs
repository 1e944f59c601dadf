//! One round trip for a page of messages: what its fields are going to ask for is loaded ahead, down one connection in one
//! pipeline, and given to the loaders. Never what is shown of it: a field that is not foreseen here asks its loader.

use std::collections::HashMap;

use async_graphql::{Context, Lookahead};
use futures_util::try_join;

use crate::domain::follows::model::Relation;
use crate::domain::messages::model::Reference;
use crate::error::Result;
use crate::graphql::context::ContextExt;

/// What a page asks for beside its messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields {
    authors: bool,
    author_counters: bool,
    counters: bool,
    has_liked: bool,
}

impl Fields {
    /// What is selected of the messages in the connection at which `ctx` stands.
    pub fn of_connection(ctx: &Context<'_>) -> Self {
        let connection = ctx.look_ahead();
        Self::of([connection.field("nodes"), connection.field("edges").field("node")])
    }

    /// What is selected of the messages in the list at which `ctx` stands.
    pub fn of_list(ctx: &Context<'_>) -> Self {
        Self::of([ctx.look_ahead()])
    }

    fn of<const PLACES: usize>(nodes: [Lookahead<'_>; PLACES]) -> Self {
        let any = |of: &[Lookahead<'_>], names: &[&str]| {
            of.iter().any(|object| names.iter().any(|name| object.field(name).exists()))
        };
        let authors = nodes.each_ref().map(|node| node.field("author"));
        Self {
            authors: authors.iter().any(Lookahead::exists),
            author_counters: any(&authors, &["messageCount", "followerCount", "followingCount"]),
            counters: any(&nodes, &["likeCount"]),
            has_liked: any(&nodes, &["viewerHasLiked"]),
        }
    }
}

/// Loads these messages and what `fields` are going to ask for. Answers what the viewer and the authors are to each other,
/// which is read after the messages, never before.
pub async fn fetch(ctx: &Context<'_>, references: &[Reference], fields: Fields) -> Result<HashMap<i64, Relation>> {
    if references.is_empty() {
        return Ok(HashMap::new());
    }
    let loaders = ctx.loaders();
    let messages: Vec<i64> = references.iter().map(|reference| reference.id).collect();
    let mut authors: Vec<i64> = references.iter().map(|reference| reference.author_id).collect();
    authors.sort_unstable();
    authors.dedup();
    let none = [].as_slice();
    let only = |wanted, keys| if wanted { keys } else { none };
    let conn = ctx.app().db.get().await?;
    let (_, relations, ..) = try_join!(
        loaders.messages.fetch(&conn, &messages),
        loaders.relations.fetch(&conn, &authors),
        loaders.users.fetch(&conn, only(fields.authors, &authors)),
        loaders.user_counters.fetch(&conn, only(fields.author_counters, &authors)),
        loaders.message_counters.fetch(&conn, only(fields.counters, &messages)),
        loaders.liked.fetch(&conn, only(fields.has_liked, &messages)),
    )?;
    Ok(relations)
}
