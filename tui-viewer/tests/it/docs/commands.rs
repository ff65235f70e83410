//! Commands on the pages: `tickscope` commands parse, and the packages, targets and repository files that the pages
//! name exist.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::process::Command;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use serde_json::Value;
use tickscope_cargo::args::split;
use tickscope_cli::cli::args::{CargoCli, Cli, LookArgs};

use crate::docs::{book, markdown, pages, read, root, shell};

/// Directories in the root of the repository.
const FOLDERS: [&str; 6] = [
    ".ci/",
    "collector/",
    "docs/",
    "examples/",
    "shared-format/",
    "tui-viewer/",
];

/// Programs that the pages name as targets. Any other target that is a single word may be a misspelt command.
const PROGRAMS: [&str; 4] = ["app", "groups", "order-book", "parse"];

/// Returns all commands of a page, split into words.
pub(crate) fn commands_of(page: &str) -> Vec<Vec<String>> {
    let (fences, text) = markdown::cut(&read(page));
    let shells = fences
        .iter()
        .filter(|fence| matches!(&*fence.language, "sh" | "yaml"));
    let in_blocks = shells.flat_map(|fence| {
        let joined = fence.lines.join("\n").replace("\\\n", " ");
        let lines: Vec<String> = joined.lines().map(ToString::to_string).collect();
        lines
    });
    let mut commands = Vec::new();
    for line in in_blocks {
        let line = line.trim_start();
        commands.extend(shell::commands(line.strip_prefix("- run: ").unwrap_or(line)));
    }
    for span in markdown::spans(&text) {
        let is_shown = ["tickscope", "cargo", "TICKSCOPE", "source", "examples/compare.sh"]
            .iter()
            .any(|start| span.starts_with(start));
        // Spans such as `tickscope = { path = ".." }`, `tickscope::dump(..)` or `TICKSCOPE_REPORT` are not commands.
        if is_shown && span.contains(' ') && !span.contains(" = ") && !span.contains("::dump") {
            let lines = shell::usages(&span);
            commands.extend(lines.iter().flat_map(|line| shell::commands(line)));
        }
    }
    commands
}

/// Replaces a placeholder in a usage line, such as `FILE`, with sample words. Returns any other word unchanged.
pub(crate) fn typed(word: &str) -> Vec<String> {
    let words: &[&str] = match word {
        "FORM" => &["json"],
        "FILE" => &["run.tks"],
        "PID" => &["4711"],
        "NAME" | "PATTERN" => &["parse"],
        "DURATION" => &["10s"],
        "COMMAND" => &["report"],
        "CMD" => &["./app"],
        "ARGS..." => &["--fast"],
        "BEFORE..." | "AFTER..." => &["a.tks", "b.tks"],
        word => &[word],
    };
    words.iter().map(ToString::to_string).collect()
}

/// Parses the words of a `tickscope` command in the same way as the program.
fn parse(command: &[String]) -> Result<Cli, clap::Error> {
    let mut words: Vec<String> = command.iter().flat_map(|word| typed(word)).collect();
    if words.get(1).is_some_and(|word| word == "diff") {
        // `tickscope_cli::cli::parse` does this too, but ends the process if the words do not parse.
        if let Some(dashes) = words.iter_mut().find(|word| *word == "--") {
            *dashes = "--after".into();
        }
    }
    Cli::try_parse_from(words)
}

fn assert_parses(page: &str, command: &[String]) {
    let parsed = parse(command);
    // A command may be mentioned in the text without its arguments.
    let is_name = command.len() == 2;
    let is_fine = parsed.as_ref().err().is_none_or(|error| {
        let kind = error.kind();
        matches!(kind, ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
            || is_name && kind == ErrorKind::MissingRequiredArgument
    });
    assert!(is_fine, "{page}: {command:?}: {parsed:?}");
    let target = parsed.ok().and_then(|cli| cli.target.target).unwrap_or_default();
    // A single dash means standard input, so it is not a word.
    let is_word = target.contains(|c: char| c.is_ascii_lowercase())
        && target.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    assert!(
        !is_word || PROGRAMS.contains(&target.as_str()),
        "{page}: {command:?}: no such command; a program of this name is to be in `PROGRAMS`"
    );
}

fn commands_of_tickscope_parse() {
    let mut tried = 0;
    for page in pages() {
        for command in commands_of(&page) {
            match command[0].as_str() {
                "tickscope" => assert_parses(&page, &command),
                // `cargo run --release -- ARGS` runs the viewer.
                "cargo" if command[1..].starts_with(&["run", "--release", "--"].map(String::from)) => {
                    let mut words = vec!["tickscope".to_string()];
                    words.extend_from_slice(&command[4..]);
                    assert_parses(&page, &words);
                }
                "cargo" if command[1] == "tickscope" => {
                    let words = split::<LookArgs>(command[1..].iter().map(OsString::from));
                    let parsed = CargoCli::try_parse_from(words.ours);
                    // The command may be mentioned in the text without its arguments.
                    assert!(
                        parsed.is_ok() || command.len() == 2,
                        "{page}: {command:?}: {parsed:?}"
                    );
                }
                // Words after the two builds are passed to `tickscope diff`.
                "examples/compare.sh" if command.len() > 1 => {
                    let mut words = ["tickscope", "diff", "a.tks", "--", "b.tks"]
                        .map(String::from)
                        .to_vec();
                    words.extend_from_slice(&command[3..]);
                    assert_parses(&page, &words);
                }
                _ => continue,
            }
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried} commands");
}

fn a_wrong_command_is_found() {
    for line in [
        "tickscope report --no-such-option",
        "tickscope mode fast",
        "tickscope diff a.tks -- b.tks --no-such-option",
    ] {
        let words = &shell::commands(line)[0];
        assert!(parse(words).is_err(), "{line}");
    }
}

fn every_command_has_a_row_in_the_table_of_commands() {
    let (_, text) = markdown::cut(&read("docs/commands.md"));
    let first_cells: Vec<String> = markdown::rows(&text)
        .into_iter()
        .map(|row| row[0].clone())
        .collect();
    let cli = Cli::command();
    let shown = cli.get_subcommands().filter(|command| !command.is_hide_set());
    for name in shown.map(clap::Command::get_name) {
        let is_listed = first_cells.iter().any(|cell| {
            markdown::spans(cell).iter().any(|span| {
                let mut words = span.split_whitespace().skip_while(|word| *word == "tickscope");
                words.next() == Some(name)
            })
        });
        assert!(is_listed, "{name}");
    }
}

/// Option that `cargo bench` passes on to a benchmark.
const OF_CRITERION: &str = "--profile-time";

/// Returns whether a command has an option and accepts this value for it.
fn takes(command: &clap::Command, option: &str, value: Option<&str>) -> bool {
    let is_meant = |arg: &&clap::Arg| arg.get_long() == option.strip_prefix("--");
    let Some(arg) = command.get_arguments().find(is_meant) else {
        return false;
    };
    let Some(value) = value.filter(|_| arg.get_action().takes_values()) else {
        return true;
    };
    let words = ["command", option, value];
    let parsed = command.clone().no_binary_name(false).try_get_matches_from(words);
    // Other errors, such as missing arguments, are ignored.
    let refused = [ErrorKind::InvalidValue, ErrorKind::ValueValidation];
    parsed.err().is_none_or(|error| !refused.contains(&error.kind()))
}

/// Each option that the text mentions without a command must exist in some command and accept the given value.
fn options_that_are_named_exist() {
    let cli = Cli::command();
    let of_cargo = CargoCli::command();
    let subcommands = cli.get_subcommands().chain(of_cargo.get_subcommands());
    let commands: Vec<&clap::Command> = subcommands.chain([&cli, &of_cargo]).collect();
    let is_known = |option: &str, value: Option<&str>| {
        ["--help", OF_CRITERION].contains(&option)
            || commands.iter().any(|command| takes(command, option, value))
    };
    let (mut named, mut with_value) = (0, 0);
    let pages = book()
        .into_iter()
        .filter(|page| !page.starts_with("docs/design/") && page != "docs/coming-from.md");
    for page in pages {
        let (_, text) = markdown::cut(&read(&page));
        let usages = |span: String| match span.starts_with("--") && span != "--" {
            true => shell::usages(&span),
            false => Vec::new(),
        };
        for usage in markdown::spans(&text).into_iter().flat_map(usages) {
            let words = shell::commands(&usage.replacen('=', " ", 1)).concat();
            // A value in capitals is a placeholder.
            let is_typed = |value: &&String| value.contains(|c: char| !c.is_ascii_uppercase());
            let value = words
                .get(1)
                .filter(|value| !value.starts_with('-'))
                .filter(is_typed);
            let value = value.map(String::as_str);
            assert!(is_known(&words[0], value), "{page}: {usage}");
            named += 1;
            with_value += usize::from(value.is_some());
        }
    }
    assert!(
        named > 20 && with_value > 10,
        "{named} options, {with_value} with a value"
    );
}

/// A package of the workspace as cargo describes it: its targets by kind, and its features.
struct Package {
    targets: HashSet<(String, String)>,
    features: HashSet<String>,
}

fn packages() -> HashMap<String, Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let package = |package: &Value| {
        let targets = package["targets"].as_array().unwrap().iter();
        let targets = targets.map(|target| (text(&target["kind"][0]), text(&target["name"])));
        let features = package["features"].as_object().unwrap().keys().cloned();
        let known = Package {
            targets: targets.collect(),
            features: features.collect(),
        };
        (text(&package["name"]), known)
    };
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(package)
        .collect()
}

/// Returns the options of a cargo command before `--`, with their values.
fn options(command: &[String]) -> impl Iterator<Item = (&str, &str)> {
    let own = command.split(|word| word == "--").next().unwrap_or_default();
    own.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str()))
}

fn cargo_finds_what_its_commands_name() {
    let packages = packages();
    let mut tried = 0;
    for page in pages() {
        for command in commands_of(&page) {
            let Some(at) = command.iter().position(|word| word == "cargo") else {
                continue;
            };
            let command = &command[at..];
            let names: Vec<&str> = options(command)
                .filter(|(option, _)| matches!(*option, "-p" | "--package"))
                .map(|(_, name)| name)
                .collect();
            for name in &names {
                assert!(
                    packages.contains_key(*name),
                    "{page}: no package {name}: {command:?}"
                );
            }
            let chosen: Vec<&Package> = packages
                .iter()
                .filter(|(name, _)| names.is_empty() || names.contains(&name.as_str()))
                .map(|(_, package)| package)
                .collect();
            // The programs of a package outside the workspace are looked up as files.
            let alone = options(command).find(|(option, _)| *option == "--manifest-path");
            let has_file = |name: &str| {
                let folder = alone.and_then(|(_, manifest)| manifest.strip_suffix("Cargo.toml"));
                folder.is_some_and(|folder| root().join(format!("{folder}src/bin/{name}.rs")).exists())
            };
            // A value in capitals, such as `FILE`, is a placeholder.
            let is_name = |value: &str| value.contains(|c: char| !c.is_ascii_uppercase());
            for (option, value) in options(command).filter(|(_, value)| is_name(value)) {
                let is_there = match option {
                    "--bin" | "--example" | "--test" | "--bench" => {
                        let target = (option[2..].to_string(), value.to_string());
                        chosen.iter().any(|package| package.targets.contains(&target)) || has_file(value)
                    }
                    "--features" if !names.is_empty() => value
                        .split(',')
                        .all(|feature| chosen.iter().any(|package| package.features.contains(feature))),
                    "--manifest-path" | "--path" => root().join(value).exists(),
                    _ => continue,
                };
                assert!(is_there, "{page}: no {option} {value}: {command:?}");
                tried += 1;
            }
        }
    }
    assert!(tried > 15, "{tried} names for cargo");
}

fn files_of_the_repository_that_are_named_exist() {
    let mut named = 0;
    for page in pages() {
        let (fences, text) = markdown::cut(&read(&page));
        let lines = fences
            .into_iter()
            .filter(|fence| fence.language == "sh")
            .flat_map(|fence| fence.lines);
        for line in lines.chain(markdown::spans(&text)) {
            for word in line.split_whitespace() {
                if FOLDERS.iter().any(|folder| word.starts_with(folder)) {
                    let path = word.trim_end_matches([',', '.', ';', ')']);
                    assert!(root().join(path).exists(), "{page}: no file {path}");
                    named += 1;
                }
            }
        }
    }
    assert!(named > 20, "{named} files");
}

tickscope_testkit::tests![
    commands_of_tickscope_parse,
    a_wrong_command_is_found,
    every_command_has_a_row_in_the_table_of_commands,
    options_that_are_named_exist,
    cargo_finds_what_its_commands_name,
    files_of_the_repository_that_are_named_exist
];
