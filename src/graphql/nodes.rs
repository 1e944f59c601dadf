//! Anything by its opaque id.

#![allow(missing_docs, reason = "the derive of an interface writes methods without any")]

use async_graphql::{Context, ID, Interface, Object, Result};

use crate::domain::messages::model::Reference;
use crate::error::Error;
use crate::graphql::context::ContextExt;
use crate::graphql::gate;
use crate::graphql::messages::Message;
use crate::graphql::users::User;
use crate::ids::GlobalId;

/// The most ids that can be asked for at once.
pub const MAX_NODES: usize = 100;

/// Something with an opaque id of its own.
#[derive(Interface)]
#[graphql(field(name = "id", ty = "ID", desc = "Opaque, for ever the same."))]
pub enum Node {
    /// A person.
    User(User),
    /// A message.
    Message(Message),
}

/// The questions by id.
#[derive(Default)]
pub struct NodeQuery;

#[Object]
impl NodeQuery {
    /// What has this id: null if there is none, or none that the viewer may see.
    async fn node(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "An id that Kith gave out.")] id: ID,
    ) -> Option<Result<Node>> {
        find(ctx, &[id]).await.map(|mut found| found.pop().flatten()).transpose()
    }

    /// What has these ids, in their order: null where there is none, or none that the viewer may see.
    async fn nodes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Ids that Kith gave out, at most 100.")] ids: Vec<ID>,
    ) -> Option<Result<Vec<Option<Node>>>> {
        if ids.len() > MAX_NODES {
            return Some(Err(Error::bad_input("ids", format!("At most {MAX_NODES} at once.")).into()));
        }
        Some(find(ctx, &ids).await)
    }
}

async fn find(ctx: &Context<'_>, ids: &[ID]) -> Result<Vec<Option<Node>>> {
    let (mut people, mut messages) = (Vec::new(), Vec::new());
    let ids: Vec<Option<GlobalId>> = ids.iter().map(|id| GlobalId::decode(id)).collect();
    for id in ids.iter().flatten() {
        match *id {
            GlobalId::User(id) => people.push(id),
            GlobalId::Message { author_id, id } => messages.push(Reference { id, author_id }),
            GlobalId::Session(_) => {}
        }
    }
    let loaders = ctx.loaders();
    let (people, messages) =
        futures_util::try_join!(loaders.users.load_many(people), gate::messages(&loaders, &messages))?;
    let mut messages = messages.into_iter();
    let node = |id: Option<GlobalId>| match id? {
        GlobalId::User(id) => Some(Node::User(User(people.get(&id)?.clone()))),
        GlobalId::Message { .. } => messages.next()?.map(|message| Node::Message(Message(message))),
        GlobalId::Session(_) => None,
    };
    Ok(ids.into_iter().map(node).collect())
}
