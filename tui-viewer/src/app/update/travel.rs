//! Moving through a list, and opening and closing rows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tickscope_analysis::call_tree::{PathId, TreeRow};

use crate::app::data::Data;
use crate::app::row::{Fold, RowId, What, share};
use crate::app::state::App;
use crate::keys::action::Action;

/// Minimum share of the measured time for a row to be hot. The hottest path ends at the first row below this.
const HOT_SHARE: f64 = 0.05;

/// Maximum number of rows that the hottest path opens.
const HOT_DEPTH: usize = 8;

/// Returns the rows to open along the hottest path, which starts at the row `from` or, if it is `None`, at the top.
pub(crate) fn hottest_path(data: &Data, from: Option<u32>) -> Vec<PathId> {
    let hottest = |rows: &[u32]| {
        rows.iter()
            .copied()
            .max_by_key(|&row| data.tree.rows[row as usize].total_ns)
    };
    let mut at = from.or_else(|| hottest(data.tree.top()));
    let mut path = Vec::new();
    while let Some(row) = at {
        let hot = share(data.tree.rows[row as usize].total_ns, data.measured_ns) >= HOT_SHARE;
        let asked = from == Some(row);
        if path.len() == HOT_DEPTH || data.below(row) == 0 || !(hot || asked) {
            break;
        }
        path.push(data.tree.rows[row as usize].path);
        at = hottest(data.tree.children(row));
    }
    path
}

/// Returns the rows to open in a tree that is first shown: the hottest path, then other hot rows, hottest first, as long
/// as all rows fit on one screen.
pub(crate) fn first_look(data: &Data, page: usize) -> Vec<PathId> {
    let mut open = hottest_path(data, None);
    let mut shown = data.tree.top().len();
    let mut closed: BinaryHeap<(u64, Reverse<u32>)> = BinaryHeap::new();
    let weigh = |rows: &[u32]| -> Vec<(u64, Reverse<u32>)> {
        rows.iter()
            .map(|&row| (data.tree.rows[row as usize].total_ns, Reverse(row)))
            .collect()
    };
    closed.extend(weigh(data.tree.top()));
    while let Some((total_ns, Reverse(row))) = closed.pop() {
        let TreeRow { path, depth, .. } = data.tree.rows[row as usize];
        let children = data.tree.children(row);
        let hot = share(total_ns, data.measured_ns) >= HOT_SHARE && (depth as usize) < HOT_DEPTH;
        let of_path = open.contains(&path);
        if of_path || (hot && shown + children.len() <= page) {
            shown += children.len();
            closed.extend(weigh(children));
            if !of_path {
                open.push(path);
            }
        }
    }
    open
}

impl App {
    /// Moves the selection of the view's list.
    pub(crate) fn travel(&mut self, action: Action) {
        let rows = self.list().rows.len();
        if rows == 0 {
            return;
        }
        let (page, index) = (self.page().max(1), self.list().cursor.index);
        let to = target(action, index, rows, page);
        if matches!(action, Action::PageUp | Action::PageDown) {
            let offset = &mut self.list_mut().cursor.offset;
            *offset = match action == Action::PageUp {
                true => offset.saturating_sub(page),
                false => *offset + page,
            };
        }
        self.select(to);
    }

    /// Goes to the sibling above or below.
    pub(crate) fn step_sibling(&mut self, step: isize) {
        let list = self.list();
        let Some(row) = list.selected() else { return };
        let (parent, index) = (row.parent, list.cursor.index);
        let same = |&index: &usize| list.rows[index].parent == parent;
        let found = match step < 0 {
            true => (0..index).rev().find(same),
            false => (index + 1..list.rows.len()).find(same),
        };
        if let Some(index) = found {
            self.select(index);
        }
    }

    /// Opens the row, or goes to its first child, on →.
    pub(crate) fn go_in(&mut self) {
        match self.list().selected().map(|row| row.fold) {
            Some(Fold::Closed(_)) => self.set_open(true),
            Some(Fold::Open) => self.select(self.list().cursor.index + 1),
            Some(Fold::Leaf) | None => {}
        }
    }

    /// Closes the row, or goes to its parent, on ←.
    pub(crate) fn go_out(&mut self) {
        let Some(row) = self.list().selected().copied() else {
            return;
        };
        match (row.fold, row.parent) {
            (Fold::Open, _) if self.is_open(row.id) => self.set_open(false),
            (_, Some(parent)) => self.select(parent as usize),
            (_, None) => {}
        }
    }

    fn is_open(&self, id: RowId) -> bool {
        id.as_fold()
            .is_some_and(|path| self.views.expanded.contains(path))
    }

    /// Opens a closed row and closes an open row, on Space.
    pub(crate) fn fold(&mut self) {
        match self.list().selected().map(|row| row.fold) {
            Some(Fold::Closed(_)) => self.set_open(true),
            Some(Fold::Open) => self.set_open(false),
            Some(Fold::Leaf) | None => {}
        }
    }

    fn set_open(&mut self, open: bool) {
        let Some(path) = self.list().selected().and_then(|row| row.id.as_fold()) else {
            return;
        };
        self.views.expanded.set(path, open);
    }

    /// Opens or closes the selected row and all below it.
    pub(crate) fn fold_all(&mut self, open: bool) {
        let Some((data, row)) = self.derived.data.as_ref().zip(self.views.list().selected()) else {
            return;
        };
        let mut rows = vec![row.what];
        while let Some(row) = rows.pop() {
            let children = data.children(row);
            let Some(path) = data.id(row).as_fold().filter(|_| !children.is_empty()) else {
                continue;
            };
            self.views.expanded.set(path, open);
            rows.extend(children);
        }
    }

    /// Opens the rows that hide a row and selects it; returns the opened rows.
    pub(crate) fn reveal(&mut self, what: What) -> Vec<PathId> {
        if self.views.current.kind().reveal(self, what) {
            return Vec::new();
        }
        let Some(data) = &self.derived.data else {
            return Vec::new();
        };
        let line = data.lineage(what);
        let want: Vec<RowId> = line.iter().map(|&what| data.id(what)).collect();
        let mut opened = Vec::new();
        for id in &want[..want.len().saturating_sub(1)] {
            if let Some(path) = id.as_fold()
                && self.views.expanded.insert(path)
            {
                opened.push(path);
            }
        }
        self.list_mut().cursor.want = want;
        self.refresh();
        let page = self.page();
        let list = self.list_mut();
        let found = list.cursor.want.last().and_then(|id| list.place_of(*id));
        if let Some(index) = found {
            let on_screen = (list.cursor.offset..list.cursor.offset + page).contains(&index);
            let want = std::mem::take(&mut list.cursor.want);
            list.choose(index, want, page);
            if !on_screen {
                list.centre(page);
            }
        }
        opened
    }
}

/// Returns the index of the line to which an action moves the selection.
pub(crate) fn target(action: Action, index: usize, rows: usize, page: usize) -> usize {
    let last = rows.saturating_sub(1);
    let half = (page / 2).max(1);
    let steps = [
        (Action::Up, index.saturating_sub(1)),
        (Action::Down, index + 1),
        (Action::PageUp, index.saturating_sub(page)),
        (Action::PageDown, index + page),
        (Action::HalfUp, index.saturating_sub(half)),
        (Action::HalfDown, index + half),
        (Action::First, 0),
        (Action::Last, last),
    ];
    let step = steps.into_iter().find(|(step, _)| *step == action);
    step.map_or(index, |(_, to)| to).min(last)
}
