//! A call tree laid out as an icicle, from the top down. Each frame is as wide as its share of the time above it, in
//! whole cells.

use std::cmp::Ordering;
use tickscope_format::snapshot::saturating_sum;

use tickscope_analysis::call_tree::CallTree;

/// A frame on its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Row of the tree; for several rows that are too small for a cell each, the row above them.
    pub(crate) row: Option<u32>,
    /// Number of rows in the frame, if they are too small for a cell each; else 0.
    pub(crate) few: u32,
    /// Index of the frame above.
    pub(crate) parent: Option<u32>,
    /// Line of the frame, counted from the top.
    pub(crate) line: u32,
    /// First cell of the frame.
    pub(crate) x: u16,
    /// Number of cells of the frame.
    pub(crate) width: u16,
    /// Whether the frame has the darker tone. The tone differs from the frame at the left, or without such a frame from
    /// the frame above.
    pub(crate) darker: bool,
}

/// The frames of a graph.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// Frames line by line, from left to right. Frames of a single row are also rows of the list.
    pub(crate) all: Vec<Frame>,
    /// Index in `all` of the frame of each row of the list.
    pub(crate) of_row: Vec<u32>,
    /// Line of the row that fills the width, while it is in the tree.
    pub(crate) zoom_line: Option<usize>,
    /// Whether a frame is two rows high, because all frames fit at this height.
    pub(crate) tall: bool,
}

impl Frames {
    /// Returns the number of lines of the graph.
    pub(crate) fn lines(&self) -> usize {
        self.all.last().map_or(0, |frame| frame.line as usize + 1)
    }

    /// Returns the number of screen rows of a frame.
    pub(crate) fn rows_of_frame(&self) -> u16 {
        1 + u16::from(self.tall)
    }

    /// Returns the row of the list that a frame shows.
    pub(crate) fn row_of(&self, frame: usize) -> Option<usize> {
        self.of_row.binary_search(&(frame as u32)).ok()
    }
}

/// Lays a tree out on `width` cells. Rows above `zoom` take all cells, rows beside it none. Frames come line by line,
/// from left to right in a line; `order` orders siblings.
pub(crate) fn lay_out(
    tree: &CallTree,
    zoom: Option<u32>,
    width: u16,
    order: impl Fn(u32, u32) -> Ordering,
) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut above = Vec::new();
    let mut at = zoom;
    while let Some(row) = at {
        above.push(row);
        at = tree.rows[row as usize].parent;
    }
    for (line, &row) in above.iter().rev().enumerate() {
        frames.push(Frame {
            row: Some(row),
            few: 0,
            parent: (line as u32).checked_sub(1),
            line: line as u32,
            x: 0,
            width,
            darker: line % 2 == 1,
        });
    }
    let mut next = match zoom {
        Some(_) => frames.len() - 1,
        None => {
            let whole = tree.measured_ns();
            let space = Space {
                parent: None,
                row: None,
                line: 0,
                x: 0,
                width,
            };
            divide(tree, tree.top(), whole, &space, &order, &mut frames);
            0
        }
    };
    while let Some(&frame) = frames.get(next) {
        if let Some(row) = frame.row.filter(|_| frame.few == 0) {
            let space = Space {
                parent: Some(next as u32),
                row: frame.row,
                line: frame.line + 1,
                x: frame.x,
                width: frame.width,
            };
            let whole = tree.rows[row as usize].total_ns;
            divide(tree, tree.children(row), whole, &space, &order, &mut frames);
        }
        next += 1;
    }
    frames
}

/// Cells that siblings share.
struct Space {
    parent: Option<u32>,
    row: Option<u32>,
    line: u32,
    x: u16,
    width: u16,
}

/// Gives siblings their cells: each cell belongs to the sibling that has most of it. Siblings smaller than a cell
/// come last, in one frame. The remaining cells are the self time of the frame above.
fn divide(
    tree: &CallTree,
    siblings: &[u32],
    whole_ns: u64,
    space: &Space,
    order: &impl Fn(u32, u32) -> Ordering,
    frames: &mut Vec<Frame>,
) {
    let total = |row: u32| tree.rows[row as usize].total_ns;
    let whole = u128::from(whole_ns.max(1));
    let cells = u128::from(space.width);
    let (mut large, small): (Vec<u32>, Vec<u32>) = siblings
        .iter()
        .copied()
        .filter(|&row| total(row) > 0)
        .partition(|&row| u128::from(total(row)) * cells >= whole);
    large.sort_by(|&a, &b| order(a, b));
    let mut begun = 0;
    let mut put = |row: Option<u32>, few: u32, ns: u64| {
        // Rounds to the nearest edge of a cell.
        let edge = |ns: u128| ((2 * ns.min(whole) * cells + whole) / (2 * whole)) as u16;
        let (start, end) = (edge(begun), edge(begun + u128::from(ns)));
        begun += u128::from(ns);
        if end > start {
            let beside = frames.last().filter(|last| last.line == space.line);
            let beside = beside.filter(|last| last.x + last.width == space.x + start);
            let above = space.parent.is_none_or(|parent| frames[parent as usize].darker);
            let darker = !beside.map_or(above, |beside| beside.darker);
            frames.push(Frame {
                row,
                few,
                parent: space.parent,
                line: space.line,
                x: space.x + start,
                width: end - start,
                darker,
            });
        }
    };
    for row in large {
        put(Some(row), 0, total(row));
    }
    if !small.is_empty() {
        put(
            space.row,
            small.len() as u32,
            saturating_sum(small.iter().map(|&row| total(row))),
        );
    }
}
