//! `kith migrate`: brings the schema of the database up to date, then its partitions.

use clap::Args;

use crate::cli::checks;
use crate::cli::start::{self, Outcome};
use crate::config::DatabaseUrl;
use crate::db;
use crate::domain::messages::partitions;
use crate::time::Clock;

/// What `kith migrate` needs to know.
#[derive(Args)]
pub struct Migrate {
    /// Where Postgres is: postgres://user:password@host:port/database
    #[arg(long, env = "DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: DatabaseUrl,
}

/// Runs what has not run yet and prints its names. Running it again changes nothing.
pub async fn run(migrate: Migrate) -> Outcome {
    let mut conn = checks::postgres(&migrate.database_url).await?;
    let ran = db::migrations::up(&migrate.database_url).await.map_err(start::database)?;
    partitions::ensure(&mut conn, Clock::System.now())
        .await
        .map_err(|error| format!("the partitions could not be made: {}", start::words(error)))?;
    for name in &ran {
        println!("{name}");
    }
    println!("The database is up to date.");
    Ok(())
}
