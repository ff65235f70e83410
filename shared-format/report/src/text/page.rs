//! The data that all parts of a text report share.

use tickscope_analysis::call_tree::CallTree;
use tickscope_format::snapshot::Snapshot;

use super::options::TextOptions;
use crate::glyphs::Glyphs;
use crate::{label, number};

/// Data for every part of the report.
pub(super) struct Page<'a> {
    /// Snapshot by the chosen measure.
    pub(super) snapshot: &'a Snapshot,
    /// Snapshot as it was measured.
    pub(super) raw: &'a Snapshot,
    pub(super) options: &'a TextOptions,
    pub(super) tree: CallTree,
    /// Labels by function id.
    pub(super) labels: Vec<String>,
    pub(super) glyphs: &'static Glyphs,
    /// Sum that is 100 %, in nanoseconds or the measure's unit.
    pub(super) measured_ns: u64,
    /// Whether a time of the tree is an estimate.
    pub(super) has_estimates: bool,
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
        if self.options.ascii {
            number::ascii(text)
        } else {
            text
        }
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
}
