//! The one place that says what follows from what happened. Everything here may run twice.
//! Never SQL, never how a job is leased.

use crate::app::App;
use crate::domain::events::{self, Event, Progress};
use crate::domain::inbox;
use crate::domain::inbox::deliver::{Delivery, deliver};
use crate::domain::inbox::model::Reader;
use crate::domain::messages::model::Reference;
use crate::error::{Error, Result};
use crate::ids;
use crate::queue::{Job, Step};
use crate::telemetry::metrics::Pass;

/// Does the next step of what follows from the event in `job`.
pub async fn react(app: &App, job: &Job) -> Result<Step> {
    if job.kind != events::KIND {
        return Err(Error::Internal(format!("there is no kind of job called {}", job.kind)));
    }
    let event = serde_json::from_value(job.payload.clone()).map_err(|error| Error::Internal(error.to_string()))?;
    let mut conn = app.jobs_db.get().await?;
    let oldest = app.clock.now() - app.config.inbox_age();
    let rest = match event {
        Event::MessagePosted { message_id, author_id, channel, progress } => {
            let delivery = Delivery {
                message: Reference { id: message_id, author_id },
                channel: &channel,
                progress,
                chunk: app.config.delivery_chunk,
                pull_from: app.config.pull_from,
                oldest,
            };
            let delivered = deliver(&mut conn, &app.kv, delivery, &app.clock).await?;
            let pass = if matches!(progress, Progress::HeadStart { .. }) { "head_start" } else { "all" };
            let (metrics, lag) = (&app.metrics, app.clock.now() - ids::time_of(message_id));
            metrics.deliveries.get_or_create(&Pass { pass }).inc_by(delivered.inboxes as u64);
            if delivered.inboxes > 0 {
                let lag = lag.as_seconds_f64().max(0.0);
                metrics.delivery_lag.get_or_create(&Pass { pass }).observe(lag);
            }
            delivered.next.map(|progress| Event::MessagePosted { message_id, author_id, channel, progress })
        }
        Event::InboxMissed { user_id, channel } => {
            inbox::write::heat(&mut conn, user_id, &channel, app.clock.now()).await?;
            let is_settled =
                inbox::repair::build(&mut conn, &app.kv, Reader { user_id, channel: &channel }, oldest).await?;
            if is_settled {
                app.metrics.inbox_builds.inc();
            }
            (!is_settled).then_some(Event::InboxMissed { user_id, channel })
        }
    };
    match rest {
        None => Ok(Step::Done),
        Some(event) => serde_json::to_value(event).map(Step::More).map_err(|error| Error::Internal(error.to_string())),
    }
}
