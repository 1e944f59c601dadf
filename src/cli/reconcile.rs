//! `kith reconcile`: recounts what was counted along the way, and mends what differs.

use clap::Args;

use crate::cli::start::{self, Outcome};
use crate::db::{self, Connection};
use crate::domain::{likes, users};
use crate::error::Result;

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

/// Prints each counter that differed. Running it again prints nothing more; people may go on meanwhile.
pub async fn run(reconcile: Reconcile) -> Outcome {
    let mut conn = db::connect(&reconcile.database_url).await.map_err(start::database)?;
    let drifts = match reconcile.dry_run {
        true => drifts(&mut conn).await,
        false => mend(&mut conn).await,
    };
    let drifts = drifts.map_err(|error| format!("the counters could not be recounted: {}", start::words(error)))?;
    for drift in &drifts {
        println!("{drift}");
    }
    match (drifts.len(), reconcile.dry_run) {
        (0, _) => println!("All counters are right."),
        (off, true) => println!("{off} counters are off; without --dry-run they are mended."),
        (off, false) => println!("{off} counters were off and are mended."),
    }
    Ok(())
}

async fn drifts(conn: &mut Connection) -> Result<Vec<String>> {
    Ok(lines(users::repair::drifts(conn).await?, likes::repair::drifts(conn).await?))
}

async fn mend(conn: &mut Connection) -> Result<Vec<String>> {
    Ok(lines(users::repair::mend(conn).await?, likes::repair::mend(conn).await?))
}

fn lines(people: Vec<users::repair::Drift>, messages: Vec<likes::repair::Drift>) -> Vec<String> {
    let person = |users::repair::Drift { user_id, counter, stored, counted }| {
        format!("user {user_id}: {counter} was {stored}, is {counted}")
    };
    let message = |likes::repair::Drift { message_id, counter, stored, counted }| {
        format!("message {message_id}: {counter} was {stored}, is {counted}")
    };
    people.into_iter().map(person).chain(messages.into_iter().map(message)).collect()
}
