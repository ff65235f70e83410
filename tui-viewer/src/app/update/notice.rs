//! Where a notice stands, and when it has been read.

use ratatui::layout::Rect;

use crate::app::notices::Notice;
use crate::app::state::App;
use crate::keys::action::Context;

/// So many lines show a long one; what is beyond is cut.
pub(crate) const MOST_LINES: usize = 3;

/// One line of so many may be taken by a notice.
pub(crate) const SHARE: u16 = 6;

impl App {
    /// The notice in lines of what fits beside each other there; none without a notice.
    pub(crate) fn notice_lines(&self) -> Vec<String> {
        let size = self.layout().area;
        let most = MOST_LINES.min(usize::from(size.height / SHARE));
        let cells = size.width.saturating_sub(2);
        let lines = |notice: &Notice| notice.lines(cells, most, self.screen.ascii);
        self.notices.current.as_ref().map(lines).unwrap_or_default()
    }

    /// Whether the notice stands where a line is.
    pub(crate) fn notice_hides(&self, line: Option<Rect>) -> bool {
        let both = self.notice_line().zip(line);
        both.is_some_and(|(notice, line)| notice.intersects(line))
    }

    /// Where the notice stands: in place of the keys, or above them while a search needs them.
    pub(crate) fn notice_line(&self) -> Option<Rect> {
        self.notices.current.as_ref()?;
        let layout = self.layout();
        let line = layout.bottom_line();
        let above = match self.context() {
            Context::Typing => 1,
            Context::Tree
            | Context::Hot
            | Context::Function
            | Context::Threads
            | Context::Flame
            | Context::Sites
            | Context::Tasks
            | Context::Slow
            | Context::Timeline => {
                let searched = self.views.search.as_ref().is_some_and(|search| search.is_set());
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
