//! Description of a column: its title, help, cells, and value.

use tickscope_analysis::call_tree::OffCpu;

use crate::app::data::Data;
use crate::app::figures::{Portion, What};
use crate::app::sort::SortKey;

/// Description of a column, without the views that have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnSpec {
    /// Title above the column.
    pub(crate) title: &'static str,
    /// Text for the help.
    pub(crate) help: &'static str,
    /// Cells of the column; 0 where the layout of its table decides.
    pub(crate) width: u16,
    /// Side on which the text stands.
    pub(crate) align: Align,
    /// Key that the title sorts by.
    pub(crate) sort: Option<SortKey>,
    /// Value of a row that the column shows.
    pub(crate) value: Value,
}

/// Side on which the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Left, for text.
    Left,
    /// Right, for numbers.
    Right,
}

/// Value of a row that a column shows. Numbers and differences of each kind are written in one place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    /// A share of a whole.
    Share(Portion),
    /// A time that adds up over rows.
    Time(Portion),
    /// A number of calls.
    Calls,
    /// Calls of one function by another, and all of its calls.
    CallsOf,
    /// Total time of a call on average.
    Mean,
    /// Time that this percentage of calls did not exceed.
    Quantile(u8),
    /// The longest call.
    Longest,
    /// Another value of the measure that adds up over rows, given in nanoseconds.
    TimeOf(fn(&Data, What) -> u64),
    /// Part of the time off the CPU under any measure, in nanoseconds.
    OffCpu(fn(OffCpu) -> u64),
    /// Time that adds up over rows under any measure, in nanoseconds.
    CpuTime(fn(&Data, What) -> u64),
    /// Text or a chart, which the view of its table draws.
    Drawn,
}

/// Number of calls.
pub(super) const CALLS: ColumnSpec = number("CALLS", "calls that began", 6, SortKey::Calls).of(Value::Calls);

/// Time that half of the calls did not exceed.
pub(super) const P50: ColumnSpec = number(
    "P50",
    "half of the calls took no longer",
    6,
    SortKey::Quantile(50),
)
.of(Value::Quantile(50));

/// Time that 99 of 100 calls did not exceed.
pub(super) const P99: ColumnSpec =
    number("P99", "99 of 100 calls took no longer", 6, SortKey::Quantile(99)).of(Value::Quantile(99));

/// Total time.
pub(super) const TOTAL: ColumnSpec =
    number("TOTAL", "time in it, with callees and waiting", 6, SortKey::Total)
        .of(Value::Time(Portion::Total));

/// The function or scope.
pub(super) const NAME: ColumnSpec =
    text("FUNCTION", "function or scope, with its module").sorted_by(SortKey::Name);

/// File and line.
pub(super) const WHERE: ColumnSpec = text("WHERE", "file and line");

/// State of a thread; whether a site was met or is off.
pub(super) const STATE: ColumnSpec =
    text("STATE", "what a thread does; if a site is off").sorted_by(SortKey::State);

/// Returns a column of numbers that its view draws, unless `ColumnSpec::of` sets a value.
pub(super) const fn number(title: &'static str, help: &'static str, width: u16, sort: SortKey) -> ColumnSpec {
    ColumnSpec {
        title,
        help,
        width,
        align: Align::Right,
        sort: Some(sort),
        value: Value::Drawn,
    }
}

/// Returns a column that its view draws.
pub(super) const fn text(title: &'static str, help: &'static str) -> ColumnSpec {
    ColumnSpec {
        title,
        help,
        width: 0,
        align: Align::Left,
        sort: None,
        value: Value::Drawn,
    }
}

impl ColumnSpec {
    /// Returns the same column with a title that sorts.
    pub(super) const fn sorted_by(mut self, key: SortKey) -> Self {
        self.sort = Some(key);
        self
    }

    /// Returns the same column with numbers of this kind.
    pub(super) const fn of(mut self, value: Value) -> Self {
        self.value = value;
        self
    }

    /// Returns the same column with this number of cells.
    pub(super) const fn wide(mut self, cells: u16) -> Self {
        self.width = cells;
        self
    }

    /// Whether the text of the column is a number.
    pub(crate) fn is_number(&self) -> bool {
        self.align == Align::Right
    }

    /// Whether the column shows a share of a whole.
    pub(crate) fn is_share(&self) -> bool {
        matches!(self.value, Value::Share(_))
    }
}
