//! One line on what just happened, for some seconds.

use std::time::Duration;

use ratatui::layout::Rect;

use crate::action::Context;
use crate::model::Model;

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

    /// Where the notice stands: in place of the keys, or above them while a search needs them.
    pub(crate) fn notice_line(&self) -> Option<Rect> {
        self.notice.as_ref()?;
        let layout = self.layout();
        let line = layout.bottom_line();
        let above = match self.context() {
            Context::Typing | Context::Commanding => true,
            Context::Tree
            | Context::Hot
            | Context::Function
            | Context::Threads
            | Context::Flame
            | Context::Sites => {
                layout.footer.is_some() && self.search.as_ref().is_some_and(|search| search.is_set())
            }
            Context::Help | Context::Choosing | Context::Measuring | Context::Asking | Context::Start => {
                false
            }
        };
        Some(Rect {
            y: line.y.saturating_sub(u16::from(above)),
            ..line
        })
    }
}
