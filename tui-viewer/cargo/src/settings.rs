//! The parts of cargo's configuration that this program replaces: the compiler wrapper, the runner and the target.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use cargo_platform::{Cfg, Platform};
use serde_json::Value;

use crate::compiler::Compiler;
use crate::handover::RUSTC_WRAPPER;
use crate::project::cargo;

/// The merged configuration from all files that cargo reads, and from `--config`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    files: Value,
}

impl Settings {
    /// Reads cargo's settings. They are empty if cargo cannot print them.
    pub(crate) fn read(setup: &[OsString]) -> Self {
        // Of the options in `setup`, `cargo config get` accepts only `--config`.
        let mut config = Vec::new();
        for pair in setup.windows(2).filter(|pair| pair[0] == "--config") {
            config.extend_from_slice(pair);
        }
        let output = Command::new(cargo())
            .args(["-Zunstable-options", "config", "get", "--format", "json"])
            .args(config)
            .env("RUSTC_BOOTSTRAP", "1")
            .output();
        let files = output
            .ok()
            .and_then(|output| serde_json::from_slice(&output.stdout).ok());
        Self {
            files: files.unwrap_or_default(),
        }
    }

    fn text(&self, path: &[&str]) -> Option<&str> {
        path.iter().fold(&self.files, |value, name| &value[name]).as_str()
    }

    /// Returns the name or path of the compiler.
    pub(crate) fn rustc(&self) -> OsString {
        let named = variable("RUSTC").or_else(|| variable("CARGO_BUILD_RUSTC"));
        let in_file = || {
            self.text(&["build", "rustc"])
                .map(|program| located(program).into())
        };
        named.or_else(in_file).unwrap_or_else(|| "rustc".into())
    }

    /// Returns the user's compiler wrapper. An empty variable disables a wrapper that is set in a configuration file.
    pub(crate) fn wrapper(&self) -> Option<String> {
        let named = [RUSTC_WRAPPER, "CARGO_BUILD_RUSTC_WRAPPER"]
            .into_iter()
            .find_map(std::env::var_os);
        let wrapper = match named {
            Some(wrapper) => Some(from_here(&wrapper.to_string_lossy())),
            None => self.text(&["build", "rustc-wrapper"]).map(located),
        };
        wrapper.filter(|wrapper| !wrapper.is_empty())
    }

    /// Returns the targets of a build without `--target`. An empty list means the host.
    pub(crate) fn targets(&self) -> Vec<String> {
        if let Some(target) = variable("CARGO_BUILD_TARGET") {
            return vec![target.to_string_lossy().into_owned()];
        }
        words(&self.files["build"]["target"])
    }

    /// Returns whether a configuration file has a runner for this target that is a string.
    pub(crate) fn has_text_runner(&self, target: &str) -> bool {
        self.text(&["target", target, "runner"]).is_some()
    }

    /// Returns the user's runner for programs of a target, followed by the runner's arguments; empty if there is none.
    pub(crate) fn runner(&self, compiler: &Compiler, target: &str) -> Vec<String> {
        if let Some(runner) = variable(&runner_variable(target)) {
            let mut words = words(&Value::from(runner.to_string_lossy().into_owned()));
            words
                .iter_mut()
                .take(1)
                .for_each(|program| *program = from_here(program));
            return words;
        }
        let tables = self.files["target"].as_object();
        let named = tables
            .and_then(|tables| tables.get(target))
            .map(|table| &table["runner"]);
        let mut found = named.map(words).unwrap_or_default();
        if found.is_empty()
            && let Some(tables) = tables.filter(|tables| tables.keys().any(|key| is_cfg(key)))
        {
            let facts = cfgs(compiler, target);
            let mut fitting = tables.iter().filter(|(key, table)| {
                is_cfg(key)
                    && table["runner"] != Value::Null
                    && Platform::from_str(key).is_ok_and(|platform| platform.matches(target, &facts))
            });
            found = fitting
                .next()
                .map(|(_, table)| words(&table["runner"]))
                .unwrap_or_default();
        }
        if let Some(program) = found.first_mut() {
            *program = located(program);
        }
        found
    }
}

/// Returns the name of the environment variable that sets the runner for a target.
pub(crate) fn runner_variable(target: &str) -> String {
    format!(
        "CARGO_TARGET_{}_RUNNER",
        target.to_uppercase().replace(['-', '.'], "_")
    )
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn is_cfg(key: &str) -> bool {
    key.starts_with("cfg(")
}

/// Returns the `cfg` conditions that the compiler sets for a target.
fn cfgs(compiler: &Compiler, target: &str) -> Vec<Cfg> {
    let output = compiler.ask(&["--print", "cfg", "--target", target]);
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let lines = text.unwrap_or_default();
    lines
        .lines()
        .filter_map(|line| Cfg::from_str(line).ok())
        .collect()
}

/// Returns the words of a list, or of a string in which they are separated by whitespace.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => text.split_whitespace().map(ToString::to_string).collect(),
        Value::Array(list) => list
            .iter()
            .filter_map(|word| Some(word.as_str()?.to_string()))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

/// Resolves the path of a program that an environment variable names. A relative path that contains a slash starts from
/// the current directory, and cargo starts compilers and tests in other directories.
fn from_here(program: &str) -> String {
    let path = std::path::absolute(program)
        .ok()
        .filter(|_| program.contains('/'));
    path.map_or(program.to_string(), |path| path.to_string_lossy().into_owned())
}

/// Resolves the path of a program that a configuration file names. A relative path that contains a slash starts from
/// the parent of the `.cargo` directory that holds the file. Cargo does not print which file it was, so this tries the
/// current directory, its ancestors, and the parent of `CARGO_HOME`, in this order.
fn located(program: &str) -> String {
    if !program.contains('/') || Path::new(program).is_absolute() {
        return program.to_string();
    }
    let here = std::env::current_dir().unwrap_or_default();
    let home = variable("CARGO_HOME").map(PathBuf::from);
    let above_home = home.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    let places = here.ancestors().map(Path::to_path_buf).chain(above_home);
    let mut found = places
        .map(|place| place.join(program))
        .filter(|path| path.exists());
    found
        .next()
        .map_or(program.to_string(), |path| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(json: &str) -> Settings {
        Settings {
            files: serde_json::from_str(json).unwrap(),
        }
    }

    fn compiler() -> Compiler {
        Compiler::find("rustc".into()).unwrap()
    }

    #[test]
    fn a_runner_is_found_by_target_and_by_condition() {
        const TARGET: &str = "x86_64-unknown-linux-gnu";
        let named = settings(
            r#"{"target": {"x86_64-unknown-linux-gnu": {"runner": "env A=1"}, "cfg(unix)": {"runner": "b"}}}"#,
        );
        assert_eq!(named.runner(&compiler(), TARGET), ["env", "A=1"]);
        assert!(named.has_text_runner(TARGET));
        let fitting = settings(
            r#"{"target": {"cfg(windows)": {"runner": "w"}, "cfg(all(unix, target_arch = \"x86_64\"))": {"runner": ["time", "-v"]}}}"#,
        );
        assert_eq!(fitting.runner(&compiler(), TARGET), ["time", "-v"]);
        assert!(!fitting.has_text_runner(TARGET));
        assert!(settings("{}").runner(&compiler(), TARGET).is_empty());
        assert_eq!(
            runner_variable(TARGET),
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER"
        );
    }

    #[test]
    fn targets_are_one_or_several() {
        assert_eq!(settings(r#"{"build": {"target": "a"}}"#).targets(), ["a"]);
        assert_eq!(
            settings(r#"{"build": {"target": ["a", "b"]}}"#).targets(),
            ["a", "b"]
        );
        assert!(settings("{}").targets().is_empty());
    }

    #[test]
    fn a_program_with_a_slash_is_looked_for() {
        assert_eq!(located("sccache"), "sccache");
        assert_eq!(located("/bin/env"), "/bin/env");
        assert_eq!(from_here("sccache"), "sccache");
        let here = std::env::current_dir().unwrap();
        assert_eq!(
            from_here("./src/lib.rs"),
            here.join("src/lib.rs").to_str().unwrap()
        );
        assert!(located("src/lib.rs").ends_with("/src/lib.rs") && located("src/lib.rs").starts_with('/'));
    }
}
