//! Properties of the terminal: size, time, and appearance.

use std::time::Duration;

use ratatui::layout::Size;
use tickscope_programs::clock_time::UtcOffset;

use crate::cli::args::look::ThemeKind;

/// Size, time, and appearance of the screen.
#[derive(Debug, Default)]
pub(crate) struct ScreenInfo {
    /// Size of the terminal in cells.
    pub(crate) size: Size,
    /// Time since the viewer started.
    pub(crate) now: Duration,
    /// Offset of local time from UTC, if it is known.
    pub(crate) utc_offset: UtcOffset,
    /// Whether only ASCII is written.
    pub(crate) ascii: bool,
    /// The colours.
    pub(crate) theme: ThemeKind,
    /// Whether the terminal sends mouse events to the viewer.
    pub(crate) mouse: bool,
    /// Time of the user's last action.
    pub(crate) last_key: Option<Duration>,
    /// Whether the state has changed since it was last drawn.
    pub(crate) dirty: bool,
}

impl ScreenInfo {
    /// Returns a screen on which nothing has been drawn.
    pub(crate) fn new(size: Size, theme: ThemeKind, ascii: bool, utc_offset: UtcOffset) -> Self {
        Self {
            size,
            utc_offset,
            ascii,
            theme,
            dirty: true,
            ..Self::default()
        }
    }

    /// Notes that the user acts now.
    pub(crate) fn touch(&mut self) {
        self.last_key = Some(self.now);
        self.dirty = true;
    }
}
