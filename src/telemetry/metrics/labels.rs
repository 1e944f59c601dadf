//! The labels of metrics, and every value that one can have. Never a value that a client chooses: names of operations
//! are bounded by `names.rs`.

use std::borrow::Cow;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};

use crate::telemetry::metrics::names::OperationName;

/// Declares the values of a label.
macro_rules! values {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$value_doc])* $value,)+
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$value),+];

            /// As it stands in a scrape.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)+
                }
            }
        }

        impl EncodeLabelValue for $name {
            fn encode(&self, encoder: &mut LabelValueEncoder) -> Result<(), std::fmt::Error> {
                self.as_str().encode(encoder)
            }
        }
    };
}

values! {
    /// What was asked for over HTTP.
    Route {
        /// The API.
        Graphql = "/graphql",
        /// Whether the process lives.
        Healthz = "/healthz",
        /// Whether it can do its work.
        Readyz = "/readyz",
        /// GraphiQL.
        Playground = "playground",
        /// What is not there.
        Other = "other",
    }
}

values! {
    /// The type of a GraphQL operation.
    OperationKind {
        /// It reads.
        Query = "query",
        /// It writes.
        Mutation = "mutation",
        /// There are none; but who asks for one is counted.
        Subscription = "subscription",
        /// Nothing was found that could run.
        None = "none",
    }
}

values! {
    /// What a job is about.
    JobKind {
        /// A message is delivered.
        MessagePosted = "message_posted",
        /// An inbox is built.
        InboxMissed = "inbox_missed",
        /// Nothing that this version knows.
        Unknown = "unknown",
    }
}

values! {
    /// How a step of a job ended.
    StepOutcome {
        /// Nothing is left to do.
        Done = "done",
        /// There is more to do.
        More = "more",
        /// What it needs is away; it comes back later.
        Postponed = "postponed",
        /// It failed; it comes back later, or is buried.
        Failed = "failed",
        /// Another worker has taken it over meanwhile.
        Lost = "lost",
        /// The process ends; another worker can have it at once.
        HandedBack = "handed_back",
    }
}

values! {
    /// Where jobs stand.
    Standing {
        /// One could run now.
        Due = "due",
        /// It may run later.
        Scheduled = "scheduled",
        /// A worker has it.
        Running = "running",
        /// It failed too often and is not run again.
        Buried = "buried",
    }
}

values! {
    /// To whom is delivered together.
    Tier {
        /// All followers of an author who has few.
        Few = "few",
        /// Who read a moment ago.
        Latest = "latest",
        /// Who read today.
        Today = "today",
        /// All followers of an author who has many.
        All = "all",
    }
}

values! {
    /// Out of what a page of a feed was read.
    Source {
        /// Its inbox.
        Inbox = "inbox",
        /// Postgres, as there is no valid inbox.
        NoInbox = "no_inbox",
        /// Postgres, as Redis does not answer.
        RedisAway = "redis_away",
        /// Postgres, as Redis may have gone back in time.
        RedisBehind = "redis_behind",
        /// Postgres, as too much is in flight.
        Backlog = "backlog",
        /// Postgres, as only close follows were asked for.
        Close = "close",
    }
}

values! {
    /// Where data lives.
    Store {
        /// The truth.
        Postgres = "postgres",
        /// The index.
        Redis = "redis",
    }
}

values! {
    /// What went wrong with a store.
    Trouble {
        /// It is away, or ended what took too long.
        Unavailable = "unavailable",
        /// No connection became free, or could be made, in time.
        NoConnection = "no_connection",
        /// Transactions were in each other's way.
        Contention = "contention",
        /// It refused what was asked.
        Refused = "refused",
    }
}

values! {
    /// What a pool of connections is for.
    PoolName {
        /// Postgres, for requests.
        Requests = "requests",
        /// Postgres, for jobs and the clock.
        Jobs = "jobs",
        /// Redis, for scripts.
        Redis = "redis",
    }
}

/// Declares sets of labels.
macro_rules! sets {
    ($($(#[$doc:meta])* $set:ident { $($label:ident: $type:ty),+ })+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
            #[allow(missing_docs, reason = "a label is named as what it is")]
            pub struct $set {
                $(pub $label: $type,)+
            }
        )+
    };
}

sets! {
    /// Of requests that were answered.
    Request { route: Route, status: u16 }
    /// Of what belongs to a route.
    ByRoute { route: Route }
    /// Of operations that were answered; the outcome is `ok`, or the code of the first error.
    OperationEnd { operation: OperationName, kind: OperationKind, outcome: Cow<'static, str> }
    /// Of what belongs to an operation.
    Operation { operation: OperationName, kind: OperationKind }
    /// Of pools.
    Pool { pool: PoolName }
    /// Of jobs in the queue.
    JobState { state: Standing }
    /// Of steps of jobs.
    JobStep { kind: JobKind, outcome: StepOutcome }
    /// Of what belongs to a kind of job.
    ByJob { kind: JobKind }
    /// Of deliveries.
    Delivery { tier: Tier }
    /// Of pages of feeds.
    FeedRead { source: Source }
    /// Of errors.
    StoreError { store: Store, kind: Trouble }
    /// Of what repairs found: see [`crate::telemetry::metrics::DRIFTS`].
    Drift { kind: &'static str }
}
