//! Moving through the flame graph.

use crate::app::flame::FlameColour;
use crate::app::row::{RowId, What};
use crate::app::state::App;
use crate::keys::action::Action;

/// Divisor of the screen height that gives the largest part above the frame that fills the width.
pub(crate) const ABOVE_PART: usize = 3;

impl App {
    /// Corrects the scroll position after new rows, because the graph may have fewer lines.
    pub(crate) fn flame_settle(&mut self) {
        let page = self.page();
        self.views.flame.scroll(0, page);
    }

    fn flame_select(&mut self, row: usize) {
        self.select(row);
        self.flame_show(row);
    }

    /// Goes up to callers, or down to the largest callees, by one or more lines.
    pub(crate) fn flame_travel(&mut self, action: Action) {
        let page = self.page().max(1);
        let lines = self.views.flame.frames.lines();
        let ways = [
            ([Action::Up, Action::Down], 1),
            ([Action::PageUp, Action::PageDown], page),
            ([Action::HalfUp, Action::HalfDown], (page / 2).max(1)),
            ([Action::First, Action::Last], lines),
        ];
        let way = ways.into_iter().find(|(way, _)| way.contains(&action));
        let Some(([upwards, _], steps)) = way else { return };
        let up = action == upwards;
        if action == Action::Up && self.zoom_up() {
            return;
        }
        for _ in 0..steps {
            let at = self.list().cursor.index;
            let to = match up {
                true => self.flame_above(at),
                false => self.flame_below(at),
            };
            let Some(to) = to else { break };
            self.flame_select(to);
        }
    }

    /// Returns the caller; `None` at the frame that fills the width, because only `zoom_up` leads above it.
    fn flame_above(&self, row: usize) -> Option<usize> {
        let row = self.list().rows.get(row)?;
        let at_zoom = Some(row.depth as usize) == self.views.flame.frames.zoom_line;
        row.parent.filter(|_| !at_zoom).map(|parent| parent as usize)
    }

    fn flame_below(&self, row: usize) -> Option<usize> {
        let data = self.data()?;
        let rows = self.list().rows.iter().enumerate();
        let children = rows.filter(|(_, below)| below.parent == Some(row as u32));
        // Of equal frames the first wins.
        let largest = children
            .rev()
            .max_by_key(|(_, below)| data.figures(below.what).total_ns);
        largest.map(|(index, _)| index)
    }

    /// Goes to a frame beside the selected frame, on the same line.
    pub(crate) fn flame_beside(&mut self, step: isize) {
        let (rows, at) = (&self.list().rows, self.list().cursor.index);
        let line = rows.get(at).map(|row| row.depth);
        let to = at.checked_add_signed(step);
        if let Some(to) = to.filter(|&to| line.is_some() && rows.get(to).map(|row| row.depth) == line) {
            self.flame_select(to);
        }
    }

    /// Lets the selected frame fill the width.
    pub(crate) fn zoom_in(&mut self) {
        let want = self.list().lineage_of(self.list().cursor.index);
        self.zoom_to(want);
    }

    /// Lets a frame fill the width; an empty `zoom` shows the whole tree.
    fn zoom_to(&mut self, zoom: Vec<RowId>) {
        self.views.flame.zoom = zoom;
        self.refresh();
        let (page, line) = (self.page(), self.views.flame.frames.zoom_line);
        self.views.flame.top = line.unwrap_or(0).saturating_sub(page / ABOVE_PART);
        self.views.flame.scroll(0, page);
        self.flame_show(self.list().cursor.index);
    }

    /// Scrolls as little as needed to show the frame of a row.
    fn flame_show(&mut self, row: usize) {
        let page = self.page();
        if let Some(line) = self.views.flame.frame(row).map(|frame| frame.line as usize) {
            self.views.flame.show(line, page);
        }
    }

    /// Zooms out by one step, if the selected frame fills the width.
    fn zoom_up(&mut self) -> bool {
        let selected = self.list().selected().map(|row| row.depth as usize);
        let at_zoom = selected.is_some() && selected == self.views.flame.frames.zoom_line;
        if at_zoom {
            let mut want = self.list().lineage_of(self.list().cursor.index);
            want.pop();
            if !want.is_empty() {
                self.list_mut().cursor.want = want.clone();
            }
            // Above the outermost function all outermost functions stand side by side.
            if want.len() == 1 {
                want.clear();
            }
            self.zoom_to(want);
        }
        at_zoom
    }

    /// Shows the whole tree again; returns whether the graph was zoomed.
    pub(crate) fn zoom_all(&mut self) -> bool {
        let zoomed = self.views.flame.is_zoomed();
        if zoomed {
            self.zoom_to(Vec::new());
        }
        zoomed
    }

    /// Selects a row of the tree that may be outside the screen's width, or too small to be seen.
    pub(crate) fn flame_reveal(&mut self, what: What) {
        let Some(data) = &self.derived.data else { return };
        let want: Vec<RowId> = data.lineage(what).into_iter().map(|what| data.id(what)).collect();
        let found = |app: &Self| {
            let id = want.last()?;
            app.list().place_of(*id)
        };
        if found(self).is_none() {
            // The frame is outside, or less than a cell, so its caller fills the width.
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
    }

    /// Switches the meaning of the colours of frames.
    pub(crate) fn flame_recolour(&mut self) {
        let (next, told) = match self.views.flame.colour {
            FlameColour::Module => (FlameColour::Own, "colours: how much a function costs itself"),
            FlameColour::Own => (FlameColour::Module, "colours: the module of a function"),
        };
        self.views.flame.colour = next;
        self.tell(told);
    }

    /// Selects a frame by a click; a click on the selected frame zooms.
    pub(crate) fn flame_click(&mut self, x: u16, line: usize) {
        let flame = &self.views.flame;
        let Some(row) = flame.row_under(x, (flame.top + line) as u32) else {
            return;
        };
        if row == self.list().cursor.index && self.list().cursor.touched {
            self.zoom_in();
        } else {
            self.flame_select(row);
        }
    }
}
