//! Text in terminal cells: escapes what would move the cursor, and cuts text to a given number of cells.

use std::borrow::Cow;

use tickscope_format::path::tail;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Escapes characters that have no width, that merge with the character before them, or that would reorder a line. If
/// `ascii` is set, escapes all other non-ASCII characters too.
///
/// Right-to-left letters are escaped too, because a terminal that reorders a line also moves its columns.
pub(crate) fn safe(text: &str, ascii: bool) -> Cow<'_, str> {
    let odd =
        |c: char| (ascii && !c.is_ascii()) || right_to_left(c) || joins(c) || c.width().unwrap_or(0) == 0;
    if text.bytes().all(|b| (0x20..0x7f).contains(&b)) || !text.chars().any(odd) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if odd(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

fn right_to_left(c: char) -> bool {
    matches!(c as u32, 0x590..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfeff | 0x10800..=0x10fff | 0x1e800..=0x1efff)
}

/// Returns whether a character merges with the character before it. Terminals disagree on the width of such a pair.
fn joins(c: char) -> bool {
    matches!(c as u32, 0x1f1e6..=0x1f1ff | 0x1f3fb..=0x1f3ff)
}

/// Returns the number of cells that a text occupies.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Returns a name, or only the last part of its path if the whole name does not fit into `cells`. A closure counts as
/// part of the function that contains it.
pub(crate) fn without_module(name: &str, cells: usize) -> &str {
    if width(name) > cells { tail(name, 1) } else { name }
}

/// Shortens a name to at most `cells` by cutting out its middle. Keeps more of the end than of the start, because the
/// end names the function itself.
pub(crate) fn cut_middle<'a>(text: &'a str, cells: usize, mark: &str) -> Cow<'a, str> {
    cut(text, cells, mark, |room| {
        let head = front(text, room / 3);
        format!("{head}{mark}{}", back(text, room - width(head)))
    })
}

/// Shortens a text to at most `cells` by cutting off its end.
pub(crate) fn cut_end<'a>(text: &'a str, cells: usize, mark: &str) -> Cow<'a, str> {
    cut(text, cells, mark, |room| format!("{}{mark}", front(text, room)))
}

/// Shortens a text to at most `cells` by cutting off its beginning.
pub(crate) fn cut_start<'a>(text: &'a str, cells: usize, mark: &str) -> Cow<'a, str> {
    cut(text, cells, mark, |room| format!("{mark}{}", back(text, room)))
}

/// Returns the text unchanged if it fits. Otherwise returns the result of `part`, which gets the number of cells that
/// remain beside the mark.
fn cut<'a>(text: &'a str, cells: usize, mark: &str, part: impl FnOnce(usize) -> String) -> Cow<'a, str> {
    match cells.saturating_sub(width(mark)) {
        _ if width(text) <= cells => Cow::Borrowed(text),
        0 => Cow::Owned(mark.chars().take(cells).collect()),
        room => Cow::Owned(part(room)),
    }
}

/// Shortens a path to at most `cells` by cutting off its beginning, just before a slash if at least the last component
/// fits.
pub(crate) fn cut_path<'a>(text: &'a str, cells: usize, mark: &str) -> Cow<'a, str> {
    if width(text) <= cells {
        return Cow::Borrowed(text);
    }
    let fits = |&(at, _): &(usize, &str)| width(&text[at..]) + width(mark) <= cells;
    match text.match_indices('/').find(fits) {
        Some((at, _)) => Cow::Owned(format!("{mark}{}", &text[at..])),
        None => cut_start(text, cells, mark),
    }
}

fn front(text: &str, cells: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > cells {
            return &text[..at];
        }
    }
    text
}

fn back(text: &str, cells: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += c.width().unwrap_or(0);
        if used > cells {
            return &text[at + c.len_utf8()..];
        }
    }
    text
}

/// Wraps a text at its spaces. A word that is longer than a line is split.
pub(crate) fn wrapped(text: &str, cells: usize) -> Vec<String> {
    let cells = cells.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && width(&line) + 1 + width(word) > cells {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for c in word.chars() {
            if !line.is_empty() && width(&line) + c.width().unwrap_or(0) > cells {
                lines.push(std::mem::take(&mut line));
            }
            line.push(c);
        }
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_without_its_module_keeps_its_generic_arguments() {
        for (name, short) in [
            (
                "Registration::poll_io::<usize, Evented<Tcp>::poll_write::{closure}>",
                "poll_io::<usize, Evented<Tcp>::poll_write::{closure}>",
            ),
            ("BufWriter<net::Tcp>::flush_buf", "flush_buf"),
            ("map::<fn(u8) -> io::Result, X>", "map::<fn(u8) -> io::Result, X>"),
            ("app::work::{closure}::{closure}", "work::{closure}::{closure}"),
            ("zoo::operator<<", "operator<<"),
            ("std::vector<a::b>::~vector", "~vector"),
            ("plain", "plain"),
        ] {
            assert_eq!(without_module(name, 1), short);
            assert_eq!(without_module(name, name.len()), name);
        }
    }

    proptest! {
            #[test]
        fn a_safe_text_takes_the_cells_of_its_letters(text in any::<String>(), ascii in any::<bool>()) {
            let safe = safe(&text, ascii);
            let letters: usize = safe.chars().filter_map(UnicodeWidthChar::width).sum();
            prop_assert_eq!(width(&safe), letters);
            prop_assert!(!ascii || safe.is_ascii());
            prop_assert!(!safe.chars().any(char::is_control));
        }
    }

    #[test]
    fn odd_names_cannot_move_a_column() {
        assert_eq!(safe("book::insert", false), "book::insert");
        assert_eq!(safe("a\u{1b}[2J\nb", false), r"a\u{1b}[2J\nb");
        assert_eq!(safe("x\u{202e}y\u{200b}z", false), r"x\u{202e}y\u{200b}z");
        assert_eq!(safe("\u{5d0}e\u{301}", false), r"\u{5d0}e\u{301}");
        assert_eq!(safe("漢字", false), "漢字");
        assert_eq!(safe("👍🏽", false), r"👍\u{1f3fd}");
        assert_eq!(safe("größe", true), r"gr\u{f6}\u{df}e");
    }

    #[test]
    fn cuts_fall_on_cell_borders() {
        for cells in 0..12 {
            for text in ["book::insert_or_update", "漢字漢字漢字漢字", "a漢b字c漢d字"] {
                for cut in [cut_middle, cut_end, cut_start, cut_path] {
                    assert!(width(&cut(text, cells, "…")) <= cells, "{text} {cells}");
                }
            }
        }
        assert_eq!(cut_middle("book::insert_or_update", 10, "…"), "boo…update");
        assert_eq!(cut_end("abcdef", 4, "…"), "abc…");
        assert_eq!(cut_start("abcdef", 4, "…"), "…def");
        assert_eq!(cut_path("crates/book/src/lib.rs:9", 16, "…"), "…/src/lib.rs:9");
    }

    #[test]
    fn words_are_kept_whole_where_they_fit() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrapped("", 3), [""]);
        assert_eq!(wrapped("漢字", 1), ["漢", "字"]);
    }
}
