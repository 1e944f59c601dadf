//! A durable Postgres and a durable Redis of one test's own, to be killed, stopped and put back to what they were.
//! They are made by `script/services` and erased when dropped; what a killed program leaves behind, the next one erases.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::harness::{erase, home, services, until};

/// The servers, which run until they are told otherwise.
#[derive(Debug)]
pub struct Servers {
    /// Where Postgres is, for a superuser.
    pub database_url: String,
    /// Where Redis is.
    pub redis_url: String,
    name: String,
}

/// One of the two.
#[derive(Clone, Copy, Debug)]
pub enum Server {
    /// Its first process.
    Postgres,
    /// Its only one.
    Redis,
}

impl Servers {
    /// Starts both.
    pub async fn start() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("{}-{}", run(), MADE.fetch_add(1, Ordering::Relaxed));
        // There before they are started, so that they are erased also when that fails half-way.
        let mut servers = Self { database_url: String::new(), redis_url: String::new(), name };
        servers.start_again().await;
        let environment = services("env", &servers.name);
        let value =
            |name: &str| environment.lines().find_map(|line| line.strip_prefix(name)).expect("a URL").to_owned();
        (servers.database_url, servers.redis_url) = (value("DATABASE_URL="), value("REDIS_URL="));
        servers
    }

    /// Starts what does not run, and waits until it answers.
    pub async fn start_again(&self) {
        let name = self.name.clone();
        tokio::task::spawn_blocking(move || services("start", &name)).await.expect("it did not panic");
        if !self.database_url.is_empty() {
            let environment = services("env", &self.name);
            assert!(environment.contains(&self.database_url) && environment.contains(&self.redis_url), "they moved");
        }
    }

    /// Sends a signal by name: `STOP`, `CONT`, `KILL`, and of Postgres `INT` (stops fast) and `QUIT` (at once).
    pub fn signal(&self, server: Server, signal: &str) {
        kill(signal, &self.pid(server));
    }

    /// Sends a signal that ends it, and waits until it has.
    pub async fn end(&self, server: Server, signal: &str) {
        let pid = self.pid(server);
        kill(signal, &pid);
        until("the server ended", async || {
            // One that nobody waited for yet counts as ended.
            let state = Command::new("ps").args(["-o", "stat=", "-p", &pid]).output().expect("ps");
            let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
            (state.is_empty() || state.starts_with('Z')).then_some(())
        })
        .await;
    }

    fn pid(&self, server: Server) -> String {
        let file = match server {
            Server::Postgres => "postgres/data/postmaster.pid",
            Server::Redis => "redis/pid",
        };
        let text = std::fs::read_to_string(home(&self.name).join(file)).expect("it runs");
        text.lines().next().expect("a process").trim().to_owned()
    }

    /// What Redis would find if it were started now. It may run meanwhile, for it appends only.
    pub fn redis_data(&self) -> RedisData {
        let mut files = Vec::new();
        read(&home(&self.name).join("redis"), Path::new(""), &mut files);
        RedisData(files)
    }

    /// Gives a Redis that was ended what it had at another time; with [`RedisData::default`] nothing at all.
    pub fn put_redis_data(&self, data: &RedisData) {
        let directory = home(&self.name).join("redis");
        for entry in std::fs::read_dir(&directory).expect("its directory").map(|entry| entry.expect("an entry").path())
        {
            if is_data(entry.file_name().expect("a name")) {
                let gone = if entry.is_dir() { std::fs::remove_dir_all(&entry) } else { std::fs::remove_file(&entry) };
                gone.expect("it is ours");
            }
        }
        for (path, bytes) in &data.0 {
            let path = directory.join(path);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("it is ours");
            std::fs::write(path, bytes).expect("it is ours");
        }
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        erase(&self.name);
    }
}

/// The files that Redis keeps, each with its path below its directory.
#[derive(Clone, Debug, Default)]
pub struct RedisData(Vec<(PathBuf, Vec<u8>)>);

fn is_data(name: &std::ffi::OsStr) -> bool {
    ["appendonly", "dump"].iter().any(|start| name.to_string_lossy().starts_with(start))
}

fn read(root: &Path, below: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(root.join(below)).expect("a directory") {
        let path = below.join(entry.expect("an entry").file_name());
        if below == Path::new("") && !is_data(path.as_os_str()) {
            continue;
        }
        match root.join(&path).is_dir() {
            true => read(root, &path, files),
            false => files.push((path.clone(), std::fs::read(root.join(&path)).expect("a file"))),
        }
    }
}

fn kill(signal: &str, pid: &str) {
    let status = Command::new("kill").args([&format!("-{signal}"), pid]).status();
    assert!(status.expect("kill").success(), "process {pid} is there");
}

/// The start of the name of all servers of this program. Whoever holds the lock on the file of that name lives.
fn run() -> &'static str {
    static RUN: OnceLock<(String, File)> = OnceLock::new();
    let (run, _lock) = RUN.get_or_init(|| {
        sweep();
        let run = format!("faults-{:08x}", rand::random::<u32>());
        let lock = File::create(home(&run).with_extension("owner")).expect(".data is ours");
        lock.lock().expect("it is new");
        (run, lock)
    });
    run
}

/// Erases the servers of programs that are gone.
fn sweep() {
    let names = || {
        let entries = std::fs::read_dir(home("")).into_iter().flatten();
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
    };
    for owner in names().filter(|name| name.starts_with("faults-") && name.ends_with(".owner")) {
        let run = owner.trim_end_matches(".owner");
        let Ok(lock) = File::open(home(&owner)) else { continue };
        if lock.try_lock().is_ok() {
            let of_run = |name: &String| name.starts_with(run) && home(name).is_dir();
            names().filter(of_run).for_each(|name| erase(&name));
            let _ = std::fs::remove_file(home(&owner));
        }
    }
}
