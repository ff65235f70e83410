//! The columns of the lists whose rows are functions: Tree, Hot and Function.

use ratatui::layout::Rect;

use crate::app::columns::place::{Place, gap, names_first};
use crate::app::columns::spec;
use crate::app::columns::spec::{ColumnSpec, Portion, Value, number, text};
use crate::app::layout::halves;
use crate::app::sort::SortKey;
use crate::app::view::View;

/// A column of these lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FunctionColumn {
    /// Share of total time.
    TotalShare,
    /// Share of self time.
    SelfShare,
    /// Share of the function on the screen.
    OfShare,
    /// The main share of the view as a bar.
    Bar,
    /// Total time.
    Total,
    /// Part of the total time in which a thread could not have run.
    Wait,
    /// Part of the total time in which a thread could have run and had no CPU.
    Ready,
    /// Self time.
    SelfTime,
    /// Number of calls.
    Calls,
    /// Calls of one function by another, and all of its calls.
    CallsOf,
    /// Total time of a call, on average.
    Avg,
    /// Time that half of the calls did not exceed.
    P50,
    /// Time that 99 of 100 calls did not exceed.
    P99,
    /// The longest call.
    Max,
    /// Time of the row in each of the last seconds.
    Spark,
    /// The function.
    Name,
    /// File and line of the function.
    Where,
}

impl FunctionColumn {
    /// All columns, in the order of the help.
    pub(crate) const ALL: [Self; 17] = [
        Self::TotalShare,
        Self::SelfShare,
        Self::OfShare,
        Self::Bar,
        Self::Total,
        Self::Wait,
        Self::Ready,
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
    ];

    /// Returns the description of the column.
    pub(crate) const fn spec(self) -> ColumnSpec {
        let total = Value::Share(Portion::Total);
        match self {
            Self::TotalShare => number(
                "%TOT",
                "share of all time shown, callees included",
                6,
                SortKey::Total,
            )
            .of(total),
            Self::SelfShare => number(
                "%SELF",
                "share of all time shown, without callees",
                6,
                SortKey::SelfTime,
            )
            .of(Value::Share(Portion::Own)),
            Self::OfShare => {
                number("%OF", "share of the function that is shown", 6, SortKey::Total).of(total)
            }
            Self::Bar => text("", "the first share, as a bar"),
            Self::Total => spec::TOTAL,
            Self::Wait => number("WAIT", "part of TOTAL that waits, off the CPU", 6, SortKey::Wait)
                .of(Value::OffCpu(|off| off.waiting_ns)),
            Self::Ready => number("READY", "part of TOTAL ready, without a CPU", 6, SortKey::Ready)
                .of(Value::OffCpu(|off| off.ready_ns)),
            Self::SelfTime => number(
                "SELF",
                "time in it, without measured callees",
                6,
                SortKey::SelfTime,
            )
            .of(Value::Time(Portion::Own)),
            Self::Calls => spec::CALLS,
            // Cells for two counts and the word between them.
            Self::CallsOf => number(
                "CALLS",
                "in Function: calls by it, of all calls",
                11,
                SortKey::Calls,
            )
            .of(Value::CallsOf),
            Self::Avg => {
                number("AVG", "TOTAL of a call on average, or wall", 6, SortKey::Avg).of(Value::Mean)
            }
            Self::P50 => spec::P50,
            Self::P99 => spec::P99,
            // A mark for an upper bound stands before the number.
            Self::Max => number("MAX", "the longest call", 7, SortKey::Max).of(Value::Longest),
            Self::Spark => text("LAST 30 s", "time a second, relative to its busiest").wide(10),
            Self::Name => spec::NAME,
            Self::Where => spec::WHERE,
        }
    }
}

/// Returns the columns of a view's lists on these cells, list by list, each from left to right.
pub(crate) fn lists(view: View, area: Rect) -> Vec<(Rect, Vec<Place<FunctionColumn>>)> {
    match halves(area).filter(|_| view == View::Function) {
        None => vec![(area, places(view, area.width, false))],
        Some(halves) => {
            // Both lists have the same columns, even where one list is a cell wider.
            let width = halves[0].width;
            let places_on = |list: Rect| {
                let places = places(view, width, true).into_iter();
                let moved = places.map(|place| Place {
                    x: list.x + place.x,
                    ..place
                });
                (list, moved.collect())
            };
            halves.map(places_on).to_vec()
        }
    }
}

/// Returns the columns of a list that is `width` cells wide, from left to right. `is_half`: another list stands beside it.
fn places(view: View, width: u16, is_half: bool) -> Vec<Place<FunctionColumn>> {
    use FunctionColumn::{
        Avg, Bar, Calls, CallsOf, Max, Name, OfShare, P50, P99, Ready, SelfShare, SelfTime, Spark, Total,
        TotalShare, Wait, Where,
    };
    let all: &[FunctionColumn] = match view {
        View::Tree => &[
            TotalShare, Bar, Total, Wait, Ready, SelfTime, SelfShare, Calls, Avg, P50, P99, Max, Spark, Name,
        ],
        View::Function if is_half && width < ROOM_FOR_ALL_CALLS => {
            &[OfShare, Bar, Total, Wait, Ready, Calls, Avg, Name, Where]
        }
        View::Function => &[OfShare, Bar, Total, Wait, Ready, CallsOf, Avg, Name, Where],
        View::Hot | View::Threads | View::Flame | View::Sites | View::Tasks | View::Slow | View::Timeline => {
            &[
                SelfShare, Bar, SelfTime, Total, TotalShare, Wait, Ready, Calls, Avg, P50, P99, Max, Spark,
                Name, Where,
            ]
        }
    };
    // The least needed columns leave first, until the name has its part of the line. The pane shows all values.
    let second_share = if view == View::Tree { SelfShare } else { TotalShare };
    let second_time = if view == View::Tree { SelfTime } else { Total };
    let leaving = [
        Where,
        P50,
        Ready,
        second_share,
        Max,
        P99,
        Spark,
        Wait,
        Avg,
        Calls,
        CallsOf,
        second_time,
        Bar,
        Total,
        SelfTime,
    ];
    let places = |bar: u16| {
        names_first(&[Name], &leaving, width, |gone| {
            let has_room = |column| column != Bar || is_half || width >= ROOM_FOR_BAR;
            let stay = all.iter().copied();
            let stay: Vec<_> = stay
                .filter(|column| has_room(*column) && !gone.contains(column))
                .collect();
            side_by_side(&stay, width, bar)
        })
    };
    if !is_half {
        return places(if width >= 100 { LONG_BAR } else { BAR });
    }
    // The longest bar for which no column leaves.
    let short = places(BAR);
    let longer = (BAR + 1..=LONG_BAR).rev().map(places);
    let mut fitting = longer.filter(|places| places.len() == short.len());
    fitting.next().unwrap_or(short)
}

/// Cells of a bar, and of a bar on a wide line.
const BAR: u16 = 5;
const LONG_BAR: u16 = 10;

/// Width in cells below which a list has no bar, because the bar says too little.
const ROOM_FOR_BAR: u16 = 60;

/// Width in cells of a list beside another, below which calls by a function stand without all calls.
const ROOM_FOR_ALL_CALLS: u16 = 72;

/// Maximum number of cells of a function's file and line.
const LONGEST_WHERE: u16 = 40;

fn side_by_side(columns: &[FunctionColumn], width: u16, bar: u16) -> Vec<Place<FunctionColumn>> {
    use FunctionColumn::{Bar, Name, Where};
    let gap = gap(width);
    // The first cell belongs to the mark of the selected row.
    let mut x = gap;
    let mut out = Vec::with_capacity(columns.len());
    for &column in columns {
        if column == Name {
            x += gap - 1;
            let rest = width.saturating_sub(x + 1);
            let to_where = match columns.contains(&Where) {
                true => (rest / 5 * 2).min(LONGEST_WHERE),
                false => 0,
            };
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
        let cells = if column == Bar { bar } else { column.spec().width };
        out.push(Place {
            column,
            x,
            width: cells,
        });
        let is_first_share = column.spec().is_share() && out.len() == 1;
        x += cells + if is_first_share { 1 } else { gap };
    }
    out
}
