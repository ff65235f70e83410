//! The selected row and the part of the list on screen. The selection is a row's id, not a line number.

use crate::app::row::RowId;

/// A selection that follows the chosen row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cursor {
    /// Ids of the chosen row's ancestors, outermost first, then its own id. The ids are kept while the list lacks the
    /// row, for example after a reset, so that the selection returns when the row does.
    pub(crate) want: Vec<RowId>,
    /// Whether the user chose the row. Before that, the list stays at its top.
    pub(crate) touched: bool,
    /// Index of the selected line.
    pub(crate) index: usize,
    /// Index of the first line on screen.
    pub(crate) offset: usize,
}
