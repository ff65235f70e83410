//! The project, as `cargo metadata` describes it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, anyhow};
use serde_json::Value;
use tickscope_command::console::Misuse;

use crate::function_table::Member;

#[derive(Debug)]
pub(crate) struct Project {
    /// Root of the workspace.
    pub(crate) root: PathBuf,
    /// Target directory of the user's ordinary builds.
    pub(crate) target_dir: PathBuf,
    /// Whether this cargo supports a separate directory for intermediate files.
    pub(crate) has_build_dir: bool,
    /// Packages of the workspace.
    pub(crate) members: Vec<Member>,
}

/// Returns the path of the cargo that started this program.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

impl Project {
    /// Finds the project that cargo's arguments select, or else the project of the current directory.
    ///
    /// # Errors
    /// There is no project, or cargo reports an error.
    pub(crate) fn find(setup: &[OsString]) -> anyhow::Result<Self> {
        let output = Command::new(cargo())
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .args(setup)
            .output()
            .with_context(|| format!("cannot start {}", OsStr::display(&cargo())))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let why = said.trim().trim_start_matches("error: ");
            return Err(if why.contains("could not find `Cargo.toml`") {
                Misuse(format!(
                    "no cargo project: {why}\n  go to a folder with a Cargo.toml, or name one: cargo tickscope run \
                     --manifest-path DIR/Cargo.toml"
                ))
                .into()
            } else {
                anyhow!("cargo cannot read the project: {why}")
            });
        }
        Self::of(&serde_json::from_slice(&output.stdout)?).context("cargo's metadata has an unknown form")
    }

    fn of(metadata: &Value) -> Option<Self> {
        let path = |name: &str| Some(PathBuf::from(metadata[name].as_str()?));
        let member = |package: &Value| {
            let manifest = PathBuf::from(package["manifest_path"].as_str()?);
            Some(Member {
                dir: manifest.parent()?.to_path_buf(),
                package: format!("{} {}", package["name"].as_str()?, package["version"].as_str()?),
            })
        };
        Some(Self {
            root: path("workspace_root")?,
            target_dir: path("target_directory")?,
            has_build_dir: metadata["build_directory"].is_string(),
            members: metadata["packages"]
                .as_array()?
                .iter()
                .filter_map(member)
                .collect(),
        })
    }
}
