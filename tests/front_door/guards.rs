//! What stands around every request: who asks, how long it may take, how much it may ask for, how it is found
//! again in the log, and whether the server is ready. Never what a field answers.

use std::time::{Duration, Instant};

use kith::config::Config;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Client, Kith, RedisServer, raw, until};
use crate::http::{Reply, send};

const POST_MESSAGE: &str = "mutation { postMessage(input: { content: \"Hello.\" }) { message { id } } }";

async fn ask(client: &Client, query: &str) -> Reply {
    let request = client.raw(Method::POST, "/graphql").header("accept", "application/graphql-response+json");
    send(request.json(&json!({ "query": query }))).await
}

async fn messages(kith: &Kith) -> i64 {
    kith.sql().await.one("SELECT count(*) FROM messages", &[]).await
}

#[tokio::test]
async fn no_token_is_a_reader_and_a_bad_one_is_nobody() {
    let kith = Kith::start().await;
    let ada = kith.sign_up("ada").await;
    let query = "{ user(handle: \"ada\") { isViewer } }";
    assert_eq!(ask(kith.anonymous(), query).await.body["data"]["user"]["isViewer"], false);
    assert_eq!(ask(&ada, query).await.body["data"]["user"]["isViewer"], true);
    let authorized = |value: String, accept: &str| {
        let request = kith.anonymous().raw(Method::POST, "/graphql").header("accept", accept.to_owned());
        send(request.header("authorization", value).json(&json!({ "query": query })))
    };
    let token = &ada.token;
    for value in [format!("Bearer  {token}"), format!("bearer {token}")] {
        assert_eq!(authorized(value, "*/*").await.body["data"]["user"]["isViewer"], true);
    }
    for value in ["", "Bearer", "Bearer ", "Bearer x", &format!("Bearer {token}x"), &format!("Basic {token}"), token] {
        let reply = authorized(value.to_owned(), "application/graphql-response+json").await;
        reply.is_refused(401, "UNAUTHENTICATED");
        assert_eq!(reply.header("www-authenticate"), "Bearer");
        authorized(value.to_owned(), "application/json").await.is_refused(200, "UNAUTHENTICATED");
    }
    kith.advance(Duration::from_secs(3600)).await;
    ask(&ada, query).await.is_refused(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn a_revoked_session_reads_and_writes_nothing() {
    let kith = Kith::start().await;
    let ada = kith.sign_up("ada").await;
    ask(&ada, POST_MESSAGE).await.is_executed();
    assert_eq!(messages(&kith).await, 1);
    kith.sql().await.batch("UPDATE sessions SET revoked_at = created_at").await;
    ask(&ada, "{ viewer { user { handle } } }").await.is_refused(401, "UNAUTHENTICATED");
    ask(&ada, POST_MESSAGE).await.is_refused(401, "UNAUTHENTICATED");
    assert_eq!(messages(&kith).await, 1);
    kith.drain().await;
    kith.finish().await;
}

#[tokio::test]
async fn a_request_is_dropped_when_its_time_is_over() {
    let change = |config: &mut Config| (config.request_timeout, config.database_pool) = (Duration::from_secs(1), 1);
    let kith = Kith::start_with(change).await;
    let ada = &kith.people(1).await[0];
    // What waits for Postgres ends before, by itself: this waits for the only connection to become free.
    let held = kith.app.db.get().await.expect("the connection");
    let start = Instant::now();
    ask(ada, POST_MESSAGE).await.is_refused(503, "UNAVAILABLE");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    drop(held);
    assert_eq!(messages(&kith).await, 0);
    let head = "POST /graphql HTTP/1.1\r\nHost: kith\r\nConnection: close\r\nContent-Type: application/json";
    let accept = "Accept: application/graphql-response+json";
    let answer = raw(ada, &format!("{head}\r\n{accept}\r\nContent-Length: 1000\r\n\r\n{{\"query\":")).await;
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("UNAVAILABLE"), "{answer}");
    ask(ada, "{ __typename }").await.is_executed();
    kith.finish().await;
}

#[tokio::test]
async fn an_error_of_ours_shows_an_id_and_no_words() {
    let kith = Kith::start().await;
    kith.sql().await.batch("ALTER TABLE users RENAME COLUMN bio TO secret_bio").await;
    let reply = ask(kith.anonymous(), "{ user(handle: \"ada\") { id } }").await;
    assert_eq!(reply.status, 200, "{reply:#?}");
    assert!(reply.body.get("data").is_some() && reply.body["data"]["user"].is_null(), "{reply:#?}");
    let error = &reply.body["errors"][0];
    assert_eq!(error["extensions"]["code"], "INTERNAL", "{reply:#?}");
    assert_eq!(error["extensions"]["requestId"], reply.header("x-request-id"));
    assert!(!reply.body.to_string().contains("bio"), "{reply:#?}");
}

#[tokio::test]
async fn a_request_is_called_by_one_id() {
    let kith = Kith::start().await;
    let call = |id: &str| {
        let request = kith.anonymous().raw(Method::POST, "/graphql").header("x-request-id", id);
        send(request.json(&json!({ "query": "{ __typename }" })))
    };
    assert_eq!(call("web-1.2:3_4").await.header("x-request-id"), "web-1.2:3_4");
    for bad in ["", "a b", "a;b", &"a".repeat(129)] {
        let given = call(bad).await.header("x-request-id").to_owned();
        assert_eq!((given.len(), given.as_bytes()[14]), (36, b'7'), "{bad}: {given}");
    }
    assert_ne!(call("a b").await.header("x-request-id"), call("a b").await.header("x-request-id"));
    let reply = send(kith.anonymous().raw(Method::GET, "/nowhere")).await;
    assert_eq!((reply.status, reply.header("x-request-id").len()), (404, 36));
}

#[tokio::test]
async fn a_body_has_a_limit() {
    let kith = Kith::start_with(|config| config.body_limit = 1000).await;
    let body = |length: usize| {
        let empty = r#"{"query":"{ __typename }","x":""}"#;
        format!(r#"{{"query":"{{ __typename }}","x":"{}"}}"#, "x".repeat(length - empty.len()))
    };
    let post = |length| {
        let request = kith.anonymous().raw(Method::POST, "/graphql").header("content-type", "application/json");
        send(request.body(body(length)))
    };
    post(1000).await.is_executed();
    post(1001).await.is_refused(413, "LIMIT_EXCEEDED");
    let chunked = "POST /graphql HTTP/1.1\r\nHost: kith\r\nConnection: close\r\nContent-Type: application/json\r\n\
        Transfer-Encoding: chunked\r\n\r\n";
    let chunk = format!("3e8\r\n{}\r\n", " ".repeat(1000));
    let answer = raw(kith.anonymous(), &format!("{chunked}{chunk}{chunk}0\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[tokio::test]
async fn a_document_has_limits() {
    let kith = Kith::start().await;
    let client = kith.anonymous();
    let fields = |count: usize| format!("{{ {} }}", "__typename ".repeat(count));
    let aliases = |count: usize| format!("{{ {} }}", "a: __typename ".repeat(count));
    let nested = |count: usize| format!("{{ {} __typename {} }}", "... { ".repeat(count), "}".repeat(count));
    for (within, beyond) in [
        (fields(2000), fields(2001)),
        (aliases(200), aliases(201)),
        (nested(30), nested(31)),
        (nested(1), nested(100_000 / 7)),
    ] {
        ask(client, &within).await.is_executed();
        ask(client, &beyond).await.is_refused(400, "LIMIT_EXCEEDED");
    }
    // 60 brackets are parsed, and must not exhaust the stack; 100 000 are not.
    let list = |count: usize| format!("{{ user(handle: {}{}) {{ id }} }}", "[".repeat(count), "]".repeat(count));
    ask(client, &list(60)).await.is_refused(400, "BAD_USER_INPUT");
    ask(client, &list(100_000)).await.is_refused(400, "LIMIT_EXCEEDED");
}

#[tokio::test]
async fn a_bomb_of_fragments_is_refused_at_once() {
    let kith = Kith::start().await;
    for innermost in ["__typename", "...Nowhere"] {
        let doubled = (1..=28).map(|i| format!("fragment F{i} on Query {{ ...F{} ...F{} }} ", i - 1, i - 1));
        let bomb = format!("{{ ...F28 }} fragment F0 on Query {{ {innermost} }} {}", doubled.collect::<String>());
        let start = Instant::now();
        ask(kith.anonymous(), &bomb).await.is_refused(400, "LIMIT_EXCEEDED");
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }
    let cycle = "{ ...A } fragment A on Query { ...A ...A }";
    ask(kith.anonymous(), cycle).await.is_refused(400, "BAD_USER_INPUT");
}

#[tokio::test]
async fn introspection_is_answered_but_not_without_end() {
    let kith = Kith::start().await;
    let types = |times: usize| {
        format!("{{ __schema {{ types {{ {} name {} }} }} }}", "fields { type { ".repeat(times), "} }".repeat(times))
    };
    ask(kith.anonymous(), &types(2)).await.is_executed();
    ask(kith.anonymous(), &types(5)).await.is_refused(400, "LIMIT_EXCEEDED");
}

#[tokio::test]
async fn a_redis_whose_connections_broke_is_there_at_the_first_look() {
    let redis = RedisServer::start(&[]).await;
    let url = redis.url.clone();
    let kith = Kith::start_with(|config| config.redis_url = url.parse().expect("a URL")).await;
    let ready = async || send(kith.anonymous().raw(Method::GET, "/readyz")).await.status;
    assert_eq!(ready().await, 200);
    let operator = redis::Client::open(redis.url.as_str()).expect("a URL");
    let mut operator = operator.get_multiplexed_async_connection().await.expect("Redis answers");
    for _ in 0..3 {
        // As a restart does, without anybody asking meanwhile.
        let mut kill = redis::cmd("CLIENT");
        let killed: i64 =
            kill.arg("KILL").arg("TYPE").arg("normal").query_async(&mut operator).await.expect("a number");
        assert!(killed > 0);
        assert_eq!(ready().await, 200);
    }
}

#[tokio::test]
async fn a_redis_that_refused_a_connection_is_found_again() {
    let server = RedisServer::start(&["--requirepass", "old"]).await;
    let url = format!("redis://:old@127.0.0.1:{}", server.port);
    let kith = Kith::start_with(|config| config.redis_url = url.parse().expect("a URL")).await;
    let ready = async || send(kith.anonymous().raw(Method::GET, "/readyz")).await.status;
    assert_eq!(ready().await, 200);
    let operator = redis::Client::open(url).expect("a URL");
    let mut operator = operator.get_multiplexed_async_connection().await.expect("Redis answers");
    let mut password = async |password: &str| {
        let mut both = redis::pipe();
        both.cmd("CONFIG").arg("SET").arg("requirepass").arg(password).ignore();
        both.cmd("CLIENT").arg("KILL").arg("TYPE").arg("normal").ignore();
        both.exec_async(&mut operator).await.expect("it does so");
    };
    password("new").await;
    for _ in 0..2 {
        assert_eq!(ready().await, 503);
    }
    password("old").await;
    until("it is found again", async || (ready().await == 200).then_some(())).await;
}

#[tokio::test]
async fn readiness_names_what_is_missing() {
    let kith = Kith::start().await;
    let ready = async || send(kith.anonymous().raw(Method::GET, "/readyz")).await;
    assert_eq!(send(kith.anonymous().raw(Method::GET, "/healthz")).await.status, 200);
    let reply = ready().await;
    assert_eq!((reply.status, &reply.body), (200, &json!({ "status": "ready", "missing": [] })));
    kith.clock.advance(Duration::from_secs(7200));
    assert_eq!(ready().await.body["missing"], json!(["node"]));
    kith.lease().await;
    kith.sql().await.batch("DELETE FROM __diesel_schema_migrations WHERE version = '0001'").await;
    assert_eq!(ready().await.body["missing"], json!(["migrations"]));
    kith.sql().await.batch("DROP TABLE __diesel_schema_migrations").await;
    let reply = ready().await;
    assert_eq!((reply.status, &reply.body["missing"]), (503, &json!(["migrations"])));

    let cut_off = Kith::start_with(|config| config.redis_url = "redis://127.0.0.1:1/0".parse().expect("a URL")).await;
    let reply = send(cut_off.anonymous().raw(Method::GET, "/readyz")).await;
    assert_eq!((reply.status, &reply.body["missing"]), (503, &json!(["redis"])));
    assert_eq!(send(cut_off.anonymous().raw(Method::GET, "/healthz")).await.status, 200);
}

#[tokio::test]
async fn the_playground_is_served_or_says_how_to_get_it() {
    let kith = Kith::start().await;
    let reply = send(kith.anonymous().raw(Method::GET, "/")).await;
    assert_eq!((reply.status, reply.header("x-content-type-options")), (200, "nosniff"));
    let Value::String(page) = &reply.body else { panic!("a page: {reply:#?}") };
    if reply.header("content-type").starts_with("text/html") {
        assert_eq!(reply.header("cache-control"), "no-cache");
        assert!(reply.header("content-security-policy").starts_with("default-src 'self'"), "{reply:#?}");
        let at = page.find("/assets/").expect("it loads its script");
        let path = page[at..].split('"').next().expect("an address");
        let asset = send(kith.anonymous().raw(Method::GET, path)).await;
        assert_eq!((asset.status, asset.header("cache-control")), (200, "public, max-age=31536000, immutable"));
    } else {
        assert!(page.contains("script/playground"), "{page}");
    }
    assert_eq!(send(kith.anonymous().raw(Method::GET, "/assets/nothing.js")).await.status, 404);
    assert_eq!(send(kith.anonymous().raw(Method::GET, "/assets/../index.html")).await.status, 404);
}
