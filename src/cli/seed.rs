//! `kith seed`: fills an empty database with a demo world. Never SQL.

use std::sync::Mutex;

use chrono::{DateTime, Utc};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::start::{self, Outcome};
use crate::config::Channels;
use crate::db;
use crate::domain::auth::passwords::Passwords;
use crate::domain::seed::model::{GUESTS, PASSWORD, Size};
use crate::domain::seed::{world, write};
use crate::domain::users::rules::Password;
use crate::error::Error;

/// What `kith seed` needs to know.
#[derive(Args)]
pub struct Seed {
    /// Where Postgres is: postgres://user:password@host:port/database
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: String,

    /// Channels that messages are posted to, separated by commas, as for the server. `default` is always one.
    #[arg(long, env = "KITH_CHANNELS", default_value = "default")]
    channels: Channels,

    /// How many people.
    #[arg(long, default_value_t = 200)]
    users: usize,

    /// How many follows.
    #[arg(long, default_value_t = 4000)]
    follows: usize,

    /// How many messages.
    #[arg(long, default_value_t = 2000)]
    messages: usize,

    /// How many likes.
    #[arg(long, default_value_t = 8000)]
    likes: usize,

    /// The same number makes the same world.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// When the world ends: 2026-12-01T12:00:00Z. Without it, now. Everything happened before.
    #[arg(long)]
    until: Option<DateTime<Utc>>,

    /// Do nothing, and call that success, when there are people already.
    #[arg(long)]
    if_empty: bool,
}

/// Makes a world and writes it, then prints who can log in.
pub async fn run(seed: Seed) -> Outcome {
    let size = Size { users: seed.users, follows: seed.follows, messages: seed.messages, likes: seed.likes };
    size.check()?;
    let until = seed.until.unwrap_or_else(Utc::now);
    if until > Utc::now() {
        return Err("--until must not lie ahead: ids carry the time".into());
    }
    start::migrated(&seed.database_url).await?;
    let mut conn = db::connect(&seed.database_url).await.map_err(start::database)?;
    let is_inhabited = write::is_inhabited(&mut conn).await.map_err(start::database)?;
    if is_inhabited && seed.if_empty {
        return Ok(());
    }
    if is_inhabited {
        return Err(
            "there are people in this database already: a demo world needs one of its own (DATABASE_URL)".into()
        );
    }
    let world = world::make(size, seed.seed, until, seed.channels.names());
    let password = Password::typed(PASSWORD);
    let hash = Passwords::new().map_err(fault)?.hash(password).await.map_err(fault)?;
    let bar = Mutex::new(Bar::default());
    let show = |stage, done, all| {
        if let Ok(mut bar) = bar.lock() {
            bar.show(stage, done, all);
        }
    };
    write::fill(&mut conn, &world, &hash, until, &show)
        .await
        .map_err(|error| format!("nothing was seeded: {}", start::words(error)))?;
    println!("Everybody has the password {PASSWORD}, so never use this world in production. Log in as one of");
    for (handle, name, ..) in GUESTS {
        println!("  {handle}  ({name})");
    }
    Ok(())
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
