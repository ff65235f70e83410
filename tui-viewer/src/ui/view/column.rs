//! Columns of tables, and their cells on the screen.

use std::cell::OnceCell;

use ratatui::layout::Rect;
use tickscope_analysis::call_tree::OffCpu;

use crate::app::data::Data;
use crate::app::row::{Portion, Row, What};
use crate::app::sort::Order;
use crate::app::state::App;
use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;

/// A column, independent of the views that show it.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    /// Description of the column in the help.
    pub(crate) help: &'static str,
    /// Width in cells; 0 if the layout of the table decides.
    pub(crate) width: u16,
    /// Whether the column contains numbers, which are right-aligned.
    pub(crate) is_number: bool,
    /// Whether the column contains the names of the rows.
    pub(crate) is_name: bool,
    /// Order in which the rows are sorted after a click on the title.
    pub(crate) sort: Option<Order>,
    pub(crate) content: Content,
    /// Look of a cell, if it differs from the rest of its row.
    pub(crate) meaning: Option<fn(&Cell<'_>) -> Meaning>,
    /// Returns the title to show instead of `title` if the column has this number of cells.
    pub(crate) title_now: Option<fn(&App, u16) -> Option<String>>,
}

/// What a cell shows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    /// A value. All tables format values and their differences in the same way.
    Value(Value),
    /// Text that the view makes.
    Text(fn(&Canvas<'_>, &Cell<'_>) -> String),
    /// Something that the view draws itself.
    Drawn(fn(&mut Canvas<'_>, &Cell<'_>)),
}

/// A value of a row, as shown in a column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    /// A share of a whole.
    Share(Portion),
    /// A time that adds up over rows.
    Time(Portion),
    Calls,
    /// Calls from one function to another, and all calls to the callee.
    CallsOf,
    /// Mean total time of a call.
    Mean,
    /// Percentile of the latencies of finished calls: 99 stands for p99.
    Quantile(u8),
    /// Latency of the longest call.
    Longest,
    /// Another quantity in the chosen measure that can be summed over rows; in nanoseconds if the measure is time.
    TimeOf(fn(&Data, What) -> u64),
    /// Part of the time off the CPU, in nanoseconds, regardless of the chosen measure.
    OffCpu(fn(OffCpu) -> u64),
    /// A time that can be summed over rows, in nanoseconds, regardless of the chosen measure; `None` if unknown.
    CpuTime(fn(&Data, What) -> Option<u64>),
}

impl Value {
    pub(crate) fn is_count(self) -> bool {
        matches!(self, Self::Calls | Self::CallsOf)
    }
}

/// Columns are statics, so a column is equal only to itself.
impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

pub(crate) const fn texts(title: &'static str, help: &'static str) -> Column {
    Column {
        title,
        help,
        width: 0,
        is_number: false,
        is_name: false,
        sort: None,
        content: Content::Text(|_, _| String::new()),
        meaning: None,
        title_now: None,
    }
}

pub(crate) const fn numbers(title: &'static str, width: u16, help: &'static str) -> Column {
    let mut column = texts(title, help).wide(width);
    column.is_number = true;
    column
}

/// Returns a column that contains the names of the rows.
pub(crate) const fn names(title: &'static str, help: &'static str) -> Column {
    let mut column = texts(title, help).by(Order::NAME);
    column.is_name = true;
    column
}

impl Column {
    /// Returns the column with this value as its content.
    pub(crate) const fn of(mut self, value: Value) -> Self {
        self.content = Content::Value(value);
        self
    }

    /// Returns the column with a text as its content.
    pub(crate) const fn shows(mut self, text: fn(&Canvas<'_>, &Cell<'_>) -> String) -> Self {
        self.content = Content::Text(text);
        self
    }

    /// Returns the column with a drawing as its content.
    pub(crate) const fn drawn(mut self, draw: fn(&mut Canvas<'_>, &Cell<'_>)) -> Self {
        self.content = Content::Drawn(draw);
        self
    }

    /// Returns the column with this order, in which a click on its title sorts the rows.
    pub(crate) const fn by(mut self, order: Order) -> Self {
        self.sort = Some(order);
        self
    }

    /// Returns the column with this width in cells.
    pub(crate) const fn wide(mut self, cells: u16) -> Self {
        self.width = cells;
        self
    }

    /// Returns the column with cells that look different from the rest of their row.
    pub(crate) const fn looks(mut self, meaning: fn(&Cell<'_>) -> Meaning) -> Self {
        self.meaning = Some(meaning);
        self
    }

    /// Returns the column with a title that depends on the app's state.
    pub(crate) const fn titled(mut self, title: fn(&App, u16) -> Option<String>) -> Self {
        self.title_now = Some(title);
        self
    }

    pub(crate) fn is_share(&self) -> bool {
        matches!(self.content, Content::Value(Value::Share(_)))
    }
}

/// Number of cells that tree lines leave for a name, however deep its row is. In narrow columns, it is limited to three
/// fifths of the column.
const NAME_CELLS: u16 = 20;

/// A column at its position on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) column: &'static Column,
    /// First cell of the column.
    pub(crate) x: u16,
    pub(crate) width: u16,
}

impl Place {
    /// Returns the maximum number of cells for the tree lines before a name. Rows that would need more are not indented
    /// any further.
    pub(crate) fn tree_cells(&self) -> u16 {
        self.width - NAME_CELLS.min(self.width / 5 * 3)
    }

    /// Returns the position of a row's fold mark.
    pub(crate) fn fold_mark(&self, depth: u32) -> u16 {
        self.x + depth.saturating_mul(2).min(u32::from(self.tree_cells())) as u16
    }
}

/// State of a whole row that overrides the look of its cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) selected: bool,
    /// Whether the data is stale.
    pub(crate) stale: bool,
}

impl Look {
    /// Returns the meaning to draw a cell with: the given one, unless the row is selected or its data is stale.
    pub(crate) fn of(self, meaning: Meaning) -> Meaning {
        match (self.selected, self.stale) {
            (true, _) => Meaning::Selected,
            (false, true) => Meaning::Quiet,
            (false, false) => meaning,
        }
    }
}

/// A cell on the screen.
pub(crate) struct Cell<'a> {
    pub(crate) app: &'a App,
    pub(crate) data: &'a Data,
    pub(crate) row: &'a Row,
    pub(crate) place: Place,
    pub(crate) y: u16,
    pub(crate) look: Look,
    /// Whether the cell is the first of its row.
    pub(crate) is_first: bool,
    /// Look of the row's first cell, and of all its other cells.
    pub(crate) weights: [Meaning; 2],
    /// Whether the names of all rows fit, computed when it is first needed.
    pub(crate) names_fit: &'a OnceCell<bool>,
}

impl Cell<'_> {
    /// Returns the width in cells.
    pub(crate) fn room(&self) -> usize {
        usize::from(self.place.width)
    }

    pub(crate) fn area(&self) -> Rect {
        Rect::new(self.place.x, self.y, self.place.width, 1)
    }

    /// Returns the look that this cell has unless its column overrides it.
    pub(crate) fn usual(&self) -> Meaning {
        self.weights[usize::from(!self.is_first)]
    }

    /// Returns the look of a name: emphasized if the row matches the search, otherwise `meaning`.
    pub(crate) fn name(&self, meaning: Meaning) -> Meaning {
        match self.row.hit {
            true => Meaning::Strong,
            false => meaning,
        }
    }

    /// Shortens text to the cell's width by cutting out its middle.
    pub(crate) fn cut(&self, canvas: &Canvas<'_>, text: &str) -> String {
        canvas.cut_middle(text, self.room()).into_owned()
    }

    /// Returns whether the names of all rows fit. If any name is too long, all names are shortened in the same way.
    pub(crate) fn names_fit(&self) -> bool {
        *self.names_fit.get_or_init(|| {
            let rows = &self.app.list().rows;
            rows.iter()
                .all(|row| width(self.data.label(row.what)) <= self.room())
        })
    }

    /// Writes text. In a column of numbers, the sign or mark of a long number goes into the gap before the column, so
    /// that digits stay aligned.
    pub(crate) fn put(&self, canvas: &mut Canvas<'_>, text: &str, meaning: Meaning) {
        let (Place { column, x, width }, meaning) = (self.place, self.look.of(meaning));
        if column.is_number {
            let gap = x.min(1);
            canvas.put_right(x - gap, self.y, width + gap, text, meaning);
        } else {
            canvas.put(x, self.y, width, text, meaning);
        }
    }
}
