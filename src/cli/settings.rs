//! `kith settings`: prints every setting as a page of Markdown, made from where they are declared. It needs no environment.

use std::io::{Write, stdout};

use clap::{Arg, Command};

use crate::cli::start::Outcome;

const HEAD: &str = "# Configuration

Each setting is a variable of the environment and a flag; the flag wins. Kith reads no file: [.env.example](../.env.example)
is one to load, and shows the same settings. What is wrong with one is said at start, with the remedy. A worker takes what a
server takes, so that both can share a file; what is about HTTP means nothing to it.

This page is what `kith settings` prints; a test compares them.

| variable | flag | default | unit | what it is | taken by |
|---|---|---|---|---|---|
";

/// A setting, and the subcommands that take it, in the order in which they are listed.
struct Setting<'a> {
    arg: &'a Arg,
    takers: Vec<&'a str>,
}

/// Prints the settings of all subcommands of `kith`: those arguments that are variables of the environment as well.
pub fn run(kith: &Command) -> Outcome {
    let mut settings: Vec<Setting<'_>> = Vec::new();
    for command in kith.get_subcommands() {
        for arg in command.get_arguments().filter(|arg| arg.get_env().is_some()) {
            match settings.iter_mut().find(|known| known.arg.get_env() == arg.get_env()) {
                Some(known) => known.takers.push(command.get_name()),
                None => settings.push(Setting { arg, takers: vec![command.get_name()] }),
            }
        }
    }
    let page: String = std::iter::once(HEAD.to_owned()).chain(settings.iter().map(row)).collect();
    stdout().write_all(page.as_bytes()).map_err(|error| format!("the settings could not be printed: {error}"))
}

fn row(Setting { arg, takers }: &Setting<'_>) -> String {
    let name = arg.get_env().unwrap_or_default().to_string_lossy();
    let flag = arg.get_long().unwrap_or_default();
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let default = match defaults.concat() {
        _ if arg.is_required_set() => "must be set".to_owned(),
        nothing if nothing.is_empty() => String::new(),
        some => format!("`{some}`"),
    };
    let takes_value = arg.get_action().takes_values();
    let names = arg.get_value_names().unwrap_or_default().iter().filter(|_| takes_value);
    let unit = names.map(|name| name.to_lowercase()).collect::<String>();
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let help = help.trim_end_matches('.').replace('|', "\\|");
    format!("| `{name}` | `--{flag}` | {default} | {unit} | {help}. | {} |\n", takers.join(", "))
}
