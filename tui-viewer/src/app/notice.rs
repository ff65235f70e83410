//! One line on what just happened, for some seconds.

use std::time::Duration;

use ratatui::layout::Rect;

use crate::app::Model;
use crate::keys::keymap::Context;
use crate::text::cells::{safe, wrapped};

/// How long a line stands that says what was done.
pub(crate) const SHOWN_FOR: Duration = Duration::from_secs(5);

/// So many lines show a long one; what is beyond is cut.
const MOST_LINES: usize = 3;

/// One line of so many may be taken by a notice.
const SHARE: u16 = 6;

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

// === impl Notice ===

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

// === impl Model ===

impl Model {
    /// The user goes on: what was done is no news any more, what went wrong stays its time. True if a notice went.
    pub(super) fn notice_read(&mut self) -> bool {
        let read = self.notice.as_ref().is_some_and(|notice| !notice.error);
        if read {
            self.notice = None;
        }
        read
    }

    /// The notice in lines of what fits beside each other there; none without a notice.
    pub(crate) fn notice_lines(&self) -> Vec<String> {
        let size = self.layout().area;
        let most = MOST_LINES.min(usize::from(size.height / SHARE));
        let cells = size.width.saturating_sub(2);
        let lines = |notice: &Notice| notice.lines(cells, most, self.ascii);
        self.notice.as_ref().map(lines).unwrap_or_default()
    }

    /// Whether the notice stands where a line is.
    pub(crate) fn notice_hides(&self, line: Option<Rect>) -> bool {
        let both = self.notice_line().zip(line);
        both.is_some_and(|(notice, line)| notice.intersects(line))
    }

    /// Where the notice stands: in place of the keys, above them while a search needs them, or above what a command may
    /// become.
    pub(crate) fn notice_line(&self) -> Option<Rect> {
        self.notice.as_ref()?;
        let layout = self.layout();
        let line = layout.bottom_line();
        let above = match self.context() {
            Context::Typing => 1,
            // Without a footer there is no line for what the command may become.
            Context::Commanding => 1 + u16::from(layout.footer.is_some()),
            Context::Tree
            | Context::Hot
            | Context::Function
            | Context::Threads
            | Context::Flame
            | Context::Sites => {
                let searched = self.search.as_ref().is_some_and(|search| search.is_set());
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
