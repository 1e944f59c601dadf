//! Brings the schema up to date, and takes it down again in tests. Never data, never partitions.

use diesel::Connection as _;
use diesel::migration::MigrationSource;
use diesel::pg::Pg;
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::db::Connection;
use crate::error::{Error, Result};
use crate::statement;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations");

/// Runs what has not run yet and answers the names of what ran.
pub async fn up(url: &str) -> Result<Vec<String>> {
    harness(url, |conn| {
        let ran = conn.run_pending_migrations(MIGRATIONS)?;
        Ok(ran.iter().map(ToString::to_string).collect())
    })
    .await
}

/// Takes every migration back, newest first.
pub async fn down(url: &str) -> Result<()> {
    harness(url, |conn| conn.revert_all_migrations(MIGRATIONS).map(|_| ())).await
}

/// The names of what has not run yet.
pub async fn pending(url: &str) -> Result<Vec<String>> {
    harness(url, |conn| {
        Ok(conn.pending_migrations(MIGRATIONS)?.iter().map(|migration| migration.name().to_string()).collect())
    })
    .await
}

/// Whether everything has run, asked on a connection that is there already.
pub async fn are_current(conn: &mut Connection) -> Result<bool> {
    let known = MigrationSource::<Pg>::migrations(&MIGRATIONS).map_err(|error| Error::Internal(error.to_string()))?;
    let ran: Vec<(String,)> = Ran {}.load(conn).await?;
    Ok(known.iter().all(|migration| ran.iter().any(|(version,)| *version == migration.name().version().to_string())))
}

statement! {
    /// The versions of what has run, in no order.
    struct Ran {} -> (Text)
    "SELECT version FROM __diesel_schema_migrations"
}

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

async fn harness<T: Send + 'static>(
    url: &str,
    work: impl FnOnce(&mut AsyncConnectionWrapper<Connection>) -> Outcome<T> + Send + 'static,
) -> Result<T> {
    let url = url.to_owned();
    let done = tokio::task::spawn_blocking(move || {
        let mut conn = AsyncConnectionWrapper::<Connection>::establish(&url)
            .map_err(|error| Error::Unavailable(error.to_string()))?;
        alone(&mut conn).and_then(|()| work(&mut conn)).map_err(|error| Error::Internal(error.to_string()))
    });
    done.await.map_err(|error| Error::Internal(error.to_string()))?
}

/// Waits for whoever else migrates, until the connection ends. Who only looks is no exception: diesel makes its
/// table when it is asked what has run, and Postgres lets only one of two makers through.
fn alone(conn: &mut AsyncConnectionWrapper<Connection>) -> Outcome<()> {
    diesel::RunQueryDsl::execute(diesel::sql_query("SELECT pg_advisory_lock(7526466502)"), conn)?;
    Ok(())
}
