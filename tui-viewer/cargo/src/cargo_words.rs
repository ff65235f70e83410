//! The arguments for cargo that this program has to understand.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The arguments for cargo, and what this program needs to know about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CargoWords {
    /// All arguments except `--target-dir` and `--target`, which this program passes itself.
    pub(crate) rest: Vec<OsString>,
    /// Value of `--target-dir`.
    pub(crate) target_dir: Option<PathBuf>,
    /// Values of `--target`.
    pub(crate) targets: Vec<String>,
    /// Options that choose the project or configure cargo. `cargo metadata` gets them as well.
    pub(crate) setup: Vec<OsString>,
    /// Whether another program is meant to read cargo's standard output (`--message-format`).
    pub(crate) has_message_format: bool,
    /// Whether the standard library is compiled as well (`-Z build-std`).
    pub(crate) builds_std: bool,
}

/// Options with a value that select the project or configure cargo.
const SETUP: [&str; 5] = ["--manifest-path", "--config", "-Z", "--color", "--lockfile-path"];

/// Options without a value that select the project or configure cargo.
const SETUP_FLAGS: [&str; 3] = ["--offline", "--locked", "--frozen"];

impl CargoWords {
    /// Reads the arguments as far as `--`.
    pub(crate) fn read(words: &[OsString]) -> Self {
        let mut found = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                found.rest.push(word.clone());
                found.rest.extend(words.cloned());
                break;
            }
            let (name, inline) = parts(word);
            let mut value = || inline.clone().or_else(|| words.next().cloned());
            match name {
                "--target-dir" => found.target_dir = value().map(PathBuf::from),
                "--target" => {
                    let target = value().unwrap_or_default();
                    found.targets.push(target.to_string_lossy().into_owned());
                }
                name if SETUP.contains(&name) => {
                    let value = value().unwrap_or_default();
                    found.builds_std |= name == "-Z" && value.to_string_lossy().starts_with("build-std");
                    for list in [&mut found.setup, &mut found.rest] {
                        list.extend([OsString::from(name), value.clone()]);
                    }
                }
                name => {
                    found.has_message_format |= name == "--message-format";
                    if SETUP_FLAGS.contains(&name) {
                        found.setup.push(word.clone());
                    }
                    found.rest.push(word.clone());
                }
            }
        }
        found
    }
}

/// Splits an argument into the name of the option, and its value if the same argument contains one: `--target=T`,
/// `-Zbuild-std`.
fn parts(word: &OsStr) -> (&str, Option<OsString>) {
    let Some(text) = word.to_str() else {
        return ("", None);
    };
    match text.split_once('=') {
        Some((name, value)) if text.starts_with("--") => (name, Some(value.into())),
        _ if text.starts_with("-Z") && text.len() > 2 => ("-Z", Some(text[2..].into())),
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> CargoWords {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        CargoWords::read(&words)
    }

    #[test]
    fn what_we_give_ourselves_is_taken_out() {
        let words = read("--target-dir d --release --target=a --target b --bin x -- --target c");
        assert_eq!(words.target_dir, Some("d".into()));
        assert_eq!(words.targets, ["a", "b"]);
        assert_eq!(words.rest, ["--release", "--bin", "x", "--", "--target", "c"]);
        assert!(words.setup.is_empty() && !words.has_message_format);
    }

    #[test]
    fn what_sets_cargo_up_is_known_and_stays() {
        let words = read(
            "--manifest-path=p/Cargo.toml --offline -Zbuild-std=core --config a.b=1 --message-format=json",
        );
        let setup = [
            "--manifest-path",
            "p/Cargo.toml",
            "--offline",
            "-Z",
            "build-std=core",
            "--config",
            "a.b=1",
        ];
        assert_eq!(words.setup, setup);
        assert_eq!(words.rest[..7], setup);
        assert!(words.builds_std && words.has_message_format);
    }
}
