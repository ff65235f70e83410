//! Facts that the command passes on to the wrapper and the runner, in a file that its environment names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::args::FunctionsArgs;
use crate::function_table::Sources;

/// Variable with the path of the file. If it is set, cargo has started this program.
pub(crate) const VARIABLE: &str = "CARGO_TICKSCOPE_HANDOVER";

/// First argument by which cargo starts this program as its runner.
pub(crate) const RUNNER: &str = "--run-by-cargo";

/// Variable with a key of the compiler's options. Cargo compiles a crate again when the value has changed.
pub(crate) const SLEDS_VARIABLE: &str = "CARGO_TICKSCOPE_SLEDS";

/// Variable with a key of the linked collector. Cargo links a program again when the value has changed.
pub(crate) const COLLECTOR_VARIABLE: &str = "CARGO_TICKSCOPE_COLLECTOR";

/// Variable in which cargo finds its compiler wrapper.
pub(crate) const RUSTC_WRAPPER: &str = "RUSTC_WRAPPER";

/// Facts and decisions of the command.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Handover {
    /// Words that were typed up to cargo's command.
    pub(crate) words: Vec<String>,
    /// Choice of functions to measure, from the typed words and the project's file.
    pub(crate) functions: FunctionsArgs,
    /// Cargo's target directory for these builds.
    pub(crate) target_dir: PathBuf,
    /// Prepared files and options for each target.
    pub(crate) targets: BTreeMap<String, Prepared>,
    /// File for messages to the user at the end.
    pub(crate) notes: PathBuf,
    /// The user's own wrapper. It is called with rustc as its first argument.
    pub(crate) wrapper: Option<String>,
    /// Former value of `RUSTC_WRAPPER`, which is restored for programs that are run.
    pub(crate) wrapper_variable: Option<String>,
    /// The sources that the program is made of.
    pub(crate) sources: Sources,
    /// The value of [`SLEDS_VARIABLE`].
    pub(crate) sleds_key: String,
    /// The value of [`COLLECTOR_VARIABLE`].
    pub(crate) collector_key: String,
}

/// Prepared files and options for a target.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Prepared {
    /// The options that make the compiler put sleds into functions.
    pub(crate) sled_flags: Vec<String>,
    /// The collector, which is linked into programs.
    pub(crate) collector: PathBuf,
    /// The folder of the crates that it needs.
    pub(crate) dependencies: PathBuf,
    /// The user's own runner and its arguments; empty if there is none.
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

    /// Gives a command the environment that it would have without this program, because the command may start cargo
    /// itself.
    pub(crate) fn restore(&self, command: &mut Command) {
        for variable in [VARIABLE, SLEDS_VARIABLE, COLLECTOR_VARIABLE] {
            command.env_remove(variable);
        }
        match &self.wrapper_variable {
            Some(wrapper) => command.env(RUSTC_WRAPPER, wrapper),
            None => command.env_remove(RUSTC_WRAPPER),
        };
    }
}
