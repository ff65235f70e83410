//! Traces of slow calls. Each snapshot contains the traces of only some calls, and the next snapshot may contain
//! others. So the traces must be collected from several snapshots.

use std::collections::HashMap;
use std::rc::Rc;

use tickscope_format::Snapshot;
use tickscope_format::snapshot::{Exemplar, Trace, Watch};

/// Maximum number of traces that are kept: a few times the number of slow calls in one snapshot.
const MOST: usize = 192;

/// Traces of slow calls, collected from all snapshots so far.
#[derive(Clone, Debug, Default)]
pub struct KeptTraces {
    /// Traces by watch number and call number.
    traces: HashMap<(u64, u64), Kept>,
    /// Number of snapshots taken so far.
    looks: u64,
}

#[derive(Clone, Debug)]
struct Kept {
    trace: Rc<Trace>,
    /// Value of `looks` at the last snapshot that contained the call.
    seen: u64,
}

impl KeptTraces {
    /// Keeps the traces of a snapshot.
    pub fn take(&mut self, snapshot: &Snapshot) {
        self.looks += 1;
        for watch in &snapshot.watches {
            for exemplar in &watch.exemplars {
                let key = (watch.number, exemplar.number);
                if let Some(kept) = self.traces.get_mut(&key) {
                    kept.seen = self.looks;
                } else if let Some(trace) = &exemplar.trace {
                    let (trace, seen) = (Rc::new(trace.clone()), self.looks);
                    self.traces.insert(key, Kept { trace, seen });
                }
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

    /// Returns the trace of a watched call, either from the call itself or from an earlier snapshot.
    pub fn of<'a>(&'a self, watch: &Watch, exemplar: &'a Exemplar) -> Option<&'a Trace> {
        let kept = || {
            self.traces
                .get(&(watch.number, exemplar.number))
                .map(|kept| &*kept.trace)
        };
        // A trace may contain paths that the watch in this snapshot does not list. Such a trace is left out.
        exemplar
            .trace
            .as_ref()
            .or_else(kept)
            .filter(|trace| trace.path.iter().all(|&path| (path as usize) < watch.paths.len()))
    }

    /// Adds kept traces to a snapshot that lacks them. Returns whether every call has its trace.
    pub fn fill(&self, snapshot: &mut Snapshot) -> bool {
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

        // A watch that starts anew has a new number. Traces from before do not fit it, because its paths may have other
        // indices.
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
