//! Slow calls that are kept whole. Snapshots take turns in having what happened in them, so that a reader keeps it as they
//! come.

use std::collections::HashMap;
use std::rc::Rc;

use tickscope_format::Snapshot;
use tickscope_format::snapshot::{Exemplar, Trace, Watch};

/// So many are kept at most: a few times what the functions watched at once have.
const MOST: usize = 192;

/// What happened in slow calls, from the snapshots so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptTraces {
    /// By the number of the watch and that of the call.
    traces: HashMap<(u64, u64), Kept>,
    /// How many snapshots have been looked at.
    looks: u64,
}

#[derive(Clone, Debug)]
struct Kept {
    trace: Rc<Trace>,
    /// When a snapshot last had the call.
    seen: u64,
}

impl KeptTraces {
    /// Keeps what a snapshot has.
    pub(crate) fn take(&mut self, snapshot: &Snapshot) {
        self.looks += 1;
        for (watch, exemplar) in exemplars(snapshot) {
            let key = (watch.number, exemplar.number);
            match (&exemplar.trace, self.traces.get_mut(&key)) {
                (_, Some(kept)) => kept.seen = self.looks,
                (Some(trace), None) => {
                    let (trace, seen) = (Rc::new(trace.clone()), self.looks);
                    self.traces.insert(key, Kept { trace, seen });
                }
                (None, None) => {}
            }
        }
        while self.traces.len() > MOST {
            let oldest = self.traces.iter().min_by_key(|(key, kept)| (kept.seen, **key));
            let Some(key) = oldest.map(|(key, _)| *key) else {
                return;
            };
            self.traces.remove(&key);
        }
    }

    /// Returns what happened in a call of a watch: what the snapshot has of it, or what an earlier one had.
    pub(crate) fn of<'a>(&'a self, watch: &Watch, exemplar: &'a Exemplar) -> Option<&'a Trace> {
        let kept = || {
            self.traces
                .get(&(watch.number, exemplar.number))
                .map(|kept| &*kept.trace)
        };
        // A path that this moment does not know yet would stand for nothing.
        exemplar
            .trace
            .as_ref()
            .or_else(kept)
            .filter(|trace| trace.path.iter().all(|&path| (path as usize) < watch.paths.len()))
    }

    /// Puts what is known into a snapshot that leaves it out. Returns whether every call is complete.
    pub(crate) fn fill(&self, snapshot: &mut Snapshot) -> bool {
        let mut is_complete = true;
        for watch in &mut snapshot.watches {
            let traces: Vec<Option<Trace>> = watch
                .exemplars
                .iter()
                .map(|exemplar| self.of(watch, exemplar).cloned())
                .collect();
            for (exemplar, trace) in watch.exemplars.iter_mut().zip(traces) {
                is_complete &= trace.is_some();
                exemplar.trace = trace;
            }
        }
        is_complete
    }
}

fn exemplars(snapshot: &Snapshot) -> impl Iterator<Item = (&Watch, &Exemplar)> {
    let of = |watch| std::iter::repeat(watch);
    snapshot
        .watches
        .iter()
        .flat_map(move |watch| of(watch).zip(&watch.exemplars))
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::fixture;

    use super::*;

    #[test]
    fn what_an_earlier_snapshot_had_is_put_into_a_later_one() {
        let [mut first, mut second] = [fixture::slow_frames(), fixture::slow_frames()];
        let whole = first.clone();
        first.watches[0].exemplars[0].trace = None;
        second.watches[0].exemplars[1].trace = None;
        let mut traces = KeptTraces::default();
        traces.take(&first);
        assert!(!traces.clone().fill(&mut first), "one has not come yet");
        assert!(first.watches[0].exemplars[0].trace.is_none());
        traces.take(&second);
        assert!(traces.fill(&mut first) && first == whole);

        // The numbers of another watch are of other calls.
        second.watches[0].number += 1;
        assert!(!traces.fill(&mut second));
    }

    #[test]
    fn calls_that_no_snapshot_has_any_more_go_first() {
        let mut snapshot = fixture::slow_frames();
        let mut traces = KeptTraces::default();
        let number = |snapshot: &Snapshot| snapshot.watches[0].exemplars[1].number;
        for _ in 0..MOST + 10 {
            snapshot.watches[0].exemplars[1].number += 1;
            traces.take(&snapshot);
        }
        assert_eq!(traces.traces.len(), MOST);
        assert!(traces.traces.contains_key(&(1, 7)), "it is in every snapshot");
        assert!(traces.traces.contains_key(&(1, number(&snapshot))));
    }
}
