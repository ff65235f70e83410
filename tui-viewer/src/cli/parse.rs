//! Allows options before the command: `tickscope --dir D list` means the same as `tickscope list --dir D`.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use tickscope_command::console::{printable, say};
use tickscope_command::did_you_mean::nearest;

use crate::cli::args::Cli;
use crate::cli::args::diff::with_option_for_dashes;

/// Parses the command line. Options before the command are moved after it if they are valid only there.
///
/// If they are invalid there too, prints clap's message and exits.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Cli {
    let mut words: Vec<OsString> = words.into_iter().collect();
    if words
        .iter()
        .find(|word| is_command(word))
        .is_some_and(|word| word == "diff")
    {
        words = with_option_for_dashes(words);
    }
    let as_typed = Cli::try_parse_from(&words);
    let is_command = |cli: &Cli| {
        cli.target
            .target
            .as_deref()
            .is_some_and(|word| is_command(word.as_ref()))
    };
    match as_typed {
        Ok(cli) if !is_command(&cli) => cli,
        typed => match reordered(&words).map(Cli::try_parse_from) {
            Some(Ok(cli)) => cli,
            _ => typed.unwrap_or_else(|error| {
                if let Some(why) = two_targets(&error, &words) {
                    Cli::command().error(ErrorKind::ArgumentConflict, why).exit();
                }
                let word = words.get(1).and_then(|word| word.to_str());
                if let Some(meant) = word.and_then(near_command).filter(|_| error.use_stderr()) {
                    say(&format!(
                        "there is no such command; did you mean tickscope {meant}?"
                    ));
                }
                error.exit()
            }),
        },
    }
}

/// If clap mistook a second target for a command, returns an error message saying that only one target can be opened.
fn two_targets(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(second)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let at = words.iter().rposition(|word| *word == second.as_str())?;
    let before = Cli::try_parse_from(&words[..at]).ok()?;
    // If the first word looks like a misspelt command, or the second word is a command, the user did not mean two
    // targets.
    let is_meant = |first: &String| near_command(first).is_none() && !is_command(second.as_ref());
    let first = before.target.target.filter(is_meant)?;
    let (first, second) = (printable(&first), printable(second));
    Some(format!(
        "{first} and {second}: only one can be opened; for the differences: tickscope {second} --compare {first}"
    ))
}

fn is_command(word: &std::ffi::OsStr) -> bool {
    Cli::command()
        .find_subcommand(word)
        .is_some_and(|command| !command.is_hide_set())
}

/// Returns the command whose name is closest to an unknown word, if any is close enough.
pub fn near_command(word: &str) -> Option<String> {
    let all = Cli::command();
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set());
    let names = shown.flat_map(|command| command.get_visible_aliases().chain([command.get_name()]));
    nearest(word, names).map(str::to_owned)
}

/// Moves the command in front of the options that precede it.
fn reordered(words: &[OsString]) -> Option<Vec<OsString>> {
    let before = words.get(1)?.to_str()?.starts_with("--") && words.get(1)? != "--";
    let at = words.iter().skip(1).position(|word| is_command(word))? + 1;
    before.then(|| {
        let (front, command) = (&words[1..at], &words[at + 1..]);
        [&words[..1], &words[at..=at], front, command].concat()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Command;

    fn parsed(line: &str) -> Cli {
        parse(line.split(' ').map(OsString::from))
    }

    #[test]
    fn options_before_a_command_are_the_commands() {
        let cli = parsed("tickscope --dir d list --json");
        let Some(Command::List { json: true, dir, .. }) = cli.command else {
            panic!("{cli:?}")
        };
        assert_eq!(dir, Some("d".into()));
        let cli = parsed("tickscope --theme cvd demo");
        assert!(matches!(cli.command, Some(Command::Demo { .. })), "{cli:?}");
        let cli = parsed("tickscope --dir d report -f json x");
        let Some(Command::Report(args)) = cli.command else {
            panic!("{cli:?}")
        };
        assert_eq!(
            (args.target.dir, args.target.target),
            (Some("d".into()), Some("x".into()))
        );
    }

    #[test]
    fn what_makes_sense_as_it_stands_is_left_so() {
        for (line, target) in [
            ("tickscope --dir d order", Some("order")),
            ("tickscope report", None),
            // `list` has no such option, so here `list` is the name of a program.
            ("tickscope --compare x list", Some("list")),
        ] {
            assert_eq!(parsed(line).target.target.as_deref(), target, "{line}");
        }
        let cli = parsed("tickscope attach list");
        assert!(matches!(cli.command, Some(Command::Attach { .. })), "{cli:?}");
    }
}
