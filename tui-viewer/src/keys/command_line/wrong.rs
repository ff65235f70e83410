//! What is wrong with a line, in a few words.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use crate::cli::args::Cli;
use crate::text::did_you_mean::distance;

/// What a line with an unknown command hears: the shell's are named, the others listed, the nearest first.
pub(super) fn unknown(all: &Command, word: &str) -> String {
    let shell = Cli::command();
    if let Some(command) = shell
        .find_subcommand(word)
        .filter(|command| !command.is_hide_set())
    {
        let name = command.get_name();
        return format!("{name} is a command of the shell: tickscope {name}");
    }
    let mut names: Vec<&str> = all.get_subcommands().map(Command::get_name).collect();
    names.sort_by_key(|name| (!name.starts_with(word), distance(word, name)));
    format!("no command {word}; there are {}", names.join(" "))
}

/// What the parser has against a line, in a few words.
pub(super) fn reason(name: &str, error: &clap::Error) -> String {
    let found = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    // What an argument's own reader says says what was wanted as well.
    if let Some(source) = error.source() {
        return format!("{name} {}: {source}", found(ContextKind::InvalidValue));
    }
    let kind = error.kind();
    if kind == ErrorKind::MissingRequiredArgument {
        format!("{name} wants more")
    } else if kind == ErrorKind::InvalidValue {
        format!("{name}: \"{}\" is no choice", found(ContextKind::InvalidValue))
    } else if kind == ErrorKind::UnknownArgument {
        format!("{name} knows no {}", found(ContextKind::InvalidArg))
    } else {
        let text = error.render().to_string();
        let first = text.lines().next().unwrap_or_default();
        format!("{name}: {}", first.trim_start_matches("error: "))
    }
}
