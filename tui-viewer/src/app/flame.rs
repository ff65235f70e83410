//! The flame graph: the part of the call tree on the screen, and moves through it.

use crate::app::flame_layout::{Frame, Frames};
use crate::app::row::RowId;

/// Part of the graph on the screen, and its frames.
#[derive(Debug, Default)]
pub(crate) struct Flame {
    /// Ids of the row that fills the width and of all rows above, the row itself last; empty if the whole tree fills it.
    pub(crate) zoom: Vec<RowId>,
    /// The first line on the screen.
    pub(crate) top: usize,
    /// Frames on the screen.
    pub(crate) frames: Frames,
    /// Meaning of the colours of frames.
    pub(crate) colour: FlameColour,
}

/// Meaning of the colours of frames while nothing is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FlameColour {
    /// The module of the function.
    #[default]
    Module,
    /// Self time of the function.
    Own,
}

impl Flame {
    /// Returns the frame of a row of the list.
    pub(crate) fn frame(&self, row: usize) -> Option<&Frame> {
        self.frames.all.get(*self.frames.of_row.get(row)? as usize)
    }

    /// Returns the row of the list at a frame; for a frame of several small rows, the row above it.
    pub(crate) fn row_under(&self, x: u16, line: u32) -> Option<usize> {
        let under = |frame: &&Frame| frame.line == line && (frame.x..frame.x + frame.width).contains(&x);
        let at = self.frames.all.iter().position(|frame| under(&frame))?;
        let frame = &self.frames.all[at];
        self.frames.row_of(if frame.few == 0 {
            at
        } else {
            frame.parent? as usize
        })
    }

    /// Whether the width of the screen shows only a part of the tree.
    pub(crate) fn is_zoomed(&self) -> bool {
        self.frames.zoom_line.is_some()
    }

    /// Scrolls the graph by this number of lines.
    pub(crate) fn scroll(&mut self, lines: isize, page: usize) {
        self.top = self.top.saturating_add_signed(lines);
        self.top = self.top.min(self.frames.lines().saturating_sub(page));
    }

    /// Scrolls the graph as little as needed to show a line.
    pub(crate) fn show(&mut self, line: usize, page: usize) {
        let page = page.max(1);
        self.top = self.top.clamp((line + 1).saturating_sub(page), line);
    }
}
