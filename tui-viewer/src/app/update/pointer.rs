//! Effects of the mouse, by the part of the layout under the pointer.

use ratatui::layout::{Position, Rect};

use crate::app::row::Fold;
use crate::app::state::App;
use crate::app::view::TabForm;
use crate::keys::action::{Action, Context};
use crate::keys::view::View;

impl App {
    /// Handles a click: selects a row, opens or closes it at the mark before its name, sorts by a column title, or
    /// changes the view.
    pub(crate) fn click(&mut self, x: u16, y: u16) {
        let layout = self.layout();
        let typing = self.context() == Context::Typing;
        if self.has_popup() || self.derived.data.is_none() || typing || layout.too_small {
            return;
        }
        let at = Position { x, y };
        let on = |area: Option<Rect>| area.is_some_and(|area| area.contains(at));
        if layout.rows.contains(at) {
            let lines = self.views.current.kind().lines_of_row(self);
            let line = usize::from((y - layout.rows.y) / lines);
            self.views.current.kind().click(self, at, line);
        } else if on(layout.detail) {
            self.views.current.kind().click_pane(self, at);
        } else if layout.columns.contains(at) {
            let mut places = self.places(layout.columns).into_iter();
            // A title may begin in the gap before its column, so a click in the gap counts as well.
            let under = places.find(|place| x < place.x + place.width);
            if let Some(key) = under.and_then(|place| place.column.sort) {
                self.sort_column(key);
            }
        } else if (on(layout.tabs)
            || (layout.tabs.is_none() && !self.notice_hides(layout.footer) && on(layout.footer)))
            && let Some(view) = View::at(x, self.views.current, TabForm::of(&layout))
        {
            self.show(view);
        }
    }

    /// Selects or folds a row of one of two lists side by side.
    pub(crate) fn click_row_of(&mut self, list: usize, x: u16, line: usize) {
        let on_screen = self.list().on_screen().nth(list).unwrap_or_default();
        let index = on_screen.start + line;
        if !on_screen.contains(&index) {
            return;
        }
        let Some(row) = self.list().rows.get(index).copied() else {
            return;
        };
        self.select(index);
        let places = self.places(self.layout().rows);
        let name = places.iter().find(|place| place.column.is_name);
        let mark = name.map(|name| name.fold_mark(row.depth));
        // The cell beside the mark counts as well, because the mark is a small target.
        if row.fold != Fold::Leaf && mark.is_some_and(|mark| (mark..mark + 2).contains(&x)) {
            self.fold();
        }
    }

    /// Handles the mouse wheel. Over the source, scrolls the source. Otherwise scrolls the list, and keeps the
    /// selection on the screen.
    pub(crate) fn wheel(&mut self, rows: isize, at: Position) {
        let steps = rows.unsigned_abs();
        if !self.has_popup() && self.layout().source.is_some_and(|pane| pane.contains(at)) {
            return self.scroll_source(rows > 0);
        }
        if self.has_popup() || self.derived.data.is_none() {
            let action = if rows < 0 { Action::Up } else { Action::Down };
            for _ in 0..steps {
                self.step(action);
            }
            return;
        }
        if self.views.current.kind().wheel(self, rows, at) {
            return;
        }
        let page = self.page().max(1);
        let list = self.list_mut();
        let together = list.together();
        let last = together.end.saturating_sub(page);
        list.cursor.offset = list
            .cursor
            .offset
            .saturating_add_signed(rows)
            .min(last)
            .max(together.start);
        let (offset, index) = (list.cursor.offset, list.cursor.index);
        let inside = index.clamp(offset, offset + page - 1);
        if inside != index {
            self.select(inside);
        }
    }

    /// Passes sideways scrolling on to the view.
    pub(crate) fn wheel_aside(&mut self, right: bool, at: Position) {
        if !self.has_popup() && self.derived.data.is_some() {
            self.views.current.kind().wheel_aside(self, right, at);
        }
    }
}
