//! The terminal as it is now, and how it is drawn on.

use std::time::Duration;

use ratatui::layout::Size;

use crate::cli::args::look::ThemeKind;
use crate::text::clock_time::UtcOffset;

/// Size, time and looks of the screen.
#[derive(Debug)]
pub(crate) struct ScreenInfo {
    /// Cells of the terminal.
    pub(crate) size: Size,
    /// Time since the screen began.
    pub(crate) now: Duration,
    /// The distance of local time from UTC, where it is known.
    pub(crate) utc_offset: UtcOffset,
    /// Only ASCII is written.
    pub(crate) ascii: bool,
    /// The colours.
    pub(crate) theme: ThemeKind,
    /// The mouse sends its events to the viewer.
    pub(crate) mouse: bool,
    /// When the user last did something.
    pub(super) last_key: Option<Duration>,
    /// The state has changed since it was last drawn.
    pub(crate) dirty: bool,
}

impl ScreenInfo {
    /// A screen that nothing has been drawn on.
    pub(super) fn new(size: Size, theme: ThemeKind, ascii: bool, utc_offset: UtcOffset) -> Self {
        Self {
            size,
            now: Duration::ZERO,
            utc_offset,
            ascii,
            theme,
            mouse: false,
            last_key: None,
            dirty: true,
        }
    }

    /// Notes that the user does something now.
    pub(super) fn touch(&mut self) {
        self.last_key = Some(self.now);
        self.dirty = true;
    }
}
