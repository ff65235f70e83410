//! Test projects, and the results of `cargo tickscope` on them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use object::{Object, ObjectSection, ObjectSymbol};
use serde_json::Value;
use tickscope_testkit::command;

/// Target for which programs are built, unless `TARGET_WITH_SLEDS` was set to another one when the tests were compiled.
pub(crate) const TARGET: &str = match OTHER_TARGET {
    Some(other) => other,
    None => "x86_64-unknown-linux-gnu",
};
const OTHER_TARGET: Option<&str> = option_env!("TARGET_WITH_SLEDS");

const US: &str = env!("CARGO_BIN_EXE_cargo-tickscope");

/// A project in a separate directory.
pub(crate) struct Project {
    folder: PathBuf,
    /// Removes the directory when dropped.
    _temporary: Option<tempfile::TempDir>,
}

/// Output and exit code of a finished command.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: Option<i32>,
}

impl Done {
    #[track_caller]
    pub(crate) fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Asserts that standard error contains all of these texts.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.err.contains(word), "no {word:?} in {self}");
        }
        self
    }

    /// Asserts that standard output contains all of these texts.
    #[track_caller]
    pub(crate) fn prints(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.out.contains(word), "no {word:?} in {self}");
        }
        self
    }

    /// Asserts that standard error contains none of these texts.
    #[track_caller]
    pub(crate) fn says_nothing_of(self, words: &[&str]) -> Self {
        for word in words {
            assert!(!self.err.contains(word), "{word:?} in {self}");
        }
        self
    }

    /// Asserts that the command failed with a single message, which contains all of these texts.
    #[track_caller]
    pub(crate) fn failed(self, code: i32, words: &[&str]) -> Self {
        self.with_code(code).says(words).has_messages(1)
    }

    /// Asserts that standard error has this number of messages.
    #[track_caller]
    pub(crate) fn has_messages(self, count: usize) -> Self {
        let messages = self
            .err
            .lines()
            .filter(|line| line.starts_with("tickscope: "))
            .count();
        assert_eq!(messages, count, "{self}");
        self
    }
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "code {:?}\n-- output\n{}\n-- errors\n{}",
            self.code, self.out, self.err
        )
    }
}

impl Project {
    /// Makes an empty project.
    pub(crate) fn empty() -> Self {
        // The directory is outside this workspace, because cargo searches parent directories for a manifest.
        let temporary = tempfile::tempdir().unwrap();
        fs::create_dir(temporary.path().join("p")).unwrap();
        Self {
            folder: temporary.path().to_path_buf(),
            _temporary: Some(temporary),
        }
    }

    /// Makes an empty project that several tests share. It stays until the next run of the tests.
    pub(crate) fn shared(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("p")).unwrap();
        Self {
            folder,
            _temporary: None,
        }
    }

    pub(crate) fn fixture() -> Self {
        Self::copy_of("fixture")
    }

    /// Makes a copy of a project next to these tests.
    pub(crate) fn copy_of(name: &str) -> Self {
        let project = Self::empty();
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/cargo_tickscope")
            .join(name);
        copy(&from, &project.dir(), |_| true);
        project
    }

    /// Makes a package whose manifest ends with these lines.
    pub(crate) fn package(manifest: &str, file: &str, source: &str) -> Self {
        Self::empty().with_package(manifest, file, source)
    }

    /// Makes a package in this project's directory.
    pub(crate) fn with_package(self, manifest: &str, file: &str, source: &str) -> Self {
        let start = "[package]\nname = \"small\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[workspace]\n";
        self.write("Cargo.toml", &format!("{start}{manifest}"));
        self.write(file, source);
        self
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.folder.join("p")
    }

    pub(crate) fn rings(&self) -> PathBuf {
        self.folder.join("rings")
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes an executable script.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        command::script(&path, text);
        path
    }

    /// Returns a command that runs in the project. From the environment of the tests, it inherits no settings for
    /// tickscope, cargo or the compiler, except for which toolchain to use. Builds are not incremental, because most
    /// tests build only once.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            let is_ours = [
                "CARGO_HOME",
                "RUSTC",
                "RUSTDOC",
                "RUSTUP_HOME",
                "RUSTUP_TOOLCHAIN",
            ]
            .contains(&&*name);
            let starts = ["TICKSCOPE", "CARGO", "RUST", "XDG_"];
            if !is_ours && starts.iter().any(|start| name.starts_with(start)) {
                command.env_remove(name);
            }
        }
        if let Some(target) = OTHER_TARGET {
            command.env("CARGO_BUILD_TARGET", target);
        }
        command
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_INCREMENTAL", "0")
            .env("XDG_CACHE_HOME", cache())
            .env("TICKSCOPE_DIR", self.rings())
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.dir())
            .stdin(Stdio::null());
        command
    }

    /// Returns the command `cargo tickscope LINE`, in the form in which cargo runs it.
    pub(crate) fn tickscope(&self, line: &str) -> Command {
        let mut command = self.command(US);
        command.arg("tickscope").args(line.split_whitespace());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Done {
        finish(&mut self.tickscope(line))
    }

    /// Runs `cargo tickscope LINE` with an additional environment variable.
    pub(crate) fn run_with(&self, line: &str, variable: &str, value: impl AsRef<OsStr>) -> Done {
        finish(self.tickscope(line).env(variable, value))
    }

    /// Runs `tickscope WORDS`.
    pub(crate) fn viewer(&self, words: &[&str]) -> Done {
        finish(self.command(env!("CARGO_BIN_EXE_tickscope")).args(words))
    }

    /// Returns the report on a snapshot file or on a running program, as JSON.
    pub(crate) fn report(&self, target: impl AsRef<OsStr>) -> Value {
        let target = target.as_ref().to_str().unwrap();
        let done = self.viewer(&["report", "-f", "json", target]).with_code(0);
        serde_json::from_str(&done.out).unwrap()
    }

    /// Returns a command that measures all functions, and the path of the snapshot file that it writes along with its
    /// report.
    pub(crate) fn measured(&self, program: impl AsRef<OsStr>, name: &str) -> (Command, PathBuf) {
        let report = self.dir().join(format!("{name}.txt"));
        let mut command = self.command(program);
        command
            .env("TICKSCOPE_REPORT", &report)
            .env("TICKSCOPE_FUNCTIONS", "every")
            .env("TICKSCOPE_BUDGET", "off");
        (command, report.with_extension("txt.tks"))
    }

    /// Returns the path of a file that was built for the target.
    pub(crate) fn built(&self, name: &str) -> PathBuf {
        self.dir().join("target/tickscope").join(TARGET).join(name)
    }

    /// Returns the programs and libraries in a build directory whose names begin with `start`.
    pub(crate) fn files(&self, folder: &str, start: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.dir().join("target/tickscope").join(folder)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let mut found: Vec<PathBuf> = paths
            .filter(|path| {
                let name = path.file_name().unwrap().to_str().unwrap();
                name.starts_with(start) && !name.ends_with(".d") && !name.ends_with(".rmeta")
            })
            .collect();
        found.sort();
        found
    }
}

pub(crate) fn finish(command: &mut Command) -> Done {
    let output = command.output().unwrap();
    Done {
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
    }
}

/// Returns the directory in which all tests cache the collector.
pub(crate) fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// Copies the files below a directory for which `is_wanted` returns true.
pub(crate) fn copy(from: &Path, to: &Path, is_wanted: fn(&Path) -> bool) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to, is_wanted);
        } else if is_wanted(&from) {
            fs::copy(from, to).unwrap();
        }
    }
}

/// What was found in a program or library: the number of its sleds, and whether it has symbols and line tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Looked {
    pub(crate) sleds: u64,
    pub(crate) symbols: bool,
    pub(crate) lines: bool,
}

pub(crate) fn look(path: &Path) -> Looked {
    let bytes = fs::read(path).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    Looked {
        sleds: file
            .section_by_name("xray_instr_map")
            .map_or(0, |map| map.size() / 32),
        symbols: file.symbols().any(|symbol| symbol.is_definition()),
        lines: file.section_by_name(".debug_line").is_some(),
    }
}

/// Returns the number of sleds in the code of a Rust library.
pub(crate) fn sleds_in_library(path: &Path) -> u64 {
    let bytes = fs::read(path).unwrap();
    let archive = object::read::archive::ArchiveFile::parse(&*bytes).unwrap();
    let members = archive
        .members()
        .map(|member| member.unwrap().data(&*bytes).unwrap());
    let objects = members.filter_map(|data| object::File::parse(data).ok());
    let maps = objects.filter_map(|file| file.section_by_name("xray_instr_map").map(|map| map.size() / 32));
    maps.sum()
}
