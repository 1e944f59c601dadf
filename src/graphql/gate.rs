//! The gate for a page: loads what it needs in one wave and asks the rule for each. Never the rule.

use std::sync::Arc;

use crate::domain::audience::model::{Verdict, Visible};
use crate::domain::audience::rules;
use crate::domain::messages::model::{Message, Reference};
use crate::error::Result;
use crate::graphql::loaders::Loaders;

/// What the viewer may see of these messages, in their order. A reference with a wrong author is nothing.
pub async fn messages(loaders: &Loaders, references: &[Reference]) -> Result<Vec<Option<Visible<Arc<Message>>>>> {
    let found = loaders.messages.load_many(references.iter().map(|reference| reference.id).collect()).await?;
    let judge = |reference: &Reference| {
        let message = found.get(&reference.id)?.clone();
        if message.author_id == reference.author_id { rules::judge(message).visible() } else { None }
    };
    Ok(references.iter().map(judge).collect())
}

/// What the viewer may see of a message that a verb has just written.
pub fn written(message: Message) -> Option<Visible<Arc<Message>>> {
    let verdict: Verdict<Arc<Message>> = rules::judge(Arc::new(message));
    verdict.visible()
}
