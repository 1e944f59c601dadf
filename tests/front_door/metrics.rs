//! What operators are told: metrics, readiness, and how a process ends. Never whether a number is good: that is for alert
//! rules.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::Utc;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Client, Kith, Process, Walk, until};

/// The address for operators of a process, on a port that was free a moment ago.
fn ops_addr() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").to_string()
}

/// What an operator reads there.
pub async fn scrape(client: &Client) -> String {
    let answer = client.raw(Method::GET, "/metrics").send().await.expect("an answer");
    assert!(answer.status().is_success());
    answer.text().await.expect("a text")
}

/// The value of a sample, written as it stands in the scrape.
#[track_caller]
pub fn value(scrape: &str, sample: &str) -> f64 {
    let line = scrape.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {sample} in {scrape}")).parse().expect("a number")
}

#[tokio::test]
async fn what_happens_is_counted() {
    let kith = Kith::start().await;
    let ops = kith.ops();
    let people = kith.people(2).await;
    let (ada, ben) = (&people[0], &people[1]);
    ben.follow(ada).await;
    ben.walk(Walk::First(7)).await;
    kith.drain().await;
    ada.post("counted").await;
    ben.walk(Walk::First(7)).await;
    let before = scrape(&ops).await;
    for (sample, expected) in [
        ("kith_jobs{state=\"due\"}", 1.0),
        ("kith_in_flight_messages", 1.0),
        ("kith_feed_reads_total{source=\"no_inbox\"}", 1.0),
        ("kith_feed_reads_total{source=\"inbox\"}", 1.0),
    ] {
        assert_eq!(value(&before, sample), expected, "{sample}");
    }
    kith.advance(Duration::from_secs(90)).await;
    let waiting = scrape(&ops).await;
    assert_eq!(value(&waiting, "kith_jobs_overdue_seconds"), 88.0);
    assert_eq!(value(&waiting, "kith_in_flight_oldest_seconds"), 90.0);
    kith.drain().await;
    ada.query("query Mine { viewer { user { handle } } }", json!({})).await.data();
    ada.query("mutation Bad { followUser(input: { userId: \"no\" }) { user { id } } }", json!({})).await.code();
    ada.query("query Unknown { nothing }", json!({})).await.code();
    kith.anonymous().raw(Method::GET, "/nowhere").send().await.expect("an answer");
    let after = scrape(&ops).await;
    for (sample, expected) in [
        ("kith_jobs{state=\"due\"}", 0.0),
        ("kith_jobs_overdue_seconds", 0.0),
        ("kith_in_flight_oldest_seconds", 0.0),
        ("kith_job_steps_total{kind=\"message_posted\",outcome=\"done\"}", 1.0),
        ("kith_job_steps_total{kind=\"inbox_missed\",outcome=\"done\"}", 1.0),
        ("kith_job_step_duration_seconds_count{kind=\"inbox_missed\"}", 1.0),
        ("kith_inbox_builds_total", 1.0),
        ("kith_deliveries_total{tier=\"few\"}", 1.0),
        ("kith_delivery_lag_seconds_count{tier=\"few\"}", 1.0),
        ("kith_delivery_lag_seconds_sum{tier=\"few\"}", 90.0),
        ("kith_graphql_operations_total{operation=\"Mine\",kind=\"query\",outcome=\"ok\"}", 1.0),
        ("kith_graphql_operations_total{operation=\"Bad\",kind=\"mutation\",outcome=\"BAD_USER_INPUT\"}", 1.0),
        ("kith_graphql_operations_total{operation=\"other\",kind=\"query\",outcome=\"BAD_USER_INPUT\"}", 1.0),
        ("kith_graphql_operation_duration_seconds_count{operation=\"Mine\",kind=\"query\"}", 1.0),
        ("kith_http_requests_total{route=\"other\",status=\"404\"}", 1.0),
        ("kith_postgres_up", 1.0),
        ("kith_redis_up", 1.0),
        ("kith_node_lease_held", 1.0),
        ("kith_connections_max{pool=\"requests\"}", 16.0),
        ("kith_store_errors_total{store=\"postgres\",kind=\"refused\"}", 0.0),
        ("kith_store_errors_total{store=\"redis\",kind=\"unavailable\"}", 0.0),
    ] {
        assert_eq!(value(&after, sample), expected, "{sample}");
    }
    assert!(value(&after, "kith_http_requests_total{route=\"/graphql\",status=\"200\"}") > 5.0);
    assert!(value(&after, "kith_process_resident_memory_bytes") > 1e6);
    let started = value(&after, "kith_process_start_time_seconds");
    assert!((0.0..3600.0).contains(&(Utc::now().timestamp() as f64 + 1.0 - started)), "{started}");
}

#[tokio::test]
async fn an_inbox_that_is_cut_and_who_waits_for_a_connection_are_told() {
    let kith = Kith::start_with(|config| config.database_pool = 1).await;
    let ops = kith.ops();
    let people = kith.people(2).await;
    people[1].follow(&people[0]).await;
    people[1].walk(Walk::First(7)).await;
    kith.drain().await;
    for _ in 0..150 {
        people[0].post("again").await;
    }
    kith.drain().await;
    assert!(value(&scrape(&ops).await, "kith_inbox_trims_total") >= 1.0);
    let held = kith.app.db.get().await.expect("the only connection");
    let waits = people[0].query("{ viewer { user { handle } } }", json!({}));
    let told = until("somebody waits", async || {
        let told = scrape(&ops).await;
        (value(&told, "kith_connection_waiters{pool=\"requests\"}") >= 1.0).then_some(told)
    });
    let (told, ()) = tokio::join!(told, async { drop(waits.await) });
    assert_eq!(value(&told, "kith_connections_idle{pool=\"requests\"}"), 0.0);
    drop(held);
    let after = scrape(&ops).await;
    assert!(value(&after, "kith_connection_wait_seconds_total{pool=\"requests\"}") > 0.0);
    assert!(value(&after, "kith_store_errors_total{store=\"postgres\",kind=\"no_connection\"}") >= 1.0);
}

#[tokio::test]
async fn a_scrape_without_postgres_and_redis_tells_the_rest() {
    let kith = Kith::start_with(|config| config.redis_url = "redis://127.0.0.1:1/0".parse().expect("a URL")).await;
    let ops = kith.ops();
    assert_eq!(value(&scrape(&ops).await, "kith_jobs{state=\"due\"}"), 0.0);
    let sql = kith.sql().await;
    sql.batch("BEGIN; LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE").await;
    let text = scrape(&ops).await;
    assert_eq!((value(&text, "kith_postgres_up"), value(&text, "kith_redis_up")), (0.0, 0.0));
    assert!(value(&text, "kith_jobs{state=\"due\"}").is_nan(), "an old number would look like a new one");
    assert_eq!(value(&text, "kith_http_requests_total{route=\"other\",status=\"200\"}"), 0.0);
    assert!(value(&text, "kith_store_errors_total{store=\"redis\",kind=\"unavailable\"}") >= 1.0);
    assert_eq!(value(&text, "kith_store_errors_total{store=\"postgres\",kind=\"unavailable\"}"), 1.0);
    sql.batch("COMMIT").await;
    assert_eq!(value(&scrape(&ops).await, "kith_jobs{state=\"due\"}"), 0.0);
}

/// The families of a scrape, by the lines that describe them, and what each is.
fn families(scrape: &str) -> BTreeSet<(String, String)> {
    let described = scrape.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    described
        .map(|line| {
            let (name, kind) = line.split_once(' ').expect("a type");
            (name.to_owned(), kind.to_owned())
        })
        .collect()
}

#[tokio::test]
async fn the_document_and_the_alerts_name_the_metrics_that_there_are() {
    let kith = Kith::start().await;
    // The first scrape of all: nothing has happened, and every family is there.
    let told = families(&scrape(&kith.ops()).await);
    let document = include_str!("../../docs/metrics.md");
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `"));
    let documented: BTreeSet<(String, String)> = rows
        .map(|row| {
            let (name, rest) = row.split_once("` | ").expect("a row");
            (name.to_owned(), rest.split(' ').next().expect("a type").to_owned())
        })
        .collect();
    assert_eq!(documented, told);
    let rules = include_str!("../../deploy/alerts.yml");
    let names: BTreeSet<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    let named = rules.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.starts_with("kith_"));
    for name in named {
        let family = ["_count", "_sum", "_bucket"].iter().find_map(|end| name.strip_suffix(end));
        assert!(names.contains(name) || family.is_some_and(|family| names.contains(family)), "{name}");
    }
    let heading = |line: &str| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    let anchors: BTreeSet<String> = document.lines().filter(|line| line.starts_with('#')).map(heading).collect();
    for rule in rules.split("- alert: ").skip(1) {
        for part in ["expr: ", "severity: ", "summary: ", "description: "] {
            assert!(rule.contains(part), "no {part} in {rule}");
        }
        let link = rule.split("docs/metrics.md#").nth(1).unwrap_or_else(|| panic!("no way on from {rule}"));
        let anchor: String = link.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        assert!(anchors.contains(&anchor), "{anchor}");
    }
}

#[tokio::test]
async fn operators_have_an_address_of_their_own() {
    let kith = Kith::start().await;
    let addr = ops_addr();
    let served = Process::serve(&kith, &[("KITH_OPS_ADDR", &addr)]).await;
    let ops = Client::new(format!("http://{addr}"));
    assert!(scrape(&ops).await.contains("kith_build_info{version="));
    let public = served.client.raw(Method::GET, "/metrics").send().await.expect("an answer");
    assert_eq!(public.status(), 404, "not for strangers");
    let public = kith.anonymous().raw(Method::GET, "/metrics").send().await.expect("an answer");
    assert_eq!(public.status(), 404, "nor when operators have no address");
    let worker_addr = ops_addr();
    let _worker = Process::spawn(&kith, &["worker"], &[("KITH_OPS_ADDR", &worker_addr)]);
    let ops = Client::new(format!("http://{worker_addr}"));
    until("the worker is ready", async || {
        let ready = ops.raw(Method::GET, "/readyz").send().await.ok()?;
        ready.status().is_success().then_some(())
    })
    .await;
    assert!(scrape(&ops).await.contains("kith_job_steps"));
}

#[tokio::test]
async fn a_request_under_way_is_answered_and_the_process_is_not_ready_meanwhile() {
    let kith = Kith::start().await;
    let ada = kith.people(1).await.remove(0);
    let addr = ops_addr();
    let mut served = Process::serve(&kith, &[("KITH_OPS_ADDR", &addr), ("KITH_NO_WORKER", "true")]).await;
    // The process reads the machine's clock.
    let token = kith.app.tokens.issue(ada.viewer, Utc::now()).expect("a token");
    let client = served.client.with_token(&token);
    let sql = kith.sql().await;
    sql.batch("BEGIN; SELECT user_id FROM user_counters FOR UPDATE").await;
    let post = "mutation { postMessage(input: { content: \"answered all the same\" }) { message { id } } }";
    let posting = tokio::spawn(async move { client.query(post, json!({})).await });
    let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))";
    until("it waits", async || (sql.one::<i64>(waiting, &[]).await == 1).then_some(())).await;
    served.signal("TERM");
    let ops = Client::new(format!("http://{addr}"));
    until("it says that it is not ready", async || {
        let ready = ops.raw(Method::GET, "/readyz").send().await.ok()?;
        let body: Value = ready.json().await.ok()?;
        (body["missing"] == json!(["ending"])).then_some(())
    })
    .await;
    sql.batch("COMMIT").await;
    posting.await.expect("it was sent").text("/postMessage/message/id");
    assert!(served.ended().await);
    let free = "SELECT count(*) FROM nodes WHERE leased_until > now()";
    assert_eq!(sql.one::<i64>(free, &[]).await, 1, "that of the test itself");
    // Whoever takes the number over starts above its high water, and would make ids of the future if it lay ahead.
    let ahead =
        "SELECT count(*) FROM nodes WHERE leased_until <= now() AND high_water > 1000 * extract(epoch FROM now())";
    assert_eq!(sql.one::<i64>(ahead, &[]).await, 0);
    let id: i64 = sql.one("SELECT id FROM messages", &[]).await;
    let below = "SELECT count(*) FROM nodes WHERE leased_until <= now() AND high_water < $1";
    assert_eq!(sql.one::<i64>(below, &[&kith::ids::ms_of(id)]).await, 0, "what was used stays used");
}

#[tokio::test]
async fn a_server_that_drains_still_answers_and_is_not_ready() {
    let kith = Kith::start().await;
    let mut served = Process::serve(&kith, &[("KITH_DRAIN", "2")]).await;
    served.signal("TERM");
    // At the address of everybody, by new connections.
    until("it says that it is not ready", async || {
        let client = Client::new(format!("http://{}", served.client.address()));
        let ready = client.raw(Method::GET, "/readyz").send().await.expect("it takes requests");
        (ready.status() == 503).then_some(())
    })
    .await;
    served.client.query("{ __typename }", json!({})).await.data();
    assert!(served.ended().await);
}

#[tokio::test]
async fn a_job_that_takes_too_long_is_handed_back() {
    let kith = Kith::start().await;
    let ada = &kith.people(1).await[0];
    ada.post("delivered by another").await;
    let sql = kith.sql().await;
    sql.batch("BEGIN; LOCK TABLE activity IN ACCESS EXCLUSIVE MODE").await;
    let mut worker = Process::spawn(&kith, &["worker"], &[("KITH_REQUEST_TIMEOUT", "1"), ("KITH_WORKER_POOL", "1")]);
    let leased = "SELECT count(*) FROM jobs WHERE lease IS NOT NULL";
    until("the job is taken", async || (sql.one::<i64>(leased, &[]).await == 1).then_some(())).await;
    worker.signal("TERM");
    assert!(worker.ended().await);
    let handed_back = "SELECT count(*) FROM jobs WHERE lease IS NULL AND leased_until IS NULL AND attempts = 0 AND last_error IS NULL";
    assert_eq!(sql.one::<i64>(handed_back, &[]).await, 1);
    sql.batch("COMMIT").await;
}

#[tokio::test]
async fn asked_twice_it_ends_at_once() {
    let kith = Kith::start().await;
    let ada = &kith.people(1).await[0];
    ada.post("never mind").await;
    let sql = kith.sql().await;
    sql.batch("BEGIN; LOCK TABLE activity IN ACCESS EXCLUSIVE MODE").await;
    let mut worker = Process::spawn(&kith, &["worker"], &[]);
    let leased = "SELECT count(*) FROM jobs WHERE lease IS NOT NULL";
    until("the job is taken", async || (sql.one::<i64>(leased, &[]).await == 1).then_some(())).await;
    worker.signal("TERM");
    // Until it has heard the first, two are one.
    let mut asked = 0;
    until("it ends before its job does", async || {
        asked += 1;
        worker.is_running().then(|| worker.signal("INT"));
        (!worker.is_running()).then_some(())
    })
    .await;
    assert!(asked >= 1 && !worker.ended().await);
    sql.batch("COMMIT").await;
}
