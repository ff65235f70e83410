//! The views, each with its list, and their common state: open rows, the search, the way back.

use std::ops::Range;
use std::time::Duration;

use tickscope_analysis::call_tree::PathId;

use crate::app::cursor::Cursor;
use crate::app::flame::Flame;
use crate::app::function::FunctionView;
use crate::app::keyhash::KeySet;
use crate::app::row::{Row, RowId, past_headings};
use crate::app::search::Search;
use crate::app::slow::SlowView;
use crate::app::sort::Sort;
use crate::app::source::SourceView;
use crate::app::timeline::Timeline;
use crate::app::view::{Below, Origin};
use crate::keys::view::View;

/// The list of a view.
#[derive(Debug)]
pub(crate) struct List {
    /// The order of the rows.
    pub(crate) sort: Sort,
    pub(crate) rows: Vec<Row>,
    /// Index of the first row of the second list, if two lists are side by side.
    pub(crate) second: Option<usize>,
    pub(crate) cursor: Cursor,
    /// Time at which rows were last sorted.
    pub(crate) sorted_at: Duration,
    /// Whether rows have kept their order although their values have changed.
    pub(crate) is_held: bool,
}

#[derive(Debug)]
pub(crate) struct Lists([List; View::ALL.len()]);

#[derive(Debug, Default)]
pub(crate) struct Views {
    /// View on screen.
    pub(crate) current: View,
    /// The list of each view, in the order of the tabs.
    pub(crate) lists: Lists,
    /// The open rows of the tree.
    pub(crate) expanded: Expanded,
    /// Whether the hottest rows have been opened.
    pub(crate) greeted: bool,
    /// Search in a list.
    pub(crate) search: Option<Search>,
    /// State of the view Function.
    pub(crate) function: FunctionView,
    /// State of the flame graph.
    pub(crate) flame: Flame,
    /// Second view that the user wants below the tree; `None` lets the size of the screen decide.
    pub(crate) wants_below: Option<Below>,
    /// Threads of the timeline below the tree.
    pub(crate) lanes: Vec<Row>,
    /// Source of a function, and the known code of the program.
    pub(crate) source: SourceView,
    /// State of the view Slow.
    pub(crate) slow: SlowView,
    /// State of the timeline.
    pub(crate) timeline: Timeline,
    /// Load of each thread in the last 30 s, shown beside its name.
    pub(crate) strip: Timeline,
    /// View to which Escape leads back.
    pub(crate) came_from: Option<Origin>,
}

impl List {
    fn of(view: View) -> Self {
        Self {
            sort: Sort::by(view.about().sort),
            rows: Vec::new(),
            second: None,
            cursor: Cursor::default(),
            sorted_at: Duration::ZERO,
            is_held: false,
        }
    }

    /// Returns the index of a row.
    pub(crate) fn place_of(&self, id: RowId) -> Option<usize> {
        self.rows.iter().position(|row| row.id == id)
    }

    pub(crate) fn selected(&self) -> Option<&Row> {
        self.rows.get(self.cursor.index)
    }

    /// Returns the rows of the list that has the selection. These are all rows, unless two lists are side by side.
    pub(crate) fn together(&self) -> Range<usize> {
        match self.second {
            Some(second) if self.cursor.index >= second => second..self.rows.len(),
            Some(second) => 0..second,
            None => 0..self.rows.len(),
        }
    }

    /// Returns the rows of each list, from the first one on screen to the last one in the list. The list with the
    /// cursor begins at its scroll position, the other list at its first row.
    pub(crate) fn on_screen(&self) -> impl Iterator<Item = Range<usize>> {
        let second = self.second.unwrap_or(self.rows.len());
        let lists = [0..second, second..self.rows.len()];
        let (with_cursor, offset) = (self.together(), self.cursor.offset);
        let lists = lists.into_iter().take(1 + usize::from(self.second.is_some()));
        lists.map(move |list| match list == with_cursor {
            true => offset..list.end,
            false => list,
        })
    }

    /// Selects the chosen row, on a screen of `page` lines. If the row is gone, or is a heading, selects another row
    /// instead.
    pub(crate) fn settle(&mut self, page: usize) {
        self.find();
        self.keep_on_screen(page);
        let beside = past_headings(&self.rows, self.cursor.index, true);
        if beside != self.cursor.index {
            self.cursor.index = beside;
            self.keep_on_screen(page);
        }
    }

    /// Finds the chosen row among the new rows, and keeps it at the same height on the screen. If the row is gone,
    /// selects its nearest ancestor, or else the row that is now at its index.
    fn find(&mut self) {
        let found = self.cursor.want.iter().rev().find_map(|&id| self.place_of(id));
        let cursor = &mut self.cursor;
        if let Some(index) = found {
            let line = cursor.index.saturating_sub(cursor.offset);
            cursor.index = index;
            if cursor.touched {
                cursor.offset = index.saturating_sub(line);
            }
        }
    }

    /// Selects the row at `index`. `want` has the ids of the row's ancestors, and then its own id.
    pub(crate) fn choose(&mut self, index: usize, want: Vec<RowId>, page: usize) {
        let cursor = &mut self.cursor;
        (cursor.touched, cursor.index, cursor.want) = (true, index, want);
        self.keep_on_screen(page);
    }

    /// Scrolls the list that has the selected row, as little as needed to show the row.
    pub(crate) fn keep_on_screen(&mut self, page: usize) {
        let (rows, page, cursor) = (self.together(), page.max(1), &mut self.cursor);
        cursor.index = cursor.index.min(rows.end.saturating_sub(1));
        let last = rows.end.saturating_sub(page);
        let offset = cursor.offset.min(last).max(rows.start);
        cursor.offset = offset.clamp((cursor.index + 1).saturating_sub(page), cursor.index);
    }

    /// Puts the selected line in the middle of the screen.
    pub(crate) fn centre(&mut self, page: usize) {
        self.cursor.offset = self.cursor.index.saturating_sub(page / 2);
        self.keep_on_screen(page);
    }

    /// Returns the ids of a row and all its ancestors, the topmost first.
    pub(crate) fn lineage_of(&self, index: usize) -> Vec<RowId> {
        let mut line: Vec<RowId> = Vec::new();
        let mut at = self.rows.get(index);
        while let Some(row) = at {
            line.push(row.id);
            at = row.parent.and_then(|parent| self.rows.get(parent as usize));
        }
        line.reverse();
        line
    }
}

impl Default for Lists {
    fn default() -> Self {
        Self(View::ALL.map(List::of))
    }
}

impl Views {
    /// Returns the list of the view on screen.
    pub(crate) fn list(&self) -> &List {
        &self.lists.0[self.current as usize]
    }

    /// Returns a mutable reference to the list of the view on screen.
    pub(crate) fn list_mut(&mut self) -> &mut List {
        &mut self.lists.0[self.current as usize]
    }

    /// Returns a mutable reference to the list of a view.
    pub(crate) fn list_of(&mut self, view: View) -> &mut List {
        &mut self.lists.0[view as usize]
    }

    /// Forgets what the timelines have read, because it is not from the current run.
    pub(crate) fn forget_times(&mut self) {
        self.timeline.forget();
        self.strip.forget();
    }

    /// Closes all rows and drops what the views keep about the previous program, because another program has other rows.
    pub(crate) fn forget_program(&mut self) {
        self.greeted = false;
        self.expanded.clear();
        self.function = FunctionView::default();
        self.flame = Flame::default();
        self.source = SourceView::default();
        self.slow = SlowView::default();
        self.came_from = None;
        self.forget_times();
    }
}

/// The set of open rows. It counts how often it has changed.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    paths: KeySet<PathId>,
    revision: u64,
}

impl Expanded {
    pub(crate) fn paths(&self) -> &KeySet<PathId> {
        &self.paths
    }

    /// Returns a number that changes with the set.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether a row is open.
    pub(crate) fn contains(&self, path: PathId) -> bool {
        self.paths.contains(&path)
    }

    /// Opens a row; returns whether it was closed.
    pub(crate) fn insert(&mut self, path: PathId) -> bool {
        let changed = self.paths.insert(path);
        self.revision += u64::from(changed);
        changed
    }

    /// Closes a row.
    pub(crate) fn remove(&mut self, path: PathId) {
        self.revision += u64::from(self.paths.remove(&path));
    }

    pub(crate) fn set(&mut self, path: PathId, open: bool) {
        match open {
            true => drop(self.insert(path)),
            false => self.remove(path),
        }
    }

    pub(crate) fn extend(&mut self, paths: impl IntoIterator<Item = PathId>) {
        for path in paths {
            self.insert(path);
        }
    }

    /// Closes all rows.
    pub(crate) fn clear(&mut self) {
        self.revision += u64::from(!self.paths.is_empty());
        self.paths.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_count() {
        let mut expanded = Expanded::default();
        let path = PathId(7);
        assert!(expanded.insert(path) && !expanded.insert(path));
        assert_eq!(expanded.revision(), 1);
        expanded.remove(path);
        expanded.remove(path);
        expanded.clear();
        assert_eq!(expanded.revision(), 2);
        assert!(!expanded.contains(path));
    }
}
