//! The division of a line's cells among columns. Places depend on view and width alone, so no column moves by itself.

use crate::ui::view::column::{Column, Place};

/// The cells that a column asks for.
#[derive(Clone, Copy)]
pub(crate) enum Width {
    /// The column's own number of cells.
    Own,
    /// This number of cells.
    Cells(u16),
    /// This number of parts of the cells that all other columns leave.
    Parts(u16),
}

/// Columns from left to right, each with its cells and the minimum width of the line in which it is shown.
pub(crate) type Columns = [(&'static Column, Width, u16)];

/// A name has at least this part of the line, in percent.
const NAME_PERCENT: u16 = 45;

/// Whether a name of `name` cells has its part of a line.
pub(crate) fn has_its_part(name: u16, width: u16) -> bool {
    u32::from(name) * 100 >= u32::from(width) * u32::from(NAME_PERCENT)
}

/// Places columns so that names together have their part of the line. Until they have it, columns are left out in the
/// order of `leaving`. `place` places all columns except the given ones.
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

/// Puts columns side by side, names first served: see [`names_first`].
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

/// Puts columns side by side on `width` cells.
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
    // The first cell belongs to the mark of the selected row, the last one stays empty.
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
                // Two lists side by side each have their own line.
                let line = halves.map_or(width, |[first, _]| first.width);
                // The function that a thread is in is a name as well.
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
