//! The id of each request, its span and its line in the log. Never tokens, variables, texts or whole
//! addresses: a GET has its variables there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage, HttpRequest};
use tracing::Span;
use tracing::field::Empty;
use tracing_actix_web::RootSpanBuilder;
use uuid::Uuid;

use crate::app::App;
use crate::telemetry::metrics::labels::{self, ByRoute, Route};
use crate::telemetry::traces::{self, TRACEPARENT};

/// The header that carries the id, in both directions.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id that is taken over from a client.
const MAX_LENGTH: usize = 128;

/// What a request is called in the log.
#[derive(Clone)]
struct RequestId(String);

struct Started(Instant);

/// The id of `request`; empty outside of [`Trace`].
pub fn request_id(request: &HttpRequest) -> String {
    request.extensions().get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default()
}

/// Gives each request an id and a span.
pub struct Trace;

impl RootSpanBuilder for Trace {
    fn on_request_start(request: &ServiceRequest) -> Span {
        let id = given_id(request).unwrap_or_else(|| Uuid::now_v7().to_string());
        let span = tracing::info_span!(
            "request",
            id,
            method = %request.method(),
            path = request.path(),
            operation = Empty,
            r#type = Empty,
            outcome = Empty,
            status = Empty,
        );
        if let Some(parent) = request.headers().get(TRACEPARENT).and_then(|value| value.to_str().ok()) {
            traces::follow(&span, parent);
        }
        let mut extensions = request.extensions_mut();
        extensions.insert(RequestId(id));
        extensions.insert(Started(Instant::now()));
        span
    }

    fn on_request_end<B: MessageBody>(span: Span, outcome: &Result<ServiceResponse<B>, Error>) {
        match outcome {
            Ok(response) => {
                span.record("status", response.status().as_u16());
                let started = response.request().extensions().get::<Started>().map(|started| started.0);
                let took = started.map(|started| started.elapsed()).unwrap_or_default();
                count(response, took);
                tracing::info!(ms = took.as_millis() as u64, "answered");
            }
            Err(error) => tracing::error!(?error, "not answered"),
        }
    }
}

fn count<B>(response: &ServiceResponse<B>, took: Duration) {
    let Some(app) = response.request().app_data::<Data<Arc<App>>>() else { return };
    let route = match response.request().match_pattern().as_deref() {
        Some("/graphql") => Route::Graphql,
        Some("/healthz") => Route::Healthz,
        Some("/readyz") => Route::Readyz,
        Some(_) => Route::Playground,
        None => Route::Other,
    };
    app.metrics.requests.get_or_create(&labels::Request { route, status: response.status().as_u16() }).inc();
    app.metrics.request_seconds.get_or_create(&ByRoute { route }).observe(took.as_secs_f64());
}

/// Names the id in the response.
pub async fn name_in_response(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let id = request_id(request.request());
    let mut response = next.call(request).await?;
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    Ok(response)
}

fn given_id(request: &ServiceRequest) -> Option<String> {
    let id = request.headers().get(REQUEST_ID)?.to_str().ok()?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    ((1..=MAX_LENGTH).contains(&id.len()) && id.bytes().all(fits)).then(|| id.to_owned())
}
