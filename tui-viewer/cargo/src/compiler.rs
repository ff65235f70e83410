//! The compiler with which cargo builds the project.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, Output};

use anyhow::{Context, bail};

#[derive(Clone, Debug)]
pub(crate) struct Compiler {
    program: OsString,
    /// Output of `rustc -vV`, which describes the version.
    pub(crate) version: String,
    /// Sysroot: the folder in which the compiler is installed.
    pub(crate) sysroot: PathBuf,
}

impl Compiler {
    /// Finds the compiler that runs in the current directory under a program name such as `rustc`.
    ///
    /// # Errors
    /// The compiler cannot be started, or does not answer as rustc would.
    pub(crate) fn find(program: OsString) -> anyhow::Result<Self> {
        let text = |arguments: &[&str]| {
            let output = Command::new(&program)
                .args(arguments)
                .output()
                .with_context(|| format!("cannot start the compiler {}", OsStr::display(&program)))?;
            let said = String::from_utf8_lossy(&output.stdout).trim().to_string();
            if !output.status.success() || said.is_empty() {
                bail!(
                    "{} {} failed: {}",
                    OsStr::display(&program),
                    arguments.join(" "),
                    String::from_utf8_lossy(&output.stderr).trim()
                );
            }
            Ok(said)
        };
        let version = text(&["-vV"])?;
        let sysroot = PathBuf::from(text(&["--print", "sysroot"])?);
        Ok(Self {
            program,
            version,
            sysroot,
        })
    }

    /// Returns a command that runs the compiler and allows unstable options.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env("RUSTC_BOOTSTRAP", "1");
        command
    }

    /// Runs the compiler with these arguments, and returns its output.
    ///
    /// # Errors
    /// The system reports an error.
    pub(crate) fn ask(&self, arguments: &[&str]) -> std::io::Result<Output> {
        self.command().args(arguments).output()
    }

    /// Returns the path of the actual rustc. In another directory, the name `rustc` could stand for another compiler.
    pub(crate) fn program(&self) -> OsString {
        self.tool("rustc").unwrap_or_else(|| self.program.clone())
    }

    /// Returns the cargo that was installed with the compiler, if there is one.
    pub(crate) fn cargo(&self) -> Option<OsString> {
        self.tool("cargo")
    }

    fn tool(&self, name: &str) -> Option<OsString> {
        // If the user has replaced rustc by another program, do not bypass it by running the tools in the sysroot.
        let is_named = std::path::Path::new(&self.program).file_name() == Some(OsStr::new("rustc"));
        let tool = self.sysroot.join("bin").join(name);
        (is_named && tool.exists()).then(|| tool.into_os_string())
    }

    /// Returns a value from the output of `rustc -vV`, given its name, such as `release` or `host`.
    pub(crate) fn fact(&self, name: &str) -> &str {
        let mut lines = self.version.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        value.unwrap_or_default()
    }

    /// Rejects a compiler that is too old for the collector.
    ///
    /// # Errors
    /// The compiler is too old. The message names both versions.
    pub(crate) fn check_version(&self, oldest: &str) -> anyhow::Result<()> {
        let release = self.fact("release");
        if numbers(release) < numbers(oldest) {
            bail!(
                "this project's compiler is rustc {release}; the collector, which is linked into the program, needs rustc \
                 {oldest} or newer\n  choose a newer one: cargo +stable tickscope run"
            );
        }
        Ok(())
    }
}

/// Returns the first two numbers of a version.
fn numbers(version: &str) -> (u32, u32) {
    let mut parts = version.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_compiler_is_refused() {
        let compiler = |release: &str| Compiler {
            program: "rustc".into(),
            version: format!(
                "rustc {release} (abc 2026-01-01)\nbinary: rustc\nhost: a-b-c\nrelease: {release}\n"
            ),
            sysroot: PathBuf::new(),
        };
        assert_eq!(compiler("1.89.0").fact("host"), "a-b-c");
        for fine in ["1.89.0", "1.100.0", "2.0.0", "1.97.0-nightly", "1.89.0-beta.1"] {
            assert!(compiler(fine).check_version("1.89").is_ok(), "{fine}");
        }
        let refused = compiler("1.88.2").check_version("1.89").unwrap_err().to_string();
        assert!(refused.contains("rustc 1.88.2"), "{refused}");
        assert!(refused.contains("1.89 or newer"), "{refused}");
    }
}
