//! What tests expect to read: the strings of their assertions, and what they compare whole outputs with.

use std::path::Path;

use crate::source::{Text, plain};

/// So many words in a row are not met by chance.
const FEWEST: usize = 3;

/// Files that tests compare whole outputs with.
const GOLDEN: [&str; 2] = ["snap", "stderr"];

/// A string counts where a test compares: in an assertion or a search, or in a table that such a test goes through. One
/// that is put in does not: not where values are made.
const MADE: [&str; 12] = [
    "vec!", "push", "Err", "keys", "args", "arg", "env", "write", "new", "push_str", "panic!", "expect",
];

/// All that tests expect, in plain text.
pub(crate) fn expected(texts: &[Text], root: &Path, folders: &[&str]) -> Vec<String> {
    let mut expected: Vec<String> = texts
        .iter()
        .filter(|text| text.is_test && !is_made(text))
        .map(|text| text.text.clone())
        .collect();
    for folder in folders {
        golden(&root.join(folder), &mut expected);
    }
    expected.sort_unstable();
    expected.dedup();
    expected
}

fn is_made(text: &Text) -> bool {
    let last = |within: &String| within.rsplit('.').next().unwrap().to_string();
    let is_asserted = text.within.iter().any(|within| last(within).contains("assert"));
    !is_asserted
        && text
            .within
            .last()
            .is_some_and(|within| MADE.contains(&&*last(within)))
}

fn golden(folder: &Path, expected: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            golden(&path, expected);
        } else if path
            .extension()
            .is_some_and(|ending| GOLDEN.iter().any(|golden| ending == *golden))
        {
            expected.push(plain(&std::fs::read_to_string(path).unwrap()));
        }
    }
}

/// Whether a test expects a message: all of its fixed words in their order, or of one piece of them at least three words
/// in a row.
pub(crate) fn is_expected(message: &str, expected: &[String]) -> bool {
    let pieces = pieces(message);
    let is_part =
        |text: &str| pieces.iter().any(|piece| piece.contains(text.trim())) && words(text) >= FEWEST;
    let long: Vec<&str> = pieces
        .iter()
        .copied()
        .filter(|piece| words(piece) >= FEWEST)
        .collect();
    let has_piece = |text: &str| long.iter().any(|piece| text.contains(piece));
    let mut expected = expected.iter();
    expected.any(|text| is_part(text) || has_piece(text) || has_all(text, &pieces))
}

/// Whether a test expects all of a message, which is longer than what is met by chance.
pub(crate) fn is_whole(message: &str, expected: &[String]) -> bool {
    words(message) > FEWEST && expected.iter().any(|text| has_all(text, &pieces(message)))
}

/// Whether a text is a message with something filled in. One with few words of its own must stand there as it is.
pub(crate) fn is_filled_in(message: &str, text: &str) -> bool {
    text.contains(message) || words(&message.replace("{}", " ")) >= FEWEST && has_all(text, &pieces(message))
}

/// What stands between two things that are filled in, as far as it has words.
pub(crate) fn pieces(message: &str) -> Vec<&str> {
    let pieces = message.split("{}").map(str::trim);
    pieces.filter(|piece| words(piece) > 0).collect()
}

/// One after another.
fn has_all(text: &str, pieces: &[&str]) -> bool {
    let mut rest = text;
    pieces.iter().all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}

/// A text without a piece, where that is no part of longer words.
pub(crate) fn without(text: &str, piece: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    let is_within = |c: Option<char>, edge: Option<char>| {
        [c, edge]
            .into_iter()
            .all(|c| c.is_some_and(char::is_alphanumeric))
    };
    while let Some(at) = rest.find(piece) {
        let (before, behind) = (&rest[..at], &rest[at + piece.len()..]);
        kept.push_str(before);
        let is_part = is_within(kept.chars().next_back(), piece.chars().next())
            || is_within(behind.chars().next(), piece.chars().next_back());
        kept.push_str(if is_part { piece } else { "\n" });
        rest = behind;
    }
    kept + rest
}

/// How many words a text has.
pub(crate) fn words(text: &str) -> usize {
    let words = text.split_whitespace();
    words
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .count()
}
