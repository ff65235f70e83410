//! Divides the cells of a line among columns. Positions depend only on the view and the width, so columns do not move
//! when the data changes.

use crate::ui::view::column::{Column, Place};

/// Width that a column requests.
#[derive(Clone, Copy)]
pub(crate) enum Width {
    /// The column's `width`.
    Own,
    /// This number of cells.
    Cells(u16),
    /// A share of the cells that are left over by the other columns, in proportion to this number.
    Parts(u16),
}

/// Columns from left to right, each with its width and the minimum line width at which it is shown.
pub(crate) type Columns = [(&'static Column, Width, u16)];

/// Percentage of a line that is meant for names.
const NAME_PERCENT: u16 = 45;

/// Returns whether `name` cells are at least [`NAME_PERCENT`] of a line.
pub(crate) fn has_its_part(name: u16, width: u16) -> bool {
    u32::from(name) * 100 >= u32::from(width) * u32::from(NAME_PERCENT)
}

/// Positions columns so that the columns with names together take up at least [`NAME_PERCENT`] of the line. To make
/// room, leaves out the columns in `leaving`, in that order, until the names have enough. `place` positions all columns
/// except those passed to it.
pub(crate) fn names_first(
    names: &[&'static Column],
    leaving: &[&'static Column],
    width: u16,
    place: impl Fn(&[&'static Column]) -> Vec<Place>,
) -> Vec<Place> {
    let mut left = 0;
    loop {
        let places = place(&leaving[..left]);
        let names = places.iter().filter(|place| names.contains(&place.column));
        let cells = names.map(|place| place.width).sum();
        if left == leaving.len() || has_its_part(cells, width) {
            return places;
        }
        left += 1;
    }
}

/// Positions columns next to each other, leaving out some of them to make room for names; see [`names_first`].
pub(crate) fn side_by_side_names_first(
    columns: &Columns,
    names: &[&'static Column],
    leaving: &[&'static Column],
    width: u16,
) -> Vec<Place> {
    names_first(names, leaving, width, |gone| {
        let stay = columns.iter();
        let stay = stay.filter(|(column, _, from)| width >= *from && !gone.contains(column));
        side_by_side(&stay.copied().collect::<Vec<_>>(), width)
    })
}

/// Returns the number of cells between two columns.
pub(crate) fn gap(width: u16) -> u16 {
    if width >= 110 { 2 } else { 1 }
}

/// Positions columns next to each other in `width` cells.
fn side_by_side(columns: &Columns, width: u16) -> Vec<Place> {
    let gap = gap(width);
    let cells = |&(column, width, _): &(&Column, Width, u16)| match width {
        Width::Own => column.width,
        Width::Cells(cells) => cells,
        Width::Parts(_) => 0,
    };
    let parts = |&(_, width, _): &(&Column, Width, u16)| match width {
        Width::Parts(parts) => parts,
        Width::Own | Width::Cells(_) => 0,
    };
    // The first cell is for the mark of the selected row, and the last cell stays empty.
    let taken =
        gap + 1 + columns.iter().map(cells).sum::<u16>() + gap * columns.len().saturating_sub(1) as u16;
    let left = u32::from(width.saturating_sub(taken));
    let all: u16 = columns.iter().map(parts).sum();
    let mut x = gap;
    let place = |column: &(&'static Column, Width, u16)| {
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
    columns.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;

    use super::*;
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
                let names = places.iter().filter(|place| place.column.is_name);
                let cells = names.map(|name| name.width).min().unwrap_or(0);
                let halves = halves(Rect::new(0, 0, width, 1)).filter(|_| view == View::Function);
                // If two lists are side by side, each has half of the line.
                let line = halves.map_or(width, |[first, _]| first.width);
                // The NOW column names the function that a thread is in, so it counts as a name.
                let doing = places.iter().find(|place| place.column.title == "NOW");
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
