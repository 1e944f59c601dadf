//! What goes back: data and errors, and the status code that the GraphQL over HTTP specification gives
//! them. Never how they came about.

use actix_web::HttpResponse;
use actix_web::http::{StatusCode, header};
use async_graphql::{Response, ServerError, Value};
use serde::Serialize;

use crate::http::codes;
use crate::http::media::Media;

/// Errors that one answer carries at most: validation can find thousands in one document.
const MAX_ERRORS: usize = 50;

/// A response to be.
pub struct Answer {
    errors: Vec<ServerError>,
    /// `None` for a request that was not executed.
    data: Option<Value>,
    /// The status whatever the media type, for what is no well-formed GraphQL request.
    refused: Option<StatusCode>,
    allow: Option<&'static str>,
}

impl Answer {
    /// The outcome of an execution, or of async-graphql's refusal to begin one.
    pub fn executed(response: Response) -> Self {
        // It answers null data to both. An error of execution always has a path.
        let errors = response.errors;
        let is_refusal =
            response.data == Value::Null && !errors.is_empty() && errors.iter().all(|error| error.path.is_empty());
        Self { errors, data: (!is_refusal).then_some(response.data), refused: None, allow: None }
    }

    /// A well-formed request that is not executed.
    pub fn error(error: ServerError) -> Self {
        Self { errors: vec![error], data: None, refused: None, allow: None }
    }

    /// What is no well-formed request: the status is `status`, whatever the client reads.
    pub fn refused(status: StatusCode, message: &str) -> Self {
        let error = match status {
            StatusCode::PAYLOAD_TOO_LARGE => codes::limit(message.into()),
            _ => codes::bad_input(message, None, None),
        };
        Self { refused: Some(status), ..Self::error(error) }
    }

    /// 405, naming the methods that would do.
    pub fn method_not_allowed(allow: &'static str, message: &str) -> Self {
        Self { allow: Some(allow), ..Self::refused(StatusCode::METHOD_NOT_ALLOWED, message) }
    }

    /// Gives every error a code.
    pub fn complete(&mut self, request_id: &str) {
        self.errors.truncate(MAX_ERRORS);
        for error in &mut self.errors {
            codes::complete(error, request_id);
        }
    }

    /// `ok`, or the code of the first error.
    pub fn outcome(&self) -> &str {
        self.errors.first().map_or("ok", codes::code)
    }

    /// Whether anything was executed.
    pub fn is_executed(&self) -> bool {
        self.data.is_some()
    }

    /// Encodes it, once it is [`Answer::complete`].
    pub fn into_response(self, media: Media) -> HttpResponse {
        let status = self.status(media);
        let mut response = HttpResponse::build(status);
        response.insert_header((header::CONTENT_TYPE, media.content_type()));
        response.insert_header((header::CACHE_CONTROL, "no-store"));
        response.insert_header((header::VARY, "Accept, Authorization"));
        if let Some(allow) = self.allow {
            response.insert_header((header::ALLOW, allow));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
        match serde_json::to_vec(&Body { errors: &self.errors, data: self.data.as_ref() }) {
            Ok(body) => response.body(body),
            Err(error) => {
                tracing::error!(%error, "an answer could not be encoded");
                HttpResponse::InternalServerError().finish()
            }
        }
    }

    fn status(&self, media: Media) -> StatusCode {
        match (self.refused, &self.data, media) {
            (Some(status), ..) => status,
            (None, Some(_), _) | (None, None, Media::Json) => StatusCode::OK,
            (None, None, Media::GraphqlResponse) => match self.errors.first().map_or("", codes::code) {
                "UNAUTHENTICATED" => StatusCode::UNAUTHORIZED,
                "UNAVAILABLE" => StatusCode::SERVICE_UNAVAILABLE,
                "INTERNAL" => StatusCode::INTERNAL_SERVER_ERROR,
                _ => StatusCode::BAD_REQUEST,
            },
        }
    }
}

#[derive(Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'a [ServerError],
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Value>,
}
