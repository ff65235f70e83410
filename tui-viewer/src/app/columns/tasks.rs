//! The columns of the tree of tasks.

use crate::app::columns::place::Width::{Cells, Own, Parts};
use crate::app::columns::place::{Place, Width, side_by_side_names_first};
use crate::app::columns::spec;
use crate::app::columns::spec::{ColumnSpec, number, text};
use crate::app::sort::SortKey;

/// A column of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskColumn {
    /// Calls that are in flight.
    InFlight,
    /// Time since the oldest call in flight began.
    Oldest,
    /// Time by the wall clock that half of the calls did not exceed.
    P50,
    /// Time by the wall clock that 99 of 100 calls did not exceed.
    P99,
    /// Time of a call in polls.
    Busy,
    /// Time of a call between polls.
    Await,
    /// Polls of a call.
    Polls,
    /// Calls that were dropped before they were ready.
    Cancelled,
    /// The future.
    Name,
    /// File and line of the future.
    Where,
}

impl TaskColumn {
    /// All columns, in the order of the help.
    pub(crate) const ALL: [Self; 10] = [
        Self::InFlight,
        Self::Oldest,
        Self::P50,
        Self::P99,
        Self::Busy,
        Self::Await,
        Self::Polls,
        Self::Cancelled,
        Self::Name,
        Self::Where,
    ];

    /// Returns the description of the column.
    pub(crate) const fn spec(self) -> ColumnSpec {
        match self {
            Self::InFlight => number(
                "IN FLIGHT",
                "async calls begun and not over",
                9,
                SortKey::InFlight,
            ),
            Self::Oldest => number("OLDEST", "age of the oldest call", 6, SortKey::Oldest),
            Self::P50 => spec::P50,
            Self::P99 => spec::P99,
            Self::Busy => number("BUSY", "polls of a call, on average", 6, SortKey::Avg),
            Self::Await => number("AWAIT", "time between polls, on average", 6, SortKey::Await),
            Self::Polls => number("POLLS", "number of polls of a call", 6, SortKey::Polls),
            Self::Cancelled => number(
                "CANCELLED",
                "calls dropped before they were ready",
                9,
                SortKey::Cancelled,
            ),
            Self::Name => text("FUTURE", "async function, block or await").sorted_by(SortKey::Name),
            Self::Where => spec::WHERE,
        }
    }
}

/// Returns the columns of a tree that is `width` cells wide, from left to right.
pub(crate) fn places(width: u16) -> Vec<Place<TaskColumn>> {
    use TaskColumn::{Await, Busy, Cancelled, InFlight, Name, Oldest, P50, P99, Polls, Where};
    let columns: &[(TaskColumn, Width)] = match width {
        120.. => &[
            (InFlight, Own),
            (Oldest, Own),
            (P50, Own),
            (P99, Own),
            (Busy, Own),
            (Await, Own),
            (Polls, Own),
            (Cancelled, Own),
            (Name, Parts(3)),
            (Where, Parts(2)),
        ],
        100.. => &[
            (InFlight, Own),
            (Oldest, Own),
            (P50, Own),
            (P99, Own),
            (Busy, Own),
            (Await, Own),
            (Polls, Own),
            (Cancelled, Own),
            (Name, Parts(1)),
        ],
        80.. => &[
            (InFlight, Own),
            (Oldest, Own),
            (P50, Own),
            (P99, Own),
            (Busy, Own),
            (Name, Parts(1)),
        ],
        60.. => &[(InFlight, Own), (Oldest, Own), (P99, Own), (Name, Parts(1))],
        40.. => &[(InFlight, Own), (Oldest, Own), (Name, Parts(1))],
        _ => &[(InFlight, Cells(5)), (Name, Parts(1))],
    };
    let leaving = [Where, Cancelled, Polls, P50, Await, Busy, P99, Oldest];
    side_by_side_names_first(columns, &[Name], &leaving, width, |column| column.spec().width)
}
