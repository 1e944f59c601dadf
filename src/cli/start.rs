//! What all that runs has to do first: the log, the runtime, the handles, the checks. Its errors are
//! sentences for the operator.

use std::sync::Arc;

use crate::app::App;
use crate::config::Config;
use crate::db;
use crate::error::Error;
use crate::telemetry;
use crate::time::Clock;

/// What a subcommand ends in: nothing, or a sentence for the operator.
pub type Outcome<T = ()> = Result<T, String>;

/// Runs `work` on the main runtime. The connections to Postgres and Redis live on it, apart from the
/// threads that answer HTTP.
pub fn block_on<T>(work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| format!("the operating system gives no threads: {error}"))?.block_on(work)
}

/// Starts the log, checks that the database is there and current, and makes the handles. No node number is
/// held yet.
pub async fn app(config: Config) -> Outcome<Arc<App>> {
    telemetry::start(config.log_format, &config.log)
        .map_err(|error| format!("KITH_LOG is no filter such as info,kith=debug: {error}"))?;
    migrated(&config.database_url).await?;
    let app = App::new(config, Clock::System).await.map_err(redis)?;
    if let Err(error) = app.kv.ping().await {
        tracing::warn!(cause = words(error), "Redis (REDIS_URL) does not answer; going on, as it can come later");
    }
    Ok(app)
}

/// A sentence, unless the database is there and current.
pub async fn migrated(database_url: &str) -> Outcome {
    let pending = db::migrations::pending(database_url).await.map_err(database)?;
    if !pending.is_empty() {
        return Err(format!("the database lacks {}: run `kith migrate`", pending.join(", ")));
    }
    Ok(())
}

/// What to say when Postgres does not do what is needed at start.
pub fn database(error: Error) -> String {
    format!("Postgres does not answer; is it running, and is DATABASE_URL right? {}", words(error))
}

/// What to say when the handles cannot be made. Nothing is connected yet, so it is the address that Redis's client
/// cannot make out.
pub fn redis(error: Error) -> String {
    match error {
        Error::Unavailable(cause) => format!("REDIS_URL is not redis://:password@host:port/database: {cause}"),
        other => format!("this is a fault of Kith: {}", words(other)),
    }
}

/// The words of an error that are meant for the log.
pub fn words(error: Error) -> String {
    match error {
        Error::Unavailable(cause) | Error::Contention(cause) | Error::Internal(cause) => cause,
        other => format!("{other:?}"),
    }
}
