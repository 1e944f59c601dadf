//! Traces as a collector gets them from the real program. Never how they are drawn.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::harness::{Kith, Process, until};

/// A collector: its address, and the bodies of what is sent to it.
async fn collector() -> (String, mpsc::UnboundedReceiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let (sent, received) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(take(stream, sent.clone()));
        }
    });
    (address, received)
}

/// Takes one request after the other, as its head says how long it is.
async fn take(mut stream: TcpStream, sent: mpsc::UnboundedSender<Vec<u8>>) {
    let mut bytes = Vec::new();
    loop {
        let head = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let length = head.and_then(|end| {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            assert!(head.starts_with("post /v1/traces ") && head.contains("application/x-protobuf"), "{head}");
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok())?;
            Some(end + 4 + length)
        });
        match (head, length) {
            (Some(end), Some(length)) if bytes.len() >= length => {
                let _ = sent.send(bytes[end + 4..length].to_vec());
                bytes.drain(..length);
                let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
                stream.write_all(answer.as_bytes()).await.expect("it reads");
            }
            _ => match stream.read_buf(&mut bytes).await {
                Ok(1..) => {}
                _ => return,
            },
        }
    }
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[tokio::test]
async fn a_collector_gets_the_trace_of_a_caller_its_operation_and_the_jobs_and_no_secret() {
    let kith = Kith::start().await;
    let (address, mut received) = collector().await;
    let environment = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
        // Only what the end of the process flushes.
        ("OTEL_BSP_SCHEDULE_DELAY", "3600000"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=the-test"),
        ("KITH_LOG", "debug"),
    ];
    let (mut served, log) = Process::serve_logged(&kith, &environment).await;
    let trace = "0123456789abcdef0123456789abcdef";
    let sign_up = json!({
        "query": "mutation Traced($p: String!) { signUp(input: { handle: \"ada\", displayName: \"A\", password: $p }) { tokens { accessToken } } }",
        "variables": { "p": "never-in-a-trace" },
    });
    let request = served.client.raw(reqwest::Method::POST, "/graphql").json(&sign_up);
    let answer =
        request.header("traceparent", format!("00-{trace}-0123456789abcdef-01")).send().await.expect("an answer");
    let answer: serde_json::Value = answer.json().await.expect("JSON");
    let token = answer["data"]["signUp"]["tokens"]["accessToken"].as_str().expect("a token").to_owned();
    let ada = served.client.with_token(&token);
    ada.query("mutation { postMessage(input: { content: \"never-in-a-trace\" }) { message { id } } }", json!({}))
        .await
        .data();
    let sql = kith.sql().await;
    let jobs = "SELECT count(*) FROM jobs";
    until("the job is done", async || (sql.one::<i64>(jobs, &[]).await == 0).then_some(())).await;
    served.signal("TERM");
    assert!(served.ended().await);
    let mut all = Vec::new();
    while let Ok(body) = received.try_recv() {
        all.extend(body);
    }
    for part in ["request", "mutation Traced", "/graphql", "job", "message_posted", "kith", "the-test"] {
        assert!(has(&all, part.as_bytes()), "no {part}");
    }
    let id: Vec<u8> = (0..16).map(|at| u8::from_str_radix(&trace[2 * at..2 * at + 2], 16).expect("hex")).collect();
    assert!(has(&all, &id), "the caller's trace goes on");
    for secret in ["never-in-a-trace", &token] {
        assert!(!has(&all, secret.as_bytes()), "{secret}");
    }
    assert!(!has(&all, b"reqwest") && !has(&all, b"hyper"), "the export is not exported");
    assert!(!log.join().expect("a log").contains("never-in-a-trace"));
}

#[tokio::test]
async fn a_collector_that_is_away_or_never_answers_keeps_nobody_waiting() {
    let kith = Kith::start().await;
    // It takes the connection, by the operating system, and no more.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let silent = format!("http://{}", listener.local_addr().expect("an address"));
    for address in ["http://127.0.0.1:1", &silent] {
        let mut served = Process::serve(&kith, &[("OTEL_EXPORTER_OTLP_ENDPOINT", address)]).await;
        served.client.query("{ __typename }", json!({})).await.data();
        served.signal("TERM");
        assert!(served.ended().await, "{address}");
    }
}
