//! One line about the last event, for some seconds.

use std::time::Duration;

use ratatui::layout::Rect;

use crate::app::state::App;
use crate::keys::action::Context;
use crate::text::cells::{safe, wrapped};

/// Time for which a notice is shown.
pub(crate) const SHOWN_FOR: Duration = Duration::from_secs(5);

/// Time for which the hint about the help is shown.
const HINT_FOR: Duration = Duration::from_secs(3);

/// Number of keys without a meaning in a row after which the help is pointed out.
const LOST_AFTER: u8 = 3;

/// Notices to the user.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// Notice of the last event.
    pub(crate) current: Option<Notice>,
    /// Number of keys without a meaning since the last key that had a meaning.
    unknown_keys: u8,
}

/// A line that is shown for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    /// Whether the notice is an error.
    pub(crate) error: bool,
    /// Time at which the notice disappears.
    pub(crate) until: Duration,
    /// Time for which the notice is shown; `None` once it was drawn.
    stands_for: Option<Duration>,
}

impl Notice {
    /// Returns the text in at most `most` lines of `cells` cells.
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
    /// Shows a message that is no error.
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

    /// Notes that the screen was drawn: the time of a new notice begins, because a busy machine may draw it late.
    pub(crate) fn drawn(&mut self, now: Duration) {
        if let Some(notice) = &mut self.current
            && let Some(stands_for) = notice.stands_for.take()
        {
            notice.until = now + stands_for;
        }
    }

    /// Drops a notice that is no error, because the user goes on. An error is shown for its whole time. Returns
    /// whether a notice was dropped.
    pub(crate) fn read(&mut self) -> bool {
        self.current.take_if(|notice| !notice.error).is_some()
    }

    /// Drops a notice whose time is over; returns whether there was one.
    pub(crate) fn expire(&mut self, now: Duration) -> bool {
        self.current.take_if(|notice| notice.until <= now).is_some()
    }

    /// Notes a key that had a meaning.
    pub(crate) fn key_is_known(&mut self) {
        self.unknown_keys = 0;
    }

    /// Notes a key without a meaning. After several of them in a row the help is pointed out; returns whether it was.
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

/// Maximum number of lines of a notice; the rest is cut.
pub(crate) const MOST_LINES: usize = 3;

/// Number of screen lines for each line that a notice may take.
pub(crate) const SHARE: u16 = 6;

impl App {
    /// Returns the notice in lines as wide as the screen; empty without a notice.
    pub(crate) fn notice_lines(&self) -> Vec<String> {
        let size = self.layout().area;
        let most = MOST_LINES.min(usize::from(size.height / SHARE));
        let cells = size.width.saturating_sub(2);
        let lines = |notice: &Notice| notice.lines(cells, most, self.screen.ascii);
        self.notices.current.as_ref().map(lines).unwrap_or_default()
    }

    /// Whether the notice covers a line.
    pub(crate) fn notice_hides(&self, line: Option<Rect>) -> bool {
        let both = self.notice_line().zip(line);
        both.is_some_and(|(notice, line)| notice.intersects(line))
    }

    /// Returns the area of the notice: the line of the keys, or the lines above it while a search needs the
    /// keys.
    pub(crate) fn notice_line(&self) -> Option<Rect> {
        self.notices.current.as_ref()?;
        let layout = self.layout();
        let line = layout.bottom_line();
        let above = match self.context() {
            Context::Typing => 1,
            Context::In(_) => {
                let searched = self.searched().is_some();
                u16::from(layout.footer.is_some() && searched)
            }
            Context::Help | Context::Choosing | Context::Measuring | Context::Asking | Context::Start => 0,
        };
        let height = self.notice_lines().len() as u16;
        Some(Rect {
            y: (line.y + 1).saturating_sub(above + height),
            height,
            ..line
        })
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
