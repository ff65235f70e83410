//! The columns of the list of threads.

use crate::app::columns::place::Width::{Cells, Own, Parts};
use crate::app::columns::place::{Place, Width, side_by_side_names_first};
use crate::app::columns::spec;
use crate::app::columns::spec::{ColumnSpec, Value, number, text};
use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::sort::SortKey;

/// A column of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadColumn {
    /// The name of the thread.
    Thread,
    /// Kernel id of the thread, or the number of finished threads.
    Tid,
    /// State of the thread.
    State,
    /// Share of a CPU in the last interval.
    Busy,
    /// Work and waits in the last 30 s, side by side.
    Course,
    /// Time on a CPU.
    Cpu,
    /// Time in scopes of the thread.
    Total,
    /// Time outside any scope.
    Outside,
    /// Function that the thread is in, and its work or wait there.
    Now,
}

impl ThreadColumn {
    /// All columns, in the order of the help.
    pub(crate) const ALL: [Self; 9] = [
        Self::Thread,
        Self::Tid,
        Self::State,
        Self::Busy,
        Self::Course,
        Self::Cpu,
        Self::Total,
        Self::Outside,
        Self::Now,
    ];

    /// Returns the description of the column.
    pub(crate) const fn spec(self) -> ColumnSpec {
        match self {
            Self::Thread => text("THREAD", "name of the thread").sorted_by(SortKey::Name),
            Self::Tid => number("TID", "kernel id; of ended threads the number", 8, SortKey::Tid),
            Self::State => spec::STATE,
            Self::Busy => number("BUSY", "share of a CPU in the last interval", 6, SortKey::Busy),
            Self::Course => text("LAST 30 s", "work by module, waiting on top of it"),
            Self::Cpu => number("CPU", "time on a CPU, as the kernel counts it", 6, SortKey::Cpu)
                .of(Value::CpuTime(cpu_ns)),
            Self::Total => spec::TOTAL,
            Self::Outside => number("OUTSIDE", "time outside of any scope", 8, SortKey::Outside)
                .of(Value::TimeOf(outside_ns)),
            Self::Now => text("NOW", "its work or wait, and its current scope"),
        }
    }
}

/// Returns the time of a thread on a CPU; 0 where it is not known.
fn cpu_ns(data: &Data, what: What) -> u64 {
    what.row()
        .map_or(0, |row| data.snapshot.threads[row as usize].cpu_ns.unwrap_or(0))
}

/// Returns the time of a thread outside any scope.
fn outside_ns(data: &Data, what: What) -> u64 {
    what.row()
        .map_or(0, |row| data.threads()[row as usize].outside_ns)
}

/// Returns the columns of a list that is `width` cells wide, from left to right.
pub(crate) fn places(width: u16) -> Vec<Place<ThreadColumn>> {
    use ThreadColumn::{Busy, Course, Cpu, Now, Outside, State, Thread, Tid, Total};
    let (thread, course) = match width {
        160.. => (24, 30),
        120.. => (16, 30),
        80.. => (15, 12),
        60.. => (13, 10),
        _ => (12, 0),
    };
    let columns: &[(ThreadColumn, Width)] = match width {
        60.. => &[
            (Thread, Cells(thread)),
            (Tid, Own),
            (State, Cells(8)),
            (Busy, Own),
            (Course, Cells(course)),
            (Cpu, Own),
            (Total, Own),
            (Outside, Own),
            (Now, Parts(1)),
        ],
        40.. => &[(Thread, Cells(thread)), (Busy, Own), (Now, Parts(1))],
        _ => &[(Thread, Parts(1)), (Busy, Own)],
    };
    // The names of a thread and of its current function share the part of the line that names have.
    let leaving = [Outside, Tid, Cpu, Total, State, Course];
    side_by_side_names_first(columns, &[Thread, Now], &leaving, width, |column| {
        column.spec().width
    })
}
