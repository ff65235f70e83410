//! Builds the library, builds and runs programs with it, and reads what they counted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::Snapshot;
use tickscope_format::snapshot_file;
use tickscope_testkit::suite::skip;

/// System libraries that a linker needs after the static library.
pub(crate) const SYSTEM: [&str; 3] = ["-lpthread", "-ldl", "-lm"];
/// Leaves out the library's debug information, because copying it doubles the link time.
pub(crate) const QUICKLY: &str = "-Wl,--strip-debug";

/// A language, with the compilers and the language standards to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Cpp,
}

impl Language {
    pub(crate) fn standards(self) -> [&'static str; 2] {
        match self {
            Self::C => ["-std=c99", "-std=c11"],
            Self::Cpp => ["-std=c++11", "-std=c++17"],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "c++",
        }
    }

    /// Returns the compilers that this machine has. Skips the test if there is none.
    pub(crate) fn compilers(self) -> Vec<&'static str> {
        let names = match self {
            Self::C => ["gcc", "clang"],
            Self::Cpp => ["g++", "clang++"],
        };
        let found: Vec<&str> = names.into_iter().filter(|name| has(name)).collect();
        if found.is_empty() {
            skip(format_args!("neither {} nor {} here", names[0], names[1]));
        }
        found
    }

    /// Returns the first compiler of this machine.
    pub(crate) fn compiler(self) -> &'static str {
        self.compilers()[0]
    }
}

/// Skips the test if a program is missing.
pub(crate) fn wants(program: &str) {
    if !has(program) {
        skip(format_args!("no {program} here"));
    }
}

pub(crate) fn has(program: &str) -> bool {
    let run = Command::new(program).arg("--version").output();
    run.is_ok_and(|output| output.status.success())
}

pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the path of a source file in this file's folder.
pub(crate) fn source(name: &str) -> PathBuf {
    package().join("tests/programs").join(name)
}

/// Builds libtickscope.a and libtickscope.so, and returns their folder. Cargo itself does not build such libraries for
/// a test. A debug build is not optimised, because nothing is timed in it.
pub(crate) fn libraries() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let this = std::env::current_exe().unwrap();
        let built = this.parent().unwrap().parent().unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "-p", "tickscope-c"]);
        cargo.current_dir(package());
        if cfg!(debug_assertions) {
            cargo.args(["--config", "profile.dev.package.tickscope.opt-level=0"]);
        } else {
            cargo.arg("--release");
        }
        cargo.env_remove("TICKSCOPE_SONAME");
        done(cargo.env("CARGO_TARGET_DIR", built.parent().unwrap()));
        for name in ["libtickscope.so", "libtickscope.a"] {
            assert!(built.join(name).exists(), "no {name} in {}", built.display());
        }
        built.to_path_buf()
    })
}

/// Returns the flags that make a C compiler use the linker that comes with the Rust toolchain, or no flags if there is
/// no such linker. With an archive as large as libtickscope.a, that linker takes a third of the time of the default
/// linker. The examples are linked with the default linker.
fn quick_linker() -> &'static [String] {
    static FOUND: OnceLock<Vec<String>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let told = done(Command::new(rustc).args(["--print", "target-libdir"])).stdout;
        let libraries = PathBuf::from(String::from_utf8(told).unwrap().trim_end());
        let linkers = libraries.parent().unwrap().join("bin/gcc-ld");
        if linkers.join("ld.lld").exists() {
            vec![format!("-B{}", linkers.display()), "-fuse-ld=lld".to_string()]
        } else {
            Vec::new()
        }
    })
}

/// Returns a compiler command with the header's folder as an include path, strict warnings and the options `words`.
pub(crate) fn compile(compiler: &str, language: Language, words: &[&str]) -> Command {
    let mut command = Command::new(compiler);
    command.arg("-I").arg(package().join("include"));
    command.args(["-Wall", "-Wextra", "-Werror", "-pedantic"]);
    command.args(["-x", language.name()]).args(words);
    command
}

/// Builds a program with the static library, and returns its path.
pub(crate) fn build(dir: &Path, compiler: &str, language: Language, words: &[&str], name: &str) -> PathBuf {
    let program = dir.join("program");
    let mut command = compile(compiler, language, words);
    command.arg(source(name)).args(["-x", "none", "-o"]).arg(&program);
    command
        .arg(libraries().join("libtickscope.a"))
        .args(["-Wl,--no-whole-archive", QUICKLY]);
    done(command.args(SYSTEM).args(quick_linker()));
    program
}

/// Returns a command that runs a program without any tickscope settings from the environment, and with its ring files
/// in `dir`.
pub(crate) fn program(path: &Path, dir: &Path) -> Command {
    let mut command = Command::new(path);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TICKSCOPE") {
            command.env_remove(name);
        }
    }
    command.env("TICKSCOPE_DIR", dir.join("rings"));
    command
}

/// Runs a command, and panics if it fails.
pub(crate) fn done(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    output
}

pub(crate) struct Counted(pub(crate) Snapshot);

impl Counted {
    pub(crate) fn read(path: &Path) -> Self {
        Self(snapshot_file::read(path).unwrap())
    }

    /// Returns the number of calls by name, summed over all rows of that name.
    pub(crate) fn calls(&self) -> BTreeMap<String, u64> {
        let mut calls = BTreeMap::new();
        self.rows(|name, _, count| *calls.entry(name.to_string()).or_default() += count);
        calls
    }

    /// Returns the number of calls in rows named `inner` that are directly below rows named `outer`.
    pub(crate) fn calls_below(&self, outer: &str, inner: &str) -> u64 {
        let mut sum = 0;
        self.rows(|name, parent, count| {
            if name == inner && parent == Some(outer) {
                sum += count;
            }
        });
        sum
    }

    /// Calls `row` with each row's name, its parent's name and its number of calls.
    fn rows(&self, mut row: impl FnMut(&str, Option<&str>, u64)) {
        let Self(snapshot) = self;
        let name = |node| snapshot.site_of(node).name.as_str();
        for index in 0..snapshot.nodes.len() {
            let node = NodeId(index as u32);
            let parent = snapshot.nodes.parent_of(node).map(name);
            row(name(node), parent, snapshot.nodes.calls[index]);
        }
    }
}
