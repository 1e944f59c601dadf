//! What the documents say, held against the code. Their examples are run in `examples`.

mod examples;

use std::collections::BTreeSet;
use std::fs::{read_dir, read_to_string};
use std::path::Path;

use serde_json::json;

use crate::harness::Kith;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn file(path: &str) -> String {
    read_to_string(format!("{ROOT}/{path}")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every document, by its path from the root.
fn pages() -> Vec<String> {
    let names = read_dir(format!("{ROOT}/docs")).expect("docs/").map(|entry| entry.expect("an entry").file_name());
    let docs = names.map(|name| format!("docs/{}", name.display())).filter(|path| path.ends_with(".md"));
    ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(str::to_owned).into_iter().chain(docs).collect()
}

/// Every `"LIKE_THIS"` in a text.
fn codes_in(text: &str, quote: char) -> BTreeSet<String> {
    let is_code = |word: &&str| word.len() > 3 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    text.split(quote).filter(is_code).map(str::to_owned).collect()
}

#[test]
fn the_list_of_error_codes_is_what_the_code_knows() {
    let code = file("src/graphql/errors.rs") + &file("src/http/codes.rs");
    let listed: String = file("docs/errors.md").lines().filter(|line| line.starts_with("| `")).collect();
    let first_column: String = listed.split('|').skip(1).step_by(4).collect();
    assert_eq!(codes_in(&code, '"'), codes_in(&first_column, '`'));
}

#[test]
fn the_page_of_settings_is_what_the_program_prints() {
    let kith = std::process::Command::new(env!("CARGO_BIN_EXE_kith")).arg("settings").env_clear().output();
    let printed = String::from_utf8(kith.expect("it runs").stdout).expect("UTF-8");
    assert!(printed.contains("| `KITH_JOB_LEASE` | `--job-lease` | `30` | seconds | Seconds that"), "{printed}");
    assert!(printed == file("docs/configuration.md"), "cargo run -- settings > docs/configuration.md\n{printed}");
}

#[tokio::test]
async fn the_page_of_limits_has_the_numbers_of_the_schema() {
    let kith = Kith::start().await;
    let ask = async |field: &str| kith.anonymous().query(&format!("{{ limits {{ {field} }} }}"), json!({})).await;
    let mut rows = 0;
    for row in file("docs/limits.md").lines().filter_map(|line| line.strip_prefix("| `")) {
        let (name, numbers) = row.split_once("` | ").expect("a row");
        let numbers = numbers.trim_end_matches(" |");
        let found = if numbers.contains(" to ") {
            let answer = ask(&format!("{name} {{ minGraphemes maxGraphemes maxBytes }}")).await;
            let limit = answer.at(&format!("/limits/{name}")).clone();
            format!("{} to {} | {}", limit["minGraphemes"], limit["maxGraphemes"], limit["maxBytes"])
        } else {
            ask(name).await.at(&format!("/limits/{name}")).to_string()
        };
        assert_eq!(numbers, found, "{name}");
        rows += 1;
    }
    // Every limit of the schema but the channels, which are the operator's.
    let fields = "{ __type(name: \"Limits\") { fields { name } } }";
    let known = kith.anonymous().query(fields, json!({})).await.at("/__type/fields").as_array().map_or(0, Vec::len);
    assert_eq!(rows, known - 1);
}

/// Numbers that no client can ask for. They are on the page in the words of people, as `2 000` and `days`.
#[test]
fn the_numbers_of_the_code_stand_in_the_documents() {
    for (page, row, source, constant) in [
        ("http", "| brackets inside each other | 64 |", "http/limits/text", "MAX_NESTING: usize = 64;"),
        ("http", "| tokens | 10 000 |", "http/limits/text", "MAX_TOKENS: usize = 10_000;"),
        ("http", "| fields and fragments | 2 000 |", "http/limits/document", "MAX_SELECTIONS: usize = 2_000;"),
        ("http", "| selections inside each other | 30 |", "http/limits/document", "MAX_DEPTH: usize = 30;"),
        ("http", "| aliases | 200 |", "http/limits/document", "MAX_ALIASES: usize = 200;"),
        ("http", "| directives | 200 |", "http/limits/document", "MAX_DIRECTIVES: usize = 200;"),
        ("http", "for as long as its page | 300 000 |", "http/limits/document", "MAX_VALUES: usize = 300_000;"),
        ("http", "| errors in one answer; more are left out | 50 |", "http/answer", "MAX_ERRORS: usize = 50;"),
        ("http", "(up to 128 letters", "http/trace", "MAX_LENGTH: usize = 128;"),
        ("limits", "| a page, unless `first` or `last` says otherwise | 20 |", "page", "DEFAULT_SIZE: i32 = 20;"),
        (
            "limits",
            "| an access token | 15 minutes |",
            "domain/auth/tokens",
            "LIFE: TimeDelta = TimeDelta::minutes(15);",
        ),
        (
            "limits",
            "| a session that is not refreshed | 60 days |",
            "domain/auth/rules",
            "SESSION_LIFE: TimeDelta = TimeDelta::days(60);",
        ),
        (
            "limits",
            "| a session at most | 365 days |",
            "domain/auth/rules",
            "SESSION_LIFE_AT_MOST: TimeDelta = TimeDelta::days(365);",
        ),
        ("limits", "| an idempotency key | 7 days |", "domain/idempotency", "KEPT_DAYS: i64 = 7;"),
    ] {
        assert!(
            file(&format!("src/{source}.rs")).contains(constant),
            "{source} has no {constant}: {page}.md says {row}"
        );
        assert!(file(&format!("docs/{page}.md")).contains(row), "{page}.md does not say {row}");
    }
}

#[test]
fn links_between_the_documents_lead_somewhere() {
    for page in pages() {
        let text = file(&page);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let beside = Path::new(ROOT).join(&page).with_file_name(path);
            let target = if path.is_empty() { Path::new(ROOT).join(&page) } else { beside };
            assert!(target.exists(), "{page} links to {link}");
            let headings = || read_to_string(&target).expect("a page");
            let leads = heading.is_empty() || headings().lines().any(|line| anchor(line).as_deref() == Some(heading));
            assert!(leads, "{page} links to {link}");
        }
    }
}

/// The anchor of a heading, as it is made where documents are shown.
fn anchor(line: &str) -> Option<String> {
    let heading = line.strip_prefix('#')?.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    Some(kept.collect::<String>().replace(' ', "-"))
}
