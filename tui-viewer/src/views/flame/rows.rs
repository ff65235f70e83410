//! The frames of the graph as rows.

use crate::app::data::Data;
use crate::app::flame_layout::{Frames, lay_out};
use crate::app::listing::{Listing, Shape};
use crate::app::row::{Fold, Row, RowId, What};
use crate::keys::view::View;

/// Returns the largest of the outermost frames, where a selection begins.
pub(crate) fn largest<'a>(data: &Data, rows: &'a [Row]) -> Option<&'a Row> {
    let end = rows.partition_point(|row| row.depth == 0);
    // Of equal frames the first wins.
    rows[..end]
        .iter()
        .rev()
        .max_by_key(|row| data.figures(row.what).total_ns)
}

/// Lays out the tree of the data and returns the rows of the list. The lowest row of `zoom` that is still in the tree fills
/// the width.
pub(crate) fn list(data: &Data, shape: &Shape<'_>, zoom: &[RowId], (width, height): (u16, u16)) -> Listing {
    let tree = &data.tree;
    let zoom = zoom.iter().rev().find_map(|id| {
        let found = tree.rows.iter().position(|row| RowId::Path(row.path) == *id)?;
        Some(found as u32)
    });
    // The order is by name, so that no frame changes places while times change.
    let all = lay_out(tree, zoom, width, |a, b| {
        let (a, b) = (View::Tree.row(a), View::Tree.row(b));
        data.label(a)
            .cmp(data.label(b))
            .then_with(|| data.full_name(a).cmp(data.full_name(b)))
    });
    let mut frames = Frames {
        all,
        zoom_line: zoom.map(|row| tree.rows[row as usize].depth as usize),
        ..Frames::default()
    };
    frames.tall = 2 * frames.lines() <= usize::from(height);
    let mut out = Listing::default();
    let mut row_of_frame = vec![None; frames.all.len()];
    for (index, frame) in frames.all.iter().enumerate() {
        let Some(row) = frame.row.filter(|_| frame.few == 0) else {
            continue;
        };
        let what = View::Tree.row(row);
        row_of_frame[index] = Some(out.rows.len() as u32);
        frames.of_row.push(index as u32);
        out.rows.push(Row {
            id: data.id(what),
            what,
            depth: frame.line,
            parent: frame.parent.and_then(|parent| row_of_frame[parent as usize]),
            last: false,
            fold: Fold::Leaf,
            hit: shape.matcher.is_some_and(|filter| filter.hits(data, what)),
        });
    }
    if let Some(filter) = shape.matcher {
        let all = View::Tree.rows(0..tree.rows.len() as u32).into_iter();
        out.hits = all.filter(|&what| filter.hits(data, what)).collect();
        let selected = |what: &&What| Some(data.id(**what)) == shape.selected;
        out.before = match out.rows.iter().find(|row| Some(row.id) == shape.selected) {
            Some(row) => out.hits.partition_point(|hit| hit.row < row.what.row),
            None => out.hits.iter().position(|what| selected(&what)).unwrap_or(0),
        };
    }
    out.frames = Some(frames);
    out
}
