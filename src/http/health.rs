//! `/healthz`: the process runs. `/readyz`: it can do its work. Never more about the inside than which
//! part is missing.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde_json::json;

use crate::app::App;
use crate::db;
use crate::error::{Error, Result};

/// 200 as long as the process answers at all.
pub async fn alive() -> HttpResponse {
    HttpResponse::Ok().json(json!({ "status": "alive" }))
}

/// 200 when a request could be served, 503 with the names of what is `missing` otherwise: postgres, redis,
/// migrations (run `kith migrate`), clock (more than 500 ms from Postgres's), node (no node number is held),
/// ending (the process was asked to end: send it nothing more).
pub async fn ready(app: Data<Arc<App>>) -> HttpResponse {
    let (postgres, redis) = tokio::join!(ask_postgres(&app), app.kv.ping());
    let mut missing = postgres.unwrap_or_else(|error| {
        tracing::warn!(?error, "not ready");
        vec!["postgres"]
    });
    if redis.is_err() {
        missing.push("redis");
    }
    if app.next_id().is_err() {
        missing.push("node");
    }
    if app.is_ending() {
        missing.push("ending");
    }
    if missing.is_empty() {
        HttpResponse::Ok().json(json!({ "status": "ready" }))
    } else {
        HttpResponse::ServiceUnavailable().json(json!({ "status": "unavailable", "missing": missing }))
    }
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
