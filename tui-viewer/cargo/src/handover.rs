//! Data that the command passes to the wrapper and the runner, through a file whose path is in an environment variable.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::args::FunctionsArgs;
use crate::function_table::Sources;

/// Environment variable that holds the path of the handover file. It is set only if cargo has started this program.
pub(crate) const VARIABLE: &str = "CARGO_TICKSCOPE_HANDOVER";

/// First argument when cargo starts this program as the runner.
pub(crate) const RUNNER: &str = "--run-by-cargo";

/// Environment variable that holds a hash of the compiler options. If the hash changes, cargo recompiles the crates.
pub(crate) const SLEDS_VARIABLE: &str = "CARGO_TICKSCOPE_SLEDS";

/// Environment variable that holds a hash of the linked collector. If the hash changes, cargo links the programs again.
pub(crate) const COLLECTOR_VARIABLE: &str = "CARGO_TICKSCOPE_COLLECTOR";

/// Environment variable that tells cargo which compiler wrapper to use.
pub(crate) const RUSTC_WRAPPER: &str = "RUSTC_WRAPPER";

/// Data for the wrapper and the runner.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Handover {
    /// Command-line arguments that the user typed, up to and including cargo's subcommand.
    pub(crate) words: Vec<String>,
    /// Directory in which the user typed them. Cargo starts tests in the directory of their package.
    pub(crate) here: PathBuf,
    /// Options that choose which functions to measure, from the command line and the project's file.
    pub(crate) functions: FunctionsArgs,
    /// Cargo's target directory for these builds.
    pub(crate) target_dir: PathBuf,
    /// Prepared files and options, keyed by target.
    pub(crate) targets: BTreeMap<String, Prepared>,
    /// File in which the wrapper collects messages to be shown at the end of the build.
    pub(crate) notes: PathBuf,
    /// The user's own compiler wrapper, which gets the path of rustc as its first argument.
    pub(crate) wrapper: Option<String>,
    /// The user's own values of the environment variables that are changed for cargo, keyed by name; `None` if the
    /// variable is not set. They are restored for programs that this program starts.
    pub(crate) own_variables: BTreeMap<String, Option<String>>,
    /// Directories that contain the program's sources.
    pub(crate) sources: Sources,
    /// The value of [`SLEDS_VARIABLE`].
    pub(crate) sleds_key: String,
    /// The value of [`COLLECTOR_VARIABLE`].
    pub(crate) collector_key: String,
}

/// Files and options that are prepared for one target.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Prepared {
    /// Options that make the compiler insert sleds into functions.
    pub(crate) sled_flags: Vec<String>,
    /// The collector, which is linked into programs.
    pub(crate) collector: PathBuf,
    /// Directory with the crates that the collector depends on.
    pub(crate) dependencies: PathBuf,
    /// The user's own runner, followed by its arguments; empty if there is none.
    pub(crate) runner: Vec<String>,
}

impl Handover {
    /// Reads the handover from a file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(file).with_context(|| {
            format!(
                "cannot read {}, which {VARIABLE} names; unset it, and run cargo tickscope",
                file.display()
            )
        })?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Writes the handover into a file.
    ///
    /// # Errors
    /// The system reports an error, or a path is not UTF-8.
    pub(crate) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string(self).context("a path is not UTF-8, which cargo requires")?;
        fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
    }

    /// Undoes the changes to the environment that were meant for cargo, in case the command itself starts cargo.
    pub(crate) fn restore(&self, command: &mut Command) {
        for variable in [VARIABLE, SLEDS_VARIABLE, COLLECTOR_VARIABLE] {
            command.env_remove(variable);
        }
        for (variable, value) in &self.own_variables {
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
        }
    }
}
