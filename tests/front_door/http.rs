//! `/graphql` against the GraphQL over HTTP specification: media types, status codes, methods, parameters.
//! Never what a field answers.

use reqwest::header::{HeaderMap, HeaderName};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::harness::{Client, Kith, raw};

const RESPONSE: &str = "application/graphql-response+json";
const JSON: &str = "application/json";

/// What came back, whatever it is.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Reply {
    pub fn header(&self, name: &str) -> &str {
        let name: HeaderName = name.parse().expect("a name");
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }

    /// A request that was not executed: errors with this code and no `data`.
    #[track_caller]
    pub fn is_refused(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{self:#?}");
        assert!(self.body.get("data").is_none(), "{self:#?}");
        assert_eq!(self.body["errors"][0]["extensions"]["code"], code, "{self:#?}");
        assert!(self.body["errors"][0]["message"].is_string(), "{self:#?}");
    }

    #[track_caller]
    pub fn is_executed(&self) {
        assert_eq!(self.status, 200, "{self:#?}");
        assert!(self.body.get("errors").is_none(), "{self:#?}");
        assert!(self.body["data"].is_object(), "{self:#?}");
    }
}

pub async fn send(request: RequestBuilder) -> Reply {
    let response = request.send().await.expect("the server answers");
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.expect("a whole body");
    Reply { status, headers, body: serde_json::from_str(&text).unwrap_or(Value::String(text)) }
}

async fn post(client: &Client, accept: &str, body: Value) -> Reply {
    send(client.raw(Method::POST, "/graphql").header("accept", accept).json(&body)).await
}

async fn get(client: &Client, accept: &str, parameters: &[(&str, &str)]) -> Reply {
    send(client.raw(Method::GET, "/graphql").header("accept", accept).query(parameters)).await
}

#[tokio::test]
async fn the_answer_comes_in_the_type_that_is_accepted() {
    let kith = Kith::start().await;
    let client = kith.anonymous();
    for (accept, content_type) in [
        (RESPONSE, "application/graphql-response+json; charset=utf-8"),
        (JSON, "application/json; charset=utf-8"),
        ("*/*", "application/json; charset=utf-8"),
        ("application/*", "application/json; charset=utf-8"),
        ("text/html, application/json;q=0.5, application/graphql-response+json;q=0.6", RESPONSE),
    ] {
        let reply = post(client, accept, json!({ "query": "{ __typename }" })).await;
        reply.is_executed();
        assert!(reply.header("content-type").starts_with(content_type), "{accept}: {reply:#?}");
    }
    post(client, "text/html", json!({ "query": "{ __typename }" })).await.is_refused(406, "BAD_USER_INPUT");

    let body = r#"{"query":"{ __typename }"}"#;
    let length = body.len();
    let head = "POST /graphql HTTP/1.1\r\nHost: kith\r\nConnection: close\r\nContent-Type: application/json";
    let answer = raw(client, &format!("{head}\r\nContent-Length: {length}\r\n\r\n{body}")).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("content-type: application/json; charset=utf-8\r\n"), "{answer}");
}

#[tokio::test]
async fn only_json_in_utf8_is_executed() {
    let kith = Kith::start().await;
    let client = kith.anonymous();
    let request = |content_type: &str, body: &'static [u8]| {
        let request = client.raw(Method::POST, "/graphql").header("accept", JSON).body(body);
        send(if content_type.is_empty() { request } else { request.header("content-type", content_type) })
    };
    let body = r#"{"query":"{ user(handle: \"ädä🏃\") { id } }"}"#.as_bytes();
    for content_type in [JSON, "application/json; charset=utf-8", "application/json;charset=UTF-8"] {
        request(content_type, body).await.is_executed();
    }
    for content_type in [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/graphql",
        "application/json; charset=utf-16",
    ] {
        request(content_type, body).await.is_refused(415, "BAD_USER_INPUT");
    }
    request(JSON, b"{\"query\":\"\xff\"}").await.is_refused(400, "BAD_USER_INPUT");
    let compressed = client.raw(Method::POST, "/graphql").header("content-encoding", "gzip").json(&json!({}));
    send(compressed).await.is_refused(415, "BAD_USER_INPUT");
}

#[tokio::test]
async fn parameters_of_the_wrong_type_are_no_request() {
    let kith = Kith::start().await;
    let client = kith.anonymous();
    for accept in [RESPONSE, JSON] {
        for body in ["", "NONSENSE", "{\"query\":", "7", "null", "[]", "[{\"query\":\"{ __typename }\"}]"] {
            let request = client.raw(Method::POST, "/graphql").header("accept", accept);
            send(request.header("content-type", JSON).body(body)).await.is_refused(400, "BAD_USER_INPUT");
        }
        for body in [json!({}), json!({ "qeury": "{ __typename }" }), json!({ "query": null })] {
            post(client, accept, body).await.is_refused(400, "BAD_USER_INPUT");
        }
        for wrong in [json!({ "a": 1 }), json!(0), json!(false), json!(["a"])] {
            post(client, accept, json!({ "query": wrong })).await.is_refused(400, "BAD_USER_INPUT");
            let body = json!({ "query": "{ __typename }", "operationName": wrong });
            post(client, accept, body).await.is_refused(400, "BAD_USER_INPUT");
        }
        for parameter in ["variables", "extensions"] {
            for wrong in [json!("{}"), json!(0), json!(false), json!(["a"])] {
                let body = json!({ "query": "{ __typename }", parameter: wrong });
                post(client, accept, body).await.is_refused(400, "BAD_USER_INPUT");
            }
        }
        let nothing =
            json!({ "query": "{ __typename }", "operationName": null, "variables": null, "extensions": null });
        post(client, accept, nothing).await.is_executed();
        let everything = json!({
            "query": "query A($h: String!) { user(handle: $h) { id } } query B { __typename }",
            "operationName": "A", "variables": { "h": "nobody" }, "extensions": { "a": 1 },
        });
        post(client, accept, everything).await.is_executed();
    }
}

#[tokio::test]
async fn request_errors_are_400_in_the_new_type_and_200_in_the_old() {
    let kith = Kith::start().await;
    let client = kith.anonymous();
    let variable = "query($h: String!) { user(handle: $h) { id } }";
    for (body, field) in [
        (json!({ "query": "{" }), None),
        (json!({ "query": "" }), None),
        (json!({ "query": "{ nope }" }), None),
        (json!({ "query": "query A { __typename } query B { __typename }" }), Some("operationName")),
        (json!({ "query": "query A { __typename }", "operationName": "B" }), Some("operationName")),
        (json!({ "query": "{ __typename }", "operationName": "B" }), Some("operationName")),
        (json!({ "query": "subscription { a }" }), None),
        (json!({ "query": "{ user(handle: 7) { id } }" }), Some("handle")),
        (json!({ "query": variable }), Some("h")),
        (json!({ "query": variable, "variables": { "h": null } }), Some("h")),
        (json!({ "query": variable, "variables": { "h": 7 } }), Some("handle")),
        (json!({ "query": variable, "variables": { "h": ["a"] } }), Some("handle")),
    ] {
        let reply = post(client, RESPONSE, body.clone()).await;
        reply.is_refused(400, "BAD_USER_INPUT");
        assert_eq!(reply.body["errors"][0]["extensions"]["field"].as_str(), field, "{body}");
        post(client, JSON, body).await.is_refused(200, "BAD_USER_INPUT");
    }
    let reply = post(client, RESPONSE, json!({ "query": "{ vieweer { id } }" })).await;
    assert!(!reply.body.to_string().contains("Did you mean"), "{reply:#?}");
}

#[tokio::test]
async fn an_error_of_a_field_is_a_200_with_data() {
    let kith = Kith::start().await;
    let client = kith.anonymous();
    let query = "{ node(id: \"nothing\") { id } user(handle: \"nobody\") { id } feed(first: 0) { nodes { id } } }";
    for accept in [RESPONSE, JSON] {
        let reply = post(client, accept, json!({ "query": query })).await;
        assert_eq!(reply.status, 200, "{reply:#?}");
        assert!(reply.body.get("data").is_some(), "{reply:#?}");
        let errors = reply.body["errors"].as_array().expect("an error");
        assert!(errors.iter().all(|error| error["path"][0] == "feed"), "{reply:#?}");
        assert!(errors.iter().all(|error| error["extensions"]["code"].is_string()), "{reply:#?}");
    }
}

#[tokio::test]
async fn get_asks_and_never_writes() {
    let kith = Kith::start().await;
    let ada = kith.sign_up("ada").await;
    let by_handle = "query A($h: String!) { user(handle: $h) { handle } } query B { __typename }";
    for accept in [RESPONSE, JSON] {
        get(&ada, accept, &[("query", "{ __typename }")]).await.is_executed();
        let parameters = [("query", by_handle), ("operationName", "A"), ("variables", r#"{"h":"ada"}"#)];
        let reply = get(&ada, accept, &parameters).await;
        reply.is_executed();
        assert_eq!(reply.body["data"]["user"]["handle"], "ada");
        for wrong in [
            &[][..],
            &[("query", "{ __typename }"), ("variables", "NONSENSE")],
            &[("query", "{ __typename }"), ("variables", "[]")],
            &[("query", "{ __typename }"), ("extensions", "7")],
            &[("query", "{ __typename }"), ("query", "{ __typename }")],
        ] {
            get(&ada, accept, wrong).await.is_refused(400, "BAD_USER_INPUT");
        }
        let mutation = "mutation { postMessage(input: { content: \"By GET.\" }) { message { id } } }";
        let reply = get(&ada, accept, &[("query", mutation)]).await;
        reply.is_refused(405, "BAD_USER_INPUT");
        assert_eq!(reply.header("allow"), "POST");
    }
    assert_eq!(kith.sql().await.one::<i64>("SELECT count(*) FROM messages", &[]).await, 0);
    kith.finish().await;
}

#[tokio::test]
async fn other_methods_are_named_in_allow() {
    let kith = Kith::start().await;
    for method in [Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS] {
        let reply = send(kith.anonymous().raw(method, "/graphql")).await;
        reply.is_refused(405, "BAD_USER_INPUT");
        assert_eq!(reply.header("allow"), "GET, POST");
    }
}

#[tokio::test]
async fn what_is_left_out_of_the_variables_is_left_out() {
    let kith = Kith::start().await;
    let ada = kith.sign_up("ada").await;
    let update = "mutation($name: String, $bio: String) {
        updateProfile(input: { displayName: $name, bio: $bio }) { user { displayName bio } }
    }";
    ada.query(update, json!({ "bio": "Numbers." })).await.data();
    let answer = ada.query(update, json!({ "name": "Ada" })).await;
    assert_eq!(*answer.at("/updateProfile/user"), json!({ "displayName": "Ada", "bio": "Numbers." }));
    let flag = "query($with: Boolean! = true) { user(handle: \"ada\") { handle bio @include(if: $with) } }";
    assert_eq!(ada.query(flag, json!({})).await.text("/user/bio"), "Numbers.");
}

#[tokio::test]
async fn pages_of_other_origins_may_call_if_they_are_listed() {
    let kith = Kith::start_with(|config| config.allowed_origins = "https://app.example".parse().expect("valid")).await;
    let client = kith.anonymous();
    let preflight = |origin: &str| {
        let request = client.raw(Method::OPTIONS, "/graphql").header("origin", origin);
        let request = request.header("access-control-request-method", "POST");
        send(request.header("access-control-request-headers", "authorization,content-type"))
    };
    let call = |origin: &str| {
        send(client.raw(Method::POST, "/graphql").header("origin", origin).json(&json!({ "query": "{ __typename }" })))
    };
    let reply = preflight("https://app.example").await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, "https://app.example"));
    assert!(reply.header("access-control-allow-headers").contains("authorization"), "{reply:#?}");
    assert_eq!(call("https://app.example").await.header("access-control-allow-origin"), "https://app.example");
    assert_eq!(preflight("https://evil.example").await.header("access-control-allow-origin"), "");
    // The playground itself comes with its own origin; what is denied to others is for their browser to read it.
    let reply = call("https://evil.example").await;
    reply.is_executed();
    assert_eq!(reply.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn a_field_that_stands_twice_is_run_once() {
    let kith = Kith::start().await;
    let ada = &kith.people(1).await[0];
    let count = async || kith.sql().await.one::<i64>("SELECT count(*) FROM messages", &[]).await;
    let post = |fields: &str| format!("postMessage(input: {{ content: \"once\" }}) {{ message {{ {fields} }} }}");
    let included = |field: &str| field.replace(") {", ") @include(if: $yes) {");
    let (id, content) = (post("id"), post("content"));
    for (times, document) in [
        format!("mutation {{ {id} {content} }}"),
        format!("mutation {{ {id} ... {{ {content} }} ... on Mutation {{ {id} }} }}"),
        format!("mutation {{ ...A ...B ...A }} fragment A on Mutation {{ {id} }} fragment B on Mutation {{ ...A {content} }}"),
        format!("mutation {{ ...A }} fragment A on Mutation {{ {id} {content} }}"),
        format!("mutation($yes: Boolean! = true) {{ {} {} }}", included(&id), included(&content)),
    ]
    .into_iter()
    .enumerate()
    {
        let answer = ada.query(&document, json!({})).await;
        assert_eq!(answer.text("/postMessage/message/content"), "once", "{document}");
        answer.text("/postMessage/message/id");
        assert_eq!(count().await, times as i64 + 1, "{document}");
    }
    // What has a name of its own is another one, and what differs may not stand together.
    let before = count().await;
    ada.query(&format!("mutation {{ {id} another: {id} }}"), json!({})).await.data();
    assert_eq!(count().await, before + 2);
    let other = content.replace("once", "twice");
    let unused = "fragment C on Mutation { __typename }";
    for refused in [format!("mutation {{ {id} {other} }}"), format!("mutation {{ {id} }} {unused}")] {
        assert_eq!(ada.query(&refused, json!({})).await.code(), "BAD_USER_INPUT", "{refused}");
    }
    assert_eq!(count().await, before + 2);
    kith.drain().await;
}
