//! Messages for the user at the end of a build. Wrappers that run in parallel write them as notes, and the command
//! prints each distinct note once.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use tickscope_command::console::say;

/// Stands for a line break inside a note, because each note is a single line of the file.
const BREAK: char = '\u{1}';

/// Adds a note.
pub(crate) fn note(file: &Path, text: &str) {
    // A single write keeps notes from parallel processes apart. If the file is missing, only a hint is lost.
    if let Ok(mut file) = File::options().append(true).open(file) {
        let _ = file.write_all(format!("{}\n", text.replace('\n', &BREAK.to_string())).as_bytes());
    }
}

/// Prints each note once.
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
