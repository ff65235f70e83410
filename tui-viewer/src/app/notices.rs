//! One line on what just happened, for some seconds.

use std::time::Duration;

use crate::text::cells::{safe, wrapped};

/// How long a line stands that says what was done.
pub(crate) const SHOWN_FOR: Duration = Duration::from_secs(5);

/// How long the hint stands that there is help.
const HINT_FOR: Duration = Duration::from_secs(3);

/// After so many keys without a meaning in a row the help is pointed out.
const LOST_AFTER: u8 = 3;

/// What the user is told.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// What just happened.
    pub(crate) current: Option<Notice>,
    /// Keys without a meaning since the last one that had one.
    unknown_keys: u8,
}

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

impl Notices {
    /// Tells what was done.
    pub(super) fn tell(&mut self, now: Duration, text: impl Into<String>) {
        self.show(text.into(), false, now + SHOWN_FOR);
    }

    /// Tells what went wrong.
    pub(super) fn complain(&mut self, now: Duration, text: impl Into<String>) {
        self.show(text.into(), true, now + SHOWN_FOR);
    }

    fn show(&mut self, text: String, error: bool, until: Duration) {
        self.current = Some(Notice { text, error, until });
    }

    /// The user goes on: what was done need not stand any longer, what went wrong stays its time. Returns whether a
    /// notice went.
    pub(super) fn read(&mut self) -> bool {
        self.current.take_if(|notice| !notice.error).is_some()
    }

    /// Takes away what has stood long enough; returns whether there was something.
    pub(super) fn expire(&mut self, now: Duration) -> bool {
        self.current.take_if(|notice| notice.until <= now).is_some()
    }

    /// A key had a meaning.
    pub(super) fn key_is_known(&mut self) {
        self.unknown_keys = 0;
    }

    /// A key had no meaning. After several of them in a row the help is pointed out; returns whether it was.
    pub(super) fn key_is_unknown(&mut self, now: Duration) -> bool {
        self.unknown_keys += 1;
        let is_lost = self.unknown_keys >= LOST_AFTER;
        if is_lost {
            self.unknown_keys = 0;
            self.show("? shows the keys".to_string(), false, now + HINT_FOR);
        }
        is_lost
    }
}
