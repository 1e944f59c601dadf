//! The one place that says what follows from what happened. Everything here may run twice.
//! Never SQL, never how a job is leased.

use serde_json::Value;

use crate::app::App;
use crate::domain::events::{self, Event, Progress, Tier};
use crate::domain::inbox;
use crate::domain::inbox::deliver::{Delivered, Delivery, deliver};
use crate::domain::inbox::model::Reader;
use crate::domain::messages::model::Reference;
use crate::error::{Error, Result};
use crate::ids;
use crate::queue::{Job, Step};
use crate::telemetry::metrics::labels::{self, JobKind};

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
            count(app, message_id, progress, delivered);
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
        Some(event) => {
            let payload = serde_json::to_value(&event).map_err(|error| Error::Internal(error.to_string()))?;
            Ok(Step::More { payload, due_by: event.due_by(app.clock.now()) })
        }
    }
}

/// A head start ends with each of its steps for those who have it, a delivery with its last one.
fn count(app: &App, message_id: i64, progress: Progress, delivered: Delivered) {
    let tier = delivered.next.filter(|_| progress == Progress::Start).unwrap_or(progress).tier();
    let of = labels::Delivery {
        tier: match tier {
            Tier::Few => labels::Tier::Few,
            Tier::Latest => labels::Tier::Latest,
            Tier::Today => labels::Tier::Today,
            Tier::All => labels::Tier::All,
        },
    };
    let is_head_start = matches!(progress, Progress::HeadStart { .. });
    app.metrics.deliveries.get_or_create(&of).inc_by(delivered.inboxes as u64);
    app.metrics.inbox_trims.inc_by(delivered.trimmed as u64);
    if is_head_start || delivered.next.is_none() {
        let lag = app.clock.now() - ids::time_of(message_id);
        app.metrics.delivery_lag.get_or_create(&of).observe(lag.as_seconds_f64().max(0.0));
    }
}

/// What a job is about, for the log and the metrics.
pub fn kind(job: &Job) -> JobKind {
    match job.payload.get("event").and_then(Value::as_str) {
        Some("MessagePosted") => JobKind::MessagePosted,
        Some("InboxMissed") => JobKind::InboxMissed,
        _ => JobKind::Unknown,
    }
}
