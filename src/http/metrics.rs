//! `/metrics`: what was counted in this process, and what Postgres and Redis are asked at each scrape. Never waits long
//! for either: what does not answer is told by `kith_postgres_up` and `kith_redis_up`.

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::Data;
use chrono::{DateTime, Utc};
use tokio::time::timeout;

use crate::app::App;
use crate::domain::inbox::state::flight;
use crate::error::{Error, Result};
use crate::telemetry::metrics::{JobState, Pool};
use crate::{db, ids, kv, queue};

/// How long Postgres is waited for.
const ANSWER: Duration = Duration::from_secs(2);

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Everything there is to tell.
pub async fn scrape(app: Data<Arc<App>>) -> HttpResponse {
    pools(&app);
    app.metrics.node_lease_held.set(i64::from(app.next_id().is_ok()));
    let (postgres, redis) = tokio::join!(timeout(ANSWER, ask(&app)), app.kv.ping());
    let postgres = postgres.unwrap_or_else(|_| Err(Error::Unavailable("no answer in time".into())));
    if let Err(error) = &postgres {
        tracing::warn!(?error, "a scrape without Postgres");
    }
    app.metrics.postgres_up.set(i64::from(postgres.is_ok()));
    app.metrics.redis_up.set(i64::from(redis.is_ok()));
    match app.metrics.text() {
        Ok(text) => HttpResponse::Ok().content_type(CONTENT_TYPE).body(text),
        Err(error) => {
            tracing::error!(%error, "the metrics could not be written");
            HttpResponse::InternalServerError().finish()
        }
    }
}

fn pools(app: &App) {
    for (pool, (open, idle), max) in [
        ("requests", app.db.connections(), app.config.database_pool),
        ("jobs", app.jobs_db.connections(), app.config.worker_pool),
        ("redis", app.kv.connections(), kv::SCRIPTS),
    ] {
        let pool = Pool { pool };
        app.metrics.connections.get_or_create(&pool).set(open.into());
        app.metrics.connections_idle.get_or_create(&pool).set(idle.into());
        app.metrics.connections_max.get_or_create(&pool).set(max.into());
    }
}

async fn ask(app: &App) -> Result<()> {
    let (now, metrics) = (app.clock.now(), &app.metrics);
    let since = |moment: Option<DateTime<Utc>>| moment.map_or(0.0, |at| (now - at).as_seconds_f64().max(0.0));
    let mut conn = app.jobs_db.get().await?;
    let depth = queue::depth(&mut conn, now).await?;
    for (state, count) in
        [("due", depth.due), ("scheduled", depth.scheduled), ("running", depth.running), ("buried", depth.buried)]
    {
        metrics.jobs.get_or_create(&JobState { state }).set(count);
    }
    metrics.oldest_due_job.set(since(depth.oldest_due));
    let (in_flight, oldest, epoch) = flight(&mut conn).await?;
    metrics.in_flight.set(in_flight);
    metrics.oldest_in_flight.set(since(oldest.map(ids::time_of)));
    metrics.inbox_epoch.set(epoch);
    let (before, there) = (app.clock.now(), db::server::now(&mut conn).await?);
    // The time there lies between before and after; half-way is the best guess.
    let here = before + (app.clock.now() - before) / 2;
    metrics.clock_skew.set((here - there).as_seconds_f64());
    Ok(())
}
