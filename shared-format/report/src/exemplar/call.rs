//! A slow call that is kept whole, with names.

use tickscope_analysis::functions::Functions;
use tickscope_analysis::waterfall::Waterfall;
use tickscope_format::snapshot::{Exemplar, Snapshot, Trace, Watch};

/// A slow call, with names.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) watch: &'a Watch,
    pub(super) exemplar: &'a Exemplar,
    pub(super) trace: &'a Trace,
    pub(super) waterfall: Waterfall,
    pub(super) functions: Functions,
    /// By path: its function among `functions`.
    pub(super) of_path: Vec<usize>,
}

impl Call<'_> {
    /// What the call is called: `draw_frame, 8.48ms, on main`.
    pub(super) fn title(&self) -> String {
        let ns = self.snapshot.nanos(self.exemplar.ticks);
        format!(
            "{}, {}, on {}",
            self.watch.function,
            crate::number::duration(ns),
            self.exemplar.thread
        )
    }

    /// Nanoseconds since the call began.
    pub(super) fn ns(&self, ticks: u64) -> u64 {
        self.snapshot.nanos(ticks)
    }

    /// When each step begins, in ticks, and behind the last one when it ends.
    pub(super) fn steps(&self) -> Vec<u64> {
        let mut now = 0u64;
        let mut begins = Vec::with_capacity(self.trace.len() + 1);
        let gap = |step: usize| self.trace.gap.filter(|gap| gap.step as usize == step);
        for (step, ticks) in self.trace.ticks.iter().enumerate() {
            now = now.saturating_add(gap(step).map_or(0, |gap| gap.ticks));
            begins.push(now);
            now = now.saturating_add(*ticks);
        }
        begins.push(now.saturating_add(gap(self.trace.len()).map_or(0, |gap| gap.ticks)));
        begins
    }

    /// The notes: when, key and value.
    pub(super) fn notes(&self) -> impl Iterator<Item = (u64, &str, &str)> {
        let begins = self.steps();
        self.trace.notes.iter().map(move |note| {
            let at = begins.get(note.step as usize).copied().unwrap_or(0);
            let key = self.trace.keys.get(note.key as usize).map_or("", String::as_str);
            (at, key, note.value.as_str())
        })
    }
}
