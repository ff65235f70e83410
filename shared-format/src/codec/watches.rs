//! The section of watched functions.

use bincode::{Decode, Encode};

use crate::snapshot::{CauseSum, Exemplar, LostCalls, Over, Watch, WatchState, WatchedPath};

/// Function, threshold as requested, number, beginning, state, threshold in ticks, and lost calls.
type Facts<F> = (F, Over, u64, u64, WatchState, u64, LostCalls);

#[derive(Encode)]
pub(super) struct WatchOut<'a>(Facts<&'a str>, &'a [WatchedPath], &'a [CauseSum], &'a [Exemplar]);

#[derive(Decode)]
pub(super) struct WatchIn(Facts<String>, Vec<WatchedPath>, Vec<CauseSum>, Vec<Exemplar>);

impl<'a> WatchOut<'a> {
    /// Returns the encoding of a watch. Records of the coarse ring leave out the calls that are kept whole.
    pub(super) fn new(watch: &'a Watch, with_exemplars: bool) -> Self {
        let facts = (
            watch.function.as_str(),
            watch.over,
            watch.number,
            watch.began_unix_ns,
            watch.state,
            watch.threshold_ticks,
            watch.lost,
        );
        let exemplars: &[Exemplar] = if with_exemplars { &watch.exemplars } else { &[] };
        Self(facts, &watch.paths, &watch.causes, exemplars)
    }
}

impl WatchIn {
    pub(super) fn watch(self) -> Watch {
        let Self(facts, paths, causes, exemplars) = self;
        let (function, over, number, began_unix_ns, state, threshold_ticks, lost) = facts;
        Watch {
            function,
            over,
            number,
            began_unix_ns,
            state,
            threshold_ticks,
            lost,
            paths,
            causes,
            exemplars,
        }
    }
}
