//! A column of a table: its title, its cells, and their order; and a cell of it on the screen.

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

/// A column, without the views that have it.
#[derive(Debug)]
pub(crate) struct Column {
    /// Title above the column.
    pub(crate) title: &'static str,
    /// Text for the help.
    pub(crate) help: &'static str,
    /// Cells of the column; 0 if the layout of its table decides.
    pub(crate) width: u16,
    /// Whether the text is a number, which stands on the right.
    pub(crate) is_number: bool,
    /// Whether the column has the names of the rows.
    pub(crate) is_name: bool,
    /// Order that the title sorts by.
    pub(crate) sort: Option<Order>,
    /// Content of a cell.
    pub(crate) content: Content,
    /// Look of a cell, if it is not the look of the row.
    pub(crate) meaning: Option<fn(&Cell<'_>) -> Meaning>,
    /// Title in place of the usual title, for this number of cells.
    pub(crate) title_now: Option<fn(&App, u16) -> Option<String>>,
}

/// Content of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    /// A value. Numbers and differences are formatted alike in all tables.
    Value(Value),
    /// A text of the view's own.
    Text(fn(&Canvas<'_>, &Cell<'_>) -> String),
    /// More than a text.
    Drawn(fn(&mut Canvas<'_>, &Cell<'_>)),
}

/// Value of a row that a column shows.
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
    /// Latency that this percentage of the finished calls did not exceed.
    Quantile(u8),
    /// The longest call.
    Longest,
    /// Another value of the measure that adds up over rows, given in nanoseconds.
    TimeOf(fn(&Data, What) -> u64),
    /// Part of the time off the CPU under any measure, in nanoseconds.
    OffCpu(fn(OffCpu) -> u64),
    /// Time that adds up over rows under any measure, in nanoseconds; `None` if it is not known.
    CpuTime(fn(&Data, What) -> Option<u64>),
}

impl Value {
    /// Whether the value is a number of calls.
    pub(crate) fn is_count(self) -> bool {
        matches!(self, Self::Calls | Self::CallsOf)
    }
}

/// Columns are static: each is equal to itself alone.
impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// Returns a column of texts.
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

/// Returns a column of numbers.
pub(crate) const fn numbers(title: &'static str, width: u16, help: &'static str) -> Column {
    let mut column = texts(title, help).wide(width);
    column.is_number = true;
    column
}

/// Returns the column of the names of the rows.
pub(crate) const fn names(title: &'static str, help: &'static str) -> Column {
    let mut column = texts(title, help).by(Order::NAME);
    column.is_name = true;
    column
}

impl Column {
    /// Returns the same column with a value.
    pub(crate) const fn of(mut self, value: Value) -> Self {
        self.content = Content::Value(value);
        self
    }

    /// Returns the same column with a text.
    pub(crate) const fn shows(mut self, text: fn(&Canvas<'_>, &Cell<'_>) -> String) -> Self {
        self.content = Content::Text(text);
        self
    }

    /// Returns the same column with a drawing.
    pub(crate) const fn drawn(mut self, draw: fn(&mut Canvas<'_>, &Cell<'_>)) -> Self {
        self.content = Content::Drawn(draw);
        self
    }

    /// Returns the same column with a title that sorts.
    pub(crate) const fn by(mut self, order: Order) -> Self {
        self.sort = Some(order);
        self
    }

    /// Returns the same column with this number of cells.
    pub(crate) const fn wide(mut self, cells: u16) -> Self {
        self.width = cells;
        self
    }

    /// Returns the same column with a look of its own.
    pub(crate) const fn looks(mut self, meaning: fn(&Cell<'_>) -> Meaning) -> Self {
        self.meaning = Some(meaning);
        self
    }

    /// Returns the same column with another title at some times.
    pub(crate) const fn titled(mut self, title: fn(&App, u16) -> Option<String>) -> Self {
        self.title_now = Some(title);
        self
    }

    /// Whether the column shows a share of a whole.
    pub(crate) fn is_share(&self) -> bool {
        matches!(self.content, Content::Value(Value::Share(_)))
    }
}

/// Cells that a name keeps at any depth of the tree, but at most three fifths of its column.
const NAME_CELLS: u16 = 20;

/// A column on its cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    /// Column that is shown.
    pub(crate) column: &'static Column,
    /// First cell of the column.
    pub(crate) x: u16,
    /// Number of cells of the column.
    pub(crate) width: u16,
}

impl Place {
    /// Returns the maximum number of cells for the tree lines before a name; deeper rows are indented no further.
    pub(crate) fn tree_cells(&self) -> u16 {
        self.width - NAME_CELLS.min(self.width / 5 * 3)
    }

    /// Returns the cell of the mark that folds a row.
    pub(crate) fn fold_mark(&self, depth: u32) -> u16 {
        self.x + depth.saturating_mul(2).min(u32::from(self.tree_cells())) as u16
    }
}

/// Look of a whole row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Whether the row is selected.
    pub(crate) selected: bool,
    /// Whether the data is old.
    pub(crate) stale: bool,
}

impl Look {
    /// Returns the meaning of a cell: the same for all cells of the selected row, and of old data.
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
    /// Look of the first cell of the row, and of the other cells.
    pub(crate) weights: [Meaning; 2],
    /// Whether all names of the list fit; made when first asked for.
    pub(crate) names_fit: &'a OnceCell<bool>,
}

impl Cell<'_> {
    /// Returns the number of cells.
    pub(crate) fn room(&self) -> usize {
        usize::from(self.place.width)
    }

    /// Returns the area on the screen.
    pub(crate) fn area(&self) -> Rect {
        Rect::new(self.place.x, self.y, self.place.width, 1)
    }

    /// Returns the look of the row at this cell.
    pub(crate) fn usual(&self) -> Meaning {
        self.weights[usize::from(!self.is_first)]
    }

    /// Returns the look of a name: strong if the search found the row, else `meaning`.
    pub(crate) fn name(&self, meaning: Meaning) -> Meaning {
        match self.row.hit {
            true => Meaning::Strong,
            false => meaning,
        }
    }

    /// Shortens a text in its middle to the cells.
    pub(crate) fn cut(&self, canvas: &Canvas<'_>, text: &str) -> String {
        canvas.cut_middle(text, self.room()).into_owned()
    }

    /// Whether the names of all rows of the list fit. If any does not, all names are shortened alike.
    pub(crate) fn names_fit(&self) -> bool {
        *self.names_fit.get_or_init(|| {
            let rows = &self.app.list().rows;
            rows.iter()
                .all(|row| width(self.data.label(row.what)) <= self.room())
        })
    }

    /// Writes a text. A sign or a mark before a long number stands in the gap, so that the number keeps its place.
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
