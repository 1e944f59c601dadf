//! `.env.example` lists exactly the settings that the program reads, with their defaults. Never what they do.

use std::collections::BTreeMap;
use std::process::Command;

/// Name and default of each setting that a subcommand reads from the environment, as its help says.
fn settings() -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    for subcommand in ["serve", "worker", "migrate", "reconcile"] {
        let kith = Command::new(env!("CARGO_BIN_EXE_kith")).args([subcommand, "--help"]).env_clear().output();
        let help = String::from_utf8(kith.expect("it runs").stdout).expect("UTF-8");
        for setting in help.split("[env: ").skip(1) {
            let (name, rest) = setting.split_once(']').expect("the end of a name");
            let default = rest.trim_start().strip_prefix("[default: ").and_then(|rest| rest.split(']').next());
            // The help writes the empty default as "".
            let default = default.unwrap_or_default().trim().replace("\"\"", "");
            settings.insert(name.trim_end_matches('=').to_owned(), default);
        }
    }
    settings
}

/// `NAME=value` and `# NAME=value` lines.
fn example() -> BTreeMap<String, String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/.env.example");
    let text = std::fs::read_to_string(path).expect(".env.example is there");
    let mut settings = BTreeMap::new();
    for line in text.lines() {
        let line = line.trim_start_matches(['#', ' ']);
        let Some((name, value)) = line.split_once('=') else { continue };
        if !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_') {
            assert!(settings.insert(name.to_owned(), value.to_owned()).is_none(), "{name} stands there twice");
        }
    }
    settings
}

#[test]
fn the_example_lists_each_setting_and_nothing_else() {
    let (settings, example) = (settings(), example());
    assert!(settings.len() > 10, "{settings:?}");
    assert_eq!(example.keys().collect::<Vec<_>>(), settings.keys().collect::<Vec<_>>());
    for (name, default) in settings {
        // What has no default is an example.
        if !default.is_empty() {
            assert_eq!(example[&name], default, "the default of {name}");
        }
    }
}
