//! One line on what just happened, for some seconds.

use std::time::Duration;

use crate::text::cells::{safe, wrapped};

/// How long a line stands that says what was done.
pub(crate) const SHOWN_FOR: Duration = Duration::from_secs(5);

/// A line that goes away by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    /// What happened.
    pub(crate) text: String,
    /// It went wrong.
    pub(crate) error: bool,
    /// Until when it stands.
    pub(crate) until: Duration,
}

impl Notice {
    /// The text in lines of so many cells, at most so many of them.
    pub(crate) fn lines(&self, cells: u16, most: usize, ascii: bool) -> Vec<String> {
        let mark = if self.error { "! " } else { "" };
        let text = format!("{mark}{}", safe(&self.text, ascii));
        let mut lines = wrapped(&text, usize::from(cells));
        if lines.len() > most.max(1) {
            let rest = lines.split_off(most.max(1) - 1).join(" ");
            lines.push(rest);
        }
        lines
    }
}
