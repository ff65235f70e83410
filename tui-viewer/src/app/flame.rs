//! The flame graph: what of the call tree is on the screen, and how one moves through it.

use crate::app::Model;
use crate::app::data::{Data, What};
use crate::app::flame_layout::{Frame, icicle};
use crate::app::listing::{Listing, Shape};
use crate::app::row::{Fold, Row, RowId};
use crate::keys::keymap::Action;

/// When zoomed in, what is above the frame gets at most this part of the screen.
const ABOVE_PART: usize = 3;

/// Which part of the graph is on the screen, and what stands there.
#[derive(Debug, Default)]
pub(crate) struct Flame {
    /// What fills the width, and all above it, itself last; nothing where all of the tree does.
    zoom: Vec<RowId>,
    /// The first line on the screen.
    pub(crate) top: usize,
    /// Line by line from left to right. The rows of the list are those of them that are one function.
    pub(crate) frames: Vec<Frame>,
    /// The frame of each row of the list.
    frame_of_row: Vec<u32>,
    /// The line of what fills the width, while something of it is there.
    zoom_line: Option<usize>,
}

/// The largest of the outermost frames: the place to begin.
pub(super) fn largest<'a>(data: &Data, rows: &'a [Row]) -> Option<&'a Row> {
    let end = rows.partition_point(|row| row.depth == 0);
    // Of equal ones the first.
    rows[..end]
        .iter()
        .rev()
        .max_by_key(|row| data.figures(row.what).total_ns)
}

// === impl Flame ===

impl Flame {
    /// Lays the tree of the data out and gives the rows of the list.
    pub(crate) fn list(&mut self, data: &Data, shape: &Shape<'_>, width: u16) -> Listing {
        let tree = &data.tree;
        // Of what filled the width, as much as is still there.
        let zoom = self.zoom.iter().rev().find_map(|id| {
            let found = tree.rows.iter().position(|row| RowId::Path(row.path) == *id)?;
            Some(found as u32)
        });
        // By name, so that nothing changes places while times change.
        self.frames = icicle(tree, zoom, width, |a, b| {
            let (a, b) = (What::Tree(a), What::Tree(b));
            data.label(a)
                .cmp(data.label(b))
                .then_with(|| data.full_name(a).cmp(data.full_name(b)))
        });
        self.zoom_line = zoom.map(|row| tree.rows[row as usize].depth as usize);
        let mut out = Listing::default();
        let mut row_of_frame = vec![None; self.frames.len()];
        self.frame_of_row.clear();
        for (index, frame) in self.frames.iter().enumerate() {
            let Some(row) = frame.row.filter(|_| frame.few == 0) else {
                continue;
            };
            let what = What::Tree(row);
            row_of_frame[index] = Some(out.rows.len() as u32);
            self.frame_of_row.push(index as u32);
            out.rows.push(Row {
                id: data.id(what),
                what,
                depth: frame.line,
                parent: frame.parent.and_then(|parent| row_of_frame[parent as usize]),
                last: false,
                fold: Fold::Leaf,
                hit: shape.filter.is_some_and(|filter| filter.hits(data, what)),
            });
        }
        if let Some(filter) = shape.filter {
            let all = (0..tree.rows.len() as u32).map(What::Tree);
            out.hits = all.filter(|&what| filter.hits(data, what)).collect();
            let selected = |what: &&What| Some(data.id(**what)) == shape.selected;
            out.before = match out.rows.iter().find(|row| Some(row.id) == shape.selected) {
                Some(row) => out
                    .hits
                    .partition_point(|&hit| index_of(hit) < index_of(row.what)),
                None => out.hits.iter().position(|what| selected(&what)).unwrap_or(0),
            };
        }
        out
    }

    /// The frame of a row of the list.
    pub(crate) fn frame(&self, row: usize) -> Option<&Frame> {
        self.frames.get(*self.frame_of_row.get(row)? as usize)
    }

    /// The row of the list that a frame is, or that stands above several small ones.
    fn row_under(&self, x: u16, line: u32) -> Option<usize> {
        let under = |frame: &&Frame| frame.line == line && (frame.x..frame.x + frame.width).contains(&x);
        let at = self.frames.iter().position(|frame| under(&frame))?;
        let frame = &self.frames[at];
        self.row_of(if frame.few == 0 {
            at
        } else {
            frame.parent? as usize
        })
    }

    /// The row of the list that a frame is.
    pub(crate) fn row_of(&self, frame: usize) -> Option<usize> {
        self.frame_of_row.binary_search(&(frame as u32)).ok()
    }

    /// Not all of the tree is on the screen's width.
    pub(crate) fn is_zoomed(&self) -> bool {
        self.zoom_line.is_some()
    }

    /// Lines of the graph.
    pub(crate) fn lines(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.line as usize + 1)
    }

    /// Moves the graph under the screen.
    pub(super) fn scroll(&mut self, lines: isize, page: usize) {
        self.top = self.top.saturating_add_signed(lines);
        self.top = self.top.min(self.lines().saturating_sub(page));
    }

    /// Moves it as little as needed to show a line.
    fn show(&mut self, line: usize, page: usize) {
        let page = page.max(1);
        self.top = self.top.clamp((line + 1).saturating_sub(page), line);
    }
}

fn index_of(what: What) -> u32 {
    if let What::Tree(row) = what { row } else { u32::MAX }
}

// === impl Model ===

impl Model {
    /// New rows: the graph may have become flatter.
    pub(super) fn flame_settle(&mut self) {
        let page = self.page();
        self.flame.scroll(0, page);
    }

    fn flame_select(&mut self, row: usize) {
        self.select(row);
        let page = self.page();
        if let Some(line) = self.flame.frame(row).map(|frame| frame.line as usize) {
            self.flame.show(line, page);
        }
    }

    /// Up to who calls, down to the largest that is called, and further.
    pub(super) fn flame_travel(&mut self, action: Action) {
        let page = self.page().max(1);
        let is = |some: [Action; 2]| some.contains(&action);
        let steps = if is([Action::PageUp, Action::PageDown]) {
            page
        } else if is([Action::HalfUp, Action::HalfDown]) {
            (page / 2).max(1)
        } else if is([Action::First, Action::Last]) {
            self.flame.lines()
        } else {
            1
        };
        let up = matches!(
            action,
            Action::Up | Action::PageUp | Action::HalfUp | Action::First
        );
        if action == Action::Up && self.zoom_up() {
            return;
        }
        for _ in 0..steps {
            let at = self.list().cursor.index;
            let to = if up {
                self.flame_above(at)
            } else {
                self.flame_below(at)
            };
            let Some(to) = to else { break };
            self.flame_select(to);
        }
    }

    /// Who calls; above what fills the width only a step of its own leads.
    fn flame_above(&self, row: usize) -> Option<usize> {
        let row = self.list().rows.get(row)?;
        let at_zoom = Some(row.depth as usize) == self.flame.zoom_line;
        row.parent.filter(|_| !at_zoom).map(|parent| parent as usize)
    }

    fn flame_below(&self, row: usize) -> Option<usize> {
        let data = self.data.as_ref()?;
        let rows = self.list().rows.iter().enumerate();
        let children = rows.filter(|(_, below)| below.parent == Some(row as u32));
        // Of equal ones the first.
        let largest = children
            .rev()
            .max_by_key(|(_, below)| data.figures(below.what).total_ns);
        largest.map(|(index, _)| index)
    }

    /// To the frame beside it on its line.
    pub(super) fn flame_beside(&mut self, step: isize) {
        let (rows, at) = (&self.list().rows, self.list().cursor.index);
        let line = rows.get(at).map(|row| row.depth);
        let to = at.checked_add_signed(step);
        if let Some(to) = to.filter(|&to| line.is_some() && rows.get(to).map(|row| row.depth) == line) {
            self.flame_select(to);
        }
    }

    /// Lets the selected frame fill the width.
    pub(super) fn zoom_in(&mut self) {
        let want = self.lineage_of(self.list().cursor.index);
        self.zoom_to(want);
    }

    /// Lets a frame fill the width; nothing for all of the tree.
    fn zoom_to(&mut self, zoom: Vec<RowId>) {
        self.flame.zoom = zoom;
        self.rows_stale = true;
        self.refresh();
        let (page, line) = (self.page(), self.flame.zoom_line);
        self.flame.top = line.unwrap_or(0).saturating_sub(page / ABOVE_PART);
        self.flame.scroll(0, page);
        let selected = self.list().cursor.index;
        if let Some(line) = self.flame.frame(selected).map(|frame| frame.line as usize) {
            self.flame.show(line, page);
        }
    }

    /// At the top of what fills the width: one step out.
    fn zoom_up(&mut self) -> bool {
        let selected = self.list().selected().map(|row| row.depth as usize);
        let at_zoom = selected.is_some() && selected == self.flame.zoom_line;
        if at_zoom {
            let mut want = self.lineage_of(self.list().cursor.index);
            if want.len() > 1 {
                want.pop();
                self.list_mut().cursor.want = want.clone();
                // Above the outermost function all of them stand side by side.
                let alone = want.len() == 1;
                self.zoom_to(if alone { Vec::new() } else { want });
            } else {
                self.zoom_to(Vec::new());
            }
        }
        at_zoom
    }

    /// All of the tree again; whether it was not.
    pub(super) fn zoom_all(&mut self) -> bool {
        let zoomed = self.flame.is_zoomed();
        if zoomed {
            self.zoom_to(Vec::new());
        }
        zoomed
    }

    /// Selects a row of the tree that may be outside of what fills the width, or too small to be seen.
    pub(super) fn flame_reveal(&mut self, what: What) {
        let Some(data) = &self.data else { return };
        let want: Vec<RowId> = data.lineage(what).into_iter().map(|what| data.id(what)).collect();
        let found = |model: &Self| {
            let id = want.last()?;
            model.list().rows.iter().position(|row| row.id == *id)
        };
        if found(self).is_none() {
            // Outside, or less than a cell: then what fills the width is who calls it.
            let caller = want[..want.len().saturating_sub(1)].to_vec();
            for zoom in [Vec::new(), caller, want.clone()] {
                if found(self).is_none() {
                    self.zoom_to(zoom);
                }
            }
        }
        if let Some(index) = found(self) {
            self.flame_select(index);
        }
        self.list_mut().cursor.want = want;
        self.recount_hits();
    }

    /// A click selects a frame; on the selected one it zooms.
    pub(super) fn flame_click(&mut self, x: u16, line: usize) {
        let Some(row) = self.flame.row_under(x, (self.flame.top + line) as u32) else {
            return;
        };
        if row == self.list().cursor.index && self.list().cursor.touched {
            self.zoom_in();
        } else {
            self.flame_select(row);
        }
    }
}
