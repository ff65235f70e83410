//! What the user is to know at the end of a build: wrappers note it, many at a time, and the command says each once.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use crate::output::console::say;

/// Stands for the end of a line inside a note.
const BREAK: char = '\u{1}';

/// Notes something.
pub(crate) fn note(file: &Path, text: &str) {
    // One write, so that those of several processes do not mix. Without the file only a hint is lost.
    if let Ok(mut file) = File::options().append(true).open(file) {
        let _ = file.write_all(format!("{}\n", text.replace('\n', &BREAK.to_string())).as_bytes());
    }
}

/// Says what was noted, each note once.
pub(crate) fn say_all(file: &Path) {
    let text = fs::read_to_string(file).unwrap_or_default();
    for note in collected(&text) {
        say(&note);
    }
}

fn collected(text: &str) -> BTreeSet<String> {
    text.lines().map(|note| note.replace(BREAK, "\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_note_is_said_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("notes");
        fs::write(&file, "").unwrap();
        for text in ["one\nmore", "another", "one\nmore"] {
            note(&file, text);
        }
        let said = collected(&fs::read_to_string(file).unwrap());
        assert_eq!(said.into_iter().collect::<Vec<_>>(), ["another", "one\nmore"]);
    }
}
