//! A Redis and a Postgres that a test starts for itself, with settings that the shared ones must not have.
//! Never for what those will do.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::until;

/// A directory of a test. It goes when this is dropped.
#[derive(Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// An empty one.
    pub fn new() -> Self {
        let path = std::env::temp_dir().join(format!("kith-test-{:016x}", rand::random::<u64>()));
        std::fs::create_dir(&path).expect("a directory");
        Self(path)
    }

    /// Writes `text` to a file of that name and answers its path.
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A Redis of its own. It ends when this is dropped.
#[derive(Debug)]
pub struct RedisServer {
    /// Where it listens.
    pub port: u16,
    /// Its address, without a user.
    pub url: String,
    child: Child,
    _directory: Directory,
}

impl RedisServer {
    /// Starts it with these arguments and waits until it listens. `PORT` among them is its port, and leaves no other.
    pub async fn start(arguments: &[&str]) -> Self {
        let port = free_port();
        let directory = Directory::new();
        let arguments: Vec<String> =
            arguments.iter().map(|argument| argument.replace("PORT", &port.to_string())).collect();
        let plain = if arguments.contains(&port.to_string()) { 0 } else { port };
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port", &plain.to_string()])
            .arg("--dir")
            .arg(&directory.0)
            .args(arguments)
            .env("LC_ALL", "C")
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is there");
        let server = Self { port, url: format!("redis://127.0.0.1:{port}"), child, _directory: directory };
        until("Redis listens", async || tokio::net::TcpStream::connect(("127.0.0.1", port)).await.ok()).await;
        server
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A Postgres of its own, made by `script/services`. It is erased when this is dropped.
#[derive(Debug)]
pub struct PostgresServer {
    /// Its address, with a superuser.
    pub url: String,
    name: String,
}

impl PostgresServer {
    /// Starts it, with these files beside its data: only it may read them.
    pub fn start(files: &[(&str, &str)]) -> Self {
        let name = format!("test-{:08x}", rand::random::<u32>());
        services("start", &name);
        let environment = services("env", &name);
        let url = environment.lines().find_map(|line| line.strip_prefix("DATABASE_URL=")).expect("an address");
        let data = home(&name).join("postgres/data");
        for (file, text) in files {
            let path = data.join(file);
            std::fs::write(&path, text).expect("a file");
            give(&path, &data);
        }
        Self { url: url.to_owned(), name }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        erase(&self.name);
    }
}

/// Gives a file to whom `data` belongs: Postgres does not run as root, and takes no key that others may read.
fn give(path: &Path, data: &Path) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).expect("it is ours");
    let owner = std::fs::metadata(data).expect("the data is there");
    chown(path, Some(owner.uid()), Some(owner.gid())).expect("it is ours to give");
}

/// Ends servers, and throws away all that is left of them.
pub fn erase(name: &str) {
    services("erase", name);
    let _ = std::fs::remove_file(home(name).with_extension("lock"));
}

/// Where servers have their data.
pub fn home(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(".data").join(name)
}

/// Runs `script/services`, and answers what it prints.
pub fn services(verb: &str, name: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/script/services");
    let output = Command::new(script).args([verb, name]).output().expect("script/services runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() || std::thread::panicking(), "{verb}: {said}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A port that nobody listens on now.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}
