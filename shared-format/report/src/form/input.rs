//! The input of a form's writer: the snapshot and the options.

use std::borrow::Cow;

use tickscope_analysis::filter;
use tickscope_analysis::measure::Measure;
use tickscope_format::addresses::Addresses;
use tickscope_format::snapshot::Snapshot;

use crate::form_options::FormOptions;

/// A snapshot, and the options to show it.
pub(super) struct Input<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) options: &'a FormOptions,
}

impl<'a> Input<'a> {
    /// Returns the chosen thread alone, or all threads.
    fn of_thread(&self) -> Cow<'a, Snapshot> {
        match self.options.text.thread {
            Some(only) => Cow::Owned(filter::of_threads(self.snapshot, |thread| thread == only)),
            None => Cow::Borrowed(self.snapshot),
        }
    }

    /// Returns the chosen thread without rows that are too small.
    pub(super) fn shown(&self) -> Cow<'a, Snapshot> {
        self.without_small(self.of_thread())
    }

    /// Returns the known code of samples.
    pub(super) fn addresses(&self) -> &Addresses {
        &self.options.text.code.addresses
    }

    /// Returns the measure of shares and order.
    pub(super) fn by(&self) -> Measure {
        self.options.text.by
    }

    /// Returns the given snapshot, with rows below the least share summed up.
    pub(super) fn without_small(&self, snapshot: Cow<'a, Snapshot>) -> Cow<'a, Snapshot> {
        if self.options.text.min_share > 0.0 {
            Cow::Owned(filter::above(&snapshot, self.by(), self.options.text.min_share))
        } else {
            snapshot
        }
    }
}
