//! `/graphql`, as the GraphQL over HTTP specification has it: reads a request, finds its operation, runs
//! it for who asks within the time allowed. Never a batch, never a form, never a mutation over GET.

use std::sync::Arc;
use std::time::Instant;

use actix_web::http::header::{self, HeaderMap, HeaderName};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Bytes, BytesMut, Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use async_graphql::parser::parse_query;
use async_graphql::parser::types::{DocumentOperations, ExecutableDocument, OperationDefinition, OperationType};
use async_graphql::{Name, Request, ServerError};
use futures_util::StreamExt;
use tokio::time::timeout;
use tracing::Instrument;

use crate::app::App;
use crate::error::Error;
use crate::graphql::context::Caller;
use crate::graphql::schema::Schema;
use crate::http::answer::Answer;
use crate::http::media::{self, Media};
use crate::http::params::Params;
use crate::http::{codes, limits, once, session, trace, variables};
use crate::telemetry::metrics::{self, labels::OperationKind};
use crate::telemetry::traces;

/// The longest description of a client that is passed on, in characters.
const MAX_USER_AGENT: usize = 256;

/// The longest name of an operation that is logged, in bytes (a name is ASCII).
const MAX_NAME: usize = 64;

/// Answers whatever comes to `/graphql`.
///
/// The whole of a request is dropped after `request_timeout`, the reading of its body and its work in
/// Postgres included: the feed relies on no request outliving that.
pub async fn handle(request: HttpRequest, body: Payload, app: Data<Arc<App>>, schema: Data<Schema>) -> HttpResponse {
    let request_id = trace::request_id(&request);
    let Some(media) = accepted(request.headers()) else {
        let message = "Accept application/graphql-response+json or application/json.";
        let mut answer = Answer::refused(StatusCode::NOT_ACCEPTABLE, message);
        answer.complete(&request_id);
        return answer.into_response(Media::Json);
    };
    let (started, mut asked) = (Instant::now(), Asked { name: None, kind: OperationKind::None });
    let answering = answer(&request, body, (&app, &schema), &mut asked);
    let mut answer = match timeout(app.config.request_timeout, answering).await {
        Ok(Ok(answer) | Err(answer)) => answer,
        Err(_) => Answer::error(codes::kith(Error::Unavailable("the request took too long".into()))),
    };
    answer.complete(&request_id);
    let counted = metrics::Asked { name: asked.name.as_deref(), kind: asked.kind, is_executed: answer.is_executed() };
    app.metrics.operation(counted, answer.outcome(), started.elapsed());
    tracing::Span::current().record("outcome", answer.outcome());
    answer.into_response(media)
}

/// What turned out to be asked.
struct Asked {
    name: Option<String>,
    kind: OperationKind,
}

async fn answer(
    request: &HttpRequest,
    body: Payload,
    (app, schema): (&Arc<App>, &Schema),
    asked: &mut Asked,
) -> Result<Answer, Answer> {
    let mut params = params(request, body, app.config.body_limit).await?;
    let viewer = session::claimed(app, request.headers()).map_err(|error| Answer::error(codes::kith(error)))?;
    let mut document = parse(&params).map_err(Answer::error)?;
    let (name, operation) = operation(&document, params.operation_name.as_deref()).map_err(Answer::error)?;
    let name = name.map(|name| name.get(..MAX_NAME).unwrap_or(name));
    let kind = operation.ty;
    *asked = Asked { name: name.map(str::to_owned), kind: counted_as(kind) };
    tracing::Span::current().record("operation", name.unwrap_or("anonymous")).record("type", asked.kind.as_str());
    if kind == OperationType::Subscription {
        let message = "There are no subscriptions.";
        return Err(Answer::error(codes::bad_input(message, None, None)));
    }
    if kind == OperationType::Mutation && request.method() == Method::GET {
        return Err(Answer::method_not_allowed("POST", "Mutations are sent by POST."));
    }
    let left_out = variables::complete(operation, &mut params.variables).map_err(Answer::error)?;
    variables::leave_out(&mut document, &left_out);
    once::once(&mut document);

    let user_agent = text(request.headers(), &header::USER_AGENT).unwrap_or_default();
    let user_agent = user_agent.chars().take(MAX_USER_AGENT).collect();
    let mut prepared =
        Request::new(params.query).variables(params.variables).data(Caller::new(app.clone(), viewer, user_agent));
    prepared.operation_name = params.operation_name;
    prepared.set_parsed_query(document);

    // For its own part of the trace; the log has it with the request.
    let span = tracing::info_span!(
        target: traces::ONLY,
        "operation",
        otel.name = format!("{} {}", asked.kind.as_str(), asked.name.as_deref().unwrap_or("anonymous")),
        graphql.operation.name = asked.name,
        graphql.operation.r#type = asked.kind.as_str(),
    );
    // A write must not begin for a revoked session. A read may, as long as nothing of it gets out.
    let (live, response) = match kind {
        OperationType::Mutation => match session::is_live(app, viewer).await {
            Ok(()) => (Ok(()), schema.execute(prepared).instrument(span).await),
            Err(error) => return Err(Answer::error(codes::kith(error))),
        },
        _ => tokio::join!(session::is_live(app, viewer), schema.execute(prepared).instrument(span)),
    };
    live.map_err(|error| Answer::error(codes::kith(error)))?;
    Ok(Answer::executed(response))
}

fn counted_as(kind: OperationType) -> OperationKind {
    match kind {
        OperationType::Query => OperationKind::Query,
        OperationType::Mutation => OperationKind::Mutation,
        OperationType::Subscription => OperationKind::Subscription,
    }
}

async fn params(request: &HttpRequest, body: Payload, limit: usize) -> Result<Params, Answer> {
    let refused = |message: String| Answer::refused(StatusCode::BAD_REQUEST, &message);
    match *request.method() {
        Method::GET => Params::from_address(request.query_string()).map_err(refused),
        Method::POST => {
            let content_type = text(request.headers(), &header::CONTENT_TYPE).unwrap_or_default();
            if !media::is_json(&content_type) || request.headers().contains_key(header::CONTENT_ENCODING) {
                let message = "Send the request as application/json in UTF-8, not compressed.";
                return Err(Answer::refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
            }
            Params::from_body(&read(body, limit).await?).map_err(refused)
        }
        _ => Err(Answer::method_not_allowed("GET, POST", "GraphQL is asked by POST, or by GET for queries.")),
    }
}

async fn read(mut body: Payload, limit: usize) -> Result<Bytes, Answer> {
    let mut whole = BytesMut::new();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|_| Answer::refused(StatusCode::BAD_REQUEST, "The body could not be read."))?;
        if whole.len() + chunk.len() > limit {
            let message = format!("The body may have at most {limit} bytes.");
            return Err(Answer::refused(StatusCode::PAYLOAD_TOO_LARGE, &message));
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.freeze())
}

fn parse(params: &Params) -> Result<ExecutableDocument, ServerError> {
    limits::check_text(&params.query)?;
    let document = parse_query(&params.query).map_err(codes::syntax)?;
    limits::check_document(&document, &params.variables)?;
    Ok(document)
}

/// The operation that will run, and its name if it has one.
fn operation<'a>(
    document: &'a ExecutableDocument,
    name: Option<&str>,
) -> Result<(Option<&'a Name>, &'a OperationDefinition), ServerError> {
    let found = match (&document.operations, name) {
        (DocumentOperations::Single(operation), None) => Some((None, operation)),
        (DocumentOperations::Single(_), Some(_)) => None,
        (DocumentOperations::Multiple(all), Some(name)) => all.get_key_value(name).map(|(n, o)| (Some(n), o)),
        (DocumentOperations::Multiple(all), None) if all.len() == 1 => all.iter().next().map(|(n, o)| (Some(n), o)),
        (DocumentOperations::Multiple(_), None) => {
            return Err(codes::bad_input(
                "Say by `operationName` which operation to run.",
                Some("operationName"),
                None,
            ));
        }
    };
    found.map(|(name, operation)| (name, &operation.node)).ok_or_else(|| {
        codes::bad_input("There is no operation of this name in the document.", Some("operationName"), None)
    })
}

fn accepted(headers: &HeaderMap) -> Option<Media> {
    let accept = text(headers, &header::ACCEPT);
    media::negotiate(accept.as_deref())
}

/// The values of a header as one text; what is not text in it is lost.
fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values: Vec<_> = headers.get_all(name).map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    (!values.is_empty()).then(|| values.join(","))
}
