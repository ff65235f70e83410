//! Which columns stand where at which width. Positions depend on view and width alone, so nothing jitters.

mod tables;

use crate::app::sort::SortKey;
use crate::app::view::View;

/// What a column shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// Share of total time.
    TotalShare,
    /// Share of the function on the screen.
    OfShare,
    /// Share of self time.
    SelfShare,
    /// The view's main share as a bar.
    Bar,
    /// Total time.
    Total,
    /// Self time.
    SelfTime,
    /// Number of calls.
    Calls,
    /// Calls of one function by another, of all its calls.
    CallsOf,
    /// Total time of a call, on average.
    Avg,
    /// What half of the calls did not exceed.
    P50,
    /// What 99 of 100 calls did not exceed.
    P99,
    /// The longest call.
    Max,
    /// How busy it was in the last seconds.
    Spark,
    /// The function.
    Name,
    /// Its file and line.
    Where,
    /// The thread.
    Thread,
    /// Its kernel id, or how many have finished.
    Tid,
    /// What a thread does; whether a site was met or is off.
    State,
    /// Share of a CPU in the last interval.
    Busy,
    /// The same of the last intervals, side by side.
    Course,
    /// Time on a CPU.
    Cpu,
    /// Time outside any scope.
    Outside,
    /// The innermost function that is open.
    Now,
    /// The module of a site.
    Module,
}

/// A column in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// What it shows.
    pub(crate) column: Column,
    /// Its first cell.
    pub(crate) x: u16,
    /// Its cells.
    pub(crate) width: u16,
}

// === impl Column ===

impl Column {
    /// All of them, as the help tells them.
    pub(crate) const ALL: [Self; 24] = [
        Self::TotalShare,
        Self::SelfShare,
        Self::OfShare,
        Self::Bar,
        Self::Total,
        Self::SelfTime,
        Self::Calls,
        Self::CallsOf,
        Self::Avg,
        Self::P50,
        Self::P99,
        Self::Max,
        Self::Spark,
        Self::Name,
        Self::Where,
        Self::Thread,
        Self::Tid,
        Self::State,
        Self::Busy,
        Self::Course,
        Self::Cpu,
        Self::Outside,
        Self::Now,
        Self::Module,
    ];

    /// What it shows, for the help.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::TotalShare => "share of all time shown, callees included",
            Self::OfShare => "share of the function that is shown",
            Self::SelfShare => "share of all time shown, without callees",
            Self::Bar => "the first share again, as a length",
            Self::Total => "time in it, with callees and waiting",
            Self::SelfTime => "the same without measured callees",
            Self::Calls => "calls that began",
            Self::CallsOf => "in Function: calls by it, of all calls",
            Self::Avg => "TOTAL of a call on average",
            Self::P50 => "half of the calls took no longer",
            Self::P99 => "99 of 100 calls took no longer",
            Self::Max => "the longest call",
            Self::Spark => "time in each second, of its own busiest",
            Self::Name => "function or scope, with its module",
            Self::Where => "file and line",
            Self::Thread => "name of the thread",
            Self::Tid => "its kernel id; of ended ones how many",
            Self::State => "what a thread does; if a site is off",
            Self::Busy => "share of a CPU in the last interval",
            Self::Course => "BUSY interval by interval, newest right",
            Self::Cpu => "time on a CPU, as the kernel counts it",
            Self::Outside => "time outside of any scope",
            Self::Now => "the innermost scope that is open",
            Self::Module => "module that the site is in",
        }
    }

    /// The words above it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::TotalShare => "%TOT",
            Self::OfShare => "%OF",
            Self::SelfShare => "%SELF",
            Self::Bar => "",
            Self::Total => "TOTAL",
            Self::SelfTime => "SELF",
            Self::Calls | Self::CallsOf => "CALLS",
            Self::Avg => "AVG",
            Self::P50 => "P50",
            Self::P99 => "P99",
            Self::Max => "MAX",
            Self::Spark => "LAST 30 s",
            Self::Name => "FUNCTION",
            Self::Where => "WHERE",
            Self::Thread => "THREAD",
            Self::Tid => "TID",
            Self::State => "STATE",
            Self::Busy => "BUSY",
            Self::Course => "LATELY",
            Self::Cpu => "CPU",
            Self::Outside => "OUTSIDE",
            Self::Now => "NOW IN",
            Self::Module => "MODULE",
        }
    }

    /// What sorting by it means.
    pub(crate) fn sort_key(self) -> Option<SortKey> {
        match self {
            Self::TotalShare | Self::OfShare | Self::Total => Some(SortKey::Total),
            Self::SelfShare | Self::SelfTime => Some(SortKey::SelfTime),
            Self::Calls | Self::CallsOf => Some(SortKey::Calls),
            Self::Avg => Some(SortKey::Avg),
            Self::P50 => Some(SortKey::P50),
            Self::P99 => Some(SortKey::P99),
            Self::Max => Some(SortKey::Max),
            Self::Name | Self::Thread => Some(SortKey::Name),
            Self::Tid => Some(SortKey::Tid),
            Self::State => Some(SortKey::State),
            Self::Busy => Some(SortKey::Busy),
            Self::Cpu => Some(SortKey::Cpu),
            Self::Outside => Some(SortKey::Outside),
            Self::Bar | Self::Spark | Self::Where | Self::Course | Self::Now | Self::Module => None,
        }
    }

    /// Whether it is a part of a whole.
    fn is_share(self) -> bool {
        matches!(self, Self::TotalShare | Self::OfShare | Self::SelfShare)
    }

    /// Whether its text ends where the column ends.
    pub(crate) fn is_number(self) -> bool {
        !matches!(
            self,
            Self::Bar
                | Self::Spark
                | Self::Name
                | Self::Where
                | Self::Thread
                | Self::State
                | Self::Course
                | Self::Now
                | Self::Module
        )
    }

    /// Cells for its longest text: numbers never grow beyond.
    fn cells(self, bar: u16) -> u16 {
        match self {
            Self::Bar => bar,
            Self::Spark => 10,
            // A mark for an upper bound stands before the number.
            Self::Max => 7,
            Self::TotalShare | Self::OfShare | Self::SelfShare | Self::Total | Self::SelfTime => 6,
            // Two counts and what stands between them.
            Self::CallsOf => 11,
            Self::Calls | Self::Avg | Self::P50 | Self::P99 => 6,
            Self::Tid | Self::Outside => 8,
            Self::Busy | Self::Cpu => 6,
            Self::Name
            | Self::Where
            | Self::Thread
            | Self::State
            | Self::Course
            | Self::Now
            | Self::Module => 0,
        }
    }
}

/// A name keeps so many cells of its column, or three of five, however deep it stands.
const NAME_CELLS: u16 = 20;

/// Cells for the lines that lead to a name: the deepest rows share what the name leaves.
pub(crate) fn tree_cells(name: Place) -> u16 {
    name.width - NAME_CELLS.min(name.width / 5 * 3)
}

/// The cell of the mark that folds a row.
pub(crate) fn fold_mark(name: Place, depth: u32) -> u16 {
    name.x + depth.saturating_mul(2).min(u32::from(tree_cells(name))) as u16
}

/// The column that says what a list is sorted by. Of differences it is the number itself: a share has a whole of its
/// own at both times.
pub(crate) fn sorting(places: &[Place], key: SortKey, compares: bool) -> Option<Column> {
    let sorts = |column: Column| column.sort_key() == Some(key);
    let mut columns = places
        .iter()
        .map(|place| place.column)
        .filter(|&column| sorts(column));
    let first = columns.next()?;
    match compares && first.is_share() {
        true => columns.next().or(Some(first)),
        false => Some(first),
    }
}

/// Cells between two columns.
pub(crate) fn gap(width: u16) -> u16 {
    if width >= 110 { 2 } else { 1 }
}

/// The columns of a view that is `width` cells wide, from left to right.
pub(crate) fn places(view: View, width: u16) -> Vec<Place> {
    use Column::{
        Avg, Bar, Calls, CallsOf, Max, Name, OfShare, P50, P99, SelfShare, SelfTime, Spark, Total,
        TotalShare, Where,
    };
    if let Some(places) = tables::places(view, width) {
        return places;
    }
    let columns: &[Column] = match (view, width) {
        (View::Tree, 140..) => &[
            TotalShare, Bar, Total, SelfTime, SelfShare, Calls, Avg, P50, P99, Max, Spark, Name,
        ],
        (View::Tree, 120..) => &[
            TotalShare, Bar, Total, SelfTime, SelfShare, Calls, Avg, P50, P99, Max, Name,
        ],
        (View::Tree, 100..) => &[TotalShare, Bar, Total, SelfTime, SelfShare, Calls, Avg, Max, Name],
        (View::Tree, 80..) => &[TotalShare, Bar, Total, SelfTime, SelfShare, Calls, Avg, Name],
        (View::Tree, 60..) => &[TotalShare, Bar, Total, SelfShare, Name],
        (View::Tree, 40..) => &[TotalShare, Total, Name],
        (View::Tree, _) => &[TotalShare, Name],
        (View::Function, 100..) => &[OfShare, Bar, Total, CallsOf, Avg, Name, Where],
        (View::Function, 80..) => &[OfShare, Bar, Total, CallsOf, Avg, Name],
        (View::Function, 60..) => &[OfShare, Bar, Total, CallsOf, Name],
        (View::Function, 40..) => &[OfShare, Total, Name],
        (View::Function, _) => &[OfShare, Name],
        (View::Hot, 148..) => &[
            SelfShare, Bar, SelfTime, Total, TotalShare, Calls, Avg, P50, P99, Max, Spark, Name, Where,
        ],
        (_, 136..) => &[
            SelfShare, Bar, SelfTime, Total, TotalShare, Calls, Avg, P50, P99, Max, Name, Where,
        ],
        (_, 100..) => &[
            SelfShare, Bar, SelfTime, Total, TotalShare, Calls, Avg, Max, Name, Where,
        ],
        (_, 80..) => &[SelfShare, Bar, SelfTime, Total, TotalShare, Calls, Avg, Name],
        (_, 60..) => &[SelfShare, SelfTime, Calls, Avg, P99, Name],
        (_, 40..) => &[SelfShare, SelfTime, Name],
        (_, _) => &[SelfShare, Name],
    };
    let bar = if width >= 100 { 10 } else { 5 };
    let gap = gap(width);
    // The first cell belongs to the mark of the selected row.
    let mut x = gap;
    let mut out = Vec::with_capacity(columns.len());
    for &column in columns {
        if column == Name {
            x += gap - 1;
            let rest = width.saturating_sub(x + 1);
            let to_where = if columns.contains(&Where) { rest / 5 * 2 } else { 0 };
            out.push(Place {
                column,
                x,
                width: rest - to_where - u16::from(to_where > 0),
            });
            if to_where > 0 {
                out.push(Place {
                    column: Where,
                    x: x + rest - to_where,
                    width: to_where,
                });
            }
            break;
        }
        let cells = column.cells(bar);
        out.push(Place {
            column,
            x,
            width: cells,
        });
        x += cells
            + if matches!(column, TotalShare | OfShare | SelfShare) && out.len() == 1 {
                1
            } else {
                gap
            };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_side_by_side_at_every_width() {
        for view in View::ALL {
            for width in 20..300 {
                let places = places(view, width);
                let mut x = 1;
                for place in &places {
                    assert!(place.x >= x, "{view:?} {width} {place:?}");
                    x = place.x + place.width + 1;
                }
                assert!(x <= width + 1, "{view:?} {width}");
                let names = [Column::Name, Column::Thread];
                let name = places.iter().find(|p| names.contains(&p.column));
                let cells = name.map_or(0, |name| name.width);
                assert!(cells >= 10 || view == View::Flame, "{view:?} {width}: {cells}");
            }
        }
    }
}
