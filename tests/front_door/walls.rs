//! Holds the walls of ARCHITECTURE.md: who may name whom, which library is used where, and how files are kept.
//! Never how Kith behaves.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Which libraries are used in which rooms only.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("actix_web", &["http", "cli"]),
    ("async_graphql", &["graphql", "http"]),
    ("diesel", &["db", "queue", "domain"]),
    ("diesel_async", &["db", "queue", "domain"]),
    ("diesel_migrations", &["db"]),
    ("tokio_postgres", &["db"]),
    ("redis", &["kv", "live", "domain/inbox"]),
    ("bb8_redis", &["kv", "live"]),
    ("jsonwebtoken", &["domain/auth"]),
    ("argon2", &["domain/auth"]),
    ("clap", &["cli", "config"]),
    ("rustls", &["tls.rs"]),
    ("prometheus_client", &["telemetry"]),
    ("opentelemetry", &["telemetry"]),
];

/// Neighbours that must not know of each other, besides what the order in `lib.rs` says.
const STRANGERS: &[(&str, &str)] = &[("worker", "http"), ("worker", "graphql"), ("kv", "db"), ("queue", "kv")];

/// Macros live at the root of the crate but belong to a room.
const MACROS: &[(&str, &str)] = &[("statement", "db"), ("connection", "graphql")];

const LONGEST_FILE: usize = 400;
const LONGEST_TEST: usize = 600;

struct File {
    /// Below `src/`.
    path: String,
    text: String,
}

impl File {
    /// Without the unit tests at the end and without comments.
    fn code(&self) -> String {
        let product = self.text.split("#[cfg(test)]").next().unwrap_or_default();
        product.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, "\n"]).collect()
    }

    fn is_in(&self, room: &str) -> bool {
        self.path == room || self.path.strip_prefix(room).is_some_and(|rest| rest.starts_with('/'))
    }

    /// `domain/users/read.rs` -> `domain`; `app.rs` -> `app`
    fn module(&self) -> &str {
        self.path.split(['/', '.']).next().unwrap_or_default()
    }
}

fn files(below: &str) -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(below);
    let mut paths: Vec<PathBuf> = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(std::fs::read_dir(path).expect("a directory").map(|entry| entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("UTF-8");
            let path = path.strip_prefix(&root).expect("below the root").to_str().expect("UTF-8").to_owned();
            files.push(File { path, text });
        }
    }
    assert!(!files.is_empty());
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The modules that a file declares, in order.
fn declared(path: &str) -> Vec<String> {
    let file = files("src").into_iter().find(|file| file.path == path).expect("it is there");
    let name = |line: &str| Some(line.trim().strip_prefix("pub mod ")?.strip_suffix(';')?.to_owned());
    file.text.lines().filter_map(name).collect()
}

/// Every path that starts with `start` (`crate::`) in `code`, braces taken apart: `a::b::c`.
fn paths(code: &str, start: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices(start) {
        let is_whole = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        if is_whole || code[..at].ends_with("$") {
            expand(String::new(), &code[at + start.len()..], &mut found);
        }
    }
    found
}

/// Reads one tree of a `use` or one path in an expression; answers how much of `text` that was.
fn expand(before: String, text: &str, found: &mut BTreeSet<String>) -> usize {
    let word = |text: &str| text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '*')).unwrap_or(text.len());
    let end = word(text);
    let path = if before.is_empty() { text[..end].to_owned() } else { format!("{before}::{}", &text[..end]) };
    if text[end..].starts_with("::") {
        return end + 2 + expand(path, &text[end + 2..], found);
    }
    if end > 0 {
        found.insert(path);
        return end;
    }
    if !text.starts_with('{') {
        found.insert(before);
        return 0;
    }
    let mut at = 1;
    while at < text.len() && !text[at..].starts_with('}') {
        let skipped = text[at..].len() - text[at..].trim_start_matches([',', ' ', '\n']).len();
        at += skipped;
        if skipped == 0 || !text[at..].starts_with('}') {
            let step = expand(before.clone(), &text[at..], found);
            at += step.max(usize::from(skipped == 0));
        }
        // `a as b`: what it is called here does not matter.
        if text[at..].starts_with(" as ") {
            at += 4 + word(&text[at + 4..]);
        }
    }
    at + 1
}

#[test]
fn paths_are_taken_apart() {
    let code = "use crate::domain::{users, follows::{self, model::Edge as E}};\n let x = crate::ids::time_of(1); $crate::page::A";
    let found: Vec<_> = paths(code, "crate::").into_iter().collect();
    let expected =
        ["domain::follows::model::Edge", "domain::follows::self", "domain::users", "ids::time_of", "page::A"];
    assert_eq!(found, expected);
}

#[test]
fn a_module_names_only_modules_above_it() {
    let order = declared("lib.rs");
    let rank = |module: &str| order.iter().position(|known| known == module);
    let mut wrong = Vec::new();
    for file in files("src") {
        let Some(mine) = rank(file.module()) else { continue };
        for path in paths(&file.code(), "crate::") {
            let first = path.split("::").next().unwrap_or_default();
            let module = MACROS.iter().find(|(name, _)| path == *name).map_or(first, |(_, room)| room);
            let Some(theirs) = rank(module) else {
                wrong.push(format!("src/{} names crate::{path}, which lib.rs does not declare", file.path));
                continue;
            };
            let strangers = STRANGERS.contains(&(file.module(), module));
            if theirs > mine || strangers {
                wrong.push(format!("src/{} names crate::{path}", file.path));
            }
        }
    }
    assert!(wrong.is_empty(), "these look the wrong way:\n{}", wrong.join("\n"));
}

#[test]
fn a_room_of_the_domain_names_only_rooms_above_it() {
    let order = declared("domain/mod.rs");
    let rank = |room: &str| order.iter().position(|known| known == room);
    let mut wrong = Vec::new();
    for file in files("src/domain") {
        let Some(mine) = rank(file.module()) else { continue };
        for path in paths(&file.code(), "crate::domain::") {
            let room = path.split("::").next().unwrap_or_default();
            if rank(room).is_none_or(|theirs| theirs > mine) {
                wrong.push(format!("src/domain/{} names {path}", file.path));
            }
        }
    }
    assert!(wrong.is_empty(), "these look the wrong way:\n{}", wrong.join("\n"));
}

#[test]
fn the_map_follows_the_architecture() {
    let in_order = |order: &[String], expected: &[&[&str]]| {
        let step = |name: &String| expected.iter().position(|step| step.contains(&name.as_str()));
        let steps: Vec<_> =
            order.iter().map(|name| step(name).unwrap_or_else(|| panic!("{name} has no place"))).collect();
        assert!(steps.is_sorted(), "{order:?}");
    };
    let ground = ["config", "error", "ids", "page", "text", "time", "tls", "viewer"];
    let stores = ["db", "kv", "queue", "live", "telemetry"];
    in_order(
        &declared("lib.rs"),
        &[&ground, &stores, &["domain"], &["app"], &["graphql"], &["http", "worker"], &["cli"]],
    );
    let rooms: [&[&str]; 8] = [
        &["drift", "events", "idempotency"],
        &["users", "auth", "follows"],
        &["audience"],
        &["notifications", "direct", "media"],
        &["messages"],
        &["comments", "likes", "inbox", "reading", "schedule", "moderation"],
        &["capacity", "seed"],
        &["reconcile"],
    ];
    in_order(&declared("domain/mod.rs"), &rooms);
}

#[test]
fn no_path_climbs_twice() {
    let climbs: Vec<_> =
        files("src").iter().filter(|f| f.code().contains("super::super")).map(|f| f.path.clone()).collect();
    assert!(climbs.is_empty(), "{climbs:?}");
}

#[test]
fn a_library_is_used_in_its_rooms_only() {
    let mut wrong = Vec::new();
    for file in files("src") {
        for (library, rooms) in LIBRARIES {
            let uses = !paths(&file.code(), &format!("{library}::")).is_empty();
            if uses && !rooms.iter().any(|room| file.is_in(room)) {
                wrong.push(format!("src/{} uses {library}", file.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_of_the_product_panics_on_purpose() {
    let mut wrong = Vec::new();
    for file in files("src") {
        for (number, line) in file.code().lines().enumerate() {
            if [".unwrap()", ".expect(", "panic!(", "todo!(", "unimplemented!("].iter().any(|bad| line.contains(bad)) {
                wrong.push(format!("src/{}, line {} of its code: {}", file.path, number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_says_what_lives_in_it_and_is_short() {
    for (below, longest) in [("src", LONGEST_FILE), ("benches", LONGEST_FILE), ("tests", LONGEST_TEST)] {
        if !Path::new(env!("CARGO_MANIFEST_DIR")).join(below).exists() {
            continue;
        }
        for File { path, text } in files(below) {
            assert!(text.starts_with("//! "), "{below}/{path} does not say what lives in it");
            let lines = text.lines().count();
            assert!(lines <= longest, "{below}/{path} has {lines} lines");
        }
    }
}

#[test]
fn nothing_is_put_off() {
    let words = [concat!("TO", "DO"), concat!("FIX", "ME")];
    for below in ["src", "tests"] {
        for File { path, text } in files(below) {
            assert!(!words.iter().any(|word| text.contains(word)), "{below}/{path} puts something off");
        }
    }
}
