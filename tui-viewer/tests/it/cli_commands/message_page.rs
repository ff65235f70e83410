//! The page `docs/errors.md`: whatever a command of these tests says when it fails has an entry there, with a cause and a
//! next step.

use std::path::Path;
use std::sync::LazyLock;

const PAGE: &str = "docs/errors.md";

/// So many fixed words of a message are not met by chance.
const FEWEST: usize = 2;

/// An item of the list: messages with the same cause.
struct Entry {
    line: usize,
    /// What stands between the things that are filled in, for each message.
    messages: Vec<Vec<String>>,
    /// The words around the messages.
    explained: String,
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(PAGE);
    entries(&std::fs::read_to_string(path).unwrap())
});

/// All items that begin with a message. A message stands between two marks of two backticks each.
fn entries(page: &str) -> Vec<Entry> {
    let mut items: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (line, text) in page.lines().enumerate() {
        let more = text.strip_prefix("  ").filter(|_| is_open);
        if text.starts_with("- ``") {
            items.push((line + 1, text[2..].to_string()));
            is_open = true;
        } else if let (Some(more), Some((_, item))) = (more, items.last_mut()) {
            item.push(' ');
            item.push_str(more);
        } else {
            is_open = false;
        }
    }
    items.into_iter().map(|(line, item)| entry(line, &item)).collect()
}

fn entry(line: usize, item: &str) -> Entry {
    // Every second part stands between the marks.
    let parts: Vec<&str> = item.split("``").collect();
    assert!(
        parts.len() % 2 == 1,
        "{PAGE}:{line}: two backticks open a message, and none close it"
    );
    Entry {
        line,
        messages: parts.iter().skip(1).step_by(2).map(|text| fixed(text)).collect(),
        explained: parts.iter().step_by(2).copied().collect(),
    }
}

/// The fixed pieces of a message, in which braces mark what is filled in.
fn fixed(message: &str) -> Vec<String> {
    let pieces = message
        .split('{')
        .map(|part| part.split_once('}').map_or(part, |(_, behind)| behind));
    pieces.map(one_line).filter(|piece| words(piece) > 0).collect()
}

/// The text with one blank where it has any number.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn words(text: &str) -> usize {
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    text.split_whitespace().filter(is_word).count()
}

/// Whether a text has all pieces, one after another.
fn has_all(text: &str, pieces: &[String]) -> bool {
    let mut rest = text;
    pieces.iter().all(|piece| {
        let found = rest.split_once(piece.as_str());
        rest = found.map_or(rest, |(_, behind)| behind);
        found.is_some()
    })
}

/// Whether the page explains what a command has said. The words of the system itself have no entries.
pub(crate) fn explains(said: &str) -> bool {
    let said = one_line(said);
    if said.contains("(os error ") {
        return true;
    }
    let is_said = |message: &Vec<String>| {
        message.iter().map(|piece| words(piece)).sum::<usize>() >= FEWEST && has_all(&said, message)
    };
    ENTRIES.iter().any(|entry| entry.messages.iter().any(is_said))
}

fn every_entry_has_a_cause_and_a_next_step() {
    assert!(ENTRIES.len() > 100, "{} entries", ENTRIES.len());
    for Entry { line, explained, .. } in ENTRIES.iter() {
        let (cause, next) = explained.split_once('→').unwrap_or_else(|| {
            panic!("{PAGE}:{line}: an arrow between cause and next step is missing: {explained}")
        });
        assert!(
            words(cause) > 0 && words(next) > 0,
            "{PAGE}:{line}: wanted a cause, an arrow and a next step: {explained}"
        );
    }
}

fn a_message_that_is_not_on_the_page_is_found() {
    assert!(explains(
        "tickscope: run.txt exists already; --force writes over it"
    ));
    assert!(!explains("tickscope: run.txt exists already, and that is bad"));
}

tickscope_testkit::tests![
    every_entry_has_a_cause_and_a_next_step,
    a_message_that_is_not_on_the_page_is_found,
];
