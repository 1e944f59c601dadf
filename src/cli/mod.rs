//! What the program can be told to do. One file a subcommand; each error at start is one line that names
//! what is wrong and the remedy. Never SQL.

mod serve;
mod worker;
mod migrate;
mod reconcile;
mod rebuild;
mod capacity;
mod schema;
mod settings;
mod seed;
mod start;
mod checks;
mod lease;
mod listen;
mod shutdown;
mod usage;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::telemetry;

/// A GraphQL social API server.
#[derive(Parser)]
#[command(name = "kith", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Answer requests, and run the jobs that follow from them.
    Serve(Box<serve::Serve>),
    /// Run jobs only.
    Worker(Box<worker::Worker>),
    /// Bring the database up to date.
    Migrate(migrate::Migrate),
    /// Find what is derived and is off, and mend it.
    Reconcile(reconcile::Reconcile),
    /// Build the inboxes of some people, or of all, anew.
    Rebuild(rebuild::Rebuild),
    /// Say what a Kith of some size takes: rows, disk, memory, work.
    Capacity(Box<capacity::Capacity>),
    /// Fill an empty database with a demo world.
    Seed(seed::Seed),
    /// Print the GraphQL schema.
    Schema,
    /// Print every setting, as it stands in docs/configuration.md.
    Settings,
}

/// Runs the program: reads its arguments and environment, and does what they say.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage::explain::<Cli>(error),
    };
    let done = |()| ExitCode::SUCCESS;
    let outcome = match cli.command {
        Command::Serve(serve) => start::block_on(serve::run(*serve)).map(done),
        Command::Worker(worker) => start::block_on(worker::run(*worker)).map(done),
        Command::Migrate(migrate) => start::block_on(migrate::run(migrate)).map(done),
        Command::Reconcile(reconcile) => start::block_on(reconcile::run(reconcile)),
        Command::Rebuild(rebuild) => start::block_on(rebuild::run(rebuild)).map(done),
        Command::Capacity(capacity) => start::block_on(capacity::run(*capacity)).map(done),
        Command::Seed(seed) => start::block_on(seed::run(seed)).map(done),
        Command::Schema => schema::run().map(done),
        Command::Settings => settings::run(&Cli::command()).map(done),
    };
    telemetry::traces::finish();
    outcome.unwrap_or_else(|sentence| usage::fail(&sentence))
}
