//! The shapes of a capacity plan.

use serde::Serialize;

/// What a Kith has to carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// People.
    pub users: u64,
    /// Whom each follows, on average.
    pub follows_per_user: f64,
    /// Messages of all people together.
    pub messages_per_day: f64,
    /// For how many days there are messages: nothing is removed by age.
    pub days: f64,
    /// Bytes of a message's title and text, on average.
    pub content_bytes: f64,
    /// Likes that a message ever gets, on average.
    pub likes_per_message: f64,
    /// Living sessions of a person, on average.
    pub sessions_per_user: f64,
    /// Refresh tokens that are kept of a session.
    pub tokens_per_session: f64,
    /// What part of the people read a feed within `KITH_COLD_DAYS`.
    pub hot_share: f64,
    /// Channels that each of them reads.
    pub channels_read: f64,
    /// Channels that each author posts to.
    pub channels_posted: f64,
    /// How many followers the author of the average message has, as a multiple of the average person's: above 1 where the
    /// popular post more.
    pub reach: f64,
    /// The busiest second, as a multiple of the average one.
    pub peak_factor: f64,
    /// Days for which an inbox keeps references (`KITH_INBOX_DAYS`).
    pub inbox_days: f64,
    /// Inboxes that one step of a delivery writes to (`KITH_DELIVERY_CHUNK`).
    pub delivery_chunk: f64,
}

/// What a row of a table takes on disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowBytes {
    /// The table.
    pub table: &'static str,
    /// Bytes of the heap, with its maps.
    pub heap: f64,
    /// Bytes of all indexes.
    pub indexes: f64,
}

/// What an inbox takes in Redis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InboxBytes {
    /// The key and its object, without members.
    pub empty: f64,
    /// A member; the marker is one too.
    pub member: f64,
}

/// The measured sizes that a plan is made with.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    /// A row each, for every table that grows with use.
    pub rows: Vec<RowBytes>,
    /// An inbox.
    pub inbox: InboxBytes,
}

/// What one table comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Table {
    /// The table.
    pub name: &'static str,
    /// Its rows.
    pub rows: u64,
    /// Bytes of the heap.
    pub heap_bytes: u64,
    /// Bytes of the indexes.
    pub index_bytes: u64,
}

/// Something a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// On average.
    pub average: f64,
    /// In the busiest second.
    pub peak: f64,
}

/// What a load comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The tables that grow with use.
    pub tables: Vec<Table>,
    /// Bytes of all of them in Postgres.
    pub disk_bytes: u64,
    /// Inboxes in Redis.
    pub inboxes: u64,
    /// Members of an inbox, the marker among them.
    pub members_per_inbox: f64,
    /// Bytes of all inboxes.
    pub redis_bytes: u64,
    /// Messages that are published a second.
    pub messages: Rate,
    /// Inboxes that are written to a second.
    pub deliveries: Rate,
    /// Steps of delivery jobs a second.
    pub job_steps: Rate,
    /// Messages in flight in the busiest second.
    pub in_flight: u64,
}
