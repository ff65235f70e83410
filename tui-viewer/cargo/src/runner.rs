//! The runner, through which cargo starts each program so that a [`Watcher`] watches it.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, anyhow};
use clap::Parser;
use tickscope_command::child::Program;

use crate::args::{CargoCli, CargoCommand};
use crate::executable::Executable;
use crate::handover::Handover;
use crate::test_list;
use crate::watcher::Watcher;

/// Possible reasons why a program published no records.
const UNHEARD: &str = "a program that starts others, or ends by a signal at once, leaves no records; see also the last message of \
                       cargo tickscope";

/// Arguments that make a test program list its tests.
const LIST: [&str; 3] = ["--list", "--format", "terse"];

/// Runs a program for cargo under the [`Watcher`], and returns the program's exit code.
///
/// # Errors
/// The program cannot be watched.
pub(crate) fn run<W: Watcher>(handover: &Handover, words: &[OsString]) -> anyhow::Result<u8> {
    let (program, arguments) = words.split_first().context("cargo names no program")?;
    let program = Path::new(program);
    let mut command = command(handover, program, arguments);
    if !is_ours(handover, program) {
        let error = command.exec();
        return Err(anyhow!("cannot start {}: {error}", program.display()));
    }
    let cli = CargoCli::<W::Look>::parse_from(&handover.words);
    command
        .env("TICKSCOPE_FUNCTIONS", "on")
        .envs(handover.functions.variables());
    let watched = Program {
        command,
        name: program.into(),
        unheard: UNHEARD,
    };
    let is_one = matches!(cli.command, CargoCommand::Run | CargoCommand::Build);
    if is_one {
        return match cli.record {
            Some(file) => W::record(watched, file),
            None => W::watch(watched, cli.report, &cli.look),
        };
    }
    let record = cli.record.map(|file| file_of(&handover.here.join(file), program));
    let lists_tests = Executable::read(program).is_some_and(|file| file.lists_tests);
    if !lists_tests {
        return match record {
            Some(file) => W::record(watched, file),
            None => W::watch(watched, true, &cli.look),
        };
    }
    let list = |chosen: &[OsString]| {
        let arguments = [&LIST.map(OsString::from), chosen].concat();
        test_list::listed(&mut self::command(handover, program, &arguments))
    };
    // Some arguments exclude those that make a list.
    let all = match list(arguments)? {
        Some(chosen) => chosen,
        None => list(&[])?.unwrap_or_default(),
    };
    // A test program that runs no tests has nothing to watch.
    let asks = |word: &OsString| matches!(word.to_str(), Some("--list" | "--help" | "-h"));
    let is_test = cli.command == CargoCommand::Test;
    let is_empty = if is_test {
        all.tests.is_empty()
    } else {
        all.benchmarks == 0
    };
    if is_empty || arguments.iter().any(asks) {
        let mut plain = self::command(handover, program, arguments);
        return Err(anyhow!("cannot start {}: {}", program.display(), plain.exec()));
    }
    if let Some(file) = record {
        W::record(watched, file)
    } else if is_test {
        W::time_tests(watched, &all.tests, cli.report)
    } else {
        W::watch(watched, true, &cli.look)
    }
}

/// Returns the command that starts the program, through the user's own runner if there is one. The variables that were
/// set for cargo are not passed on to the program.
fn command(handover: &Handover, program: &Path, arguments: &[OsString]) -> Command {
    let mut targets = handover.targets.iter();
    let target = targets.find(|(target, _)| program.starts_with(handover.target_dir.join(target)));
    // Doctest programs lie outside the target directory, so they get the runner of the first target.
    let prepared = target.or_else(|| handover.targets.iter().next());
    let runner = prepared.map_or(&[][..], |(_, prepared)| &prepared.runner[..]);
    let mut words = runner.iter().map(OsStr::new).chain([program.as_os_str()]);
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).args(arguments);
    handover.restore(&mut command);
    command
}

/// Returns whether a program contains the collector. Doctests and the tests of procedural macro crates do not.
fn is_ours(handover: &Handover, program: &Path) -> bool {
    let program = std::path::absolute(program).unwrap_or_else(|_| program.to_path_buf());
    let mut targets = handover.targets.keys();
    targets.any(|target| program.starts_with(handover.target_dir.join(target)))
}

/// Returns the file to which one of several programs is recorded: for `run.tks`, this is `run-NAME.tks`.
fn file_of(file: &Path, program: &Path) -> PathBuf {
    let mut name = file.file_stem().unwrap_or_default().to_os_string();
    name.push("-");
    name.push(program.file_name().unwrap_or_default());
    name.push(".tks");
    file.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::handover::Prepared;

    fn handover() -> Handover {
        let prepared = Prepared {
            runner: vec!["time".into(), "-v".into()],
            ..Prepared::default()
        };
        Handover {
            target_dir: "/p/target/tickscope".into(),
            targets: [("x".to_string(), prepared)].into(),
            own_variables: [
                ("RUSTC_WRAPPER".to_string(), None),
                ("CARGO_TARGET_X_RUNNER".to_string(), Some("time -v".to_string())),
            ]
            .into(),
            ..Handover::default()
        }
    }

    #[test]
    fn only_programs_for_the_target_are_watched() {
        assert!(is_ours(&handover(), Path::new("/p/target/tickscope/x/debug/app")));
        for other in [
            "/p/target/tickscope/debug/deps/macros-1",
            "/tmp/rustdoctest/rust_out",
            "/p/target/x/debug/app",
        ] {
            assert!(!is_ours(&handover(), Path::new(other)), "{other}");
        }
    }

    #[test]
    fn the_users_runner_stands_before_the_program() {
        let command = command(&handover(), Path::new("/p/app"), &["--fast".into()]);
        assert_eq!(command.get_program(), "time");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["-v", "/p/app", "--fast"]);
        let variables: BTreeMap<_, _> = command.get_envs().collect();
        assert_eq!(variables[OsStr::new("RUSTC_WRAPPER")], None);
        assert_eq!(
            variables[OsStr::new("CARGO_TARGET_X_RUNNER")],
            Some(OsStr::new("time -v"))
        );
    }

    #[test]
    fn each_test_program_has_a_recording() {
        let file = file_of(Path::new("/r/run.tks"), Path::new("/p/deps/mylib-1"));
        assert_eq!(file, Path::new("/r/run-mylib-1.tks"));
    }
}
