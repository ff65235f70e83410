//! The columns of the functions with a tail.

use crate::app::columns::place::Width::{Cells, Parts};
use crate::app::columns::place::{Place, Width, side_by_side};

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TailColumn {
    /// Time that calls in the tail take above the median.
    Tail,
    /// Number of calls.
    Calls,
    /// Time that half of the calls did not exceed.
    P50,
    /// Time that 99 of 100 calls did not exceed.
    P99,
    /// The longest call.
    Max,
    /// The function.
    Name,
}

impl TailColumn {
    /// Returns the title above the table.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Tail => "TAIL",
            Self::Calls => "CALLS",
            Self::P50 => "P50",
            Self::P99 => "P99",
            Self::Max => "MAX",
            Self::Name => "FUNCTION",
        }
    }
}

/// Returns the columns of a table that is `width` cells wide, from left to right.
pub(crate) fn places(width: u16) -> Vec<Place<TailColumn>> {
    use TailColumn::{Calls, Max, Name, P50, P99, Tail};
    let columns: &[(TailColumn, Width)] = match width {
        60.. => &[
            (Tail, Cells(6)),
            (Calls, Cells(6)),
            (P50, Cells(6)),
            (P99, Cells(6)),
            (Max, Cells(7)),
            (Name, Parts(1)),
        ],
        40.. => &[
            (Tail, Cells(6)),
            (P50, Cells(6)),
            (Max, Cells(7)),
            (Name, Parts(1)),
        ],
        _ => &[(Tail, Cells(6)), (Name, Parts(1))],
    };
    side_by_side(columns, width, |_| 0)
}
