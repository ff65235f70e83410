//! The command `table`: the table of functions for what was linked without cargo.

use std::fs;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSymbol};

use crate::cargo::function_table::{self, Added, Member, Sources};
use crate::cli::args::cargo::TableArgs;
use crate::output::console::{DONE, FAILED, say, write};

/// What each file with a collector has, whichever version.
const COLLECTOR: &str = "tickscope_functions_taken_";

/// Adds tables.
///
/// # Errors
/// That the current directory is not known, or standard output takes nothing.
pub(crate) fn run(args: &TableArgs) -> anyhow::Result<u8> {
    let root = match &args.source {
        Some(dir) => std::path::absolute(dir)?,
        None => project_around(&std::env::current_dir()?),
    };
    let mut code = DONE;
    for file in &args.files {
        match function_table::add(file, &sources(&root, file)) {
            Ok(added) => {
                write(&format!("{}: {}\n", file.display(), told(&added)))?;
                for hint in hints(file, &added) {
                    say(&hint);
                }
            }
            Err(error) => {
                say(&error.to_string());
                code = FAILED;
            }
        }
    }
    Ok(code)
}

/// The nearest folder that a repository begins in, or this one.
fn project_around(here: &Path) -> PathBuf {
    let mut above = here.ancestors();
    above
        .find(|dir| dir.join(".git").exists())
        .unwrap_or(here)
        .to_path_buf()
}

/// All below the root is the program's own.
fn sources(root: &Path, file: &Path) -> Sources {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Sources {
        workspace_root: root.to_path_buf(),
        members: vec![Member {
            dir: root.to_path_buf(),
            package: name.into_owned(),
        }],
        sysroot: None,
    }
}

fn told(added: &Added) -> String {
    let parts = [
        (added.own, "own"),
        (added.dependencies, "of libraries"),
        (added.std, "of the standard library"),
        (added.unknown, "of unknown origin"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, whose)| format!("{number} {whose}"))
        .collect();
    let functions = count(added.functions, "function");
    if parts.is_empty() {
        functions
    } else {
        format!("{functions}: {}", parts.join(", "))
    }
}

fn count(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

fn hints(file: &Path, added: &Added) -> Vec<String> {
    let shown = file.display();
    let mut hints = Vec::new();
    if !has_collector(file) {
        hints.push(format!(
            "{shown}: there is no collector in it, so its functions stay silent\n  link it with what cargo tickscope lib --libs \
             prints, and make the table again"
        ));
    }
    // The compiler makes a few of its own.
    if added.without_line > added.functions / 4 {
        hints.push(format!(
            "{shown}: {} without file and line; compile with -g, or with -gline-tables-only",
            count(added.without_line, "function")
        ));
    }
    hints
}

/// Whether the collector is in a file, as far as its symbols say.
fn has_collector(file: &Path) -> bool {
    let Ok(bytes) = fs::read(file) else { return true };
    let Ok(file) = object::File::parse(&*bytes) else {
        return true;
    };
    let mut symbols = file.symbols().peekable();
    symbols.peek().is_none()
        || symbols.any(|symbol| symbol.name().is_ok_and(|name| name.starts_with(COLLECTOR)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let build = dir.path().join("a/build");
        fs::create_dir_all(&build).unwrap();
        assert_eq!(project_around(&build), build);
        fs::create_dir(dir.path().join("a/.git")).unwrap();
        assert_eq!(project_around(&build), dir.path().join("a"));
    }

    #[test]
    fn numbers_say_whose_functions_there_are() {
        let added = Added {
            functions: 6,
            own: 4,
            std: 2,
            ..Added::default()
        };
        assert_eq!(told(&added), "6 functions: 4 own, 2 of the standard library");
        assert_eq!(told(&Added::default()), "0 functions");
    }
}
