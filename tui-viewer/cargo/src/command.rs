//! Implements the command itself: reads the project, compiler and target, prepares the collector, and starts cargo with
//! this program as the compiler wrapper and the runner.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, anyhow, bail};
use clap::{Args, Parser};
use serde_json::Value;
use tempfile::NamedTempFile;
use tickscope_command::child;
use tickscope_command::console::{Misuse, printable, say};
use tickscope_command::output_file;

use crate::args::{CargoCli, CargoCommand, asks_for_help, misplaced, split};
use crate::cache::{Cache, key};
use crate::cargo_words::CargoWords;
use crate::compiler::Compiler;
use crate::function_table::Sources;
use crate::handover::{
    COLLECTOR_VARIABLE, Handover, Prepared, RUNNER, RUSTC_WRAPPER, SLEDS_VARIABLE, VARIABLE,
};
use crate::project::{Project, cargo};
use crate::settings::{Settings, runner_variable};
use crate::{collector, notes, project_choice, sled_flags};

/// Folder in cargo's target directory for builds with sleds, which keeps them apart from ordinary builds.
const FOLDER: &str = "tickscope";

/// Version of [`crate::changes`]. Increase it with every change there, so that cargo compiles the crates again.
const CHANGES: u32 = 2;

/// Runs `cargo tickscope`.
///
/// # Errors
/// The command line is not valid, or the command does not support this project, compiler or target.
pub(crate) fn run<L: Args>(words: Vec<OsString>) -> anyhow::Result<u8> {
    let mut typed = split::<L>(words);
    if asks_for_help(&typed.for_cargo) {
        typed.ours.push("--help".into());
    }
    let cli = CargoCli::<L>::parse_from(&typed.ours);
    check(&cli, &typed.for_cargo).map_err(Misuse)?;
    let words = CargoWords::read(&typed.for_cargo);
    if words.builds_std {
        let why =
            "-Zbuild-std: the collector needs the standard library that came with the compiler; leave it out";
        return Err(Misuse(why.into()).into());
    }
    let project = Project::find(&words.setup)?;
    let functions = cli.functions.clone();
    let functions = functions.or(project_choice::read(&project, &here(&words)?)?);
    let settings = Settings::read(&words.setup);
    let compiler = Compiler::find(settings.rustc())?;
    compiler.check_version(env!("CARGO_PKG_RUST_VERSION"))?;
    let targets = targets(&words, &settings, compiler.fact("host")).map_err(Misuse)?;
    let above = words.target_dir.as_ref().unwrap_or(&project.target_dir);
    let target_dir = std::path::absolute(above)?.join(FOLDER);
    let [handover_file, notes_file] = [(); 2].map(|()| temporary(&target_dir));
    let (handover_file, notes_file) = (handover_file?, notes_file?);
    let handover = Handover {
        words: texts(&typed.ours)?,
        here: std::env::current_dir().context("cannot tell the current folder")?,
        functions,
        target_dir: target_dir.clone(),
        notes: notes_file.path().to_path_buf(),
        wrapper: settings.wrapper(),
        own_variables: own_variables(&targets),
        sources: Sources {
            workspace_root: project.root.clone(),
            members: project.members.clone(),
            sysroot: compiler.sysroot.clone(),
        },
        ..prepare(&targets, &compiler, &settings)?
    };
    handover.write(handover_file.path())?;
    let build = Build {
        command: cli.command,
        words: &words,
        project: &project,
        settings: &settings,
        handover: &handover,
        handover_file: handover_file.path(),
    };
    // On Ctrl-C or SIGTERM, cargo ends first, followed by this process.
    let terminated = child::watch_interrupts()?;
    let mut child = build
        .cargo()?
        .args(&words.rest)
        .spawn()
        .with_context(|| format!("cannot start {}", cargo().display()))?;
    let status = child::wait(&mut child, &terminated)?;
    if status.success() && cli.command == CargoCommand::Build && !words.has_message_format {
        build.say_where()?;
    }
    notes::say_all(&handover.notes);
    Ok(child::code_of(status))
}

/// Rejects an invalid command line before anything is built.
fn check<L: Args>(cli: &CargoCli<L>, for_cargo: &[OsString]) -> Result<(), String> {
    let name = cli.command.name();
    if let Some(option) = misplaced(for_cargo) {
        return Err(format!(
            "{} is not an option of cargo {name}: put it before {name}, as in cargo tickscope {} {name}",
            printable(option),
            printable(option)
        ));
    }
    if cli.command == CargoCommand::Build && (cli.report || cli.record.is_some()) {
        return Err(
            "build runs nothing, so there is nothing to report or record; use run, test or bench".into(),
        );
    }
    let Some(file) = &cli.record else { return Ok(()) };
    output_file::check_kept(file)?;
    // Only `run` writes to exactly this file. `test` and `bench` add the name of each program to the file name.
    let is_one = cli.command == CargoCommand::Run;
    if is_one && file.exists() {
        return Err(format!(
            "{} exists already; give --record another name, or remove the file",
            file.display()
        ));
    }
    Ok(())
}

/// Returns the folder of the manifest given by `--manifest-path`, or the current folder without that option.
fn here(words: &CargoWords) -> anyhow::Result<PathBuf> {
    let mut setup = words.setup.windows(2);
    let manifest = setup.find(|pair| pair[0] == "--manifest-path");
    let folder = match manifest {
        // This path exists, because cargo has already read the manifest.
        Some(pair) => fs::canonicalize(&pair[1])?.parent().map(Path::to_path_buf),
        None => None,
    };
    folder.map_or_else(
        || std::env::current_dir().context("cannot tell the current folder"),
        Ok,
    )
}

/// Returns the targets to build for. Only x86-64 Linux is accepted, because the collector does not know the sleds of
/// other targets.
fn targets(words: &CargoWords, settings: &Settings, host: &str) -> Result<Vec<String>, String> {
    let mut targets = if words.targets.is_empty() {
        settings.targets()
    } else {
        words.targets.clone()
    };
    if targets.is_empty() {
        targets.push(host.to_string());
    }
    for target in &mut targets {
        if matches!(&**target, "host-tuple" | "host") {
            *target = host.to_string();
        }
        let is_known = target.starts_with("x86_64-") && target.contains("-linux-") && !target.contains('/');
        if !is_known {
            return Err(format!(
                "the target is {}, which has no sleds that the collector knows; functions can be measured for x86_64 Linux: --target \
                 x86_64-unknown-linux-gnu\n  elsewhere mark them by hand (#[tickscope::profile]), and use tickscope run",
                printable(target)
            ));
        }
    }
    Ok(targets)
}

/// Returns the values of the environment variables that [`Build::cargo`] changes.
fn own_variables(targets: &[String]) -> BTreeMap<String, Option<String>> {
    let runners = targets.iter().map(|target| runner_variable(target));
    let names = runners.chain([RUSTC_WRAPPER.to_string()]);
    names
        .map(|name| (name.clone(), std::env::var(name).ok()))
        .collect()
}

/// Prepares the collector and the compiler options for sleds, both for each target.
fn prepare(targets: &[String], compiler: &Compiler, settings: &Settings) -> anyhow::Result<Handover> {
    let cache = Cache::open()?;
    let mut handover = Handover::default();
    let mut keys = Vec::new();
    for target in targets {
        let sled_flags = sled_flags::flags(compiler, target, &cache)?;
        let built = collector::build(compiler, target, &cache)?;
        keys.push(built.key);
        let prepared = Prepared {
            sled_flags,
            collector: built.library,
            dependencies: built.dependencies,
            runner: settings.runner(compiler, target),
        };
        handover.targets.insert(target.clone(), prepared);
    }
    let flags: BTreeMap<_, _> = handover
        .targets
        .iter()
        .map(|(target, of)| (target, &of.sled_flags))
        .collect();
    handover.sleds_key = key((CHANGES, flags));
    handover.collector_key = key((env!("CARGO_TICKSCOPE_REVISION"), keys));
    Ok(handover)
}

/// Creates a temporary file in the target directory. The file is removed when this process ends.
fn temporary(target_dir: &Path) -> anyhow::Result<NamedTempFile> {
    let file = fs::create_dir_all(target_dir).and_then(|()| {
        tempfile::Builder::new()
            .prefix(".command-")
            .tempfile_in(target_dir)
    });
    file.map_err(|error| {
        anyhow!(
            "cannot write {}: {error}\n  what is built goes there; choose another place with --target-dir DIR, or CARGO_TARGET_DIR",
            target_dir.display()
        )
    })
}

fn texts(words: &[OsString]) -> anyhow::Result<Vec<String>> {
    let text = |word: &OsString| {
        let text = word.to_str().map(ToString::to_string);
        text.ok_or_else(|| anyhow!("{}: wanted UTF-8, which cargo requires", word.display()))
    };
    words.iter().map(text).collect()
}

/// A call of cargo.
struct Build<'a> {
    command: CargoCommand,
    words: &'a CargoWords,
    project: &'a Project,
    settings: &'a Settings,
    handover: &'a Handover,
    handover_file: &'a Path,
}

impl Build<'_> {
    /// Returns a cargo command with all the arguments and variables that this program adds. The user's arguments must
    /// follow.
    fn cargo(&self) -> anyhow::Result<Command> {
        let us = std::env::current_exe().context("cannot tell where this program is")?;
        let Some(us_text) = us.to_str() else {
            bail!("{}: wanted UTF-8, which cargo requires", us.display());
        };
        let mut command = Command::new(cargo());
        for target in self.handover.targets.keys() {
            // Cargo merges this value with the configuration files, and refuses to merge a string with a list. It splits a string
            // at spaces.
            let is_text = self.settings.has_text_runner(target);
            if is_text && us_text.contains(char::is_whitespace) {
                bail!(
                    "{us_text}: the path contains a space, and the runner in cargo's configuration is a string, which cargo splits at \
                     spaces\n  write that runner as a list: runner = [\"program\", \"argument\"]"
                );
            }
            let runner = match is_text {
                true => Value::from(format!("{us_text} {RUNNER}")),
                false => Value::from(vec![us_text, RUNNER]),
            };
            command
                .arg("--config")
                .arg(format!("target.{target}.runner={runner}"));
            command.env_remove(runner_variable(target));
        }
        if self.project.has_build_dir {
            // An environment variable would also reach cargo calls of build scripts, which would wait for this build's lock.
            // The path is UTF-8, because the handover has been written.
            let build_dir = Value::from(self.handover.target_dir.to_string_lossy());
            command
                .arg("--config")
                .arg(format!("build.build-dir={build_dir}"));
        }
        command.arg(self.command.name());
        for target in self.handover.targets.keys() {
            command.args(["--target", target]);
        }
        command
            .arg("--target-dir")
            .arg(&self.handover.target_dir)
            .env(RUSTC_WRAPPER, &us)
            .env(VARIABLE, self.handover_file)
            .env(SLEDS_VARIABLE, &self.handover.sleds_key)
            .env(COLLECTOR_VARIABLE, &self.handover.collector_key);
        Ok(command)
    }

    /// Prints the paths of the programs that were built. A second cargo call lists them without building anything.
    fn say_where(&self) -> anyhow::Result<()> {
        let mut command = self.cargo()?;
        let output = command
            .args(["--message-format", "json"])
            .args(&self.words.rest)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let messages = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        // A program that the user starts later sees neither this command line nor the project's file. So the printed
        // command sets the corresponding environment variables.
        let variables = self.handover.functions.variables().into_iter();
        let variables: String = variables
            .map(|(name, value)| format!("{name}={} ", in_shell(&value)))
            .collect();
        for program in messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from)) {
            let here = std::env::current_dir().unwrap_or_default();
            let shown = program.strip_prefix(here).unwrap_or(&program).display();
            say(&format!(
                "built {shown}\n  to watch it: {variables}tickscope run -- {shown}"
            ));
        }
        Ok(())
    }
}

/// Quotes a word for a shell.
fn in_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+.,:/%@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Args)]
    struct NoLook {}

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn other_platforms_are_refused_by_name() {
        const HOST: &str = "x86_64-unknown-linux-gnu";
        let asked = |line: &str| targets(&CargoWords::read(&words(line)), &Settings::default(), HOST);
        assert_eq!(asked("--release"), Ok(vec![HOST.to_string()]));
        assert_eq!(asked("--target host-tuple"), Ok(vec![HOST.to_string()]));
        assert!(asked("--target x86_64-unknown-linux-musl").is_ok());
        for other in [
            "aarch64-unknown-linux-gnu",
            "x86_64-pc-windows-msvc",
            "./x86_64-my-linux-x.json",
        ] {
            let refused = asked(&format!("--target {other}")).unwrap_err();
            assert!(refused.contains(other) && refused.contains(HOST), "{refused}");
        }
        let on_another = targets(
            &CargoWords::default(),
            &Settings::default(),
            "aarch64-apple-darwin",
        )
        .unwrap_err();
        assert!(on_another.contains("aarch64-apple-darwin"));
    }

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        assert_eq!(in_shell("a::b,5%"), "a::b,5%");
        assert_eq!(in_shell("<A as B>::*"), "'<A as B>::*'");
        assert_eq!(in_shell("it's"), r"'it'\''s'");
    }

    #[test]
    fn what_makes_no_sense_is_said_before_the_build() {
        let checked = |line: &str| {
            let parts = split::<NoLook>(words(line));
            check(&CargoCli::<NoLook>::parse_from(&parts.ours), &parts.for_cargo)
        };
        assert_eq!(checked("c --report run --release"), Ok(()));
        for (line, why) in [
            ("c run --only x", "put it before run"),
            ("c --report build", "build runs nothing"),
            ("c --record /x.json run", "ending .tks"),
            ("c --record /dev/null run", "exists already"),
        ] {
            let refused = checked(line).unwrap_err();
            assert!(refused.contains(why), "{line}: {refused}");
        }
    }
}
