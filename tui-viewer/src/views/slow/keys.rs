//! Keys for watching functions, and keys of the Slow view.

use std::rc::Rc;

use ratatui::layout::{Position, Rect};
use tickscope_analysis::waterfall::Waterfall;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{Over, Watch};
use tickscope_programs::events::Request;
use tickscope_programs::kept_traces::KeptTraces;

use crate::app::data::Data;
use crate::app::message::Effect;
use crate::app::slow::{CallLine, WatchTable, watched_as};
use crate::app::state::App;
use crate::app::view::View;
use crate::keys::action::Action;
use crate::text::cells::wrapped;

/// Text above the list of functions with a tail, shown while no function is watched.
const CHOOSE: &str = "No function is watched. Enter watches one: the view then says why its slow calls are slow. \
    TAIL: time above the median, of outermost calls that take twice as long or longer.";

/// Number of snapshots to search, on either side of the one on screen, for events that it lacks.
const NEAR: usize = 32;

/// Maximum number of slow calls for which the pane asks for lines. If there are lines to spare, more calls are listed.
const LISTED: usize = 6;

/// Layout of the pane with the slow calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallAreas {
    /// The slowest calls.
    pub(crate) list: Rect,
    /// Index of the first call that is shown.
    pub(crate) first: usize,
    /// Screen line of the heading that names the chosen call.
    pub(crate) heading: u16,
    /// Waterfall of the chosen call, if there is room.
    pub(crate) time: Option<Rect>,
}

impl App {
    /// Watches the function of the selected row. If it is watched already, shows why its slow calls are slow.
    pub(crate) fn watch_row(&mut self) {
        let function = self.selected().and_then(|(data, row)| {
            let function = data.tree.functions.get(data.function(row.what)?);
            Some((function.full_name(), function.is_group))
        });
        let Some((name, is_group)) = function else {
            return self.tell("no function to watch: choose a row with a function");
        };
        if is_group {
            return self.tell("a group has no calls: & shows its members, and W watches a member");
        }
        let Some(pattern) = Pattern::of_path(&name) else {
            return self.complain("no pattern can name it: it has no name");
        };
        // Different functions can have names with the same ending, so the watch is looked up by its pattern.
        let watched = self.shown().and_then(|shown| watched_as(shown, &pattern));
        if let Some(watched) = watched {
            self.views.slow.function = Some(watched);
            self.show(View::Slow);
            return;
        }
        if self.is_free_for("watch") {
            self.views.slow.function = Some(pattern.as_str().to_owned());
            self.send(Request::Watch(pattern, Over::Tail));
        }
    }

    /// Stops watching the function on the screen.
    pub(crate) fn unwatch(&mut self) {
        let Some(function) = self.watched().map(|watch| watch.function.clone()) else {
            return;
        };
        let Some(pattern) = Pattern::new(&function).ok() else {
            return self.complain(format!("no pattern can name {function}"));
        };
        if self.is_free_for("watch") {
            self.send(Request::Unwatch(pattern));
        }
    }

    /// Switches to the next watched function, or from the last one to the first.
    pub(crate) fn next_watch(&mut self) {
        let Some(data) = &self.derived.data else { return };
        let table = data.slow();
        let Some(at) = table.place_of(self.views.slow.function.as_deref()) else {
            return;
        };
        let count = table.watches.len();
        let next = table.watches[(at + 1) % count].function.clone();
        if count == 1 {
            return self.tell("no other function is watched; W on a row of another view watches one more");
        }
        self.views.slow.function = Some(next);
        self.views.slow.call = None;
        self.views.slow.zoom = None;
        self.list_mut().cursor = Default::default();
    }

    /// Chooses the next or the previous of the slowest calls.
    pub(crate) fn step_call(&mut self, forward: bool) {
        let Some(watch) = self.watched() else { return };
        let at = self.call_at(watch);
        let next = match forward {
            true => (at + 1).min(watch.calls.len().saturating_sub(1)),
            false => at.saturating_sub(1),
        };
        let number = watch.calls.get(next).map(|call| call.number);
        if next != at {
            self.views.slow.zoom = None;
        }
        self.views.slow.call = number;
    }

    /// Handles a zoom key: zooms in or out, or shows the whole call.
    pub(crate) fn zoom_call_by(&mut self, action: Action) {
        match action == Action::WholeCall {
            true => self.views.slow.zoom = None,
            false => self.zoom_call(None, action == Action::Closer),
        }
    }

    /// Zooms in or out around a moment, or around the middle of the visible part if no moment is given.
    pub(crate) fn zoom_call(&mut self, around: Option<u64>, closer: bool) {
        if let Some(ticks) = self.waterfall().map(|waterfall| waterfall.ticks) {
            self.views.slow.zoom(ticks, around, closer);
        }
    }

    /// Pans to an earlier or a later part of the call.
    pub(crate) fn pan_call(&mut self, later: bool) {
        if let Some(ticks) = self.waterfall().map(|waterfall| waterfall.ticks) {
            self.views.slow.pan(ticks, later);
        }
    }

    /// Returns the watched function that is on the screen.
    pub(crate) fn watched(&self) -> Option<&WatchTable> {
        let table = self.data()?.slow();
        let at = table.place_of(self.views.slow.function.as_deref())?;
        table.watches.get(at)
    }

    /// Whether the view Slow lists the functions with a tail, because no function is watched.
    pub(crate) fn offers_tails(&self) -> bool {
        let is_free = |data: &Data| data.slow().watches.is_empty() && !data.tails().is_empty();
        self.views.current.about().is_of_watches && self.data().is_some_and(is_free)
    }

    /// Returns the index of the chosen call in the list of slowest calls; 0 if none is chosen.
    pub(crate) fn call_at(&self, watch: &WatchTable) -> usize {
        let chosen = self.views.slow.call;
        let at = watch.calls.iter().position(|call| Some(call.number) == chosen);
        at.unwrap_or(0)
    }

    /// Returns the number of lines for the paths of the watched function, one line for each path.
    pub(crate) fn path_lines(&self) -> u16 {
        let paths = self.watched().map_or(0, |watch| watch.slow.rows.len());
        u16::try_from(paths).unwrap_or(u16::MAX)
    }

    /// Returns the number of lines that the slowest calls and the chosen call need.
    pub(crate) fn call_lines(&self) -> u16 {
        let calls = self.watched().map_or(0, |watch| watch.calls.len());
        let depth = self.waterfall().map_or(1, |waterfall| waterfall.depth) as u16;
        // Two headings and the time axis take up three lines.
        match calls.min(LISTED) as u16 {
            0 => 0,
            calls => calls.saturating_add(depth.min(99)).saturating_add(3),
        }
    }

    /// Divides the pane between the list of slowest calls and the chosen call; `None` if there are no slow calls.
    pub(crate) fn call_areas(&self, area: Rect) -> Option<CallAreas> {
        let watch = self.watched().filter(|watch| !watch.calls.is_empty())?;
        // The waterfall gets as many lines as it needs, but leaves at least a third of the pane to the list.
        let depth = self.waterfall().map_or(1, |waterfall| waterfall.depth);
        let listed = area
            .height
            .saturating_sub(u16::try_from(depth).unwrap_or(u16::MAX).saturating_add(3))
            .max(area.height / 3)
            .min(watch.calls.len().try_into().unwrap_or(u16::MAX))
            .clamp(1, area.height.saturating_sub(1).max(1));
        let heading = area.y + 1 + listed;
        let time = Rect {
            x: area.x + 1,
            y: heading + 1,
            width: area.width.saturating_sub(2),
            height: area.bottom().saturating_sub(heading + 1),
        };
        Some(CallAreas {
            list: Rect {
                y: area.y + 1,
                height: listed,
                ..area
            },
            first: (self.call_at(watch) + 1).saturating_sub(usize::from(listed)),
            heading,
            time: (time.height >= 2).then_some(time),
        })
    }

    /// Selects the slow call that was clicked. A click on the waterfall zooms in around the clicked moment.
    pub(crate) fn click_call(&mut self, at: Position) {
        let Some(areas) = self.layout().detail.and_then(|area| self.call_areas(area)) else {
            return;
        };
        if areas.list.contains(at) {
            let index = areas.first + usize::from(at.y - areas.list.y);
            let number = self
                .watched()
                .and_then(|watch| watch.calls.get(index))
                .map(|call| call.number);
            if number.is_some() {
                self.views.slow.call = number;
                self.views.slow.zoom = None;
            }
        } else if let Some((ticks, moment)) = self.moment_at(at) {
            self.views.slow.zoom(ticks, Some(moment), true);
        }
    }

    /// Returns the length of the chosen call and the moment at this position in its waterfall, both in ticks; `None` if
    /// the position is outside the waterfall.
    pub(crate) fn moment_at(&self, at: Position) -> Option<(u64, u64)> {
        self.data()?;
        let areas = self.call_areas(self.layout().detail?)?;
        let time = areas.time.filter(|time| time.contains(at))?;
        let ticks = self.waterfall()?.ticks;
        let shown = self.views.slow.shown(ticks);
        let length = u128::from(shown.end - shown.start);
        let part = length * u128::from(at.x - time.x) / u128::from(time.width.max(1));
        Some((ticks, shown.start + part as u64))
    }

    /// Exports the chosen call in formats that other tools can read.
    pub(crate) fn export_call(&mut self) {
        let chosen = self.watched().map(|watch| watch.function.clone());
        let Some((function, number)) = chosen.zip(self.chosen_call().map(|call| call.number)) else {
            return self.tell("no slow call to write: no call is kept whole yet");
        };
        if self.waterfall().is_none() {
            return self.tell("the steps of this call have not arrived yet; wait, or choose another with J");
        }
        if let Some(data) = &self.derived.data {
            self.effects.push(Effect::WriteCall {
                snapshot: Rc::clone(&data.snapshot),
                traces: Rc::clone(&data.traces),
                function,
                number,
            });
        }
    }

    /// Shows the whole call again; returns false if it is on screen already.
    pub(crate) fn whole_call(&mut self) -> bool {
        self.views.slow.zoom.take().is_some()
    }

    pub(crate) fn chosen_call(&self) -> Option<&CallLine> {
        let watch = self.watched()?;
        watch.calls.get(self.call_at(watch))
    }

    /// Unless the screen follows a running program, searches nearby snapshots for the events of slow calls that are
    /// missing from the snapshot on screen.
    pub(crate) fn find_traces(&mut self) {
        let follows = !self.playback.stands_still() && self.program.status.moves();
        if !self.views.current.about().is_of_watches || follows {
            return;
        }
        let Some(data) = &self.derived.data else { return };
        let is_known = |traces: &KeptTraces| {
            let of_watch = |watch: &Watch| {
                watch
                    .exemplars
                    .iter()
                    .all(|call| traces.of(watch, call).is_some())
            };
            data.snapshot.watches.iter().all(of_watch)
        };
        let (shown, history) = (data.snapshot.capture.unix_ns, &self.playback.past.history);
        let key = Some((shown, history.revision()));
        if self.views.slow.searched == key || is_known(&data.traces) {
            return;
        }
        self.views.slow.searched = key;
        let traces = Rc::make_mut(&mut self.program.traces);
        let (before, after): (Vec<u64>, Vec<u64>) = history.times().partition(|&time| time <= shown);
        let near = before.iter().rev().take(NEAR).chain(after.iter().take(NEAR));
        for &time in near {
            if let Some(snapshot) = history.decode(time) {
                traces.take(&snapshot);
            }
            if is_known(traces) {
                break;
            }
        }
        let traces = Rc::clone(&self.program.traces);
        if let Some(data) = &mut self.derived.data {
            data.know_traces(traces);
        }
    }

    /// Returns the waterfall of the chosen call; `None` if its events are not known yet.
    pub(crate) fn waterfall(&self) -> Option<Rc<Waterfall>> {
        let data = self.data()?;
        let at = data.slow().place_of(self.views.slow.function.as_deref())?;
        let watch = data.snapshot.watches.get(at)?;
        let exemplar = watch.exemplars.get(self.chosen_call()?.index)?;
        let trace = data.traces.of(watch, exemplar)?;
        let key = (watch.number, exemplar.number, trace.len());
        let mut made = self.views.slow.made.borrow_mut();
        if let Some((_, waterfall)) = made.as_ref().filter(|made| made.0 == key) {
            return Some(Rc::clone(waterfall));
        }
        let waterfall = Rc::new(Waterfall::of(trace, watch));
        *made = Some((key, Rc::clone(&waterfall)));
        Some(waterfall)
    }

    /// Returns the sentences above the list, wrapped into lines, and whether each line names a cause.
    pub(crate) fn answer_lines(&self) -> Vec<(String, bool)> {
        let cells = usize::from(self.screen.size.width.saturating_sub(2)).max(1);
        let Some(watch) = self.watched() else {
            let has_tails = |data: &Data| !data.tails().is_empty();
            let offers = self.data().is_some_and(has_tails);
            let lines = if offers {
                wrapped(CHOOSE, cells)
            } else {
                Vec::new()
            };
            return lines.into_iter().map(|line| (line, false)).collect();
        };
        let (facts, why, doubt) = ((&watch.facts, false), (&watch.why, true), (&watch.doubt, false));
        // On a low screen, the most important sentences come first, because the last lines may be cut off.
        let sentences = match self.screen.size.height {
            20.. => [facts, doubt, why],
            _ => [doubt, why, facts],
        };
        sentences
            .into_iter()
            .filter_map(|(text, is_cause)| text.as_ref().map(|text| (text, is_cause)))
            .flat_map(|(text, is_cause)| wrapped(text, cells).into_iter().map(move |line| (line, is_cause)))
            .collect()
    }
}
