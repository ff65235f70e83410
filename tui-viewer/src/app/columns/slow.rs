//! The columns of the paths of a watched function.

use crate::app::columns::place::Width::{Cells, Own, Parts};
use crate::app::columns::place::{Place, Width, side_by_side_names_first};
use crate::app::columns::spec::{ColumnSpec, number, text};
use crate::app::sort::SortKey;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlowColumn {
    /// Time in a slow call above the time in a typical call.
    Difference,
    /// Share of the path in the whole difference.
    Share,
    /// The same share as a bar.
    Bar,
    /// Time in a typical call.
    Typical,
    /// Time in a slow call.
    Slow,
    /// Calls of the path in typical and in slow calls.
    Calls,
    /// The path.
    Name,
}

impl SlowColumn {
    /// All columns, in the order of the help.
    pub(crate) const ALL: [Self; 7] = [
        Self::Difference,
        Self::Share,
        Self::Bar,
        Self::Typical,
        Self::Slow,
        Self::Calls,
        Self::Name,
    ];

    /// Returns the description of the column.
    pub(crate) const fn spec(self) -> ColumnSpec {
        match self {
            Self::Difference => number(
                "DIFFERENCE",
                "slow less typical, per call",
                11,
                SortKey::Difference,
            ),
            Self::Share => number("SHARE", "part of the whole difference", 6, SortKey::Difference),
            Self::Bar => text("", "the share, as a bar").wide(10),
            Self::Typical => number(
                "TYPICAL",
                "in the path itself, in a typical call",
                8,
                SortKey::Typical,
            ),
            Self::Slow => number("SLOW", "in the path itself, in a slow call", 6, SortKey::Slow),
            Self::Calls => number(
                "CALLS",
                "calls in a typical and in a slow call",
                13,
                SortKey::Calls,
            ),
            Self::Name => text("PATH", "from the watched function on").sorted_by(SortKey::Name),
        }
    }
}

/// Returns the columns of a table that is `width` cells wide, from left to right.
pub(crate) fn places(width: u16) -> Vec<Place<SlowColumn>> {
    use SlowColumn::{Bar, Calls, Difference, Name, Share, Slow, Typical};
    let columns: &[(SlowColumn, Width)] = match width {
        100.. => &[
            (Difference, Own),
            (Share, Own),
            (Bar, Own),
            (Typical, Own),
            (Slow, Own),
            (Calls, Own),
            (Name, Parts(1)),
        ],
        80.. => &[
            (Difference, Own),
            (Share, Own),
            (Typical, Own),
            (Slow, Own),
            (Calls, Own),
            (Name, Parts(1)),
        ],
        60.. => &[(Difference, Own), (Share, Own), (Calls, Own), (Name, Parts(1))],
        40.. => &[(Difference, Own), (Share, Own), (Name, Parts(1))],
        _ => &[(Difference, Cells(7)), (Name, Parts(1))],
    };
    let leaving = [Bar, Typical, Slow, Share];
    side_by_side_names_first(columns, &[Name], &leaving, width, |column| column.spec().width)
}
