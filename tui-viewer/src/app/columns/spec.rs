//! What is known of a column: its title, its help, its cells, and what it shows.

use tickscope_analysis::call_tree::OffCpu;

use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::sort::SortKey;

/// Everything about a column but the views that have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnSpec {
    /// The words above it.
    pub(crate) title: &'static str,
    /// What it shows, for the help.
    pub(crate) help: &'static str,
    /// Its cells; 0 where the layout of its table decides.
    pub(crate) width: u16,
    /// On which side its text stands.
    pub(crate) align: Align,
    /// What its title sorts by.
    pub(crate) sort: Option<SortKey>,
    /// What it shows of a row.
    pub(crate) value: Value,
}

/// On which side the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Whose time a column shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Portion {
    /// The row and everything below it.
    Total,
    /// The row itself.
    Own,
}

/// What a column shows of a row. Numbers and differences of each kind are written in one place.
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
    /// What so many of 100 calls did not exceed.
    Quantile(u8),
    /// The longest call.
    Longest,
    /// Another value of the measure that adds up over rows: this many nanoseconds of time.
    TimeOf(fn(&Data, What) -> u64),
    /// A part of the time off the CPU, whatever the measure is: this many nanoseconds.
    OffCpu(fn(OffCpu) -> u64),
    /// A time that adds up over rows, whatever the measure is: this many nanoseconds.
    CpuTime(fn(&Data, What) -> u64),
    /// Text or a chart, which the view of its table draws.
    Drawn,
}

/// Number of calls.
pub(super) const CALLS: ColumnSpec = number("CALLS", "calls that began", 6, SortKey::Calls).of(Value::Calls);

/// What half of the calls did not exceed.
pub(super) const P50: ColumnSpec = number(
    "P50",
    "half of the calls took no longer",
    6,
    SortKey::Quantile(50),
)
.of(Value::Quantile(50));

/// What 99 of 100 calls did not exceed.
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

/// What a thread does; whether a site was met or is off.
pub(super) const STATE: ColumnSpec =
    text("STATE", "what a thread does; if a site is off").sorted_by(SortKey::State);

/// A column of numbers that its view draws, unless it says what it shows.
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

/// A column that its view draws.
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
    /// The same with a title that sorts.
    pub(super) const fn sorted_by(mut self, key: SortKey) -> Self {
        self.sort = Some(key);
        self
    }

    /// The same with numbers of this kind.
    pub(super) const fn of(mut self, value: Value) -> Self {
        self.value = value;
        self
    }

    /// The same with so many cells.
    pub(super) const fn wide(mut self, cells: u16) -> Self {
        self.width = cells;
        self
    }

    /// Whether its text is a number.
    pub(crate) fn is_number(&self) -> bool {
        self.align == Align::Right
    }

    /// Whether it is a share of a whole.
    pub(crate) fn is_share(&self) -> bool {
        matches!(self.value, Value::Share(_))
    }
}
