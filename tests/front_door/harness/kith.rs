//! A Kith of one test: its app, its HTTP server, its clock, and a worker that is stepped by hand.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use clap::builder::Resettable;
use clap::{Args, FromArgMatches};
use kith::app::App;
use kith::config::Config;
use kith::domain::drift::Drift;
use kith::domain::inbox::repair::strays::STRAY;
use kith::domain::reconcile::{Means, REPAIRS};
use kith::ids::GlobalId;
use kith::viewer::Viewer;
use serde_json::json;
use tokio::sync::OnceCell;

use super::landlord::{self, Database};
use super::sql::Sql;
use super::{Client, ManualClock, Person};

/// The password of everybody who signs up.
pub const PASSWORD: &str = "correct horse battery staple";

/// The secret that signs tokens and cursors in tests.
pub const SECRETS: &str = "1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A Kith of its own, with databases of its own, in the process of the test.
pub struct Kith {
    /// The handles, as `main` would have them.
    pub app: Arc<App>,
    /// The clock that the app reads.
    pub clock: ManualClock,
    /// Where its Postgres and Redis are.
    pub config: Config,
    client: Client,
    sql: OnceCell<Sql>,
    // After `app`: its connections go before the database does.
    _database: Database,
}

impl Kith {
    /// Starts with the settings of the tests.
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// Starts with settings changed by `change`.
    pub async fn start_with(change: impl FnOnce(&mut Config)) -> Self {
        let (database, redis_url) = tokio::join!(Database::migrated(), landlord::redis());
        let mut config = settings(&database.url, &redis_url);
        change(&mut config);
        let clock = ManualClock::new();
        let (app, client) = serve(&config, &clock).await;
        Self { app, clock, config, client, sql: OnceCell::new(), _database: database }
    }

    /// Starts another server on the same databases, with handles of its own, and answers a client of it that is not
    /// signed in.
    pub async fn another_server(&self) -> Client {
        serve(&self.config, &self.clock).await.1
    }

    /// A client that is not signed in.
    pub fn anonymous(&self) -> &Client {
        &self.client
    }

    /// Signs somebody up by the public API, with [`PASSWORD`].
    pub async fn sign_up(&self, handle: &str) -> Person {
        let query = "mutation($input: SignUpInput!) { signUp(input: $input) {
            viewer { user { id } } tokens { accessToken }
        } }";
        let input = json!({ "handle": handle, "displayName": handle, "password": PASSWORD });
        let answer = self.client.query(query, json!({ "input": input })).await;
        let token = answer.text("/signUp/tokens/accessToken");
        let viewer = self.app.tokens.verify(&token, self.app.clock.now()).expect("the token is valid");
        assert_eq!(answer.text("/signUp/viewer/user/id"), GlobalId::User(viewer.user_id).encode());
        Person::new(&self.client, viewer, handle, token)
    }

    /// `count` people who never chose a password, made by SQL: where a test needs many, [`Kith::sign_up`] is slow.
    pub async fn people(&self, count: usize) -> Vec<Person> {
        let id = |_| self.app.next_id().expect("a lease");
        let users: Vec<i64> = (0..count).map(id).collect();
        let sessions: Vec<i64> = (0..count).map(id).collect();
        let statement = "WITH made AS (
                SELECT u.id, u.session_id, to_timestamp($3::bigint / 1000.0) AS at FROM unnest($1::bigint[], $2::bigint[]) AS u (id, session_id)
            ), people AS (
                INSERT INTO users (id, handle, display_name, bio, created_at, updated_at)
                SELECT id, 'p' || id, 'Person ' || id, '', at, at FROM made
            ), counters AS (
                INSERT INTO user_counters (user_id) SELECT id FROM made
            )
            INSERT INTO sessions (id, user_id, user_agent, created_at, last_used_at, expires_at)
            SELECT session_id, id, '', at, at, at + interval '1000 years' FROM made";
        self.sql().await.execute(statement, &[&users, &sessions, &self.clock.now_ms()]).await;
        let person = |(user_id, session_id)| {
            let viewer = Viewer { user_id, session_id };
            Person::new(&self.client, viewer, &format!("p{user_id}"), self.token(viewer))
        };
        users.into_iter().zip(sessions).map(person).collect()
    }

    /// The same person with an access token that is valid now: one lives for minutes only, of the test's clock.
    pub fn again(&self, person: &Person) -> Person {
        Person::new(&self.client, person.viewer, &person.handle, self.token(person.viewer))
    }

    fn token(&self, viewer: Viewer) -> String {
        self.app.tokens.issue(viewer, self.app.clock.now()).expect("a token")
    }

    /// A client of the address for operators, which a server has only if it is asked for.
    pub fn ops(&self) -> Client {
        let (listener, base) = listen();
        let server = kith::http::server::start_ops(self.app.clone(), listener).expect("the server starts");
        tokio::spawn(server);
        Client::new(base)
    }

    /// One step of the worker. Answers whether there was a job to do.
    pub async fn step(&self) -> bool {
        kith::worker::run::step(&self.app).await.expect("the queue answers")
    }

    /// Steps the worker until no job is due. Panics if one failed: a test of failures steps by itself.
    pub async fn drain(&self) {
        for _ in 0..100_000 {
            if !self.step().await {
                let failed = "SELECT last_error FROM jobs WHERE last_error IS NOT NULL";
                let failed: Vec<String> = self.sql().await.column(failed, &[]).await;
                assert!(failed.is_empty(), "jobs failed: {failed:#?}");
                return;
            }
        }
        panic!("the worker comes to no end");
    }

    /// Runs what the clock of the worker calls for, all of it, once.
    pub async fn tick(&self) {
        kith::worker::clock::tick(&self.app).await.expect("every task succeeds");
    }

    /// Moves the clock on and renews the lease of the node number, as a living process does all the time.
    pub async fn advance(&self, by: Duration) {
        self.clock.advance(by);
        self.lease().await;
    }

    /// Renews the lease of the node number.
    pub async fn lease(&self) {
        self.app.lease_node().await.expect("the lease is renewed");
    }

    /// The database of this test, directly.
    pub async fn sql(&self) -> &Sql {
        self.sql.get_or_init(|| Sql::connect(self.config.database_url.as_str())).await
    }

    /// The Redis of this test, directly.
    pub fn redis(&self) -> kith::kv::Shared {
        self.app.kv.shared()
    }

    /// How many jobs wait or run; buried ones count too.
    pub async fn jobs(&self) -> i64 {
        self.sql().await.one("SELECT count(*) FROM jobs", &[]).await
    }

    /// What is derived and is off. Changes nothing.
    pub async fn drifts(&self) -> Vec<Drift> {
        let mut conn = self.app.db.get().await.expect("a connection");
        let (channels, now) = (&self.config.channels, self.app.clock.now());
        let mut means = Means { conn: &mut conn, kv: &self.app.kv, channels, now };
        let mut drifts = Vec::new();
        for repair in REPAIRS {
            let mut at = 0;
            loop {
                let slice = repair.look(&mut means, at).await.expect("Postgres and Redis answer");
                drifts.extend(slice.drifts);
                at = slice.next;
                if at == 0 {
                    break;
                }
            }
        }
        drifts
    }

    /// Ends the test: nothing is left to be done, and what is derived is right.
    pub async fn finish(self) {
        let off: Vec<_> = self.drifts().await.into_iter().filter(|drift| drift.kind != STRAY).collect();
        assert!(off.is_empty(), "{off:#?}");
        let left: Vec<String> = self.sql().await.column("SELECT payload::text FROM jobs ORDER BY id", &[]).await;
        assert!(left.is_empty(), "jobs are left: {left:#?}");
    }
}

/// Starts a server that ends with the runtime of the test.
async fn serve(config: &Config, clock: &ManualClock) -> (Arc<App>, Client) {
    let app = App::new(config.clone(), clock.shared()).await.expect("the app starts");
    app.lease_node().await.expect("a node number is free");
    let (listener, base) = listen();
    let server = kith::http::server::start(app.clone(), listener).expect("the server starts");
    tokio::spawn(server);
    (app, Client::new(base))
}

fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    (listener, format!("http://{address}"))
}

/// Defaults of the program, but for what tests need otherwise.
pub fn settings(database_url: &str, redis_url: &str) -> Config {
    let arguments = ["kith", "--database-url", database_url, "--redis-url", redis_url, "--secrets", SECRETS];
    // The environment of whoever runs the tests has no say.
    let command = Config::augment_args(clap::Command::new("kith")).mut_args(|argument| argument.env(Resettable::Reset));
    let matches = command.try_get_matches_from(arguments).expect("valid settings");
    let mut config = Config::from_arg_matches(&matches).expect("valid settings");
    config.channels = "default,work".parse().expect("valid channels");
    config.http_threads = 1;
    // The clock of a test stands still or leaps; nothing renews the lease behind its back.
    config.node_lease = Duration::from_secs(3600);
    config
}
