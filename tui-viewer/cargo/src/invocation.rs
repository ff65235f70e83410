//! The parts of a compiler call that [`crate::changes`] and [`crate::wrapper`] need.

use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// Name of the crate; empty if cargo only queries the compiler.
    pub(crate) crate_name: String,
    /// Types of the crate: bin, lib, rlib, cdylib, staticlib, proc-macro.
    pub(crate) types: Vec<String>,
    /// Whether the output is a test program.
    pub(crate) is_test: bool,
    /// Target of the compilation. `None` means the host, for which cargo also compiles build scripts and procedural macros.
    pub(crate) target: Option<String>,
    /// Output directory.
    pub(crate) out_dir: Option<PathBuf>,
    /// Kinds of output: link, metadata, dep-info.
    pub(crate) emits: Vec<String>,
    /// Library files that the call passes with `--extern`.
    pub(crate) externs: Vec<PathBuf>,
    /// Conditional compilation options of the crate (`--cfg`).
    pub(crate) cfgs: Vec<String>,
    /// Code generation options (`-C`) as name and value, in the order in which they were passed.
    pub(crate) codegen: Vec<(String, String)>,
    /// Root file of the crate's sources.
    pub(crate) source: Option<PathBuf>,
}

impl Invocation {
    /// Reads the arguments of a call.
    pub(crate) fn read(arguments: &[OsString]) -> Self {
        let mut found = Self::default();
        let mut words = expanded(arguments).into_iter();
        while let Some(word) = words.next() {
            let (name, inline) = parts(&word);
            let mut value = || inline.clone().or_else(|| words.next()).unwrap_or_default();
            match name {
                "--crate-name" => found.crate_name = value(),
                "--crate-type" => found.types.extend(value().split(',').map(ToString::to_string)),
                "--target" => found.target = Some(value()),
                "--out-dir" => found.out_dir = Some(value().into()),
                "--emit" => found.emits.extend(value().split(',').map(kind)),
                "--extern" => found
                    .externs
                    .extend(value().split_once('=').map(|(_, path)| path.into())),
                "--cfg" => found.cfgs.push(value()),
                "--test" => found.is_test = true,
                "-C" | "--codegen" => found.code_option(&value()),
                // `-g` is short for `-C debuginfo=2`.
                "-g" => found.code_option("debuginfo=2"),
                // Skips the values of these options, because they could look like a source file. The values of other
                // options cannot.
                "-L" | "-o" | "--sysroot" | "--remap-path-prefix" | "--env-set" => drop(value()),
                _ if !word.starts_with('-') && word.ends_with(".rs") => found.source = Some(word.into()),
                _ => {}
            }
        }
        found
    }

    fn code_option(&mut self, text: &str) {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        self.codegen.push((name.replace('_', "-"), value.to_string()));
    }

    /// Returns the value of a code generation option (`-C`). If it was passed several times, the last value wins.
    pub(crate) fn code(&self, name: &str) -> Option<&str> {
        let mut last = self.codegen.iter().rev();
        last.find(|(given, _)| given == name).map(|(_, value)| &**value)
    }

    /// Returns the stem of the crate's output file names: the crate's name, and a suffix that distinguishes it from
    /// other crates of the same name.
    fn stem(&self) -> String {
        self.crate_name.clone() + self.code("extra-filename").unwrap_or_default()
    }

    /// Returns whether a feature of the package is enabled.
    pub(crate) fn has_feature(&self, name: &str) -> bool {
        self.cfgs.contains(&format!("feature=\"{name}\""))
    }

    /// Returns whether the output contains machine code.
    pub(crate) fn is_linked(&self) -> bool {
        self.emits.iter().any(|kind| kind == "link")
    }

    /// Returns the path of the dep-info file (`*.d`). It lists the sources, and tells cargo when to recompile the crate.
    pub(crate) fn dep_info(&self) -> Option<PathBuf> {
        let is_made = self.emits.iter().any(|kind| kind == "dep-info");
        let name = self.stem() + ".d";
        Some(self.out_dir.as_ref().filter(|_| is_made)?.join(name))
    }

    /// Returns the paths of the programs and shared libraries that the call produces.
    pub(crate) fn linked_files(&self) -> Vec<PathBuf> {
        let Some(dir) = self.out_dir.as_ref().filter(|_| self.is_linked()) else {
            return Vec::new();
        };
        let stem = self.stem();
        if self.is_test {
            return vec![dir.join(stem)];
        }
        let file = |kind: &String| match kind.as_str() {
            "bin" => Some(dir.join(&stem)),
            "cdylib" => Some(dir.join(format!("lib{stem}.so"))),
            _ => None,
        };
        self.types.iter().filter_map(file).collect()
    }

    /// Returns the path of the `.rlib` file, which dependent crates use.
    pub(crate) fn library(&self) -> Option<PathBuf> {
        let name = format!("lib{}.rlib", self.stem());
        Some(self.out_dir.as_ref()?.join(name))
    }
}

/// Returns all arguments, with each `@FILE` replaced by the lines of that file. Cargo uses `@FILE` for long command lines.
fn expanded(arguments: &[OsString]) -> Vec<String> {
    let mut words = Vec::new();
    for argument in arguments {
        let text = argument.to_string_lossy();
        match text
            .strip_prefix('@')
            .and_then(|file| std::fs::read_to_string(file).ok())
        {
            Some(more) => words.extend(more.lines().map(ToString::to_string)),
            None => words.push(text.into_owned()),
        }
    }
    words
}

/// Splits an option from a value in the same word, as in `--cfg=a` or `-Copt-level=3`. Returns `None` for the value if
/// there is none.
fn parts(word: &str) -> (&str, Option<String>) {
    match word.split_once('=') {
        Some((name, value)) if name.starts_with("--") => (name, Some(value.to_string())),
        _ if word.starts_with('-')
            && !word.starts_with("--")
            && word.len() > 2
            && word.is_char_boundary(2) =>
        {
            (&word[..2], Some(word[2..].to_string()))
        }
        _ => (word, None),
    }
}

/// Returns the kind of an output, which is `KIND` in `KIND=FILE`.
fn kind(text: &str) -> String {
    text.split('=').next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::wrapper::recorded;

    #[test]
    fn what_cargo_says_of_a_library() {
        let library = recorded::read("library");
        assert_eq!(&*library.crate_name, "crc32fast");
        assert_eq!(&library.types[..], &["lib".to_string()][..]);
        assert_eq!(library.target.as_deref(), Some("x86_64-unknown-linux-gnu"));
        assert_eq!(
            library.out_dir,
            Some("/p/target/tickscope/x86_64-unknown-linux-gnu/release/deps".into())
        );
        assert!(library.is_linked() && !library.is_test && library.has_feature("std"));
        assert_eq!(library.code("opt-level"), Some("3"));
        assert_eq!(library.externs.len(), 1);
        assert!(library.linked_files().is_empty());
        let dep_info =
            "/p/target/tickscope/x86_64-unknown-linux-gnu/release/deps/crc32fast-df498c8c5b80aed1.d";
        assert_eq!(library.dep_info(), Some(dep_info.into()));
        assert!(library.source.unwrap().ends_with("src/lib.rs"));
    }

    #[test]
    fn where_programs_come_to_be() {
        let deps = Path::new("/p/target/tickscope/x86_64-unknown-linux-gnu/debug/deps");
        let program = recorded::read("program");
        assert_eq!(program.linked_files(), [deps.join("app-d1d271e3bf7fb934")]);
        let test = recorded::read("test");
        assert!(test.is_test);
        assert_eq!(test.linked_files(), [deps.join("mylib-c9055ba26826f591")]);
        let shared = recorded::read("shared");
        assert_eq!(shared.types, ["cdylib", "rlib"]);
        assert_eq!(shared.linked_files(), [deps.join("libplugin.so")]);
        assert_eq!(shared.library(), Some(deps.join("libplugin.rlib")));
    }

    #[test]
    fn the_last_code_option_counts_however_it_is_written() {
        let words = [
            "-g",
            "-C",
            "debuginfo=0",
            "-Cstrip=symbols",
            "--codegen",
            "strip=none",
            "--codegen=lto",
        ];
        let read = Invocation::read(&words.map(OsString::from));
        assert_eq!(read.code("debuginfo"), Some("0"));
        assert_eq!(read.code("strip"), Some("none"));
        assert_eq!((read.code("lto"), read.code("panic")), (Some(""), None));
    }

    #[test]
    fn long_command_lines_stand_in_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("args");
        std::fs::write(&file, "--crate-name\na_b\n--test\nsrc/main.rs\n").unwrap();
        let read = Invocation::read(&["rustc".into(), format!("@{}", file.display()).into()]);
        assert_eq!((&*read.crate_name, read.is_test), ("a_b", true));
        assert_eq!(read.source, Some("src/main.rs".into()));
    }
}
