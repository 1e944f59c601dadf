//! The one place that says what follows from what happened. Everything here may run twice.
//! Never SQL, never how a job is leased.

use crate::app::App;
use crate::domain::events::{self, Event};
use crate::domain::inbox;
use crate::domain::inbox::write::Chunk;
use crate::domain::messages::model::Reference;
use crate::error::{Error, Result};
use crate::queue::{Job, Step};

/// Does the next step of what follows from the event in `job`.
pub async fn react(app: &App, job: &Job) -> Result<Step> {
    if job.kind != events::KIND {
        return Err(Error::Internal(format!("there is no kind of job called {}", job.kind)));
    }
    let event = serde_json::from_value(job.payload.clone()).map_err(|error| Error::Internal(error.to_string()))?;
    let mut conn = app.db.get().await?;
    let rest = match event {
        Event::MessagePosted { message_id, author_id, channel, delivered_to } => {
            let message = Reference { id: message_id, author_id };
            let chunk = Chunk { message, channel: &channel, after: delivered_to, size: app.config.delivery_chunk };
            inbox::write::deliver(&mut conn, &app.kv, chunk, &app.clock)
                .await?
                .map(|delivered_to| Event::MessagePosted { message_id, author_id, channel, delivered_to })
        }
        Event::InboxMissed { user_id, channel } => {
            inbox::write::heat(&mut conn, user_id, &channel, app.clock.now()).await?;
            let is_settled = inbox::repair::build(&mut conn, &app.kv, user_id, &channel).await?;
            (!is_settled).then_some(Event::InboxMissed { user_id, channel })
        }
    };
    match rest {
        None => Ok(Step::Done),
        Some(event) => serde_json::to_value(event).map(Step::More).map_err(|error| Error::Internal(error.to_string())),
    }
}
