//! The metrics: every name, its labels and its meaning. Never when one is moved: that is with what it measures.
//! `docs/metrics.md` explains each to operators; a test holds the two together.

use std::collections::HashSet;
use std::sync::atomic::AtomicU64;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

/// How many names of operations are told apart. Clients choose them, so there is no end to them: later ones are `other`.
const OPERATIONS: usize = 200;

/// The passes of a delivery, see [`Pass`].
pub const PASSES: [&str; 2] = ["head_start", "all"];

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

const SOURCES: [Source; 6] =
    [Source::Inbox, Source::NoInbox, Source::RedisAway, Source::RedisBehind, Source::Backlog, Source::Close];

const STEPS: [&str; 5] = ["done", "more", "postponed", "failed", "lost"];

/// A request of HTTP.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct Route {
    /// `/graphql`, `/healthz`, `/readyz`, `/metrics` or `playground`.
    pub route: &'static str,
    /// The status that was answered.
    pub status: u16,
}

/// An operation of GraphQL.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct Operation {
    /// Its name, `anonymous`, `other`, or `refused` for what was not executed.
    pub operation: String,
    /// `query` or `mutation`; `none` where that is not known.
    pub kind: &'static str,
    /// `ok`, or the code of the first error.
    pub outcome: String,
}

/// A pool of connections.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct Pool {
    /// `requests`, `jobs` or `redis`.
    pub pool: &'static str,
}

/// Where jobs stand.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct JobState {
    /// `due`, `scheduled`, `running` or `buried`.
    pub state: &'static str,
}

/// How a step of a job ended.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct JobStep {
    /// The kind of job.
    pub kind: &'static str,
    /// `done`, `more`, `failed`, `postponed` or `lost`.
    pub outcome: &'static str,
}

/// In which pass of a delivery.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct Pass {
    /// `head_start` for who read lately, `all` for the rest.
    pub pass: &'static str,
}

/// Out of what a feed was read.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, EncodeLabelValue)]
pub enum Source {
    /// Its inbox.
    Inbox,
    /// Postgres, as there is no valid inbox.
    NoInbox,
    /// Postgres, as Redis does not answer.
    RedisAway,
    /// Postgres, as Redis may have gone back in time.
    RedisBehind,
    /// Postgres, as too much is in flight.
    Backlog,
    /// Postgres, as only close follows were asked for.
    Close,
}

/// A feed that was read.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct FeedRead {
    /// Out of what.
    pub source: Source,
}

/// Something derived that was not as it should be.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct Drift {
    /// What.
    pub kind: &'static str,
}

type Seconds = Gauge<f64, AtomicU64>;

/// All metrics of a process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    known: RwLock<HashSet<String>>,
    /// Requests answered.
    pub requests: Family<Route, Counter>,
    /// How long they took.
    pub request_seconds: Family<RouteOnly, Histogram, fn() -> Histogram>,
    /// Operations answered.
    pub operations: Family<Operation, Counter>,
    /// How long they took.
    pub operation_seconds: Family<OperationOnly, Histogram, fn() -> Histogram>,
    /// Connections that are there.
    pub connections: Family<Pool, Gauge>,
    /// Connections that are not in use.
    pub connections_idle: Family<Pool, Gauge>,
    /// Connections that there may be.
    pub connections_max: Family<Pool, Gauge>,
    /// Whether Postgres answered the scrape.
    pub postgres_up: Gauge,
    /// Whether Redis answered the scrape.
    pub redis_up: Gauge,
    /// Our clock ahead of that of Postgres.
    pub clock_skew: Seconds,
    /// Whether ids can be made.
    pub node_lease_held: Gauge,
    /// Jobs in the queue.
    pub jobs: Family<JobState, Gauge>,
    /// For how long the oldest due job has been due.
    pub oldest_due_job: Seconds,
    /// Steps of jobs.
    pub job_steps: Family<JobStep, Counter>,
    /// How long they took.
    pub job_step_seconds: Histogram,
    /// Inboxes written to.
    pub deliveries: Family<Pass, Counter>,
    /// How long after its publication a message was delivered.
    pub delivery_lag: Family<Pass, Histogram, fn() -> Histogram>,
    /// Inboxes built.
    pub inbox_builds: Counter,
    /// Messages in flight.
    pub in_flight: Gauge,
    /// For how long the oldest of them has been.
    pub oldest_in_flight: Seconds,
    /// Feeds read.
    pub feed_reads: Family<FeedRead, Counter>,
    /// How often every inbox became doubtful.
    pub inbox_epoch: Gauge,
    /// What repairs found.
    pub drift: Family<Drift, Counter>,
}

/// A route, whatever was answered.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct RouteOnly {
    /// As in [`Route`].
    pub route: &'static str,
}

/// An operation, however it ended.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct OperationOnly {
    /// As in [`Operation`].
    pub operation: String,
}

/// From a millisecond to half a minute.
fn latency() -> Histogram {
    Histogram::new([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0])
}

/// From a tenth of a second to an hour.
fn lag() -> Histogram {
    Histogram::new([0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0])
}

macro_rules! registered {
    ($registry:ident, $($name:ident: $metric:expr, $help:literal $(, $unit:expr)?;)*) => { $(
        let $name = $metric;
        registered!(@one $registry, $name, $help $(, $unit)?);
    )* };
    (@one $registry:ident, $name:ident, $help:literal) => {
        $registry.register(stringify!($name), $help, $name.clone());
    };
    (@one $registry:ident, $name:ident, $help:literal, $unit:expr) => {
        $registry.register_with_unit($unit.0, $help, $unit.1, $name.clone());
    };
}

impl Metrics {
    /// All at nothing.
    pub fn new() -> Self {
        let mut all = Registry::with_prefix("kith");
        let latencies = Family::<RouteOnly, Histogram, fn() -> Histogram>::new_with_constructor;
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        all.register("build", "The version that runs", build);
        registered! { all,
            http_requests: Family::<Route, Counter>::default(), "Requests answered";
            request_seconds: latencies(latency), "How long requests took", ("http_request_duration", Unit::Seconds);
            graphql_operations: Family::<Operation, Counter>::default(), "Operations answered";
            operation_seconds: Family::<OperationOnly, Histogram, fn() -> Histogram>::new_with_constructor(latency),
                "How long operations took", ("graphql_operation_duration", Unit::Seconds);
            connections: Family::<Pool, Gauge>::default(), "Connections that are open";
            connections_idle: Family::<Pool, Gauge>::default(), "Open connections that nobody uses";
            connections_max: Family::<Pool, Gauge>::default(), "Connections that may be open";
            postgres_up: Gauge::default(), "1 if Postgres answered this scrape";
            redis_up: Gauge::default(), "1 if Redis answered this scrape";
            clock_skew: Seconds::default(), "How far our clock is ahead of that of Postgres", ("clock_skew", Unit::Seconds);
            node_lease_held: Gauge::default(), "1 if ids can be made";
            jobs: Family::<JobState, Gauge>::default(), "Jobs in the queue";
            oldest_due_job: Seconds::default(), "For how long the oldest due job has been due",
                ("jobs_oldest_due", Unit::Seconds);
            job_steps: Family::<JobStep, Counter>::default(), "Steps of jobs";
            job_step_seconds: latency(), "How long steps of jobs took", ("job_step_duration", Unit::Seconds);
            deliveries: Family::<Pass, Counter>::default(), "Inboxes that a message was delivered to";
            delivery_lag: Family::<Pass, Histogram, fn() -> Histogram>::new_with_constructor(lag),
                "How long after its publication a message was delivered", ("delivery_lag", Unit::Seconds);
            inbox_builds: Counter::default(), "Inboxes built";
            in_flight_messages: Gauge::default(), "Messages that are in flight";
            oldest_in_flight: Seconds::default(), "For how long the oldest message in flight has been",
                ("in_flight_oldest", Unit::Seconds);
            feed_reads: Family::<FeedRead, Counter>::default(), "Pages of feeds, by what they were read from";
            inbox_epoch: Gauge::default(), "How often every inbox became doubtful";
            drift: Family::<Drift, Counter>::default(), "What repairs found that was not as it should be";
        }
        // What can be foreseen is there from the start, or the first of a kind would not be seen as a rise.
        for pass in PASSES {
            let _ = deliveries.get_or_create(&Pass { pass });
            let _ = delivery_lag.get_or_create(&Pass { pass });
        }
        for source in SOURCES {
            let _ = feed_reads.get_or_create(&FeedRead { source });
        }
        for outcome in STEPS {
            let _ = job_steps.get_or_create(&JobStep { kind: "event", outcome });
        }
        for kind in DRIFTS {
            let _ = drift.get_or_create(&Drift { kind });
        }
        Self {
            registry: all,
            known: RwLock::default(),
            requests: http_requests,
            request_seconds,
            operations: graphql_operations,
            operation_seconds,
            connections,
            connections_idle,
            connections_max,
            postgres_up,
            redis_up,
            clock_skew,
            node_lease_held,
            jobs,
            oldest_due_job,
            job_steps,
            job_step_seconds,
            deliveries,
            delivery_lag,
            inbox_builds,
            in_flight: in_flight_messages,
            oldest_in_flight,
            feed_reads,
            inbox_epoch,
            drift,
        }
    }

    /// An operation was answered. `name` counts only if it was executed.
    pub fn operation(&self, name: Option<&str>, kind: &'static str, outcome: &str, took: Duration) {
        let operation = name.map_or("refused", |name| self.told_apart(name)).to_owned();
        self.operation_seconds
            .get_or_create(&OperationOnly { operation: operation.clone() })
            .observe(took.as_secs_f64());
        self.operations.get_or_create(&Operation { operation, kind, outcome: outcome.to_owned() }).inc();
    }

    /// The name if it is one of the first, else `other`.
    fn told_apart<'a>(&self, name: &'a str) -> &'a str {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if known.contains(name) {
            return name;
        }
        drop(known);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < OPERATIONS || known.contains(name) {
            known.insert(name.to_owned());
            return name;
        }
        "other"
    }

    /// All of them as text (OpenMetrics 1.0).
    ///
    /// Errors: never, but the encoder says it might.
    pub fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_cannot_make_up_names_without_end() {
        let metrics = Metrics::new();
        for number in 0..OPERATIONS * 2 {
            metrics.operation(Some(&format!("Op{number}")), "query", "ok", Duration::ZERO);
        }
        metrics.operation(None, "none", "BAD_USER_INPUT", Duration::ZERO);
        let text = metrics.text().expect("text");
        let lines = text.lines().filter(|line| line.starts_with("kith_graphql_operations_total")).count();
        assert_eq!(lines, OPERATIONS + 2, "those, other, and refused");
    }
}
