//! The selected row and the part of the list on screen. The selection is a row's id, not a line number.

use crate::app::row::RowId;

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
