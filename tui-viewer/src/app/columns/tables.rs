//! The columns of the lists that have no tree: threads and sites. The flame graph has none.

use crate::app::columns::column::{Column, Place, gap};
use crate::app::view::View;

use Column::{Busy, Calls, Course, Cpu, Module, Name, Now, Outside, State, Thread, Tid, Total, Where};

/// A column and its cells; so many parts of what is left where there are none.
#[derive(Clone, Copy)]
enum Width {
    /// As many as its longest text has.
    Own,
    /// So many.
    Cells(u16),
    /// Parts of what all the others leave.
    Parts(u16),
}

use Width::{Cells, Own, Parts};

/// The columns of a view that has its own; none for the others.
pub(super) fn places(view: View, width: u16) -> Option<Vec<Place>> {
    let columns: &[(Column, Width)] = match (view, width) {
        (View::Threads, 120..) => &[
            (Thread, Cells(16)),
            (Tid, Own),
            (State, Cells(8)),
            (Busy, Own),
            (Course, Cells(20)),
            (Cpu, Own),
            (Total, Own),
            (Outside, Own),
            (Now, Parts(1)),
        ],
        (View::Threads, 100..) => &[
            (Thread, Cells(16)),
            (Tid, Own),
            (State, Cells(8)),
            (Busy, Own),
            (Course, Cells(10)),
            (Cpu, Own),
            (Total, Own),
            (Outside, Own),
            (Now, Parts(1)),
        ],
        (View::Threads, 80..) => &[
            (Thread, Cells(15)),
            (Tid, Own),
            (State, Cells(8)),
            (Busy, Own),
            (Course, Cells(10)),
            (Total, Own),
            (Now, Parts(1)),
        ],
        (View::Threads, 60..) => &[
            (Thread, Cells(13)),
            (State, Cells(8)),
            (Busy, Own),
            (Course, Cells(6)),
            (Now, Parts(1)),
        ],
        (View::Threads, 40..) => &[(Thread, Cells(12)), (Busy, Own), (Now, Parts(1))],
        (View::Threads, _) => &[(Thread, Parts(1)), (Busy, Own)],
        (View::Sites, 100..) => &[
            (Calls, Own),
            (State, Cells(24)),
            (Name, Parts(3)),
            (Module, Parts(3)),
            (Where, Parts(4)),
        ],
        (View::Sites, 80..) => &[
            (Calls, Own),
            (State, Cells(15)),
            (Name, Parts(1)),
            (Where, Parts(1)),
        ],
        (View::Sites, 40..) => &[(Calls, Own), (State, Cells(15)), (Name, Parts(1))],
        (View::Sites, _) => &[(State, Cells(5)), (Name, Parts(1))],
        (View::Flame, _) => &[],
        (View::Tree | View::Hot | View::Function, _) => return None,
    };
    let gap = gap(width);
    let cells = |&(column, width): &(Column, Width)| match width {
        Own => column.cells(0),
        Cells(cells) => cells,
        Parts(_) => 0,
    };
    let parts = |&(_, width): &(Column, Width)| match width {
        Parts(parts) => parts,
        Own | Cells(_) => 0,
    };
    // The first cell belongs to the mark of the selected row, the last one to nobody.
    let taken =
        gap + 1 + columns.iter().map(cells).sum::<u16>() + gap * columns.len().saturating_sub(1) as u16;
    let left = u32::from(width.saturating_sub(taken));
    let all: u16 = columns.iter().map(parts).sum();
    let mut x = gap;
    let mut place = |column: &(Column, Width)| {
        let share = left * u32::from(parts(column)) / u32::from(all.max(1));
        let width = cells(column) + share as u16;
        let place = Place {
            column: column.0,
            x,
            width,
        };
        x = x.saturating_add(width + gap);
        place
    };
    Some(columns.iter().map(&mut place).collect())
}
