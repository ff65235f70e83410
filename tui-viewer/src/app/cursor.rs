//! The selected row and the part of the list on screen. The selection is a row's id, not a line number.

use std::ops::Range;

use crate::app::row::{Row, RowId};

/// A selection that follows the chosen row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cursor {
    /// Ids of the chosen row and all rows above it, the row itself last. They stay while the row is not in the list,
    /// so that the selection returns to it, after a reset or a restart for example.
    pub(crate) want: Vec<RowId>,
    /// Whether the user chose the row. Until then the list stays at its top.
    pub(crate) touched: bool,
    /// The selected line.
    pub(crate) index: usize,
    /// The first line on screen.
    pub(crate) offset: usize,
}

impl Cursor {
    /// Finds the chosen row among new rows and keeps its line of the screen. If it is gone, the nearest row above it in the
    /// tree is selected, else the row that now stands in its place.
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

    /// Selects a line; `want` has the ids of its row and all rows above.
    pub(crate) fn choose(&mut self, index: usize, want: Vec<RowId>) {
        self.touched = true;
        self.index = index;
        self.want = want;
    }

    /// Scrolls the rows in one list with the selected row, as little as needed.
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
