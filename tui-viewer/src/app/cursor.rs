//! The selected row and the part of the list on screen. The selection is a thing, not a line number.

use std::ops::Range;

use crate::app::row::{Row, RowId};

/// A selection that follows what was chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cursor {
    /// What was chosen and all above it, itself last. It stays even while it is not in the list, so that the
    /// selection returns to it, after a reset or a restart for example.
    pub(crate) want: Vec<RowId>,
    /// The user chose it. Until then the list stays at its top.
    pub(crate) touched: bool,
    /// The selected line.
    pub(crate) index: usize,
    /// The first line on screen.
    pub(crate) offset: usize,
}

impl Cursor {
    /// Finds what was chosen in new rows and lets it keep its line of the screen: else the nearest above it in
    /// the tree that is left, else the row that now stands in its place.
    pub(crate) fn find(&mut self, rows: &[Row]) {
        let line = self.index.saturating_sub(self.offset);
        let found = self
            .want
            .iter()
            .rev()
            .find_map(|id| rows.iter().position(|row| row.id == *id));
        if let Some(index) = found {
            self.index = index;
            if self.touched {
                self.offset = index.saturating_sub(line);
            }
        }
    }

    /// Selects a line; `want` is what it is and all above it.
    pub(crate) fn choose(&mut self, index: usize, want: Vec<RowId>) {
        self.touched = true;
        self.index = index;
        self.want = want;
    }

    /// Moves the rows that stand together with the selected one under the screen, as little as needed.
    pub(crate) fn keep_on_screen(&mut self, rows: Range<usize>, height: usize) {
        let height = height.max(1);
        self.index = self.index.min(rows.end.saturating_sub(1));
        self.offset = self.offset.min(rows.end.saturating_sub(height)).max(rows.start);
        self.offset = self
            .offset
            .clamp((self.index + 1).saturating_sub(height), self.index);
    }

    /// Puts the selected line in the middle of the screen.
    pub(crate) fn centre(&mut self, rows: Range<usize>, height: usize) {
        self.offset = self.index.saturating_sub(height / 2);
        self.keep_on_screen(rows, height);
    }
}
