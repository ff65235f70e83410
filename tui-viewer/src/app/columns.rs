//! Columns of each table by width. Their positions depend on view and width alone, so no column moves by itself.
//!
//! Each table has an enum of its columns, with the [`spec::ColumnSpec`] of each and the columns of each width.

pub(crate) mod functions;
pub(crate) mod place;
pub(crate) mod sites;
pub(crate) mod slow;
pub(crate) mod spec;
pub(crate) mod tails;
pub(crate) mod tasks;
pub(crate) mod threads;

use crate::app::columns::functions::FunctionColumn;
use crate::app::columns::place::Place;
use crate::app::columns::sites::SiteColumn;
use crate::app::columns::slow::SlowColumn;
use crate::app::columns::spec::ColumnSpec;
use crate::app::columns::tasks::TaskColumn;
use crate::app::columns::threads::ThreadColumn;
use crate::app::sort::SortKey;

/// A column of any table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// Column of the lists of functions.
    Function(FunctionColumn),
    /// Column of the list of threads.
    Thread(ThreadColumn),
    /// Column of the list of sites.
    Site(SiteColumn),
    /// Column of the tree of tasks.
    Task(TaskColumn),
    /// Column of the paths of a watched function.
    Slow(SlowColumn),
}

impl Column {
    /// Returns all columns, table by table, in the order of the help.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let functions = FunctionColumn::ALL.into_iter().map(Self::Function);
        let threads = ThreadColumn::ALL.into_iter().map(Self::Thread);
        functions
            .chain(threads)
            .chain(SiteColumn::ALL.into_iter().map(Self::Site))
            .chain(TaskColumn::ALL.into_iter().map(Self::Task))
            .chain(SlowColumn::ALL.into_iter().map(Self::Slow))
    }

    /// Returns the description of the column.
    pub(crate) const fn spec(self) -> ColumnSpec {
        match self {
            Self::Function(column) => column.spec(),
            Self::Thread(column) => column.spec(),
            Self::Site(column) => column.spec(),
            Self::Task(column) => column.spec(),
            Self::Slow(column) => column.spec(),
        }
    }
}

/// Cells that a name keeps of its column, but at most three of five, at any depth.
const NAME_CELLS: u16 = 20;

/// Returns the cells for the lines that lead to a name; the deepest rows share the cells that the name leaves.
pub(crate) fn tree_cells<C>(name: &Place<C>) -> u16 {
    name.width - NAME_CELLS.min(name.width / 5 * 3)
}

/// Returns the cell of the mark that folds a row.
pub(crate) fn fold_mark<C>(name: &Place<C>, depth: u32) -> u16 {
    name.x + depth.saturating_mul(2).min(u32::from(tree_cells(name))) as u16
}

/// Returns the column of the sort key. For differences it is the number itself, because a share has a different whole
/// at each time.
pub(crate) fn sorting(places: &[Place<Column>], key: SortKey, compares: bool) -> Option<Column> {
    let mut columns = places
        .iter()
        .map(|place| place.column)
        .filter(|column| column.spec().sort == Some(key));
    let first = columns.next()?;
    match compares && first.spec().is_share() {
        true => columns.next().or(Some(first)),
        false => Some(first),
    }
}

/// Returns places of columns of one table as places of columns of any table.
pub(crate) fn of_any<C>(places: Vec<Place<C>>, make: impl Fn(C) -> Column) -> Vec<Place<Column>> {
    places.into_iter().map(|place| place.map(&make)).collect()
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;

    use super::*;
    use crate::app::columns::place::has_its_part;
    use crate::app::layout::halves;
    use crate::keys::view::View;

    #[test]
    fn columns_stand_side_by_side_at_every_width() {
        for view in View::ALL {
            for width in 20..300 {
                let places = view.kind().columns(width);
                let mut x = 1;
                for place in &places {
                    assert!(place.x >= x, "{view:?} {width} {place:?}");
                    x = place.x + place.width + 1;
                }
                assert!(x <= width + 1, "{view:?} {width}");
                let is_name = |column| {
                    matches!(
                        column,
                        Column::Function(FunctionColumn::Name)
                            | Column::Thread(ThreadColumn::Thread)
                            | Column::Site(SiteColumn::Name)
                            | Column::Task(TaskColumn::Name)
                            | Column::Slow(SlowColumn::Name)
                    )
                };
                let names = places.iter().filter(|place| is_name(place.column));
                let cells = names.map(|name| name.width).min().unwrap_or(0);
                let halves = halves(Rect::new(0, 0, width, 1)).filter(|_| view == View::Function);
                // Two lists side by side each have their own line.
                let line = halves.map_or(width, |[first, _]| first.width);
                // The function that a thread is in is a name as well.
                let doing = places
                    .iter()
                    .find(|place| place.column == Column::Thread(ThreadColumn::Now));
                let all = cells + doing.map_or(0, |doing| doing.width);
                let has_names = !matches!(view, View::Flame | View::Timeline);
                assert!(
                    !has_names || width < 40 || has_its_part(all, line),
                    "{view:?} {width}: names have {all}"
                );
                assert!(cells >= 10 || !has_names, "{view:?} {width}: {cells}");
            }
        }
    }
}
