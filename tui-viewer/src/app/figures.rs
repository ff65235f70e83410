//! A row of the current data, and parts of its figures.

use crate::keys::view::View;

/// A row of the current data: the table of a view, and an index in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct What {
    /// View whose table has the row.
    pub(crate) of: View,
    /// Index of the row; the largest index stands for the time outside any scope.
    pub(crate) row: u32,
}

impl What {
    /// Returns the time outside any scope, in the list of a view.
    pub(crate) fn outside(of: View) -> Self {
        Self { of, row: u32::MAX }
    }

    /// Whether this is the time outside any scope.
    pub(crate) fn is_outside(self) -> bool {
        self.row == u32::MAX
    }
}

impl View {
    /// Returns a row of the view's table.
    pub(crate) fn row(self, row: u32) -> What {
        What { of: self, row }
    }

    /// Returns rows of the view's table.
    pub(crate) fn rows(self, rows: impl IntoIterator<Item = u32>) -> Vec<What> {
        rows.into_iter().map(|row| self.row(row)).collect()
    }
}

/// Part of a row's time that a number shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Portion {
    /// The row and all rows below it.
    Total,
    /// The row itself.
    Own,
}

/// Returns a part of a whole, from 0 to 1; 0 if the whole is 0.
pub(crate) fn share(part_ns: u64, whole_ns: u64) -> f64 {
    if whole_ns == 0 {
        0.0
    } else {
        (part_ns as f64 / whole_ns as f64).min(1.0)
    }
}
