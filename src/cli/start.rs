//! What all that runs has to do first: the log, the runtime, the handles, the checks. Its errors are
//! sentences for the operator.

use std::sync::Arc;

use crate::app::App;
use crate::cli::checks;
use crate::config::Config;
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

/// Starts the log, checks what Kith stands on, and makes the handles. No node number is held yet.
pub async fn app(config: Config) -> Outcome<Arc<App>> {
    telemetry::start(&config)?;
    let mut conn = checks::migrated(&config.database_url).await?;
    checks::sound(&mut conn).await?;
    let app = App::new(config, Clock::System).await.map_err(words)?;
    checks::redis(&app.kv).await?;
    Ok(app)
}

/// What to say when Postgres does not do what is needed at start. That it cannot be reached is a sentence already.
pub fn database(error: Error) -> String {
    match error {
        Error::Unavailable(sentence) => sentence,
        other => format!("Postgres (DATABASE_URL) does not do what Kith needs at start: {}", words(other)),
    }
}

/// The words of an error that are meant for the log.
pub fn words(error: Error) -> String {
    match error {
        Error::Unavailable(cause) | Error::Contention(cause) | Error::Internal(cause) => cause,
        other => format!("{other:?}"),
    }
}
