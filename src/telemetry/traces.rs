//! Traces: sent to an OpenTelemetry collector, and taken over from whoever calls. Never what a span tells.

use std::sync::OnceLock;
use std::time::Duration;

use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::TracerProvider;
use opentelemetry::{Key, Value};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Level, Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

/// The target of spans that are for traces only: in the log they would hide what the request is called.
pub const ONLY: &str = "kith_traces";

/// The header by which a trace goes on here, as W3C's Trace Context has it.
pub const TRACEPARENT: &str = "traceparent";

/// How long a process that ends waits for a collector.
const FLUSH: Duration = Duration::from_secs(2);

/// A process has one export, as it has one log.
static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();

/// Begins to export Kith's own spans to the collector at `endpoint`, by OTLP over HTTP on a thread of its own; the other
/// `OTEL_*` variables of the standard hold as well. A collector that is away costs nobody anything but its traces.
///
/// Errors: a sentence, when the exporter cannot be made.
pub fn export<S>(endpoint: &str) -> Result<impl Layer<S> + use<S>, String>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let to = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
    let exporter = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary).with_endpoint(to).build();
    let exporter = exporter.map_err(|error| format!("OTEL_EXPORTER_OTLP_ENDPOINT cannot be used: {error}"))?;
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource()).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("kith")).with_location(false);
    // Whoever asks twice gets the first; the log refuses the second start anyhow.
    let _ = PROVIDER.set(provider);
    // Nothing of libraries: the export would export itself.
    let ours = |target: &str| target == ONLY || target == "kith" || target.starts_with("kith::");
    Ok(layer.with_filter(filter_fn(move |of| ours(of.target()) && *of.level() <= Level::INFO)))
}

/// Sends what was not yet sent. Blocks, but not for long.
pub fn finish() {
    if let Some(provider) = PROVIDER.get()
        && let Err(error) = provider.shutdown_with_timeout(FLUSH)
    {
        tracing::warn!(%error, "the last traces may be lost");
    }
}

/// Lets `span` go on with the trace of whoever calls, if `traceparent` names one.
pub fn follow(span: &Span, traceparent: &str) {
    let context = TraceContextPropagator::new().extract(&Header(traceparent));
    // Without an export there is nothing to go on with.
    let _ = span.set_parent(context);
}

struct Header<'a>(&'a str);

impl Extractor for Header<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        (key == TRACEPARENT).then_some(self.0)
    }

    fn keys(&self) -> Vec<&str> {
        vec![TRACEPARENT]
    }
}

/// Who we are: what the environment says, and `kith` unless it says otherwise.
fn resource() -> Resource {
    let named = Resource::builder().build();
    let unnamed = |name: &Value| name.as_str().starts_with("unknown_service");
    match named.get(&Key::from_static_str("service.name")) {
        Some(name) if !unnamed(&name) => named,
        _ => Resource::builder().with_service_name("kith").build(),
    }
}
