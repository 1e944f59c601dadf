//! `/metrics`: what was counted in this process, and what Postgres and Redis are asked at each scrape. Never waits long
//! for either: what does not answer is told by `kith_postgres_up` and `kith_redis_up`.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::Data;
use chrono::{DateTime, Utc};

use crate::app::App;
use crate::domain::inbox::state::flight;
use crate::error::Result;
use crate::http::health::soon;
use crate::telemetry::metrics::CONTENT_TYPE;
use crate::telemetry::metrics::labels::{JobState, PoolName, Standing};
use crate::{db, ids, kv, queue};

/// Everything there is to tell.
pub async fn scrape(app: Data<Arc<App>>) -> HttpResponse {
    let metrics = &app.metrics;
    for (pool, state, max) in [
        (PoolName::Requests, app.db.state(), app.config.database_pool),
        (PoolName::Jobs, app.jobs_db.state(), app.config.worker_pool),
        (PoolName::Redis, app.kv.state(), kv::SCRIPTS),
    ] {
        metrics.pool(pool, &state, max);
    }
    metrics.node_lease_held.set(i64::from(app.next_id().is_ok()));
    let (postgres, redis) = tokio::join!(soon(ask(&app)), app.kv.ping());
    if let Err(error) = &postgres {
        metrics.forget();
        tracing::warn!(?error, "a scrape without Postgres");
    }
    metrics.postgres_up.set(i64::from(postgres.is_ok()));
    metrics.redis_up.set(i64::from(redis.is_ok()));
    HttpResponse::Ok().content_type(CONTENT_TYPE).body(metrics.text())
}

async fn ask(app: &App) -> Result<()> {
    let (now, metrics) = (app.clock.now(), &app.metrics);
    let mut conn = app.ops_db.get().await?;
    let since = |moment: Option<DateTime<Utc>>| moment.map_or(0.0, |at| (now - at).as_seconds_f64().max(0.0));
    let depth = queue::depth(&mut conn, now).await?;
    for (state, count) in [
        (Standing::Due, depth.due),
        (Standing::Scheduled, depth.scheduled),
        (Standing::Running, depth.running),
        (Standing::Buried, depth.buried),
    ] {
        metrics.jobs.get_or_create(&JobState { state }).set(count as f64);
    }
    metrics.overdue_job.set(since(depth.due_by));
    let (in_flight, oldest, epoch) = flight(&mut conn).await?;
    metrics.in_flight.set(in_flight as f64);
    metrics.oldest_in_flight.set(since(oldest.map(ids::time_of)));
    metrics.inbox_epoch.set(epoch as f64);
    let (before, there) = (app.clock.now(), db::server::now(&mut conn).await?);
    // The time there lies between before and after; half-way is the best guess.
    let here = before + (app.clock.now() - before) / 2;
    metrics.clock_skew.set((here - there).as_seconds_f64());
    Ok(())
}
