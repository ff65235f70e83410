//! What a form's writer receives: the snapshot and the options.

use std::borrow::Cow;

use tickscope_analysis::filter;
use tickscope_analysis::measure::Measure;
use tickscope_format::addresses::Addresses;
use tickscope_format::snapshot::Snapshot;

use crate::form_options::FormOptions;

pub(super) struct Input<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) options: &'a FormOptions,
}

impl<'a> Input<'a> {
    /// Returns the snapshot, reduced to the chosen thread if one was chosen.
    fn of_thread(&self) -> Cow<'a, Snapshot> {
        match self.options.text.thread {
            Some(only) => Cow::Owned(filter::of_threads(self.snapshot, |thread| thread == only)),
            None => Cow::Borrowed(self.snapshot),
        }
    }

    /// Returns the snapshot with only the chosen thread, if any, and with the rows below the minimum share merged.
    pub(super) fn shown(&self) -> Cow<'a, Snapshot> {
        self.without_small(self.of_thread())
    }

    /// Returns the functions and source lines of the sampled addresses.
    pub(super) fn addresses(&self) -> &Addresses {
        &self.options.text.code.addresses
    }

    /// Returns the measure by which rows are sorted and shares are computed.
    pub(super) fn by(&self) -> Measure {
        self.options.text.by
    }

    /// Returns `snapshot` with the rows below the minimum share merged into rows called `(small)`.
    pub(super) fn without_small(&self, snapshot: Cow<'a, Snapshot>) -> Cow<'a, Snapshot> {
        if self.options.text.min_share > 0.0 {
            Cow::Owned(filter::above(&snapshot, self.by(), self.options.text.min_share))
        } else {
            snapshot
        }
    }
}
