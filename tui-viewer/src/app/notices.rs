//! Notices: short messages about the last event, shown for a few seconds.

use std::time::Duration;

use crate::text::cells::{safe, wrapped};

/// How long a notice is shown.
pub(crate) const SHOWN_FOR: Duration = Duration::from_secs(5);

/// How long the hint about the help is shown.
const HINT_FOR: Duration = Duration::from_secs(3);

/// After this many meaningless key presses in a row, a notice points to the help.
const LOST_AFTER: u8 = 3;

/// Notices to the user.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// Notice of the last event.
    pub(crate) current: Option<Notice>,
    /// Number of meaningless key presses since the last key that had a meaning, or since the last hint about the help.
    unknown_keys: u8,
}

/// A message that is shown for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    /// Whether the notice is an error.
    pub(crate) error: bool,
    /// Time at which the notice disappears.
    pub(crate) until: Duration,
    /// How long the notice is to be shown. When the notice is first drawn, this sets `until` anew and becomes `None`.
    stands_for: Option<Duration>,
}

impl Notice {
    /// Wraps the text to lines of `cells` cells. If there would be more than `most` lines, the last one holds all of the rest.
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
    /// Shows a message that is not an error.
    pub(crate) fn tell(&mut self, now: Duration, text: impl Into<String>) {
        self.show(text.into(), false, now, SHOWN_FOR);
    }

    /// Shows an error.
    pub(crate) fn complain(&mut self, now: Duration, text: impl Into<String>) {
        self.show(text.into(), true, now, SHOWN_FOR);
    }

    fn show(&mut self, text: String, error: bool, now: Duration, stands_for: Duration) {
        self.current = Some(Notice {
            text,
            error,
            until: now + stands_for,
            stands_for: Some(stands_for),
        });
    }

    /// Notes that the screen was drawn. The time of a new notice starts only now, because a busy machine may draw it late.
    pub(crate) fn drawn(&mut self, now: Duration) {
        if let Some(notice) = &mut self.current
            && let Some(stands_for) = notice.stands_for.take()
        {
            notice.until = now + stands_for;
        }
    }

    /// Drops the notice because the user has done something. An error stays, because errors are shown for their full
    /// time. Returns whether a notice was dropped.
    pub(crate) fn read(&mut self) -> bool {
        self.current.take_if(|notice| !notice.error).is_some()
    }

    /// Drops the notice if its time is over; returns whether it was dropped.
    pub(crate) fn expire(&mut self, now: Duration) -> bool {
        self.current.take_if(|notice| notice.until <= now).is_some()
    }

    /// Notes a key that had a meaning.
    pub(crate) fn key_is_known(&mut self) {
        self.unknown_keys = 0;
    }

    /// Notes a key without a meaning. After several such keys in a row, points to the help and returns true.
    pub(crate) fn key_is_unknown(&mut self, now: Duration) -> bool {
        self.unknown_keys += 1;
        let is_lost = self.unknown_keys >= LOST_AFTER;
        if is_lost {
            self.unknown_keys = 0;
            self.show("? shows the keys".to_string(), false, now, HINT_FOR);
        }
        is_lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_stands_its_time_from_when_it_is_on_the_screen() {
        let at = Duration::from_secs;
        let mut notices = Notices::default();
        notices.tell(at(10), "done");
        // The machine was busy, so the screen was drawn late.
        notices.drawn(at(16));
        notices.drawn(at(20));
        assert!(!notices.expire(at(20)) && notices.expire(at(21)));
    }
}
