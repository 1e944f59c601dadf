//! What the documents say, held against the code.

use std::collections::BTreeSet;
use std::fs::read_to_string;

fn file(path: &str) -> String {
    read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap_or_else(|error| panic!("{path}: {error}"))
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
fn what_the_readme_links_to_is_there() {
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        for link in file(page).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = format!("{}/{link}", env!("CARGO_MANIFEST_DIR"));
            assert!(link.starts_with("http") || std::path::Path::new(&path).exists(), "{page} links to {link}");
        }
    }
}

#[test]
fn the_page_of_settings_is_what_the_program_prints() {
    let kith = std::process::Command::new(env!("CARGO_BIN_EXE_kith")).arg("settings").env_clear().output();
    let printed = String::from_utf8(kith.expect("it runs").stdout).expect("UTF-8");
    assert!(printed.contains("| `KITH_JOB_LEASE` | `--job-lease` | `30` | seconds | Seconds that"), "{printed}");
    assert!(printed == file("docs/configuration.md"), "cargo run -- settings > docs/configuration.md\n{printed}");
}
