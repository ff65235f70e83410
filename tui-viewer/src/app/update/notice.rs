//! The area of a notice, and its lines.

use ratatui::layout::Rect;

use crate::app::notices::Notice;
use crate::app::state::App;
use crate::keys::action::Context;

/// Maximum number of lines of a notice; the rest is cut.
pub(crate) const MOST_LINES: usize = 3;

/// A notice may take up at most 1 / `SHARE` of the screen's lines.
pub(crate) const SHARE: u16 = 6;

impl App {
    /// Returns the notice, wrapped to the width of the screen; empty if there is no notice.
    pub(crate) fn notice_lines(&self) -> Vec<String> {
        let size = self.layout().area;
        let most = MOST_LINES.min(usize::from(size.height / SHARE));
        let cells = size.width.saturating_sub(2);
        let lines = |notice: &Notice| notice.lines(cells, most, self.screen.ascii);
        self.notices.current.as_ref().map(lines).unwrap_or_default()
    }

    /// Whether the notice covers this line of the screen.
    pub(crate) fn notice_hides(&self, line: Option<Rect>) -> bool {
        let both = self.notice_line().zip(line);
        both.is_some_and(|(notice, line)| notice.intersects(line))
    }

    /// Returns the area of the notice: the bottom line, or the lines above it while the bottom line shows a search.
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
