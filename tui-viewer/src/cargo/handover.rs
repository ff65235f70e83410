//! What the command passes on to the wrapper and the runner, in a file that its environment names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::cargo::function_table::Sources;
use crate::cli::args::cargo::FunctionsArgs;

/// The variable that names the file. Where it is set, cargo has started us.
pub(crate) const VARIABLE: &str = "CARGO_TICKSCOPE_HANDOVER";

/// The first argument by which cargo starts us as its runner.
pub(crate) const RUNNER: &str = "--run-by-cargo";

/// The variable whose value changes with the way in which crates are compiled. Cargo compiles again what had another.
pub(crate) const SLEDS_VARIABLE: &str = "CARGO_TICKSCOPE_SLEDS";

/// The variable whose value changes with what is linked into programs. Cargo links again what had another.
pub(crate) const COLLECTOR_VARIABLE: &str = "CARGO_TICKSCOPE_COLLECTOR";

/// The variable in which cargo finds its compiler wrapper.
pub(crate) const RUSTC_WRAPPER: &str = "RUSTC_WRAPPER";

/// What the command has found out and decided.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Handover {
    /// The words that were typed up to cargo's command.
    pub(crate) words: Vec<String>,
    /// Which functions are measured: what was typed, and what the project says.
    pub(crate) functions: FunctionsArgs,
    /// Cargo's target directory, ours.
    pub(crate) target_dir: PathBuf,
    /// What was prepared for each target that is built for.
    pub(crate) targets: BTreeMap<String, Prepared>,
    /// The file for what the user is to know at the end.
    pub(crate) notes: PathBuf,
    /// The user's own wrapper, which is called with rustc behind it.
    pub(crate) wrapper: Option<String>,
    /// What `RUSTC_WRAPPER` was, which programs that are run see again.
    pub(crate) wrapper_variable: Option<String>,
    /// The sources that the program is made of.
    pub(crate) sources: Sources,
    /// The value of [`SLEDS_VARIABLE`].
    pub(crate) sleds_key: String,
    /// The value of [`COLLECTOR_VARIABLE`].
    pub(crate) collector_key: String,
}

/// What was prepared for a target.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Prepared {
    /// The options that make the compiler put sleds in.
    pub(crate) sled_flags: Vec<String>,
    /// The collector, which is linked into programs.
    pub(crate) collector: PathBuf,
    /// The folder of the crates that it needs.
    pub(crate) dependencies: PathBuf,
    /// The user's own runner and its arguments; empty if there is none.
    pub(crate) runner: Vec<String>,
}

impl Handover {
    /// What stands in a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(file).with_context(|| {
            format!(
                "cannot read {}, which {VARIABLE} names; unset it, and run cargo tickscope",
                file.display()
            )
        })?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Writes it into a file.
    ///
    /// # Errors
    /// What the system says, or that a path is no UTF-8.
    pub(crate) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string(self).context("a path is no UTF-8, as cargo wants it")?;
        fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
    }

    /// Gives a program the environment that it would have without us: it may start cargo itself.
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
