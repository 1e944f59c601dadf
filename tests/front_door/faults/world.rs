//! A Kith of real processes on servers of its own, a few people, and what has to hold when a fault is over.

use std::process::Command;

use kith::domain::auth::tokens::Tokens;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::load::{Acknowledged, Load};
use super::proxy::Proxy;
use super::servers::Servers;
use crate::harness::{Ask, Client, Person, Process, SECRETS, Sql, Walk, until};
use crate::oracle::definition::{self, Feed};

/// The life of a request, in seconds. A message stays in flight for longer, so a test of what was lost waits for that.
const REQUEST_TIMEOUT: &str = "3";

/// The databases, the network before them, and what has been acknowledged so far.
pub struct World {
    /// The databases.
    pub servers: Servers,
    /// The way to Postgres, for processes that are started by [`World::serve_behind_proxies`].
    pub postgres: Proxy,
    /// The way to Redis, likewise.
    pub redis: Proxy,
    /// What people were promised.
    pub acknowledged: Acknowledged,
}

/// Who takes part: authors post, the reader follows them all, and the wanderer follows now one and now another.
pub struct People {
    /// Three.
    pub authors: Vec<Person>,
    /// One, whose set of followees stays as it is.
    pub reader: Person,
    /// One.
    pub wanderer: Person,
}

impl World {
    /// Starts the databases and migrates.
    pub async fn start() -> Self {
        let servers = Servers::start().await;
        let mut migrate = Command::new(env!("CARGO_BIN_EXE_kith"));
        migrate.arg("migrate").env_clear().env("DATABASE_URL", &servers.database_url);
        let migrated = spawn_blocking(move || migrate.output()).await.expect("no panic").expect("it runs");
        assert!(migrated.status.success(), "{migrated:?}");
        let (postgres, redis) = (Proxy::before(&servers.database_url), Proxy::before(&servers.redis_url));
        Self { servers, postgres, redis, acknowledged: Acknowledged::default() }
    }

    /// Starts `kith` with these arguments.
    pub fn spawn(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Process {
        spawn([&self.servers.database_url, &self.servers.redis_url], arguments, environment)
    }

    /// Starts `kith serve`, with a worker in it, and waits until it is ready.
    pub async fn serve(&self) -> Process {
        let mut process = self.spawn(&["serve"], &[]);
        process.ready().await;
        process
    }

    /// The same, but what it says to Postgres and Redis goes through the proxies.
    pub async fn serve_behind_proxies(&self) -> Process {
        let mut process = spawn([&self.postgres.url, &self.redis.url], &["serve"], &[]);
        process.ready().await;
        process
    }

    /// Starts `kith worker`, which delivers to few inboxes at a time.
    pub fn worker(&self) -> Process {
        self.spawn(&["worker"], &[("KITH_DELIVERY_CHUNK", "7"), ("KITH_WORKER_JOBS", "2")])
    }

    /// Starts `kith serve` without a worker, and waits until it is ready.
    pub async fn serve_only(&self) -> Process {
        let mut process = self.spawn(&["serve", "--no-worker"], &[]);
        process.ready().await;
        process
    }

    /// A connection to the database, past the proxy.
    pub async fn sql(&self) -> Sql {
        Sql::connect(&self.servers.database_url).await
    }

    /// A connection to Redis, past the proxy.
    pub async fn redis(&self) -> redis::aio::MultiplexedConnection {
        let client = redis::Client::open(self.servers.redis_url.as_str()).expect("a URL");
        client.get_multiplexed_async_connection().await.expect("Redis answers")
    }

    /// Signs people up at `server`; they follow whom they have to.
    pub async fn people(&self, server: &Process) -> People {
        let sign = |name| sign_up(&server.client, name);
        let (a, b, c, reader, wanderer) =
            tokio::join!(sign("ada"), sign("ben"), sign("cleo"), sign("reader"), sign("wanderer"));
        let authors = vec![a, b, c];
        for author in &authors {
            reader.follow(author).await;
        }
        People { authors, reader, wanderer }
    }

    /// People begin to post, to follow and to read, each at the server that their client names.
    pub fn load(&self, people: &People) -> Load {
        Load::start(self.acknowledged.clone(), people)
    }

    /// Waits until all jobs are done.
    pub async fn drained(&self) {
        let sql = self.sql().await;
        let left = "SELECT count(*) FROM jobs";
        until("all jobs are done", async || (sql.one::<i64>(left, &[]).await == 0).then_some(())).await;
    }

    /// Waits until all jobs are done and nothing is in flight, so that what Redis lacks can be missed.
    pub async fn landed(&self) {
        self.drained().await;
        let sql = self.sql().await;
        let left = "SELECT count(*) FROM in_flight";
        until("nothing is in flight", async || (sql.one::<i64>(left, &[]).await == 0).then_some(())).await;
    }

    /// The epoch of inboxes: it rises when Redis lost what it knew.
    pub async fn epoch(&self) -> i64 {
        self.sql().await.one("SELECT epoch FROM inbox_epoch", &[]).await
    }

    /// Everybody's feed is what the definition says, page by page, in both directions.
    pub async fn feeds_are_right(&self, people: &People) {
        let sql = self.sql().await;
        for person in people.all() {
            for walk in [Walk::First(2), Walk::Last(7), Walk::First(100)] {
                let (mut ask, mut from) = (Ask::start(walk), None);
                // From both ends, not all the way through with small pages.
                for _ in 0..20 {
                    let expected = definition::items(&sql, person.viewer.user_id, Feed::whole("default")).await;
                    let page = person.feed_page("default", &ask).await;
                    if let Some(fault) = definition::fault(&expected, &page, walk, from) {
                        panic!("{}, {walk:?}, from {from:?}: {fault}, not {page:#?}", person.handle);
                    }
                    let Some(next) = ask.following(walk, &page) else { break };
                    let last = if matches!(walk, Walk::First(_)) { page.ids.last() } else { page.ids.first() };
                    from = last.map(|id| position(id));
                    (ask.after, ask.before) = next;
                }
            }
        }
    }

    /// The fault is over and people have stopped: all that was acknowledged is there and nothing else, counters are
    /// exact, every job comes to its end, and feeds are right, with what is in flight and without, from new inboxes too.
    pub async fn is_whole(&self, people: &People) {
        self.feeds_are_right(people).await;
        self.landed().await;
        let sql = self.sql().await;
        self.acknowledged.is_kept(&sql).await;
        assert_eq!(definition::miscounted(&sql).await, Vec::<String>::new());
        self.feeds_are_right(people).await;
        self.drained().await;
        self.feeds_are_right(people).await;
        self.are_read_from_inboxes(people).await;
    }

    /// Everything goes on, comes to its end, and is whole.
    pub async fn goes_well(&self, mut load: Load, people: &People) {
        load.goes_on(10).await;
        load.rest().await;
        self.is_whole(people).await;
    }

    /// The same, and nobody was ever told UNAVAILABLE.
    pub async fn nobody_noticed(&self, mut load: Load, people: &People) {
        load.goes_on(10).await;
        load.rest().await;
        assert_eq!(self.acknowledged.counts().unavailable, 0);
        self.is_whole(people).await;
    }

    /// Everybody has a finished inbox again.
    async fn are_read_from_inboxes(&self, people: &People) {
        let mut redis = self.redis().await;
        for person in people.all() {
            let inbox = crate::feed::inbox(person);
            let first: Vec<String> =
                redis::AsyncCommands::zrange(&mut redis, &inbox, 0, 0).await.expect("Redis answers");
            assert!(first.len() == 1 && first[0].starts_with('#'), "{inbox}: {first:?}");
        }
    }
}

impl People {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Person> {
        self.authors.iter().chain([&self.reader, &self.wanderer])
    }

    /// Has the reader and the last author go to another server.
    pub fn spread(&mut self, server: &Process) {
        for person in [&mut self.reader, self.authors.last_mut().expect("three")] {
            person.client = person.client.at(&server.client);
        }
    }
}

fn spawn([database_url, redis_url]: [&str; 2], arguments: &[&str], environment: &[(&str, &str)]) -> Process {
    let all = [
        ("DATABASE_URL", database_url),
        ("REDIS_URL", redis_url),
        ("KITH_REQUEST_TIMEOUT", REQUEST_TIMEOUT),
        ("KITH_JOB_LEASE", REQUEST_TIMEOUT),
        ("KITH_DATABASE_POOL", "8"),
        ("KITH_LOG", "error"),
    ];
    Process::spawn_with(arguments, &[&all, environment].concat())
}

async fn sign_up(server: &Client, handle: &str) -> Person {
    let query = "mutation($input: SignUpInput!) { signUp(input: $input) { tokens { accessToken } } }";
    let input = json!({ "handle": handle, "displayName": handle, "password": crate::harness::PASSWORD });
    let token = server.query(query, json!({ "input": input })).await.text("/signUp/tokens/accessToken");
    let tokens = Tokens::new(&SECRETS.parse().expect("secrets")).expect("tokens");
    let viewer = tokens.verify(&token, chrono::Utc::now()).expect("the token is valid");
    Person::new(server, viewer, handle, token)
}

/// Where a message stands in the order.
pub fn position(id: &str) -> i64 {
    match kith::ids::GlobalId::decode(id) {
        Some(kith::ids::GlobalId::Message { id, .. }) => id,
        other => panic!("no message: {other:?}"),
    }
}

/// What `/readyz` says is missing; nothing if the server is ready.
pub async fn missing(server: &Process) -> Vec<String> {
    let answer = server.client.raw(Method::GET, "/readyz").send().await.expect("an answer");
    let body: Value = answer.json().await.expect("JSON");
    let missing = body["missing"].as_array().into_iter().flatten();
    missing.map(|part| part.as_str().expect("a text").to_owned()).collect()
}
