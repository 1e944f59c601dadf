//! `/healthz`: the process runs. `/readyz`: it can do its work. Never more about the inside than which
//! part is missing.

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde_json::json;
use tokio::time::timeout;

use crate::app::App;
use crate::db;
use crate::error::{Error, Result};

/// How long Postgres is waited for.
const ANSWER: Duration = Duration::from_secs(2);

/// 200 as long as the process answers at all.
pub async fn alive() -> HttpResponse {
    HttpResponse::Ok().json(json!({ "status": "alive" }))
}

/// 200 when all is there, 503 otherwise, with the names of what is `missing`: postgres, redis,
/// migrations (run `kith migrate`), clock (more than 500 ms from Postgres's), node (no node number is held),
/// ending (the process was asked to end: send it nothing more). Without redis alone all is served, slower: who looks here
/// decides whether that is ready enough.
pub async fn ready(app: Data<Arc<App>>) -> HttpResponse {
    let (postgres, redis) = tokio::join!(soon(ask_postgres(&app)), app.kv.ping());
    let mut missing = postgres.unwrap_or_else(|error| {
        tracing::warn!(?error, "not ready");
        vec!["postgres"]
    });
    if app.next_id().is_err() {
        missing.push("node");
    }
    if app.is_ending() {
        missing.push("ending");
    }
    if redis.is_err() {
        missing.push("redis");
    }
    if missing.is_empty() {
        HttpResponse::Ok().json(json!({ "status": "ready", "missing": missing }))
    } else {
        HttpResponse::ServiceUnavailable().json(json!({ "status": "unavailable", "missing": missing }))
    }
}

/// What Postgres answers, if it does so soon.
pub async fn soon<T>(answer: impl Future<Output = Result<T>>) -> Result<T> {
    timeout(ANSWER, answer).await.unwrap_or_else(|_| Err(Error::Unavailable("no answer in time".into())))
}

async fn ask_postgres(app: &App) -> Result<Vec<&'static str>> {
    let mut missing = Vec::new();
    let mut conn = app.db.get().await?;
    if db::server::skew(&mut conn, &app.clock).await?.is_some() {
        missing.push("clock");
    }
    match db::migrations::are_current(&mut conn).await {
        Ok(true) => {}
        // Before the first migration there is not even the table to ask.
        Ok(false) | Err(Error::Internal(_)) => missing.push("migrations"),
        Err(error) => return Err(error),
    }
    Ok(missing)
}
