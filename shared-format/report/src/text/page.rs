//! The state that all parts of a text report share.

use std::fmt::{self, Write};

use tickscope_analysis::call_tree::{CallTree, Figures};
use tickscope_format::snapshot::Snapshot;

use super::options::TextOptions;
use crate::glyphs::Glyphs;
use crate::{label, number};

pub(super) struct Page<'a> {
    /// The snapshot, converted to the measure of the report.
    pub(super) snapshot: &'a Snapshot,
    /// The original snapshot, as it was measured.
    pub(super) raw: &'a Snapshot,
    pub(super) options: &'a TextOptions,
    pub(super) tree: CallTree,
    /// Label of each function, indexed by function id.
    pub(super) labels: Vec<String>,
    pub(super) glyphs: &'static Glyphs,
    /// The value that corresponds to 100 %, in nanoseconds or in the unit of the measure.
    pub(super) measured_ns: u64,
    /// Whether any time in the tree is an estimate.
    pub(super) has_estimates: bool,
}

/// Number of rows that were left out because they are too small, and the sum of their values in the report's measure.
#[derive(Default)]
pub(super) struct Hidden {
    rows: u64,
    value: u64,
}

impl Hidden {
    pub(super) fn add(&mut self, rows: u64, value: u64) {
        self.rows += rows;
        self.value = self.value.saturating_add(value);
    }

    /// Writes a sentence about the hidden rows, if there are any. `what` is the plural noun for them, such as
    /// `functions`.
    pub(super) fn write(&self, out: &mut String, page: &Page<'_>, what: &str) -> fmt::Result {
        if self.rows == 0 {
            return Ok(());
        }
        writeln!(
            out,
            "\n{} {what} below {} are not shown (--all-rows shows them); together they have {}",
            self.rows,
            number::percent(page.options.min_share),
            page.percent(self.value),
        )
    }
}

impl<'a> Page<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, raw: &'a Snapshot, options: &'a TextOptions) -> Self {
        let tree = CallTree::build(snapshot, |thread| {
            options.thread.is_none_or(|chosen| chosen == thread)
        });
        let labels = label::labels(&tree.functions, options.ascii);
        let measured_ns = tree.measured_ns();
        let has_estimates = (0..tree.rows.len() as u32).any(|row| tree.uncertainty(row).is_some());
        Self {
            snapshot,
            raw,
            options,
            tree,
            labels,
            glyphs: Glyphs::of(options.ascii),
            measured_ns,
            has_estimates,
        }
    }

    pub(super) fn duration(&self, ns: u64) -> String {
        self.in_charset(number::duration(ns))
    }

    pub(super) fn in_charset(&self, text: String) -> String {
        number::in_charset(text, self.options.ascii)
    }

    pub(super) fn share(&self, ns: u64) -> f64 {
        if self.measured_ns == 0 {
            return 0.0;
        }
        ns as f64 / self.measured_ns as f64
    }

    pub(super) fn percent(&self, ns: u64) -> String {
        number::percent(self.share(ns))
    }

    /// Returns whether a row with this value is too small to be shown. Counters have no share of the total, so they are
    /// always shown.
    pub(super) fn is_small(&self, row: &Figures, value: u64) -> bool {
        row.tally.is_none() && self.share(value) < self.options.min_share
    }

    /// Returns whether the calls of a row are so short that the measurement overhead makes up much of their time.
    pub(super) fn is_doubtful(&self, row: &Figures) -> bool {
        let counted_ns = row.sampled.counted_ns(row.total_ns);
        row.tally.is_none() && self.snapshot.is_doubtful(counted_ns, row.calls)
    }
}
