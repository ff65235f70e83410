//! The selected row and the part of the list on screen. The selection is a row's id, not a line number.

use crate::app::row::RowId;

/// The selection, which stays on the chosen row even if the row moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cursor {
    /// Ids of the chosen row's ancestors, outermost first, and then of the row itself. They are kept even while the row
    /// is missing from the list, for example after a reset, so that the selection returns with the row.
    pub(crate) want: Vec<RowId>,
    /// Whether the user has chosen a row. Until then, the list stays scrolled to the top.
    pub(crate) touched: bool,
    /// Index of the selected line.
    pub(crate) index: usize,
    /// Index of the first line on screen.
    pub(crate) offset: usize,
}
