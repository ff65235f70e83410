//! Which columns stand where at which width. Positions depend on view and width alone, so nothing jitters.

pub(crate) mod column;
mod tables;

use crate::app::columns::column::{Column, Place, gap};
use crate::app::sort::SortKey;
use crate::app::view::View;

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
