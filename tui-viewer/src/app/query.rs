//! The user's choice of numbers for the moment on screen, with their divisor and unit.

use tickscope_analysis::call_tree::PathId;
use tickscope_analysis::measure::Measure;
use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::saturating_sum;

use crate::app::data::Data;
use crate::app::filter::{Filter, function_of};
use crate::app::keyhash::KeySet;
use crate::app::row::{RowId, What};
use crate::app::state::App;
use crate::app::window::{Against, Window};
use crate::keys::view::View;

/// All choices that decide which numbers are shown. Two equal queries of one snapshot give the same numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Query {
    /// Threads whose time is shown.
    pub(crate) threads: ThreadChoice,
    /// Part of the calls that is shown, from the top down or the bottom up.
    pub(crate) filter: Filter,
    /// Stretch of time that is shown.
    pub(crate) window: Window,
    /// Moment or window to compare the numbers with.
    pub(crate) against: Option<Against>,
    /// Measure of shares, totals and the order, if the program counts it.
    pub(crate) measure: Measure,
    /// Meaning of 100 %, in views that leave the choice.
    pub(crate) percent_of: PercentOf,
    /// Row by whose calls every number is divided.
    pub(crate) per_call: Option<PerCall>,
    /// Whether times are shown in ticks of the clock.
    pub(crate) in_ticks: bool,
}

/// The whole of which a row is a share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PercentOf {
    /// All measured time of the threads in scope.
    #[default]
    Measured,
    /// All time of the threads in scope, outside of scopes too.
    Wall,
    /// The row's parent.
    Parent,
}

impl PercentOf {
    /// Returns the choice that applies in a view: in a view without parents, all measured time takes the
    /// place of the parent.
    pub(crate) fn within(self, has_parents: bool) -> Self {
        if self == Self::Parent && !has_parents {
            return Self::Measured;
        }
        self
    }

    /// Returns the next choice that makes a difference.
    pub(crate) fn next(self, has_parents: bool) -> Self {
        match self.within(has_parents) {
            Self::Measured => Self::Wall,
            Self::Wall if has_parents => Self::Parent,
            Self::Wall | Self::Parent => Self::Measured,
        }
    }

    /// Returns the label for the line above the columns.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Measured => "% of measured",
            Self::Wall => "% of wall time",
            Self::Parent => "% of parent",
        }
    }
}

/// The threads in scope. A thread is known by name and id, so that the choice outlives the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ThreadChoice {
    /// All threads, merged by path.
    #[default]
    All,
    /// One thread.
    One {
        name: String,
        /// Kernel id of the thread.
        tid: u32,
    },
}

impl ThreadChoice {
    /// Returns the chosen thread in a snapshot. An ended thread is found in the row of ended threads of its name. After a restart
    /// the first thread of that name stands for it.
    pub(crate) fn thread(&self, snapshot: &Snapshot) -> Option<ThreadId> {
        let Self::One { name, tid } = self else {
            return None;
        };
        let named = |wanted: Option<u32>| {
            snapshot
                .threads
                .iter()
                .position(|t| t.name == *name && wanted.is_none_or(|tid| t.tid == tid))
        };
        let index = named(Some(*tid))
            .or_else(|| named(Some(0)))
            .or_else(|| named(None))?;
        Some(ThreadId(index as u32))
    }

    /// Returns the name of the only thread in scope.
    pub(crate) fn only(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::One { name, .. } => Some(name),
        }
    }
}

/// Row by whose calls every number is divided.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PerCall {
    pub(crate) of: Of,
    /// Short name of the row.
    pub(crate) label: String,
    /// Filter of the calls when the row was chosen. The divisor goes on counting the same calls.
    pub(crate) filter: Filter,
    /// Whether groups stood in place of their members when the row was chosen.
    pub(crate) grouped: bool,
    /// View in which the row was chosen.
    pub(crate) view: View,
}

/// Id of the row, the same in all snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// A path of functions.
    Path(PathId),
    /// A function on all its paths, by its key.
    Function(u64),
}

impl PerCall {
    pub(crate) fn calls(&self, data: &Data, scope: &ThreadChoice, open: &KeySet<PathId>) -> u64 {
        let whole = data.whole_of(scope, self.grouped);
        let seen = self.filter.look(&whole, self.view, open);
        match self.of {
            Of::Path(path) => {
                let found = seen.tree.rows.iter().find(|row| row.path == path);
                found.map_or(0, |row| row.calls)
            }
            Of::Function(key) => {
                let Some(function) = function_of(&seen.calls, key) else {
                    return 0;
                };
                let rows = seen.calls.rows.iter().filter(|row| row.function == function);
                saturating_sum(rows.map(|row| row.calls))
            }
        }
    }
}

impl App {
    /// Shows every number per call of the selected row, or totals again.
    pub(crate) fn per_call(&mut self) {
        if self.per_call_end() {
            return;
        }
        let Some((data, row)) = self.selected() else {
            return;
        };
        let key = |what: What| {
            let function = data.function(what)?;
            Some(Of::Function(data.tree.functions.get(function).key))
        };
        let of = if let RowId::Path(path) = row.id {
            Some(Of::Path(path))
        } else {
            key(row.what)
        };
        let label = data.label(row.what).to_string();
        let per = of.map(|of| PerCall {
            of,
            label: label.clone(),
            filter: self.query.filter.clone(),
            grouped: data.grouped,
            view: self.views.current,
        });
        let Some(per) =
            per.filter(|per| per.calls(data, &self.query.threads, self.views.expanded.paths()) > 0)
        else {
            self.complain(format!("{label} has no calls to divide by"));
            return;
        };
        self.tell(format!("every number per call of {label}; b or Esc: totals"));
        self.query.per_call = Some(per);
    }

    /// Shows totals again; returns false if they are shown already.
    pub(crate) fn per_call_end(&mut self) -> bool {
        let ends = self.query.per_call.take().is_some();
        if ends {
            self.tell("totals again");
        }
        ends
    }

    /// Switches to the next measure of the program.
    pub(crate) fn next_measure(&mut self) {
        let Some(shown) = self.shown() else { return };
        let all: Vec<Measure> = Measure::measured(shown).collect();
        let at = all.iter().position(|&measure| measure == self.measure());
        let next = all[(at.unwrap_or(0) + 1) % all.len()];
        self.query.measure = next;
        let by = next.name();
        self.tell(format!("shares, totals and order by {by}; v: the next measure"));
    }

    /// Switches between nanoseconds and ticks of the clock.
    pub(crate) fn change_units(&mut self) {
        self.query.in_ticks = !self.query.in_ticks;
        let hz = self.shown().map(|shown| shown.clock.ticks_per_second);
        self.tell(match (self.query.in_ticks, hz) {
            (true, Some(hz)) => format!("times in ticks of the clock, {:.2} ticks a nanosecond", hz / 1e9),
            (true, None) => "times in ticks of the clock".to_string(),
            (false, _) => "times in seconds".to_string(),
        });
    }

    /// Counts the calls by which numbers are divided, if the data or the divisor has changed.
    pub(crate) fn count_calls(&mut self) {
        let key = (self.derived.data_memo.revision(), self.query.per_call.clone());
        if !self.derived.per_call_memo.is_new(key) {
            return;
        }
        let (per, threads) = (self.query.per_call.as_ref(), &self.query.threads);
        let open = self.views.expanded.paths();
        let Some(data) = &mut self.derived.data else {
            return;
        };
        data.per_calls = per.map(|per| per.calls(data, threads, open));
        if let Some(then) = &mut data.then {
            then.per_calls = per.map(|per| per.calls(then, threads, open));
        }
    }
}
