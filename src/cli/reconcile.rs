//! `kith reconcile`: recounts what was counted along the way, and mends what differs.

use clap::Args;

use crate::cli::start::{self, Outcome};
use crate::db;
use crate::domain::users::repair;

/// What `kith reconcile` needs to know.
#[derive(Args)]
pub struct Reconcile {
    /// Where Postgres is: postgres://user:password@host:port/database
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: String,

    /// Only tell what differs.
    #[arg(long)]
    dry_run: bool,
}

/// Prints each counter that differed. Running it again prints nothing more; people may post and follow meanwhile.
pub async fn run(reconcile: Reconcile) -> Outcome {
    let mut conn = db::connect(&reconcile.database_url).await.map_err(start::database)?;
    let drifts = match reconcile.dry_run {
        true => repair::drifts(&mut conn).await,
        false => repair::mend(&mut conn).await,
    };
    let drifts = drifts.map_err(|error| format!("the counters could not be recounted: {}", start::words(error)))?;
    for drift in &drifts {
        let repair::Drift { user_id, counter, stored, counted } = drift;
        println!("user {user_id}: {counter} was {stored}, is {counted}");
    }
    match (drifts.len(), reconcile.dry_run) {
        (0, _) => println!("All counters are right."),
        (off, true) => println!("{off} counters are off; without --dry-run they are mended."),
        (off, false) => println!("{off} counters were off and are mended."),
    }
    Ok(())
}
