//! What the user is to know at the end of a build: wrappers note it, many at a time, and the command says each once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use crate::output::console::say;

/// Stands for the end of a line inside a note.
const BREAK: char = '\u{1}';

/// Stands between a subject and what is said of it.
const OF: char = '\u{2}';

/// Notes something.
pub(crate) fn note(file: &Path, text: &str) {
    // One write, so that those of several processes do not mix. Without the file only a hint is lost.
    if let Ok(mut file) = File::options().append(true).open(file) {
        let _ = file.write_all(format!("{}\n", text.replace('\n', &BREAK.to_string())).as_bytes());
    }
}

/// Notes the same thing of another subject, which may be true of many.
pub(crate) fn note_of(file: &Path, subject: &str, text: &str) {
    note(file, &format!("{subject}{OF}{text}"));
}

/// Says what was noted, each note once, with all its subjects.
pub(crate) fn say_all(file: &Path) {
    let text = fs::read_to_string(file).unwrap_or_default();
    for note in collected(&text) {
        say(&note);
    }
}

fn collected(text: &str) -> BTreeSet<String> {
    let mut subjects: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in text.lines() {
        match line.split_once(OF) {
            Some((subject, note)) => subjects.entry(note).or_default().insert(subject),
            None => subjects.entry(line).or_default().is_empty(),
        };
    }
    let notes = subjects.into_iter().map(|(note, subjects)| {
        let subjects: Vec<&str> = subjects.into_iter().collect();
        let start = if subjects.is_empty() {
            String::new()
        } else {
            subjects.join(", ") + ": "
        };
        start + &note.replace(BREAK, "\n")
    });
    notes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_true_of_many_is_said_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("notes");
        fs::write(&file, "").unwrap();
        note(&file, "one\nmore");
        for subject in ["b", "a", "b"] {
            note_of(&file, subject, "is so");
        }
        note(&file, "one\nmore");
        let said = collected(&fs::read_to_string(file).unwrap());
        assert_eq!(said.into_iter().collect::<Vec<_>>(), ["a, b: is so", "one\nmore"]);
    }
}
