//! The real program as a process of its own, to be killed, stopped and resumed.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

use super::kith::SECRETS;
use super::servers::free_port;
use super::{Client, Kith, until};

/// A running `kith`. It ends, killed, when this is dropped.
pub struct Process {
    command: Command,
    child: Child,
    /// A client of it that is not signed in, if it serves.
    pub client: Client,
}

impl Process {
    /// Starts `kith` with these arguments and further environment on the databases of `kith`, and nothing else of
    /// this environment. It reads the machine's clock.
    pub fn spawn(kith: &Kith, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::spawn_with(arguments, &[&places(kith), environment].concat())
    }

    /// Starts `kith` with these arguments and this environment, which names the databases, and nothing else of ours.
    pub fn spawn_with(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::spawn_to(Stdio::inherit(), arguments, environment)
    }

    fn spawn_to(log: Stdio, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let port = free_port();
        let mut command = Command::new(env!("CARGO_BIN_EXE_kith"));
        command
            .args(arguments)
            .env_clear()
            .env("KITH_SECRETS", SECRETS)
            .env("KITH_ADDR", format!("127.0.0.1:{port}"))
            .env("KITH_CHANNELS", "default,work")
            // What the test did by its own clock was long ago by that of the machine.
            .env("KITH_COLD_DAYS", "36500")
            .env("KITH_HTTP_THREADS", "1")
            // The Postgres of the tests is not durable, and each process would say so.
            .env("KITH_LOG", "warn,kith::cli::checks=error")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stderr(log);
        let child = command.spawn().expect("the program starts");
        Self { command, child, client: Client::new(format!("http://127.0.0.1:{port}")) }
    }

    /// Starts `kith serve` and waits until it is ready.
    pub async fn serve(kith: &Kith, environment: &[(&str, &str)]) -> Self {
        let mut process = Self::spawn(kith, &["serve"], environment);
        process.ready().await;
        process
    }

    /// The same, with what it writes to its log, which is whole when it has ended.
    pub async fn serve_logged(kith: &Kith, environment: &[(&str, &str)]) -> (Self, JoinHandle<String>) {
        let mut process = Self::spawn_to(Stdio::piped(), &["serve"], &[&places(kith), environment].concat());
        let mut log = process.child.stderr.take().expect("a pipe");
        let log = thread::spawn(move || {
            let mut text = String::new();
            log.read_to_string(&mut text).expect("UTF-8");
            text
        });
        process.ready().await;
        (process, log)
    }

    /// Waits until it is ready.
    pub async fn ready(&mut self) {
        until("the server is ready", async || {
            assert!(self.is_running(), "the server ended");
            let ready = self.client.raw(reqwest::Method::GET, "/readyz").send().await.ok()?;
            ready.status().is_success().then_some(())
        })
        .await;
    }

    /// Kills it and starts it again, at the same address.
    pub fn kill_and_start(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it is a child");
        self.child = self.command.spawn().expect("the program starts");
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends it a signal by name: `STOP`, `CONT`, `KILL`, `TERM`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(status.expect("kill").success(), "the process is there");
    }

    /// Waits until it ended by itself and answers whether it did so with success.
    pub async fn ended(&mut self) -> bool {
        until("the process ended", async || self.child.try_wait().expect("a child").map(|status| status.success()))
            .await
    }
}

fn places(kith: &Kith) -> [(&'static str, &str); 2] {
    [("DATABASE_URL", kith.config.database_url.as_str()), ("REDIS_URL", kith.config.redis_url.as_str())]
}

impl Drop for Process {
    fn drop(&mut self) {
        // Also a stopped process ends by this; waited for, so that none is left behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
