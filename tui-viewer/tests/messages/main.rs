#![allow(clippy::unwrap_used, reason = "tests")]
//! `docs/messages.md` has every message of the sources, and no other; and a test expects each of them.
//!
//! A message is a text in a call that tells somebody something, or a sentence anywhere. Whoever writes one that is
//! neither (a label, a heading) puts its file below into [`LABELS`].

mod list;
mod proof;
mod source;

use std::path::Path;
use std::sync::LazyLock;

use crate::list::Entry;
use crate::source::{Text, texts};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Where messages are made.
const SOURCES: [&str; 4] = [
    "collector/src",
    "collector/macros/src",
    "shared-format/src",
    "tui-viewer/src",
];

/// Where tests are, and all of the above.
const TESTS: [&str; 7] = [
    "collector/src",
    "collector/tests",
    "collector/macros",
    "shared-format/src",
    "shared-format/tests",
    "tui-viewer/src",
    "tui-viewer/tests",
];

/// What tells: a text of one word in it is a message.
const TELL: [&str; 27] = [
    "GateError {",
    "FormatError {",
    "PerCallError {",
    "bail!",
    "anyhow!",
    "ensure!",
    "context",
    "with_context",
    "Err",
    "ok_or",
    "ok_or_else",
    "map_err",
    "tell",
    "complain",
    "say",
    "refused",
    "push_warning",
    "warnings.push",
    "Misuse",
    "NoTarget",
    "unsuitable",
    "Unsuitable {",
    "Derived {",
    "Error.new",
    "Error.other",
    "eprintln!",
    "find_running",
];

/// What names a part of a message that is told elsewhere: the damaged field, the call to the system. Or nobody reads it.
const PARTS: [&str; 21] = [
    "damaged",
    "Damaged {",
    "Version {",
    "Version",
    "DocumentVersion",
    "bad",
    "wrong",
    "NotOurs {",
    "not_ours",
    "failed",
    "FormatError.io",
    "with_extension",
    "assert!",
    "debug_assert!",
    "asm!",
    "concat!",
    "expect",
    "#expect",
    "#allow",
    "#cfg",
    "#arg",
];

/// Files whose sentences are no messages: the text of helps and reports, names of columns, keys and fields.
const LABELS: [&str; 19] = [
    "collector/src/enabled/platform/clock.rs",
    "shared-format/src/codec",
    "shared-format/src/render/",
    "tui-viewer/src/action",
    "tui-viewer/src/args",
    "tui-viewer/src/columns.rs",
    "tui-viewer/src/help",
    "tui-viewer/src/model/function.rs",
    "tui-viewer/src/model/thread_rows.rs",
    "tui-viewer/src/picture",
    "tui-viewer/src/theme",
    "tui-viewer/src/view/banner.rs",
    "tui-viewer/src/view/counter.rs",
    "tui-viewer/src/view/detail.rs",
    "tui-viewer/src/view/footer.rs",
    "tui-viewer/src/view/help.rs",
    "tui-viewer/src/view/modes.rs",
    "tui-viewer/src/view/sites.rs",
    "tui-viewer/src/view/threads.rs",
];

/// So many words are a sentence.
const SENTENCE: usize = 4;

fn is_message(text: &Text) -> bool {
    let stands_in = |names: &[&str]| {
        text.within.iter().any(|within| {
            let last = within.rsplit('.').next().unwrap();
            names.contains(&&**within) || names.contains(&last)
        })
    };
    let words = proof::words(&text.text.replace("{}", " "));
    let is_label = LABELS.iter().any(|label| text.file.starts_with(label));
    !text.is_test && !stands_in(&PARTS) && (stands_in(&TELL) && words > 0 || words >= SENTENCE && !is_label)
}

/// Read once for all tests.
static TEXTS: LazyLock<Vec<Text>> = LazyLock::new(|| texts(Path::new(ROOT), &TESTS));

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    list::entries(&std::fs::read_to_string(Path::new(ROOT).join("docs/messages.md")).unwrap())
});

/// What the sources tell, not their tests.
fn told() -> impl Iterator<Item = &'static Text> {
    let is_told = |text: &&Text| !text.is_test && SOURCES.iter().any(|folder| text.file.starts_with(folder));
    TEXTS.iter().filter(is_told)
}

fn fail(what: &str, lines: &[String]) {
    assert!(lines.is_empty(), "{what}\n{}\n", lines.join("\n"));
}

#[test]
fn every_message_has_its_entry() {
    let has_entry = |text: &Text| {
        let mut known = ENTRIES.iter().flat_map(|entry| &entry.texts);
        known.any(|known| proof::is_filled_in(&text.text, known))
    };
    let missing: Vec<String> = told()
        .filter(|text| is_message(text) && !has_entry(text))
        .map(|text| {
            format!(
                "{}:{}: - ``{}``: cause → next step.",
                text.file, text.line, text.text
            )
        })
        .collect();
    fail(
        "These have no entry in docs/messages.md. Add what stands behind the line's number to the section for where one \
         meets it, with names in the braces and the cause and the next step in words:",
        &missing,
    );
}

#[test]
fn every_entry_is_of_a_message() {
    // What stands between two things that are filled in.
    let mut pieces: Vec<&str> = told().flat_map(|text| proof::pieces(&text.text)).collect();
    pieces.sort_by_key(|piece| (std::cmp::Reverse(piece.len()), *piece));
    pieces.dedup();
    let stale: Vec<String> = ENTRIES
        .iter()
        .flat_map(|entry| entry.texts.iter().map(move |text| (entry.line, text)))
        .filter_map(|(line, text)| {
            let mut rest = text.replace("{}", "\n");
            for piece in &pieces {
                rest = proof::without(&rest, piece);
            }
            let words: Vec<&str> = rest
                .split_whitespace()
                .filter(|word| proof::words(word) > 0)
                .collect();
            (!words.is_empty()).then(|| format!("docs/messages.md:{line}: {text}: {}", words.join(" ")))
        })
        .collect();
    fail(
        "These texts of docs/messages.md have words that no message of the sources has (those behind the last colon). Write \
         them as they are told now, or take them out:",
        &stale,
    );
}

#[test]
fn every_entry_has_a_cause_and_a_next_step() {
    let bare: Vec<String> = ENTRIES
        .iter()
        .filter(|entry| {
            let parts = entry.explained.split_once('→');
            parts.is_none_or(|(cause, next)| proof::words(cause) == 0 || proof::words(next) == 0)
        })
        .map(|entry| format!("docs/messages.md:{}: {}", entry.line, entry.explained))
        .collect();
    fail(
        "Entries are ``message``: cause → next step. These are not:",
        &bare,
    );
}

#[test]
fn every_message_is_expected_by_a_test() {
    let root = Path::new(ROOT);
    let expected = proof::expected(&TEXTS, root, &TESTS);
    let is_excused = |text: &Text| {
        let mut excused = ENTRIES.iter().filter(|entry| entry.is_untested);
        excused.any(|entry| {
            entry
                .texts
                .iter()
                .any(|known| proof::is_filled_in(&text.text, known))
        })
    };
    let (excused, others): (Vec<&Text>, Vec<&Text>) = told()
        .filter(|text| is_message(text))
        .partition(|text| is_excused(text));
    let unproven: Vec<String> = others
        .iter()
        .filter(|text| !proof::is_expected(&text.text, &expected))
        .map(|text| format!("{}:{}: {}", text.file, text.line, text.text))
        .collect();
    fail(
        "No test expects these. Write one that produces the message and asserts its words, three in a row at least, or a \
         golden text with it:",
        &unproven,
    );
    let proven: Vec<String> = excused
        .iter()
        .filter(|text| proof::is_whole(&text.text, &expected))
        .map(|text| format!("{}:{}: {}", text.file, text.line, text.text))
        .collect();
    fail(
        "These are said in docs/messages.md to be in no test, and are in one:",
        &proven,
    );
}
