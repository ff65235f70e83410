//! Finds the user's editor and builds the arguments that open a file at a line.

use std::ffi::OsString;
use std::path::Path;

use crate::text::words::words;

/// Editors that take the file and line as FILE:LINE.
const COLON: [&str; 5] = ["hx", "helix", "subl", "sublime_text", "zed"];

/// Editors that take FILE:LINE after an option.
const GO_TO: [&str; 5] = ["code", "code-insiders", "codium", "vscodium", "cursor"];

/// The command that starts the editor. It is run directly, not through a shell.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Editor {
    /// Program, looked up in $PATH.
    pub(crate) program: String,
    pub(crate) arguments: Vec<OsString>,
}

/// Returns the editor that the environment specifies, with arguments that open `file` at `line`. If `line` is 0, the
/// file is opened without jumping to a line.
///
/// # Errors
/// Fails if the environment does not specify an editor.
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
        // Vi and its descendants, nano, emacs, micro and nearly all other editors take the line number in this form.
        arguments.extend([format!("+{line}").into(), file.into()]);
    }
    Ok(Editor {
        program: program.clone(),
        arguments,
    })
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
}
