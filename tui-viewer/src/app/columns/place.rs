//! The place of a column, and the division of a line's cells among columns.

/// A column on its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place<C> {
    /// Column that is shown.
    pub(crate) column: C,
    /// First cell of the column.
    pub(crate) x: u16,
    /// Number of cells of the column.
    pub(crate) width: u16,
}

impl<C> Place<C> {
    /// Returns the same place with another column.
    pub(super) fn map<D>(self, make: impl FnOnce(C) -> D) -> Place<D> {
        Place {
            column: make(self.column),
            x: self.x,
            width: self.width,
        }
    }
}

/// The cells that a column asks for.
#[derive(Clone, Copy)]
pub(super) enum Width {
    /// Number of cells of the column's own.
    Own,
    /// This number of cells.
    Cells(u16),
    /// This number of parts of the cells that all other columns leave.
    Parts(u16),
}

/// A name has at least this part of the line, in percent.
pub(crate) const NAME_PERCENT: u16 = 45;

/// Whether a name has its part of a line.
pub(super) fn has_its_part(name: u16, width: u16) -> bool {
    u32::from(name) * 100 >= u32::from(width) * u32::from(NAME_PERCENT)
}

/// Places columns so that names together have their part of the line. Until then the least needed columns leave, in
/// the order of `leaving`. `place` places all columns except the given ones, which have left.
pub(super) fn names_first<C: Copy + PartialEq>(
    names: &[C],
    leaving: &[C],
    width: u16,
    place: impl Fn(&[C]) -> Vec<Place<C>>,
) -> Vec<Place<C>> {
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
pub(super) fn side_by_side_names_first<C: Copy + PartialEq>(
    columns: &[(C, Width)],
    names: &[C],
    leaving: &[C],
    width: u16,
    own: impl Fn(C) -> u16,
) -> Vec<Place<C>> {
    names_first(names, leaving, width, |gone| {
        let stay = columns.iter().filter(|(column, _)| !gone.contains(column));
        side_by_side(&stay.copied().collect::<Vec<_>>(), width, &own)
    })
}

/// Returns the number of cells between two columns.
pub(crate) fn gap(width: u16) -> u16 {
    if width >= 110 { 2 } else { 1 }
}

/// Puts columns side by side on `width` cells; `own` returns the number of cells of a column's own.
pub(super) fn side_by_side<C: Copy>(
    columns: &[(C, Width)],
    width: u16,
    own: impl Fn(C) -> u16,
) -> Vec<Place<C>> {
    let gap = gap(width);
    let cells = |&(column, width): &(C, Width)| match width {
        Width::Own => own(column),
        Width::Cells(cells) => cells,
        Width::Parts(_) => 0,
    };
    let parts = |&(_, width): &(C, Width)| match width {
        Width::Parts(parts) => parts,
        Width::Own | Width::Cells(_) => 0,
    };
    // The first cell belongs to the mark of the selected row, the last one stays empty.
    let taken =
        gap + 1 + columns.iter().map(cells).sum::<u16>() + gap * columns.len().saturating_sub(1) as u16;
    let left = u32::from(width.saturating_sub(taken));
    let all: u16 = columns.iter().map(parts).sum();
    let mut x = gap;
    let mut place = |column: &(C, Width)| {
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
    columns.iter().map(&mut place).collect()
}
