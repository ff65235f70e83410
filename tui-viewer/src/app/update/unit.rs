//! What numbers are per, and what they are in.

use crate::app::figures::What;
use crate::app::row::RowId;
use crate::app::state::Model;
use crate::app::unit::{Of, PerCall};

impl Model {
    /// Every number per call of the selected row, or as it is.
    pub(in crate::app) fn per_call(&mut self) {
        if self.per_call_end() {
            return;
        }
        let Some((data, row)) = self.data.as_ref().zip(self.list().selected()) else {
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
            lens: self.lens.clone(),
            grouped: data.grouped,
            view: self.view,
        });
        let Some(per) = per.filter(|per| per.calls(data, &self.scope, &self.open) > 0) else {
            self.complain(format!("{label} has no calls to divide by"));
            return;
        };
        self.tell(format!("every number per call of {label}; b or Esc: totals"));
        self.per_call = Some(per);
        self.count_calls();
    }

    /// Back to totals; false where they are shown already.
    pub(in crate::app) fn per_call_end(&mut self) -> bool {
        let ends = self.per_call.take().is_some();
        self.count_calls();
        if ends {
            self.tell("totals again");
        }
        ends
    }

    /// Nanoseconds, or ticks of the clock.
    pub(in crate::app) fn change_units(&mut self) {
        self.ticks = !self.ticks;
        let hz = self.shown.as_ref().map(|shown| shown.clock.ticks_per_second);
        self.tell(match (self.ticks, hz) {
            (true, Some(hz)) => format!(
                "times in ticks of the clock, {:.2} of them a nanosecond",
                hz / 1e9
            ),
            (true, None) => "times in ticks of the clock".to_string(),
            (false, _) => "times in seconds".to_string(),
        });
    }

    /// There is other data: the row that numbers are per has other calls.
    pub(in crate::app) fn count_calls(&mut self) {
        let (per, scope, open) = (self.per_call.as_ref(), &self.scope, &self.open);
        let Some(data) = &mut self.data else { return };
        data.per_calls = per.map(|per| per.calls(data, scope, open));
        if let Some(then) = &mut data.then {
            then.per_calls = per.map(|per| per.calls(then, scope, open));
        }
    }

    /// What numbers are per and in, in so many words; nothing where they are totals of time.
    pub(crate) fn unit_words(&self, wordy: bool) -> Vec<String> {
        let per = self.per_call.as_ref().map(|per| match wordy {
            true => format!("per call of {}", per.label),
            false => "per call".to_string(),
        });
        per.into_iter()
            .chain(self.ticks.then(|| "ticks".to_string()))
            .collect()
    }
}
