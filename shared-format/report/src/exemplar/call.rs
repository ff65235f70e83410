//! A slow call that has a trace, with the names of its functions.

use tickscope_analysis::functions::Functions;
use tickscope_analysis::waterfall::{Waterfall, begins};
use tickscope_format::snapshot::{Exemplar, Snapshot, Trace, Watch};

/// A slow call with its trace and the names of its functions.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) watch: &'a Watch,
    pub(super) exemplar: &'a Exemplar,
    pub(super) trace: &'a Trace,
    pub(super) waterfall: Waterfall,
    pub(super) functions: Functions,
    /// For each path, the index of its function in `functions`.
    pub(super) of_path: Vec<usize>,
}

impl Call<'_> {
    /// Returns a title such as `draw_frame, 8.48ms, on main`.
    pub(super) fn title(&self) -> String {
        let ns = self.snapshot.nanos(self.exemplar.ticks);
        format!(
            "{}, {}, on {}",
            self.watch.function,
            crate::number::duration(ns),
            self.exemplar.thread
        )
    }

    /// Converts ticks since the start of the call to nanoseconds.
    pub(super) fn ns(&self, ticks: u64) -> u64 {
        self.snapshot.nanos(ticks)
    }

    /// Returns each note in the call: its time in ticks since the start of the call, its key and its value.
    pub(super) fn notes(&self) -> impl Iterator<Item = (u64, &str, &str)> {
        let begins = begins(self.trace);
        self.trace.notes.iter().map(move |note| {
            let at = begins.get(note.step as usize).copied().unwrap_or(0);
            let key = self.trace.keys.get(note.key as usize).map_or("", String::as_str);
            (at, key, note.value.as_str())
        })
    }
}
