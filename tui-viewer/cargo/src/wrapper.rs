//! The compiler wrapper, through which cargo calls the compiler. It changes only those calls that compile the program's code.

#[cfg(test)]
pub(crate) mod recorded;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus};

use anyhow::Context;
use tickscope_command::console::{FAILED, say};

use crate::changes::{Changes, Facts, decide, marker};
use crate::handover::{COLLECTOR_VARIABLE, Handover, SLEDS_VARIABLE};
use crate::invocation::Invocation;
use crate::notes::note;
use crate::{executable, function_table};

/// Calls the compiler for cargo, with changed arguments if the code becomes part of the program. `words` are the
/// compiler and its arguments; the path of a workspace wrapper may come before them.
///
/// # Errors
/// The compiler cannot be started.
pub(crate) fn run(handover: &Handover, words: &[OsString]) -> anyhow::Result<u8> {
    let call = Invocation::read(words);
    let changes = match decide(&call, &facts(&call), handover) {
        Ok(Some(changes)) => changes,
        Ok(None) => {
            let error = command(handover, words)?.exec();
            return Err(error).with_context(|| format!("cannot start {}", words[0].display()));
        }
        Err(refusal) => {
            say(&refusal);
            return Ok(FAILED);
        }
    };
    for text in &changes.notes {
        note(&handover.notes, text);
    }
    mark(&call, &changes)?;
    let status = compile(handover, words, &call, &changes)?;
    if status.success() {
        finish(handover, &call, &changes)?;
    } else if !changes.for_links.is_empty() && is_without_std(&call) {
        say(&format!(
            "{} is built without the standard library (no_std), which the collector needs: cargo tickscope cannot run it\n  \
             leave it out, for example with --bin or --exclude; libraries without std are fine",
            call.crate_name
        ));
    }
    if let Some(signal) = status.signal() {
        // Ends this process with the signal that ended the compiler, so that cargo reports it.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    Ok(status.code().map_or(FAILED, |code| code as u8))
}

/// Returns the command that calls the compiler through the user's own wrapper, if there is one.
fn command(handover: &Handover, words: &[OsString]) -> anyhow::Result<Command> {
    let compiler = words.first().context("cargo names no compiler")?;
    let wrapper = handover.wrapper.as_ref().map(OsStr::new);
    let mut command = Command::new(wrapper.unwrap_or(compiler));
    command.args(&words[usize::from(wrapper.is_none())..]);
    // Removes the handover variable, which differs in each build: caching wrappers hash all variables that begin with `CARGO_`.
    handover.restore(&mut command);
    Ok(command)
}

fn facts(call: &Invocation) -> Facts {
    let markers = call.externs.iter().map(|library| marker(library));
    let own_collector = markers.filter_map(|file| fs::read_to_string(file).ok()).next();
    Facts {
        cargo_crate_name: std::env::var("CARGO_CRATE_NAME").ok(),
        // Cargo sets this variable only for build scripts, so a compiler can inherit it only from a build script.
        in_build_script: std::env::var_os("CARGO_CFG_TARGET_ARCH").is_some(),
        package: std::env::var("CARGO_PKG_NAME").unwrap_or_default(),
        version: std::env::var("CARGO_PKG_VERSION").unwrap_or_default(),
        own_collector: own_collector.map(Into::into),
    }
}

/// Compiles with all changes. A crate that is both a `cdylib` and a Rust library is compiled twice, and only the
/// `cdylib` gets the collector. If the Rust library had it too, all crates that depend on the library would need it,
/// and their compiler calls may bypass this wrapper.
fn compile(
    handover: &Handover,
    words: &[OsString],
    call: &Invocation,
    changes: &Changes,
) -> anyhow::Result<ExitStatus> {
    let is_mixed = !call.is_test && call.types.iter().any(|kind| !is_final(kind));
    let mut whole = command(handover, words)?;
    whole.args(&changes.arguments).env("RUSTC_BOOTSTRAP", "1");
    if !is_mixed {
        whole.args(&changes.for_links);
    }
    let status = whole
        .status()
        .with_context(|| format!("cannot start {}", words[0].display()))?;
    if changes.for_links.is_empty() || !is_mixed || !status.success() {
        return Ok(status);
    }
    let mut again = command(handover, &only_final(words))?;
    again
        .args(&changes.arguments)
        .args(&changes.for_links)
        .env("RUSTC_BOOTSTRAP", "1");
    let output = again.output()?;
    // The first call has already printed all messages about the sources, so the second one prints only on failure.
    if !output.status.success() {
        std::io::stderr().write_all(&output.stderr)?;
    }
    Ok(output.status)
}

/// Returns whether the linker turns a crate of this type into a file that can be loaded and run.
fn is_final(kind: &str) -> bool {
    matches!(kind, "bin" | "cdylib")
}

/// Returns the arguments for a second call, which makes only programs and shared libraries.
fn only_final(words: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let next = rest
            .peek()
            .map(|word| word.to_string_lossy().into_owned())
            .unwrap_or_default();
        let is_left_out = match &*word.to_string_lossy() {
            "--crate-type" => !is_final(&next),
            "-C" => next.starts_with("incremental="),
            text => {
                let is_emit = text.starts_with("--emit=");
                kept.push(if is_emit {
                    "--emit=link".into()
                } else {
                    word.clone()
                });
                continue;
            }
        };
        let value = rest.next();
        if !is_left_out {
            kept.push(word.clone());
            kept.extend(value.cloned());
        }
    }
    kept
}

/// Writes or removes a library's marker. This must be done before the library is compiled, because cargo compiles the crates
/// that depend on it as soon as its metadata is there.
fn mark(call: &Invocation, changes: &Changes) -> anyhow::Result<()> {
    let Some(library) = call.library().filter(|_| call.is_linked()) else {
        return Ok(());
    };
    let marker = marker(&library);
    match &changes.own_collector {
        Some(own) => fs::write(marker, own.as_os_str().as_encoded_bytes())?,
        None => {
            let _ = fs::remove_file(marker);
        }
    }
    Ok(())
}

/// Completes the output of a successful call: adds function tables to linked files, and adds variables to the dep-info file.
fn finish(handover: &Handover, call: &Invocation, changes: &Changes) -> anyhow::Result<()> {
    for file in call
        .linked_files()
        .iter()
        .filter(|_| !changes.for_links.is_empty())
    {
        let notes = executable::notes(call, file);
        let added = function_table::add(file, &handover.sources);
        // If there are notes, they already say why there are no functions, and name the option that causes it.
        let failed = added.err().filter(|_| notes.is_empty());
        for text in notes.into_iter().chain(failed.map(|error| error.to_string())) {
            note(&handover.notes, &text);
        }
    }
    if let Some(dep_info) = call.dep_info() {
        let mut variables = vec![(SLEDS_VARIABLE, &handover.sleds_key)];
        if !changes.for_links.is_empty() {
            variables.push((COLLECTOR_VARIABLE, &handover.collector_key));
        }
        depend_on(&dep_info, &variables)?;
    }
    Ok(())
}

/// Makes cargo recompile the crate when one of these variables changes, as it does for `env!`.
fn depend_on(dep_info: &Path, variables: &[(&str, &String)]) -> anyhow::Result<()> {
    let lines = variables
        .iter()
        .map(|(name, value)| format!("\n# env-dep:{name}={value}\n"));
    let mut file = File::options().append(true).open(dep_info)?;
    Ok(file.write_all(lines.collect::<String>().as_bytes())?)
}

/// Returns whether the crate's root file opts out of the standard library.
fn is_without_std(call: &Invocation) -> bool {
    let text = call
        .source
        .as_ref()
        .and_then(|root| fs::read_to_string(root).ok());
    let text = text.unwrap_or_default();
    let mut attributes = text
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with("#!["));
    attributes.any(|line| line.contains("no_std") || line.contains("no_core"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_call_makes_the_shared_library_alone() {
        let words = "rustc --crate-name p --crate-type cdylib --crate-type rlib --emit=dep-info,link -C incremental=/i -C \
                     debuginfo=2 --out-dir d";
        let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        let kept = only_final(&words);
        let wanted = "rustc --crate-name p --crate-type cdylib --emit=link -C debuginfo=2 --out-dir d";
        assert_eq!(kept, wanted.split(' ').map(OsString::from).collect::<Vec<_>>());
    }

    #[test]
    fn a_crate_says_that_it_has_no_std() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("main.rs");
        let call = Invocation {
            source: Some(root.clone()),
            ..Invocation::default()
        };
        for (text, without) in [
            ("//! A program.\n#![no_std]\n#![no_main]\n", true),
            ("#![cfg_attr(not(test), no_std)]\n", true),
            ("// #![no_std]\nfn main() {}\n", false),
        ] {
            fs::write(&root, text).unwrap();
            assert_eq!(is_without_std(&call), without, "{text}");
        }
    }
}
