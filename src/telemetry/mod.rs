//! The log: where it goes, what is in it and how it looks. Never what is worth logging.

pub mod metrics;

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;

use crate::config::LogFormat;

/// Starts the log on stderr, for the rest of the process.
///
/// Errors: a sentence, when `filter` is no tracing filter or a log was started before.
pub fn start(format: LogFormat, filter: &str) -> Result<(), String> {
    let filter = EnvFilter::try_new(filter).map_err(|error| error.to_string())?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr).with_ansi(stderr().is_terminal());
    let started = match format {
        LogFormat::Pretty => log.compact().try_init(),
        LogFormat::Json => log.json().flatten_event(true).with_span_list(false).try_init(),
    };
    started.map_err(|error| error.to_string())
}
