//! The entries of `docs/messages.md`.

use crate::source::plain;

/// Begins the reason why no test produces what an entry is about.
const UNTESTED: &str = "Not produced by a test: ";

/// An item of the list: messages with the same cause.
pub(crate) struct Entry {
    pub(crate) line: usize,
    /// The messages, in plain text.
    pub(crate) texts: Vec<String>,
    /// The words around them.
    pub(crate) explained: String,
    /// It says why there is no test.
    pub(crate) is_untested: bool,
}

/// All items that begin with a message, between two marks of two backticks each.
pub(crate) fn entries(page: &str) -> Vec<Entry> {
    let mut items: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (line, text) in page.lines().enumerate() {
        if text.starts_with("- ``") {
            items.push((line + 1, text[2..].to_string()));
            open = true;
        } else if let (true, Some(more), Some((_, item))) = (open, text.strip_prefix("  "), items.last_mut())
        {
            item.push(' ');
            item.push_str(more);
        } else {
            open = false;
        }
    }
    items.into_iter().map(|(line, item)| entry(line, &item)).collect()
}

fn entry(line: usize, item: &str) -> Entry {
    // Every second part stands between the marks.
    let parts: Vec<&str> = item.split("``").collect();
    assert!(
        parts.len() % 2 == 1,
        "docs/messages.md:{line}: a mark without its other one"
    );
    let texts = parts.iter().skip(1).step_by(2).map(|text| plain(text)).collect();
    let explained: String = parts.iter().step_by(2).copied().collect();
    let is_untested = explained.contains(UNTESTED);
    Entry {
        line,
        texts,
        explained,
        is_untested,
    }
}
