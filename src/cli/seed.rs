//! `kith seed`: fills an empty database with a demo world. Never SQL.

use std::sync::Mutex;
use std::time::Instant;

use chrono::{DateTime, Utc};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::checks;
use crate::cli::start::{self, Outcome};
use crate::config::{Channels, DatabaseUrl};
use crate::domain::auth::passwords::Passwords;
use crate::domain::seed::model::{Plan, Size};
use crate::domain::seed::rules::{self, GUESTS, Guest, PASSWORD};
use crate::domain::seed::world::World;
use crate::domain::seed::write;
use crate::domain::users::rules::Password;
use crate::error::Error;
use crate::time::Clock;

/// What `kith seed` needs to know.
#[derive(Args)]
pub struct Seed {
    /// Where Postgres is: postgres://user:password@host:port/database
    #[arg(long, env = "DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: DatabaseUrl,

    /// Channels that messages are posted to, separated by commas, as for the server. `default` is always one.
    #[arg(long, env = "KITH_CHANNELS", default_value = "default")]
    channels: Channels,

    /// How many people.
    #[arg(long, default_value_t = 200)]
    users: u32,

    /// How many follows.
    #[arg(long, default_value_t = 4000)]
    follows: u32,

    /// How many messages.
    #[arg(long, default_value_t = 2000)]
    messages: u32,

    /// How many likes.
    #[arg(long, default_value_t = 8000)]
    likes: u32,

    /// The same number makes the same world.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// When the world ends: 2026-12-01T12:00:00Z. Without it, now. Everything happened before.
    #[arg(long)]
    until: Option<DateTime<Utc>>,

    /// Do nothing, print nothing, and call that success, when there are people already.
    #[arg(long)]
    if_empty: bool,
}

/// Makes a world and writes it, then prints who can log in.
pub async fn run(seed: Seed) -> Outcome {
    let size = Size { users: seed.users, follows: seed.follows, messages: seed.messages, likes: seed.likes };
    let now = Clock::System.now();
    let until = seed.until.unwrap_or(now);
    rules::check(size, until, now).map_err(argument)?;
    let mut conn = checks::migrated(&seed.database_url).await?;
    let is_inhabited = write::is_inhabited(&mut conn).await.map_err(start::database)?;
    if is_inhabited && seed.if_empty {
        return Ok(());
    }
    if is_inhabited {
        return Err(
            "there are people in this database already: a demo world needs one of its own (DATABASE_URL)".into()
        );
    }
    let channels = seed.channels.names().to_vec();
    let begin = Instant::now();
    let world = World::make(Plan { size, seed: seed.seed, until_ms: until.timestamp_millis(), channels });
    eprintln!("world: made up in {:.1} s", begin.elapsed().as_secs_f64());
    let password = Password::typed(PASSWORD);
    let hash = Passwords::new().map_err(fault)?.hash(password).await.map_err(fault)?;
    let bar = Mutex::new(Bar::default());
    let show = |stage, done, all| {
        if let Ok(mut bar) = bar.lock() {
            bar.show(stage, done, all);
        }
    };
    write::fill(&mut conn, &world, &hash, &show)
        .await
        .map_err(|error| format!("nothing was seeded: {}", start::words(error)))?;
    write::settle(&mut conn, &show)
        .await
        .map_err(|error| format!("the world is there, but not its statistics: {}", start::words(error)))?;
    print!("{}", log_ins());
    Ok(())
}

/// Who can be logged in as, and how.
fn log_ins() -> String {
    let mut text =
        "Everybody in the demo world has the same password, which is no secret: never use it in production.\n"
            .to_owned();
    for Guest { handle, display_name, language, .. } in GUESTS {
        text += &format!("    {handle:<12}  {PASSWORD}    {display_name} ({language})\n");
    }
    text
}

/// What is wrong with an argument.
fn argument(error: Error) -> String {
    match error {
        Error::BadUserInput { field, message } => format!("--{field} is not valid: {message}"),
        other => fault(other),
    }
}

fn fault(error: Error) -> String {
    format!("this is a fault of Kith: {}", start::words(error))
}

/// One bar a stage, drawn on a terminal; elsewhere a line when a stage is done.
#[derive(Default)]
struct Bar {
    stage: &'static str,
    bar: Option<ProgressBar>,
}

impl Bar {
    fn show(&mut self, stage: &'static str, done: usize, all: usize) {
        let bar = match &self.bar {
            Some(bar) if self.stage == stage => bar,
            _ => {
                let style = ProgressStyle::with_template("{msg:>10} {wide_bar} {human_pos}/{human_len} {elapsed}");
                let bar = ProgressBar::new(all as u64).with_message(stage);
                bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                self.stage = stage;
                self.bar.insert(bar)
            }
        };
        bar.set_position(done as u64);
        if done >= all {
            if bar.is_hidden() {
                eprintln!("{stage}: {all} in {:.1} s", bar.elapsed().as_secs_f64());
            }
            bar.finish();
        }
    }
}
