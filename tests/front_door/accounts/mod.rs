//! Accounts: signing up, in and out, sessions, tokens, profiles.

mod profile;
mod refresh;
mod sessions;
mod sign_in;
mod sign_up;
mod tokens;

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Answer, Client};

const PASSWORD: &str = "correct horse battery staple";
const DAY: Duration = Duration::from_secs(24 * 3600);

/// A valid input of `signUp`, with some of it replaced.
fn account(handle: &str, other: Value) -> Value {
    let mut input = json!({ "handle": handle, "displayName": "Ada Lovelace", "password": PASSWORD });
    for (name, value) in other.as_object().expect("an object") {
        input[name] = value.clone();
    }
    input
}

async fn sign_up(client: &Client, input: Value) -> Answer {
    let query = "mutation($input: SignUpInput!) { signUp(input: $input) {
        viewer {
            user { id handle displayName bio avatarUrl isViewer viewerFollows }
            currentSession { id userAgent createdAt lastUsedAt expiresAt revokedAt isCurrent }
            sessions { nodes { id isCurrent } }
        }
        tokens { accessToken accessTokenExpiresAt refreshToken refreshTokenExpiresAt }
        clientMutationId
    } }";
    client.query(query, json!({ "input": input })).await
}

async fn log_in(client: &Client, handle: &str, password: &str) -> Answer {
    let query = "mutation($input: LogInInput!) { logIn(input: $input) {
        viewer { user { handle isViewer } currentSession { id isCurrent } }
        tokens { accessToken refreshToken }
        clientMutationId
    } }";
    client.query(query, json!({ "input": { "handle": handle, "password": password } })).await
}

async fn refresh(client: &Client, token: &str) -> Answer {
    let query = "mutation($input: RefreshSessionInput!) { refreshSession(input: $input) {
        viewer { user { handle isViewer } currentSession { id lastUsedAt expiresAt isCurrent } }
        tokens { accessToken refreshToken refreshTokenExpiresAt }
    } }";
    client.query(query, json!({ "input": { "refreshToken": token } })).await
}

/// The handle of who is signed in, if the token is accepted.
async fn who(client: &Client) -> Result<Value, String> {
    let answer = client.query("{ viewer { user { handle } } }", json!({})).await;
    match answer.errors() {
        [] => Ok(answer.at("/viewer").pointer("/user/handle").cloned().unwrap_or_default()),
        _ => Err(answer.code().to_owned()),
    }
}

/// A client with the access token of a sign-in, and the refresh token.
fn signed_in(client: &Client, answer: &Answer, verb: &str) -> (Client, String) {
    let token = |name: &str| answer.text(&format!("/{verb}/tokens/{name}"));
    (client.with_token(&token("accessToken")), token("refreshToken"))
}

fn unauthenticated() -> Result<Value, String> {
    Err("UNAUTHENTICATED".into())
}
