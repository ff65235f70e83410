//! What numbers are divided by, what they measure, and the unit in which times are shown.

use tickscope_analysis::measure::Measure;

use crate::app::query::{Of, PerCall};
use crate::app::row::{RowId, What};
use crate::app::state::App;

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

    /// Updates the number of calls that all numbers are divided by, if the data or the divisor has changed.
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
