//! What is said when the program cannot start: one line on stderr that names the variable and the remedy,
//! and never the value, which may be a secret.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error};

/// Prints why the program ends, and answers exit code 1.
pub fn fail(sentence: &str) -> ExitCode {
    eprintln!("kith: {sentence}");
    ExitCode::FAILURE
}

/// Prints help, a version, or what is wrong with the arguments and the environment.
pub fn explain<C: CommandFactory>(error: Error) -> ExitCode {
    let args = || C::command().get_subcommands().flat_map(Command::get_arguments).cloned().collect::<Vec<_>>();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::FAILURE
        }
        ErrorKind::MissingRequiredArgument => {
            let missing: Vec<_> =
                named(&error, &args()).iter().map(|arg| format!("{} ({})", name(arg), help(arg))).collect();
            fail(&format!("not set: {}. See .env.example.", missing.join("; ")))
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let args = args();
            let named = named(&error, &args);
            let arg = named.first().map_or_else(|| "an argument".into(), |arg| name(arg));
            let reason = std::error::Error::source(&error).map_or_else(|| choices(&error), ToString::to_string);
            fail(&format!("{arg} is not valid: {reason}."))
        }
        _ => fail(error.to_string().lines().next().unwrap_or_default().trim_start_matches("error: ")),
    }
}

/// The arguments that `error` is about. It knows them only by how their usage is printed.
fn named<'a>(error: &Error, args: &'a [Arg]) -> Vec<&'a Arg> {
    let printed: &[String] = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(one)) => std::slice::from_ref(one),
        Some(ContextValue::Strings(many)) => many,
        _ => &[],
    };
    let find = |printed: &String| args.iter().find(|arg| printed.split_whitespace().next() == flag(arg).as_deref());
    printed.iter().filter_map(find).collect()
}

fn flag(arg: &Arg) -> Option<String> {
    arg.get_long().map(|long| format!("--{long}"))
}

fn name(arg: &Arg) -> String {
    let variable = arg.get_env().map(|name| name.to_string_lossy().into_owned());
    variable.or_else(|| flag(arg)).unwrap_or_else(|| arg.get_id().to_string())
}

fn help(arg: &Arg) -> String {
    let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    text.trim_end_matches('.').to_owned()
}

fn choices(error: &Error) -> String {
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(valid)) => format!("it is one of {}", valid.join(", ")),
        _ => "it cannot be read".into(),
    }
}
