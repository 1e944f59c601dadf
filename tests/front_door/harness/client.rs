//! A GraphQL client over real HTTP, signed in or not.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::Answer;

/// A client of one Kith, with a bearer token or without.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
}

impl Client {
    /// A client that is not signed in, of the server at `base` (`http://127.0.0.1:4000`).
    pub fn new(base: String) -> Self {
        // A proxy of the machine must not stand between a test and its server.
        let http = reqwest::Client::builder().no_proxy().build().expect("a client without settings");
        Self { http, base, token: None }
    }

    /// The same client with this access token.
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// Runs an operation.
    pub async fn query(&self, query: &str, variables: Value) -> Answer {
        self.send(json!({ "query": query, "variables": variables })).await
    }

    /// Posts a GraphQL request body as it is.
    pub async fn send(&self, body: Value) -> Answer {
        self.try_send(body).await.expect("the server answers")
    }

    /// Posts a GraphQL request body as it is. Errors: there was no whole answer.
    pub async fn try_send(&self, body: Value) -> reqwest::Result<Answer> {
        let request = self.raw(Method::POST, "/graphql").header("accept", "application/graphql-response+json");
        let response = request.json(&body).send().await?;
        let status = response.status().as_u16();
        let text = response.text().await?;
        let body = serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON, status {status}: {text}"));
        Ok(Answer { status, body })
    }

    /// The same person at the server of `other`.
    pub fn at(&self, other: &Client) -> Self {
        Self { token: self.token.clone(), ..other.clone() }
    }

    /// Where the server listens: `127.0.0.1:4000`.
    pub fn address(&self) -> &str {
        self.base.trim_start_matches("http://")
    }

    /// Any HTTP request to this server, with the token of this client if it has one.
    pub fn raw(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }
}
