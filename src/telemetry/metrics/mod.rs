//! The metrics: the name and the meaning of every one, declared here and nowhere else. One registry an app, nothing
//! global. Never when one is moved: that is with what it measures. `docs/metrics.md` explains each to operators; a test
//! holds the two together.

pub mod labels;
mod names;
mod process;

use std::borrow::Cow;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry};

use crate::telemetry::metrics::labels::*;
use crate::telemetry::metrics::names::{OperationName, OperationNames};

/// The format of [`Metrics::text`].
pub const CONTENT_TYPE: &str = prometheus_text::CONTENT_TYPE;

/// What repairs look for, see [`Drift`].
pub const DRIFTS: [&str; 8] = [
    "user_counters",
    "message_counters",
    "author_channels",
    "activity",
    "hot_follows",
    "in_flight",
    "jobs",
    "lacking_inboxes",
];

/// A gauge of what is measured. `NaN` while it is not known.
pub type Measure = Gauge<f64, AtomicU64>;

/// Histograms by labels.
pub type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

/// Errors of Postgres and Redis, for the connections, which see them.
pub type Errors = Family<StoreError, Counter>;

/// All metrics of a process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    names: OperationNames,
    /// Requests answered.
    pub requests: Family<Request, Counter>,
    /// How long they took.
    pub request_seconds: Histograms<ByRoute>,
    operations: Family<OperationEnd, Counter>,
    operation_seconds: Histograms<Operation>,
    /// Connections that are there.
    pub connections: Family<Pool, Gauge>,
    /// Connections that are not in use.
    pub connections_idle: Family<Pool, Gauge>,
    /// Connections that there may be.
    pub connections_max: Family<Pool, Gauge>,
    /// How many wait for a connection.
    pub connection_waiters: Family<Pool, Gauge>,
    /// How long all together waited for one.
    pub connection_wait_seconds: Family<Pool, Counter<f64, AtomicU64>>,
    /// Errors as the connections saw them.
    pub store_errors: Errors,
    /// Whether Postgres answered the scrape.
    pub postgres_up: Gauge,
    /// Whether Redis answered the scrape.
    pub redis_up: Gauge,
    /// Our clock ahead of that of Postgres.
    pub clock_skew: Measure,
    /// Whether ids can be made.
    pub node_lease_held: Gauge,
    /// Jobs in the queue.
    pub jobs: Family<JobState, Measure>,
    /// How much later the most urgent due job is than it should be.
    pub overdue_job: Measure,
    /// Steps of jobs.
    pub job_steps: Family<JobStep, Counter>,
    /// How long they took.
    pub job_step_seconds: Histograms<ByJob>,
    /// Inboxes written to.
    pub deliveries: Family<Delivery, Counter>,
    /// How long after its publication a message was delivered.
    pub delivery_lag: Histograms<Delivery>,
    /// Inboxes built.
    pub inbox_builds: Counter,
    /// Inboxes cut.
    pub inbox_trims: Counter,
    /// Messages in flight.
    pub in_flight: Measure,
    /// Age of the oldest that is not delivered.
    pub oldest_in_flight: Measure,
    /// Feeds read.
    pub feed_reads: Family<FeedRead, Counter>,
    /// When every inbox last became doubtful (milliseconds since the Unix epoch).
    pub inbox_epoch: Measure,
    /// What repairs found.
    pub drift: Family<Drift, Counter>,
    /// Memory in use.
    pub resident_memory: Measure,
}

/// From a millisecond to half a minute.
fn latency() -> Histogram {
    Histogram::new([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0])
}

/// From a tenth of a second to an hour, with the deadlines of the tiers among them.
fn lag() -> Histogram {
    Histogram::new([0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 15.0, 30.0, 60.0, 300.0, 900.0, 3600.0])
}

fn histograms<L: Clone + Hash + Eq>(one: fn() -> Histogram) -> Histograms<L> {
    Family::new_with_constructor(one)
}

/// Registers what it hands on.
struct Declare(Registry);

impl Declare {
    fn it<M: Metric + Clone>(&mut self, name: &str, help: &str, metric: M) -> M {
        self.0.register(name, help, metric.clone());
        metric
    }
}

impl Metrics {
    /// All at nothing.
    pub fn new() -> Self {
        let mut declare = Declare(Registry::with_prefix("kith"));
        declare.0.register("build", "The version that runs", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
        let started = declare.it("process_start_time_seconds", "When it started, by Unix time", Measure::default());
        started.set(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64());
        let metrics = Self {
            requests: declare.it("http_requests", "Requests answered", Family::default()),
            request_seconds: declare.it("http_request_duration_seconds", "How long they took", histograms(latency)),
            operations: declare.it("graphql_operations", "Operations answered", Family::default()),
            operation_seconds: declare.it(
                "graphql_operation_duration_seconds",
                "How long they took, the reading of the request included",
                histograms(latency),
            ),
            connections: declare.it("connections", "Connections that are open", Family::default()),
            connections_idle: declare.it("connections_idle", "Open ones that nobody uses", Family::default()),
            connections_max: declare.it("connections_max", "Connections that may be open", Family::default()),
            connection_waiters: declare.it("connection_waiters", "How many wait for a connection", Family::default()),
            connection_wait_seconds: declare.it(
                "connection_wait_seconds",
                "How long all together waited for a connection",
                Family::default(),
            ),
            store_errors: declare.it(
                "store_errors",
                "Errors of Postgres and Redis as Kith saw them",
                Errors::default(),
            ),
            postgres_up: declare.it("postgres_up", "1 if Postgres answered this scrape", Gauge::default()),
            redis_up: declare.it("redis_up", "1 if Redis answered this scrape", Gauge::default()),
            clock_skew: declare.it(
                "clock_skew_seconds",
                "How far our clock is ahead of that of Postgres",
                Measure::default(),
            ),
            node_lease_held: declare.it("node_lease_held", "1 if ids can be made", Gauge::default()),
            jobs: declare.it("jobs", "Jobs in the queue, counted up to 100000 a state", Family::default()),
            overdue_job: declare.it(
                "jobs_overdue_seconds",
                "How much later the most urgent due job is than it should be",
                Measure::default(),
            ),
            job_steps: declare.it("job_steps", "Steps of jobs", Family::default()),
            job_step_seconds: declare.it("job_step_duration_seconds", "How long they took", histograms(latency)),
            deliveries: declare.it("deliveries", "Inboxes that a message was delivered to", Family::default()),
            delivery_lag: declare.it(
                "delivery_lag_seconds",
                "How long after its publication a message was delivered",
                histograms(lag),
            ),
            inbox_builds: declare.it("inbox_builds", "Inboxes built", Counter::default()),
            inbox_trims: declare.it("inbox_trims", "Inboxes that were full and were cut", Counter::default()),
            in_flight: declare.it(
                "in_flight_messages",
                "Messages whose delivery is not known to be complete, counted up to 100000",
                Measure::default(),
            ),
            oldest_in_flight: declare.it(
                "in_flight_oldest_seconds",
                "Age of the oldest message that is not delivered",
                Measure::default(),
            ),
            feed_reads: declare.it("feed_reads", "Pages of feeds, by what they were read from", Family::default()),
            inbox_epoch: declare.it("inbox_epoch", "When every inbox last became doubtful", Measure::default()),
            drift: declare.it("drift", "What repairs found that was not as it should be", Family::default()),
            resident_memory: declare.it(
                "process_resident_memory_bytes",
                "Memory of the process that is in RAM",
                Measure::default(),
            ),
            names: OperationNames::default(),
            registry: declare.0,
        };
        metrics.list();
        metrics.forget();
        metrics
    }

    /// What can be foreseen is there from the start, or the first of a kind would not be seen as a rise, and a family
    /// without any would not be shown.
    fn list(&self) {
        for route in Route::ALL.iter().copied() {
            let _ = self.requests.get_or_create(&Request { route, status: 200 });
            let _ = self.request_seconds.get_or_create(&ByRoute { route });
        }
        for kind in [OperationKind::Query, OperationKind::Mutation] {
            for operation in [OperationName::Anonymous, OperationName::Other] {
                let outcome = Cow::Borrowed("ok");
                let _ = self.operation_seconds.get_or_create(&Operation { operation: operation.clone(), kind });
                let _ = self.operations.get_or_create(&OperationEnd { operation, kind, outcome });
            }
        }
        for pool in PoolName::ALL.iter().map(|pool| Pool { pool: *pool }) {
            let _ = self.connection_wait_seconds.get_or_create(&pool);
            for family in [&self.connections, &self.connections_idle, &self.connections_max, &self.connection_waiters] {
                let _ = family.get_or_create(&pool);
            }
        }
        for store in Store::ALL.iter().copied() {
            for kind in Trouble::ALL.iter().copied() {
                let _ = self.store_errors.get_or_create(&StoreError { store, kind });
            }
        }
        for kind in JobKind::ALL.iter().copied() {
            let _ = self.job_step_seconds.get_or_create(&ByJob { kind });
            for outcome in StepOutcome::ALL.iter().copied() {
                let _ = self.job_steps.get_or_create(&JobStep { kind, outcome });
            }
        }
        for tier in Tier::ALL.iter().map(|tier| Delivery { tier: *tier }) {
            let _ = self.deliveries.get_or_create(&tier);
            let _ = self.delivery_lag.get_or_create(&tier);
        }
        for source in Source::ALL.iter().copied() {
            let _ = self.feed_reads.get_or_create(&FeedRead { source });
        }
        for kind in DRIFTS {
            let _ = self.drift.get_or_create(&Drift { kind });
        }
    }

    /// What only Postgres knows is not known until it is asked again: an old value would look like a new one.
    pub fn forget(&self) {
        for state in Standing::ALL.iter().copied() {
            self.jobs.get_or_create(&JobState { state }).set(f64::NAN);
        }
        for gauge in [&self.clock_skew, &self.overdue_job, &self.in_flight, &self.oldest_in_flight, &self.inbox_epoch] {
            gauge.set(f64::NAN);
        }
    }

    /// How a pool of connections stands, which may have `max` of them.
    pub fn pool(&self, pool: PoolName, state: &bb8::State, max: u32) {
        let (of, told) = (Pool { pool }, &state.statistics);
        let served = told.get_direct + told.get_waited + told.get_timed_out;
        self.connections.get_or_create(&of).set(state.connections.into());
        self.connections_idle.get_or_create(&of).set(state.idle_connections.into());
        self.connections_max.get_or_create(&of).set(max.into());
        // What is told is not of one moment.
        let waiters = told.get_started.saturating_sub(served);
        self.connection_waiters.get_or_create(&of).set(i64::try_from(waiters).unwrap_or(i64::MAX));
        let waited = told.get_wait_time.as_secs_f64().to_bits();
        self.connection_wait_seconds.get_or_create(&of).inner().store(waited, Ordering::Relaxed);
    }

    /// An operation was answered. One that was executed may have its name told apart, one that was refused may not.
    pub fn operation(&self, asked: Asked<'_>, outcome: &str, took: Duration) {
        let Asked { name, kind, is_executed } = asked;
        let operation = if is_executed { self.names.executed(name) } else { self.names.refused(name) };
        let outcome = if outcome == "ok" { Cow::Borrowed("ok") } else { Cow::Owned(outcome.to_owned()) };
        let of = Operation { operation: operation.clone(), kind };
        self.operation_seconds.get_or_create(&of).observe(took.as_secs_f64());
        self.operations.get_or_create(&OperationEnd { operation, kind, outcome }).inc();
    }

    /// All of them, in the text format of Prometheus.
    pub fn text(&self) -> String {
        self.resident_memory.set(process::resident_memory().map_or(f64::NAN, |bytes| bytes as f64));
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = prometheus_text::encode(&mut text, &self.registry);
        text
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

/// An operation that a client asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Its name, if it has one.
    pub name: Option<&'a str>,
    /// Its type.
    pub kind: OperationKind,
    /// Whether it was valid and ran.
    pub is_executed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_cannot_make_up_time_series_without_end() {
        let metrics = Metrics::new();
        let lines = || metrics.text().lines().count();
        let ask = |name: &str, is_executed| {
            let asked = Asked { name: Some(name), kind: OperationKind::Query, is_executed };
            metrics.operation(asked, "ok", Duration::ZERO);
        };
        for number in 0..1000 {
            ask(&format!("Refused{number}"), false);
        }
        let before = lines();
        for number in 0..1000 {
            ask(&format!("Ran{number}"), true);
        }
        let full = lines();
        assert!(full > before && full < before + 100 * 20, "{before}, {full}");
        ask("OneMore", true);
        assert_eq!(lines(), full);
        assert!(metrics.text().contains("operation=\"Ran0\"") && !metrics.text().contains("OneMore"));
    }
}
