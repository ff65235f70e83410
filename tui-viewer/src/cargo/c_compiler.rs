//! Compilers of C and C++, and which options make them put sleds into functions. Clang has them; GCC has not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::cargo::cache::Cache;
use crate::cargo::sleds;

/// Sleds in all functions, however small: which of them count is decided when the program runs.
const SLEDS: [&str; 2] = ["-fxray-instrument", "-fxray-instruction-threshold=1"];

/// The spellings of what keeps clang's own runtime out where the same options come to a link: from clang 17 on, and before.
/// That runtime is a package of its own, which may not be there.
const WITHOUT_RUNTIME: [&[&str]; 3] = [&["-fno-xray-link-deps"], &["-fnoxray-link-deps"], &[]];

/// What is compiled to try the options.
const PROBE: &str = "int tickscope_probe(int x) { return x ^ 1; }\n";

/// A language, as the variables of builds tell compilers apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Cpp,
}

/// A compiler as a variable names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CCompiler {
    /// The program and its first arguments: `ccache clang`.
    words: Vec<String>,
    language: Language,
}

impl Language {
    pub(crate) const ALL: [Self; 2] = [Self::C, Self::Cpp];

    /// The variable that names the compiler.
    pub(crate) fn compiler_variable(self) -> &'static str {
        match self {
            Self::C => "CC",
            Self::Cpp => "CXX",
        }
    }

    /// The variable with options for it.
    pub(crate) fn flags_variable(self) -> &'static str {
        match self {
            Self::C => "CFLAGS",
            Self::Cpp => "CXXFLAGS",
        }
    }

    /// The compiler where no variable names one.
    pub(crate) fn usual_compiler(self) -> &'static str {
        match self {
            Self::C => "cc",
            Self::Cpp => "c++",
        }
    }

    /// Clang's name for it.
    pub(crate) fn clang(self) -> &'static str {
        match self {
            Self::C => "clang",
            Self::Cpp => "clang++",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "c++",
        }
    }
}

impl CCompiler {
    /// The compiler that a variable's value stands for: a path, or a program with arguments.
    pub(crate) fn of(value: &str, language: Language) -> Self {
        let words = if Path::new(value).exists() {
            vec![value.to_string()]
        } else {
            value.split_whitespace().map(ToString::to_string).collect()
        };
        Self { words, language }
    }

    /// The options that make it put sleds in, from the cache or found out; none if it has no such options or is not there.
    ///
    /// # Errors
    /// That nothing can be kept.
    pub(crate) fn sled_flags(&self, cache: &Cache) -> anyhow::Result<Option<Vec<String>>> {
        let Some(version) = self.version() else {
            return Ok(None);
        };
        let place = cache.place("c-sleds", (&version, &self.words, self.language.name()));
        cache.make(&place, |folder| {
            let flags = self.find(folder).unwrap_or_default();
            Ok(fs::write(folder.join("flags"), flags.join("\n"))?)
        })?;
        let text = fs::read_to_string(place.join("flags"))
            .with_context(|| format!("cannot read {}; remove that folder", place.display()))?;
        let flags: Vec<String> = text.lines().map(ToString::to_string).collect();
        Ok(Some(flags).filter(|flags| !flags.is_empty()))
    }

    /// The first line of what it says of its version; none if it is not there.
    pub(crate) fn version(&self) -> Option<String> {
        let output = self.command()?.arg("--version").output().ok()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let first = said.lines().next().filter(|_| output.status.success())?;
        Some(first.to_string())
    }

    fn command(&self) -> Option<Command> {
        let (program, arguments) = self.words.split_first()?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null());
        Some(command)
    }

    fn find(&self, folder: &Path) -> Option<Vec<&'static str>> {
        let mut spellings = WITHOUT_RUNTIME
            .into_iter()
            .map(|without| [&SLEDS[..], without].concat());
        spellings.find(|flags| self.probe(flags, folder).is_some())
    }

    /// Compiles with these options. Each warning counts as an error, as it does in some projects.
    fn probe(&self, flags: &[&str], folder: &Path) -> Option<()> {
        let (source, object): (PathBuf, PathBuf) = (folder.join("probe.c"), folder.join("probe.o"));
        fs::write(&source, PROBE).ok()?;
        let _ = fs::remove_file(&object);
        let output = self
            .command()?
            .args(["-Werror", "-x", self.language.name()])
            .args(flags)
            .arg("-c")
            .arg(&source)
            .arg("-o")
            .arg(&object)
            .output()
            .ok()?;
        let object = fs::read(object).ok().filter(|_| output.status.success())?;
        sleds::check(&object).ok()
    }
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::command;

    use super::*;

    fn script(folder: &Path, name: &str, text: &str) -> String {
        let path = folder.join(name);
        command::script(&path, text);
        path.display().to_string()
    }

    #[test]
    fn gcc_gives_no_sleds() {
        let dir = tempfile::tempdir().unwrap();
        for language in Language::ALL {
            let gcc = script(
                dir.path(),
                "gcc",
                "[ \"$1\" = --version ] && echo 'gcc 1' || exit 1",
            );
            assert_eq!(CCompiler::of(&gcc, language).find(dir.path()), None);
        }
    }

    #[test]
    #[ignore = "wants clang: .ci/nightly cargo-tickscope"]
    fn clang_gives_sleds() {
        let dir = tempfile::tempdir().unwrap();
        for language in Language::ALL {
            let clang = CCompiler::of(language.clang(), language);
            let flags = clang.find(dir.path()).unwrap();
            assert_eq!(flags[..2], SLEDS);
            // With words before it, as a compiler cache has.
            let behind = CCompiler::of(&format!("env {}", language.clang()), language);
            assert_eq!(behind.find(dir.path()), Some(flags));
        }
    }

    #[test]
    #[ignore = "wants clang: .ci/nightly cargo-tickscope"]
    fn another_spelling_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let script_of = |name: &str, known: &str| {
            let text = format!(
                "args=()\nfor arg in \"$@\"; do case $arg in {known}) ;; -fno*xray-link-deps) exit 1;; *) args+=(\"$arg\");; \
                 esac; done\nexec clang \"${{args[@]}}\""
            );
            CCompiler::of(&script(dir.path(), name, &text), Language::C)
        };
        for (name, known, last) in [
            ("new", "-fno-xray-link-deps", Some("-fno-xray-link-deps")),
            ("old", "-fnoxray-link-deps", Some("-fnoxray-link-deps")),
            ("none", "-none", None),
        ] {
            let flags = script_of(name, known).find(dir.path()).unwrap();
            assert_eq!(flags.get(2).copied(), last, "{name}");
        }
    }
}
