//! Gives each test a Postgres database and a Redis database of its own, and clears up behind tests.
//! Several test programs may run at once on the same servers. Never what is in the databases.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use chrono::{DateTime, Datelike, Utc};
use kith::config::DatabaseUrl;
use sha2::{Digest, Sha256};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OnceCell};
use tokio_postgres::NoTls;
use url::Url;

use super::START_MS;

type Client = tokio_postgres::Client;

/// A database of one test. It goes when this is dropped; what a killed program leaves behind, the next one sweeps.
#[derive(Debug)]
pub struct Database {
    /// Where it is.
    pub url: String,
    name: String,
}

impl Database {
    /// A fresh copy of the migrated template.
    pub async fn migrated() -> Self {
        landlord().run(async move |it| it.create(Some(it.template().await.to_owned())).await).await
    }

    /// An empty one.
    pub async fn empty() -> Self {
        landlord().run(async move |it| it.create(None).await).await
    }

    /// An empty one that writes text in another way than UTF8.
    pub async fn encoded(encoding: &'static str) -> Self {
        landlord()
            .run(async move |it| it.create(Some(format!("template0 ENCODING '{encoding}' LOCALE 'C'"))).await)
            .await
    }

    /// Where it is, as Kith reads it.
    pub fn address(&self) -> DatabaseUrl {
        self.url.parse().expect("a URL")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (done, wait) = std::sync::mpsc::channel();
        let name = self.name.clone();
        landlord().runtime.spawn(async move {
            landlord().drop_database(&name).await;
            done.send(())
        });
        // Waited for, so that a program that ends with this test leaves nothing; but never for ever.
        let _ = wait.recv_timeout(Duration::from_secs(5));
    }
}

/// The URL of a logical database of Redis that is empty and that nobody else uses.
pub async fn redis() -> String {
    let mut url = Url::parse(&environment("KITH_TEST_REDIS_URL")).expect("KITH_TEST_REDIS_URL is a URL");
    url.set_path("/0");
    let client = redis::Client::open(url.as_str()).expect("KITH_TEST_REDIS_URL is a URL of Redis");
    let mut conn = client.get_multiplexed_async_connection().await.expect("Redis answers");
    let count: u64 = redis::cmd("INCR").arg("kith-test:next-database").query_async(&mut conn).await.expect("INCR");
    let number = count % 1023 + 1;
    let empty = redis::pipe().cmd("SELECT").arg(number).cmd("FLUSHDB").exec_async(&mut conn).await;
    empty.expect("Redis has 1024 logical databases, as script/services starts it");
    url.set_path(&format!("/{number}"));
    url.into()
}

fn environment(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!(
            "{name} is not set. Run script/test, or: script/services start test, \
             then: export $(script/services env test | sed s/^/KITH_TEST_/)"
        )
    })
}

/// Does the work on a thread of its own, so that it outlives the runtimes of the tests.
struct Landlord {
    runtime: Handle,
    server: Url,
    /// Part of the name of each database of this program.
    run: String,
    made: AtomicU32,
    idle: Mutex<Vec<Client>>,
    /// Holds the locks that tell other programs which databases are in use.
    signature: OnceCell<Client>,
    template: OnceCell<String>,
}

fn landlord() -> &'static Landlord {
    static LANDLORD: OnceLock<Landlord> = OnceLock::new();
    LANDLORD.get_or_init(|| {
        let server = Url::parse(&environment("KITH_TEST_DATABASE_URL")).expect("KITH_TEST_DATABASE_URL is a URL");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let handle = runtime.handle().clone();
        std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
        Landlord {
            runtime: handle,
            server,
            run: format!("kith_test_{:016x}", rand::random::<u64>()),
            made: AtomicU32::new(0),
            idle: Mutex::default(),
            signature: OnceCell::new(),
            template: OnceCell::new(),
        }
    })
}

impl Landlord {
    async fn run<T, F>(&'static self, work: impl FnOnce(&'static Self) -> F + Send + 'static) -> T
    where
        F: Future<Output = T> + Send,
        T: Send + 'static,
    {
        self.runtime.spawn(async move { work(self).await }).await.expect("the landlord did not panic")
    }

    async fn connect(&self) -> Client {
        let (client, connection) =
            tokio_postgres::connect(self.server.as_str(), NoTls).await.expect("Postgres answers");
        tokio::spawn(connection);
        client
    }

    async fn create(&self, template: Option<String>) -> Database {
        self.sign().await;
        let name = format!("{}_{}", self.run, self.made.fetch_add(1, Ordering::Relaxed));
        let template = template.unwrap_or_else(|| "template0".into());
        self.command(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await.expect("CREATE DATABASE");
        Database { url: self.url_of(&name), name }
    }

    async fn drop_database(&self, name: &str) {
        // Best effort: a server that is gone has nothing to clear up. Asked by ourselves whether the connections are
        // gone, for DROP with FORCE looks only each 100 ms.
        let end = format!(
            "DO $$ BEGIN
            PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}';
            FOR i IN 1..200 LOOP
                PERFORM pg_stat_clear_snapshot();
                EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = '{name}');
                PERFORM pg_sleep(0.002);
            END LOOP;
        END $$"
        );
        let _ = self.command(&end).await;
        let _ = self.command(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
    }

    /// On a connection that is used again: a new one costs more than the command.
    async fn command(&self, sql: &str) -> Result<(), tokio_postgres::Error> {
        let idle = self.idle.lock().await.pop();
        let client = match idle {
            Some(client) => client,
            None => self.connect().await,
        };
        client.batch_execute(sql).await?;
        self.idle.lock().await.push(client);
        Ok(())
    }

    fn url_of(&self, name: &str) -> String {
        let mut url = self.server.clone();
        url.set_path(name);
        url.into()
    }

    /// Once a program: says which databases are in use, and drops those of programs that are gone.
    async fn sign(&self) -> &Client {
        let sign = async || {
            let client = self.connect().await;
            for name in [&self.run, &template_name()] {
                client
                    .execute("SELECT pg_advisory_lock_shared(hashtextextended($1, 0))", &[name])
                    .await
                    .expect("a lock");
            }
            self.sweep().await;
            client
        };
        self.signature.get_or_init(sign).await
    }

    async fn sweep(&self) {
        let client = self.connect().await;
        // The name of a program's database without its number is the name of the program's lock.
        let leftovers =
            "SELECT datname::text, regexp_replace(datname, '^(kith_test_[0-9a-f]{16})_.*', '\\1') FROM pg_database
            WHERE datname ~ '^kith_(test|template)_[0-9a-f]{16}'";
        for row in client.query(leftovers, &[]).await.expect("pg_database") {
            let (name, owner): (String, String) = (row.get(0), row.get(1));
            let lock = "SELECT pg_try_advisory_lock(hashtextextended($1, 0))";
            if client.query_one(lock, &[&owner]).await.expect("a lock").get(0) {
                let _ = client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
                client.execute("SELECT pg_advisory_unlock(hashtextextended($1, 0))", &[&owner]).await.expect("unlock");
            }
        }
    }

    /// The name of the migrated template; whoever comes first makes it, for every program of the same schema.
    async fn template(&self) -> &str {
        self.sign().await;
        let name = template_name();
        let make = async || {
            let client = self.connect().await;
            let (making, lock) = (format!("{name}_making"), "SELECT pg_advisory_lock(hashtextextended($1, 0))");
            client.execute(lock, &[&making]).await.expect("a lock");
            let there = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)";
            if !client.query_one(there, &[&name]).await.expect("pg_database").get::<_, bool>(0) {
                let run = |sql: String| async { client.batch_execute(&{ sql }).await.expect("a template") };
                run(format!("DROP DATABASE IF EXISTS {making} WITH (FORCE)")).await;
                run(format!("CREATE DATABASE {making} TEMPLATE template0")).await;
                migrate(&self.url_of(&making)).await;
                // Only now does it have its name: a program that was killed leaves no half template.
                run(format!("ALTER DATABASE {making} RENAME TO {name}")).await;
            }
            name.clone()
        };
        self.template.get_or_init(make).await
    }
}

/// What `kith migrate` does, for the clock of the tests and for that of the machine.
async fn migrate(url: &str) {
    let url = &url.parse().expect("a URL");
    kith::db::migrations::up(url).await.expect("the migrations run");
    let mut conn = kith::db::connect(url).await.expect("Postgres answers");
    for now in [start(), Utc::now()] {
        kith::domain::messages::partitions::ensure(&mut conn, now).await.expect("the partitions are made");
    }
}

fn start() -> DateTime<Utc> {
    DateTime::from_timestamp_millis(START_MS).expect("a moment")
}

/// Names everything that the template depends on, so that a stale one is never used.
fn template_name() -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = std::fs::read_dir(root.join("migrations"))
        .expect("migrations/")
        .flat_map(|entry| ["up.sql", "down.sql"].map(|file| entry.as_ref().expect("an entry").path().join(file)))
        .collect();
    files.sort();
    files.push(root.join("src/domain/messages/partitions.rs"));
    let mut hash = Sha256::new();
    for file in files {
        hash.update(std::fs::read(&file).unwrap_or_default());
        hash.update([0]);
    }
    // The partitions reach from these months on.
    for moment in [start(), Utc::now()] {
        hash.update(format!("{}-{}", moment.year(), moment.month()));
    }
    let hash = hash.finalize();
    format!("kith_template_{:016x}", u64::from_be_bytes(hash[..8].try_into().expect("8 bytes")))
}
