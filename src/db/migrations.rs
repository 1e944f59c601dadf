//! Brings the schema up to date, and takes it down again in tests. Never data, never partitions.

use diesel::migration::{MigrationSource, MigrationVersion};
use diesel::pg::Pg;
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::config::DatabaseUrl;
use crate::db::{self, Connection};
use crate::error::{Error, Result};
use crate::statement;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations");

/// Runs what has not run yet and answers the names of what ran.
pub async fn up(url: &DatabaseUrl) -> Result<Vec<String>> {
    harness(url, |conn| {
        let ran = conn.run_pending_migrations(MIGRATIONS)?;
        Ok(ran.iter().map(ToString::to_string).collect())
    })
    .await
}

/// Takes every migration back, newest first.
pub async fn down(url: &DatabaseUrl) -> Result<()> {
    harness(url, |conn| conn.revert_all_migrations(MIGRATIONS).map(|_| ())).await
}

/// How the schema of a database differs from what this program knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schema {
    /// Not at all.
    Current,
    /// It lacks the migrations of these names.
    Behind(Vec<String>),
    /// Migrations of these versions have run there that this program does not know.
    Ahead(Vec<String>),
}

/// Compares the schema of the database with what this program knows. What it is ahead by goes first.
pub async fn compare(url: &DatabaseUrl) -> Result<Schema> {
    harness(url, |conn| {
        let known = MigrationSource::<Pg>::migrations(&MIGRATIONS)?;
        let is_known = |version: &MigrationVersion<'_>| known.iter().any(|one| one.name().version() == *version);
        let mut unknown: Vec<_> = conn.applied_migrations()?.into_iter().filter(|ran| !is_known(ran)).collect();
        unknown.sort();
        if !unknown.is_empty() {
            return Ok(Schema::Ahead(unknown.iter().map(ToString::to_string).collect()));
        }
        let lacking = conn.pending_migrations(MIGRATIONS)?;
        Ok(match lacking.is_empty() {
            true => Schema::Current,
            false => Schema::Behind(lacking.iter().map(|migration| migration.name().to_string()).collect()),
        })
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
    url: &DatabaseUrl,
    work: impl FnOnce(&mut AsyncConnectionWrapper<Connection>) -> Outcome<T> + Send + 'static,
) -> Result<T> {
    let conn = db::connect(url).await?;
    let done = tokio::task::spawn_blocking(move || {
        let mut conn = AsyncConnectionWrapper::from(conn);
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
