//! The log of the real program: what an operator finds in it, and what nobody may find. Never how it looks.

use reqwest::Method;
use serde_json::{Value, json};
use url::Url;

use crate::harness::{Kith, Process, until};

const PASSWORD: &str = "never-in-a-log-password";
const TEXT: &str = "never-in-a-log-text";
const NAME: &str = "never-in-a-log-name";

#[tokio::test]
async fn the_log_tells_who_asked_what_and_how_it_ended_and_no_secret_whatever_is_logged() {
    let kith = Kith::start().await;
    // All that can be asked for, of Kith and of every library.
    let (mut served, log) = Process::serve_logged(&kith, &[("KITH_LOG", "trace"), ("KITH_LOG_FORMAT", "json")]).await;
    let client = &served.client;
    let sign_up =
        "mutation SignUp($input: SignUpInput!) { signUp(input: $input) { tokens { accessToken refreshToken } } }";
    let input = json!({ "handle": "ada", "displayName": NAME, "password": PASSWORD });
    let signed_up = client.query(sign_up, json!({ "input": input })).await;
    let log_in = "mutation LogIn($input: LogInInput!) { logIn(input: $input) { tokens { accessToken refreshToken } } }";
    let logged_in = client.query(log_in, json!({ "input": { "handle": "ada", "password": PASSWORD } })).await;
    let wrong = json!({ "input": { "handle": "ada", "password": format!("{PASSWORD}-wrong") } });
    assert_eq!(client.query(log_in, wrong).await.code(), "UNAUTHENTICATED");
    let refresh =
        "mutation Refresh($input: RefreshSessionInput!) { refreshSession(input: $input) { tokens { accessToken } } }";
    let refresh_token = signed_up.text("/signUp/tokens/refreshToken");
    let refreshed = client.query(refresh, json!({ "input": { "refreshToken": refresh_token } })).await;
    let ada = client.with_token(&logged_in.text("/logIn/tokens/accessToken"));
    let post = "mutation Post($input: PostMessageInput!) { postMessage(input: $input) { message { id } } }";
    ada.query(post, json!({ "input": { "content": TEXT, "idempotencyKey": "never-in-a-log-key" } })).await.data();
    let inline = format!("mutation {{ postMessage(input: {{ content: \"{TEXT}\" }}) {{ message {{ content }} }} }}");
    ada.query(&inline, json!({})).await.data();
    ada.query("query Feed { feed { nodes { content } } }", json!({})).await.data();
    let by_address = ada.raw(Method::GET, "/graphql").query(&[
        ("query", "query Byaddress($h: String!) { userByHandle(handle: $h) { id } }"),
        ("variables", &json!({ "h": TEXT }).to_string()),
    ]);
    by_address.send().await.expect("an answer");
    let failing = client
        .with_token("never-in-a-log-token")
        .raw(Method::POST, "/graphql")
        .header("x-request-id", "the-failing-one");
    assert!(failing.json(&json!({ "query": "query Failing { viewer { user { id } } }" })).send().await.is_ok());
    let refused = client.raw(Method::POST, "/graphql").header("x-request-id", "the-refused-one");
    let unknown = json!({ "query": "mutation Refused { postMessage(input: { content: \"\" }) { message { id } } }" });
    assert!(refused.json(&unknown).send().await.is_ok());
    let jobs = "SELECT count(*) FROM jobs";
    let sql = kith.sql().await;
    until("the jobs are done", async || (sql.one::<i64>(jobs, &[]).await == 0).then_some(())).await;
    served.signal("TERM");
    assert!(served.ended().await);
    let log = log.join().expect("a log");

    let password_of = |url: &str| Url::parse(url).expect("a URL").password().expect("a password").to_owned();
    for secret in [
        PASSWORD,
        TEXT,
        NAME,
        "never-in-a-log",
        &signed_up.text("/signUp/tokens/accessToken"),
        &refresh_token,
        &logged_in.text("/logIn/tokens/accessToken"),
        &logged_in.text("/logIn/tokens/refreshToken"),
        &refreshed.text("/refreshSession/tokens/accessToken"),
        &password_of(kith.config.database_url.as_str()),
        &password_of(kith.config.redis_url.as_str()),
        "AAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2",
    ] {
        // As it is, and as a list of bytes, which is how libraries write the values of a statement.
        let bytes = format!("{:?}", secret.as_bytes());
        let bytes = bytes.trim_matches(['[', ']']);
        let found = log.lines().find(|line| line.contains(secret) || line.contains(bytes));
        assert_eq!(found, None, "{secret}");
    }
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    let answered: Vec<&Value> = lines.iter().filter(|line| line["message"] == "answered").collect();
    let of = |name: &str| {
        let found = answered.iter().find(|line| line["span"]["operation"] == name);
        *found.unwrap_or_else(|| panic!("no line of {name} in {log}"))
    };
    for (name, kind, outcome) in [
        ("SignUp", "mutation", "ok"),
        ("Post", "mutation", "ok"),
        ("Feed", "query", "ok"),
        ("Refused", "mutation", "UNAUTHENTICATED"),
    ] {
        let line = of(name);
        assert_eq!((&line["span"]["type"], &line["span"]["outcome"]), (&json!(kind), &json!(outcome)), "{line}");
        assert!(line["span"]["id"].is_string() && line["ms"].is_u64() && line["span"]["status"].is_u64(), "{line}");
    }
    assert_eq!(of("Refused")["span"]["id"], "the-refused-one");
    let failing = answered.iter().find(|line| line["span"]["id"] == "the-failing-one").expect("its line");
    assert_eq!(failing["span"]["outcome"], "UNAUTHENTICATED");
    let job =
        lines.iter().find(|line| line["span"]["name"] == "job" && line["outcome"] == "done").expect("a job's line");
    assert!(job["span"]["id"].is_i64() && job["span"]["kind"].is_string(), "{job}");
}
