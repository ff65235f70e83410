//! The input of a form's writer: the snapshot and the options.

use std::borrow::Cow;
use std::sync::Arc;

use tickscope_analysis::filter;
use tickscope_analysis::measure::Measure;
use tickscope_format::addresses::Addresses;
use tickscope_format::snapshot::Snapshot;

use crate::slots::Slots;
use crate::text::TextOptions;

/// Options of a report in any form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormOptions {
    /// Options of the text. State, thread and least share apply to every form; the function that divides numbers
    /// applies to the forms that accept it (see [`check_per`](super::Form::check_per)). A page begins with the thread and
    /// the measure; its reader may choose others.
    pub text: TextOptions,
    /// Activity of threads over the time of a recording, for `html`.
    pub slots: Option<Arc<Slots>>,
    /// Index in the snapshot of the watched function with whose slow calls a page opens, if any.
    pub watch: Option<usize>,
}

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
