//! Pages of a feed and walks through it, by the public API alone.

use serde_json::{Value, json};

use super::{Answer, Client};

/// A way through a whole connection: from which end, with pages of which size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// `first: n, after: endCursor`, from the newest.
    First(i32),
    /// `last: n, before: startCursor`, from the oldest.
    Last(i32),
}

/// The arguments of one page.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// How many from the newest end.
    pub first: Option<i32>,
    /// Below this cursor.
    pub after: Option<String>,
    /// How many from the oldest end.
    pub last: Option<i32>,
    /// Above this cursor.
    pub before: Option<String>,
    /// Only of people whom the reader follows closely.
    pub is_close: bool,
}

/// One page of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The ids of the messages, newest first.
    pub ids: Vec<String>,
    /// The cursor of each.
    pub cursors: Vec<String>,
    /// What they say, each.
    pub contents: Vec<String>,
    /// `pageInfo.hasNextPage`
    pub has_next: bool,
    /// `pageInfo.hasPreviousPage`
    pub has_previous: bool,
    /// `pageInfo.startCursor`
    pub start: Option<String>,
    /// `pageInfo.endCursor`
    pub end: Option<String>,
}

/// Asks for a page of a feed, with [`Ask::variables`].
pub const FEED: &str =
    "query($channel: String!, $filter: FeedFilter!, $first: Int, $after: String, $last: Int, $before: String) {
    feed(channel: $channel, filter: $filter, first: $first, after: $after, last: $last, before: $before) {
        edges { cursor node { id content } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
}";

impl Client {
    /// One page of the feed, as it was answered.
    pub async fn ask_feed(&self, channel: &str, ask: &Ask) -> Answer {
        self.query(FEED, ask.variables(channel)).await
    }

    /// One page of the feed.
    pub async fn feed_page(&self, channel: &str, ask: &Ask) -> Page {
        Page::read(self.ask_feed(channel, ask).await.at("/feed"))
    }

    /// The whole feed of `channel`: the ids, newest first, whichever way it was walked.
    pub async fn walk_channel(&self, channel: &str, walk: Walk) -> Vec<String> {
        let mut ids = Vec::new();
        let mut ask = Ask::start(walk);
        loop {
            let page = self.feed_page(channel, &ask).await;
            let Some(next) = ask.following(walk, &page) else {
                collect(walk, &mut ids, page.ids);
                return ids;
            };
            collect(walk, &mut ids, page.ids);
            assert!(next != (ask.after, ask.before), "the cursor does not move");
            (ask.after, ask.before) = next;
        }
    }

    /// The whole feed of the channel `default`.
    pub async fn walk(&self, walk: Walk) -> Vec<String> {
        self.walk_channel("default", walk).await
    }
}

fn collect(walk: Walk, ids: &mut Vec<String>, page: Vec<String>) {
    match walk {
        Walk::First(_) => ids.extend(page),
        Walk::Last(_) => drop(ids.splice(0..0, page)),
    }
}

impl Ask {
    /// The variables of [`FEED`].
    pub fn variables(&self, channel: &str) -> Value {
        let Self { first, after, last, before, is_close } = self;
        let filter = if *is_close { "CLOSE" } else { "ALL" };
        json!({ "channel": channel, "filter": filter, "first": first, "after": after, "last": last, "before": before })
    }

    /// The first page of a walk.
    pub fn start(walk: Walk) -> Self {
        match walk {
            Walk::First(size) => Self { first: Some(size), ..Self::default() },
            Walk::Last(size) => Self { last: Some(size), ..Self::default() },
        }
    }

    /// `after` and `before` of the page that follows `page`, if its flag says that there is one.
    pub fn following(&self, walk: Walk, page: &Page) -> Option<(Option<String>, Option<String>)> {
        match walk {
            Walk::First(_) if page.has_next => Some((page.end.clone(), None)),
            Walk::Last(_) if page.has_previous => Some((None, page.start.clone())),
            _ => None,
        }
    }
}

impl Page {
    /// Reads a connection that was selected with edges (cursor, node with id and content) and pageInfo.
    pub fn read(connection: &Value) -> Self {
        let edges = connection["edges"].as_array().expect("edges");
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let each = |pointer: &str| {
            edges.iter().map(|edge| edge.pointer(pointer).and_then(text).expect("a text in each edge")).collect()
        };
        let info = &connection["pageInfo"];
        Self {
            ids: each("/node/id"),
            cursors: each("/cursor"),
            contents: each("/node/content"),
            has_next: info["hasNextPage"].as_bool().expect("hasNextPage"),
            has_previous: info["hasPreviousPage"].as_bool().expect("hasPreviousPage"),
            start: text(&info["startCursor"]),
            end: text(&info["endCursor"]),
        }
    }
}
