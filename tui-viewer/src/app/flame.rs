//! The flame graph: which part of the call tree is on the screen, and how to move through it. The call tree is drawn
//! from the top down, as an icicle graph. Each frame takes the same share of its parent's width as of its parent's
//! time, rounded to whole cells.

use std::cmp::Ordering;

use tickscope_analysis::call_tree::CallTree;
use tickscope_format::snapshot::saturating_sum;

use crate::app::row::RowId;

/// Part of the graph on the screen, and its frames.
#[derive(Debug, Default)]
pub(crate) struct Flame {
    /// Ids of the ancestors of the row that fills the width, followed by the id of that row. Empty if the whole tree
    /// fills the width.
    pub(crate) zoom: Vec<RowId>,
    /// Index of the first line on the screen.
    pub(crate) top: usize,
    /// Frames on the screen.
    pub(crate) frames: Frames,
    /// What the colours of frames mean.
    pub(crate) colour: FlameColour,
}

/// What the colours of frames mean while nothing is being compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FlameColour {
    /// The module of the function.
    #[default]
    Module,
    /// Self time of the function.
    Own,
}

impl Flame {
    /// Returns the frame that belongs to a row of the list.
    pub(crate) fn frame(&self, row: usize) -> Option<&Frame> {
        self.frames.all.get(*self.frames.of_row.get(row)? as usize)
    }

    /// Returns the row of the list whose frame covers this cell. If the frame stands for several small rows, returns
    /// their parent.
    pub(crate) fn row_under(&self, x: u16, line: u32) -> Option<usize> {
        let under = |frame: &&Frame| frame.line == line && (frame.x..frame.x + frame.width).contains(&x);
        let at = self.frames.all.iter().position(|frame| under(&frame))?;
        let frame = &self.frames.all[at];
        self.frames.row_of(if frame.few == 0 {
            at
        } else {
            frame.parent? as usize
        })
    }

    /// Whether a single row of the tree fills the width of the screen.
    pub(crate) fn is_zoomed(&self) -> bool {
        self.frames.zoom_line.is_some()
    }

    /// Scrolls the graph by this number of lines.
    pub(crate) fn scroll(&mut self, lines: isize, page: usize) {
        self.top = self.top.saturating_add_signed(lines);
        self.top = self.top.min(self.frames.lines().saturating_sub(page));
    }

    /// Scrolls the graph as little as needed to show a line.
    pub(crate) fn show(&mut self, line: usize, page: usize) {
        let page = page.max(1);
        self.top = self.top.clamp((line + 1).saturating_sub(page), line);
    }
}

/// A frame and the cells that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Row of the tree that the frame shows. If the frame stands for several rows that are each too small for a cell,
    /// this is their parent, or `None` at the top of the tree.
    pub(crate) row: Option<u32>,
    /// Number of rows that the frame stands for if they are each too small for a cell; 0 if it shows a single row.
    pub(crate) few: u32,
    /// Index of the frame above.
    pub(crate) parent: Option<u32>,
    /// Line of the frame, counted from the top.
    pub(crate) line: u32,
    /// First cell of the frame.
    pub(crate) x: u16,
    /// Number of cells of the frame.
    pub(crate) width: u16,
    /// Whether the frame has the darker of the two tones. Its tone differs from its left neighbour or, if it has none,
    /// from the frame above.
    pub(crate) darker: bool,
}

/// The frames of a graph.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// All frames, line by line and from left to right. A frame that shows a single row is also a row of the list.
    pub(crate) all: Vec<Frame>,
    /// For each row of the list, the index of its frame in `all`.
    pub(crate) of_row: Vec<u32>,
    /// Line of the row that fills the width; `None` if the whole tree fills it, or if the row no longer exists.
    pub(crate) zoom_line: Option<usize>,
    /// Whether frames are two screen rows high, because all of them fit at that height.
    pub(crate) tall: bool,
}

impl Frames {
    /// Returns the number of lines of the graph.
    pub(crate) fn lines(&self) -> usize {
        self.all.last().map_or(0, |frame| frame.line as usize + 1)
    }

    /// Returns the height of a frame in screen rows.
    pub(crate) fn rows_of_frame(&self) -> u16 {
        1 + u16::from(self.tall)
    }

    /// Returns the row of the list that a frame shows.
    pub(crate) fn row_of(&self, frame: usize) -> Option<usize> {
        self.of_row.binary_search(&(frame as u32)).ok()
    }
}

/// Lays out a tree over a width of `width` cells. The row `zoom` and its ancestors fill the width, and their siblings
/// get no frames. Siblings are in the order given by `order`. The frames are returned line by line, from left to right.
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
            divide(tree, None, width, &order, &mut frames);
            0
        }
    };
    while let Some(&frame) = frames.get(next) {
        if frame.few == 0 {
            divide(tree, Some(next as u32), width, &order, &mut frames);
        }
        next += 1;
    }
    frames
}

/// Divides the cells of a frame, or of the whole width, among its children. Each cell goes to the child that covers
/// most of it. Children smaller than a cell share the last frame. Cells that are left over represent the self time of
/// the parent.
fn divide(
    tree: &CallTree,
    parent: Option<u32>,
    width: u16,
    order: &impl Fn(u32, u32) -> Ordering,
    frames: &mut Vec<Frame>,
) {
    let total = |row: u32| tree.rows[row as usize].total_ns;
    let above = parent.map(|parent| frames[parent as usize]);
    let row_above = above.and_then(|above| above.row);
    let (siblings, whole_ns) = match row_above {
        Some(row) => (tree.children(row), total(row)),
        None => (tree.top(), tree.measured_ns()),
    };
    let (line, x, width) = above.map_or((0, 0, width), |above| (above.line + 1, above.x, above.width));
    let whole = u128::from(whole_ns.max(1));
    let cells = u128::from(width);
    let (mut large, small): (Vec<u32>, Vec<u32>) = siblings
        .iter()
        .copied()
        .filter(|&row| total(row) > 0)
        .partition(|&row| u128::from(total(row)) * cells >= whole);
    large.sort_by(|&a, &b| order(a, b));
    let mut begun = 0;
    let mut put = |row: Option<u32>, few: u32, ns: u64| {
        // Round to the nearest boundary between cells.
        let edge = |ns: u128| ((2 * ns.min(whole) * cells + whole) / (2 * whole)) as u16;
        let (start, end) = (edge(begun), edge(begun + u128::from(ns)));
        begun += u128::from(ns);
        if end > start {
            let beside = frames.last().filter(|last| last.line == line);
            let beside = beside.filter(|last| last.x + last.width == x + start);
            let darker = !beside.or(above.as_ref()).is_none_or(|frame| frame.darker);
            frames.push(Frame {
                row,
                few,
                parent,
                line,
                x: x + start,
                width: end - start,
                darker,
            });
        }
    };
    for row in large {
        put(Some(row), 0, total(row));
    }
    if !small.is_empty() {
        let ns = saturating_sum(small.iter().map(|&row| total(row)));
        put(row_above, small.len() as u32, ns);
    }
}
