//! The user's editor: which one, how it is told the line, and where the source lies.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::text::words::words;

/// Editors that are told the line as FILE:LINE.
const COLON: [&str; 5] = ["hx", "helix", "subl", "sublime_text", "zed"];

/// Editors that are told so behind an option.
const GO_TO: [&str; 5] = ["code", "code-insiders", "codium", "vscodium", "cursor"];

/// A program to run, without a shell.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Editor {
    /// Looked for in $PATH.
    pub(crate) program: String,
    /// What it is given.
    pub(crate) arguments: Vec<OsString>,
}

/// The editor that the environment names, told to open a file at a line.
///
/// # Errors
/// None is named.
pub(crate) fn editor(
    variable: impl Fn(&str) -> Option<String>,
    file: &Path,
    line: u32,
) -> Result<Editor, String> {
    let named = ["VISUAL", "EDITOR"].into_iter().find_map(|name| {
        let words = words(&variable(name)?);
        (!words.is_empty()).then_some(words)
    });
    let Some((program, own)) = named.as_deref().and_then(<[String]>::split_first) else {
        return Err("no editor: set $VISUAL or $EDITOR, like EDITOR=vim".into());
    };
    let mut arguments: Vec<OsString> = own.iter().map(OsString::from).collect();
    let name = Path::new(program).file_name().unwrap_or_default();
    let is_one_of = |names: &[&str]| names.iter().any(|known| name == *known);
    let with_line = || {
        let mut text = file.as_os_str().to_owned();
        text.push(format!(":{line}"));
        text
    };
    if line == 0 {
        arguments.push(file.into());
    } else if is_one_of(&COLON) {
        arguments.push(with_line());
    } else if is_one_of(&GO_TO) {
        arguments.extend(["-g".into(), with_line()]);
    } else {
        // vi and its children, nano, emacs, micro, and nearly all others.
        arguments.extend([format!("+{line}").into(), file.into()]);
    }
    Ok(Editor {
        program: program.clone(),
        arguments,
    })
}

/// Where to look for a program's files, most likely first: it is the project it was built from that names them, and
/// the user's own directory may hold another one with files of the same names.
pub(crate) fn places(pid: Option<u32>) -> Vec<PathBuf> {
    let of_it = |what: &str| fs::read_link(format!("/proc/{}/{what}", pid?)).ok();
    let executable = of_it("exe").and_then(|exe| Some(exe.parent()?.to_path_buf()));
    [executable, of_it("cwd"), std::env::current_dir().ok()]
        .into_iter()
        .flatten()
        .collect()
}

/// The file itself: as it is where it begins at the root, else below one of the places or of what they lie in.
///
/// # Errors
/// What was looked for, and where.
pub(crate) fn find(file: &str, places: &[PathBuf]) -> Result<PathBuf, String> {
    if file.is_empty() {
        return Err("where its source is, the program does not say".into());
    }
    let path = Path::new(file);
    let mut looked = Vec::new();
    for place in places {
        if let Some(found) = place.ancestors().map(|dir| dir.join(path)).find(|p| p.is_file()) {
            return Ok(found);
        }
        let place = place.display().to_string();
        if !looked.contains(&place) {
            looked.push(place);
        }
    }
    // Also where there is no place at all to look from.
    if path.is_absolute() {
        return match path.is_file() {
            true => Ok(path.to_path_buf()),
            false => Err(format!("no file {file} here")),
        };
    }
    Err(format!(
        "no {file} in {} or above",
        if looked.is_empty() {
            "any place".into()
        } else {
            looked.join(", ")
        }
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(visual: Option<&str>, plain: Option<&str>, line: u32) -> Result<String, String> {
        let variable = |name: &str| match name {
            "VISUAL" => visual.map(String::from),
            _ => plain.map(String::from),
        };
        let editor = editor(variable, Path::new("/src/a b.rs"), line)?;
        let arguments: Vec<_> = editor
            .arguments
            .iter()
            .map(|text| text.to_string_lossy())
            .collect();
        Ok(format!("{} {}", editor.program, arguments.join("|")))
    }

    #[test]
    fn each_editor_is_told_the_line_in_its_own_way() {
        let table = [
            ("vi", "vi +7|/src/a b.rs"),
            ("/usr/bin/nvim", "/usr/bin/nvim +7|/src/a b.rs"),
            ("nano", "nano +7|/src/a b.rs"),
            ("emacs -nw", "emacs -nw|+7|/src/a b.rs"),
            ("hx", "hx /src/a b.rs:7"),
            ("code --wait", "code --wait|-g|/src/a b.rs:7"),
            ("subl -w", "subl -w|/src/a b.rs:7"),
            ("'/opt/my editor/ed' -x", "/opt/my editor/ed -x|+7|/src/a b.rs"),
            ("vi; rm -rf /", "vi; rm|-rf|/|+7|/src/a b.rs"),
        ];
        for (variable, line) in table {
            assert_eq!(told(Some(variable), Some("other"), 7).as_deref(), Ok(line));
        }
        assert_eq!(
            told(Some("  "), Some("nano"), 7).as_deref(),
            Ok("nano +7|/src/a b.rs")
        );
        assert_eq!(told(None, Some("nano"), 0).as_deref(), Ok("nano /src/a b.rs"));
        assert!(told(None, None, 7).unwrap_err().contains("$VISUAL or $EDITOR"));
    }

    #[test]
    fn files_are_found_from_below_and_named_where_they_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        fs::create_dir_all(project.join("target/debug")).unwrap();
        fs::create_dir_all(project.join("src")).unwrap();
        fs::write(project.join("src/main.rs"), "").unwrap();
        let places = [project.join("target/debug")];
        assert_eq!(find("src/main.rs", &places), Ok(project.join("src/main.rs")));
        let whole = project.join("src/main.rs").display().to_string();
        assert_eq!(find(&whole, &[]), Ok(project.join("src/main.rs")));
        let why = find("src/other.rs", &places).unwrap_err();
        assert!(
            why.contains("no src/other.rs in ") && why.contains("target/debug"),
            "{why}"
        );
        assert!(find("src", &places).is_err(), "a directory is no source");
        assert!(
            find("", &places)
                .unwrap_err()
                .contains("where its source is, the program does not say")
        );
        let why = |file: &str, places: &[PathBuf]| find(file, places).unwrap_err();
        assert_eq!(why("/no/such/file.rs", &places), "no file /no/such/file.rs here");
        assert_eq!(why("src/main.rs", &[]), "no src/main.rs in any place or above");
    }
}
