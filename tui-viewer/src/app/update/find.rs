//! Searching while the text is typed, stepping through the matches, and returning to the row that was selected before.

use tui_input::InputRequest;

use crate::app::search::Search;
use crate::app::state::{App, Overlay};

impl App {
    /// Starts a search and lets the user type its text. Escape returns to the row that is selected now.
    pub(crate) fn search_begin(&mut self) {
        let former = self.views.search.take();
        let cursor = &self.list().cursor;
        let origin = self.list().lineage_of(cursor.index);
        let (only, origin_offset) = (former.is_some_and(|search| search.only), cursor.offset);
        self.views.search = Some(Search {
            only,
            origin,
            origin_offset,
            ..Search::default()
        });
        self.overlay = Some(Overlay::Search);
    }

    /// Edits the searched text.
    pub(crate) fn search_edit(&mut self, request: InputRequest) {
        let Some(search) = &mut self.views.search else {
            return;
        };
        let changed = search.input.handle(request).is_some_and(|changed| changed.value);
        if !changed {
            return;
        }
        self.home();
        self.refresh();
        // Shows the first match at or below the row where the search began. If there is none, starts over from the top
        // of the list.
        let hit = self.views.search.as_ref().and_then(|search| {
            let hits = &search.hits;
            (!hits.is_empty()).then(|| hits[search.before % hits.len()])
        });
        if let Some(what) = hit {
            let opened = self.reveal(what);
            if let Some(search) = &mut self.views.search {
                search.opened = opened;
            }
        }
    }

    /// Returns to the row at which the search began, and closes the rows that the search opened.
    fn home(&mut self) {
        let Some(search) = &mut self.views.search else {
            return;
        };
        for path in std::mem::take(&mut search.opened) {
            self.views.expanded.remove(path);
        }
        let (origin, offset) = (search.origin.clone(), search.origin_offset);
        self.refresh();
        let page = self.page();
        let list = self.list_mut();
        let found = origin.last().and_then(|id| list.place_of(*id));
        list.cursor.offset = offset;
        if let Some(index) = found {
            list.choose(index, origin, page);
        }
    }

    /// Ends the typing on Enter but keeps the search, so that keys act on the list again. If nothing was typed, ends
    /// the search.
    pub(crate) fn search_keep(&mut self) {
        self.overlay = None;
        let kept = self.views.search.as_mut().is_some_and(|search| {
            search.opened.clear();
            search.is_set()
        });
        if !kept {
            self.search_end(false);
        }
    }

    /// Ends the search on Escape; if `go_home`, returns to the row at which it began.
    pub(crate) fn search_end(&mut self, go_home: bool) {
        if go_home {
            self.home();
        }
        let only = self.views.search.take().is_some_and(|search| search.only);
        if only && !go_home {
            // The rows above matches were shown as open, but they are not in `expanded`. Without `reveal`, the selected
            // row would now be hidden.
            let selected = self.list().selected().map(|row| row.what);
            if let Some(what) = selected {
                self.reveal(what);
            }
        }
    }

    /// Goes to the next or the previous match; wraps around at the ends.
    pub(crate) fn search_step(&mut self, forward: bool) {
        let search = self.views.search.as_ref();
        let Some(search) = search.filter(|search| !search.hits.is_empty()) else {
            return;
        };
        let count = search.hits.len();
        let on_hit = self.list().selected().is_some_and(|row| row.hit);
        let to = match forward {
            true => (search.before + usize::from(on_hit)) % count,
            false => (search.before + count - 1) % count,
        };
        let what = search.hits[to];
        let opened = self.reveal(what);
        let is_typed = matches!(self.overlay, Some(Overlay::Search));
        if let Some(search) = self.views.search.as_mut().filter(|_| is_typed) {
            search.opened.extend(opened);
        }
    }

    /// Switches between listing only the matches and listing all rows.
    pub(crate) fn search_only(&mut self) {
        let Some(search) = &mut self.views.search else {
            return;
        };
        search.only = !search.only;
        let shown_again = !search.only;
        if let Some(row) = self.list().selected().copied().filter(|_| shown_again) {
            self.reveal(row.what);
        }
    }

    /// Counts the matches before the selected row, if the selection has changed. Returns whether the list of rows must
    /// be rebuilt to count them.
    pub(crate) fn recount_hits(&mut self) -> bool {
        let selected = self.list().selected().map(|row| (row.id, row.what));
        let Some(search) = self.views.search.as_mut().filter(|search| search.is_set()) else {
            return false;
        };
        let Some((id, what)) = selected.filter(|(id, _)| search.counted_at != Some(*id)) else {
            return false;
        };
        search.counted_at = Some(id);
        match search.hits.iter().position(|&hit| hit == what) {
            Some(place) => {
                search.before = place;
                false
            }
            // The selected row is not a match. Matches below closed rows count too, but they can only be counted by
            // rebuilding the list.
            None => true,
        }
    }
}
