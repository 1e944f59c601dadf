//! What an operator sees of a running Kith: the log, the metrics, the traces. Never what is worth telling: whoever knows
//! tells.

pub mod metrics;
pub mod traces;

use std::io::{IsTerminal, stderr};

use tracing::Level;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt, registry};

use crate::config::{Config, LogFormat};

/// Starts the log on stderr, and the export of traces if there is somewhere to send them, for the rest of the process.
///
/// Of libraries only what is INFO or worse is ever logged, whatever the filter says: below that they tell what passes
/// through them, such as the values in a statement.
///
/// Errors: a sentence, when a setting is wrong or a log was started before.
pub fn start(config: &Config) -> Result<(), String> {
    let filter = EnvFilter::try_new(&config.log)
        .map_err(|error| format!("KITH_LOG is no filter such as info,kith=debug: {error}"))?;
    let discreet = filter_fn(|of| {
        let is_ours = of.target() == "kith" || of.target().starts_with("kith::");
        is_ours || (*of.level() <= Level::INFO && of.target() != traces::ONLY)
    });
    let log = fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal());
    let log = match config.log_format {
        LogFormat::Pretty => log.compact().boxed(),
        LogFormat::Json => log.json().flatten_event(true).with_span_list(false).boxed(),
    };
    let traces = match &config.otlp_endpoint {
        Some(endpoint) => Some(traces::export(endpoint)?),
        None => None,
    };
    let all = registry().with(log.with_filter(filter).with_filter(discreet)).with(traces);
    all.try_init().map_err(|error| error.to_string())
}
