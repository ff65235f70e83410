//! Counts, for each node, how often the thread was found waiting in each system call. The counts can be reset, and a reset can be
//! undone.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tickscope_format::snapshot::{Now, WaitsIn as Shown};

use crate::enabled::capture::epochs::Epochs;
use crate::enabled::platform::waiting_call::{Call, Doing};

/// Samples by node and call. Few nodes have samples, so they are kept in a map instead of columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitsIn {
    counted: BTreeMap<(u32, Call), Epochs<u64>>,
}

impl WaitsIn {
    pub(crate) fn count(&mut self, node: u32, call: Call) {
        self.counted.entry((node, call)).or_default().current += 1;
    }

    /// Returns a node's samples since the last reset.
    pub(crate) fn shown(&self, node: u32) -> impl Iterator<Item = (Call, u64)> {
        let of_node = self.counted.range((node, Call::FIRST)..=(node, Call::LAST));
        of_node
            .map(|(&(_, call), epochs)| (call, epochs.current - epochs.base))
            .filter(|&(_, samples)| samples > 0)
    }

    pub(crate) fn reset(&mut self) {
        self.counted.values_mut().for_each(Epochs::reset);
    }

    pub(crate) fn undo(&mut self) {
        self.counted.values_mut().for_each(Epochs::undo);
    }

    /// Adds the samples of another thread's node `from` to `node`.
    pub(crate) fn absorb(&mut self, node: u32, other: &Self, from: u32) {
        for (&(_, call), more) in other.counted.range((from, Call::FIRST)..=(from, Call::LAST)) {
            let sum = self.counted.entry((node, call)).or_default();
            sum.absorb(more, |sum, more| *sum += more);
        }
    }
}

/// Converts the samples of each row and the state of each thread to the form used in snapshots, which gives system calls by name.
pub(crate) fn named(samples: &[(u32, Call, u64)], doing: &[(u32, Doing)]) -> Shown {
    let waiting = doing.iter().filter_map(|(_, doing)| match doing {
        Doing::Waiting(call) => Some(*call),
        Doing::Running | Doing::Ready => None,
    });
    let calls = samples.iter().map(|&(_, call, _)| call).chain(waiting);
    let mut names: BTreeMap<Call, Cow<'static, str>> = BTreeMap::new();
    for call in calls {
        names.entry(call).or_insert_with(|| call.name());
    }
    let now = |doing: &Doing| match doing {
        Doing::Running => Now::Running,
        Doing::Ready => Now::Ready,
        Doing::Waiting(call) => Now::In(&names[call]),
    };
    Shown::new(
        samples
            .iter()
            .map(|(row, call, samples)| (*row, &*names[call], *samples)),
        doing.iter().map(|(thread, doing)| (*thread, now(doing))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_shows_nothing_an_undo_all_again_and_folded_threads_add_up() {
        let (one, other) = (Call::FIRST, Call::LAST);
        let shown = |waits: &WaitsIn, node| waits.shown(node).collect::<Vec<_>>();
        let mut waits = WaitsIn::default();
        for (node, call) in [(1, one), (2, other), (1, other), (1, one)] {
            waits.count(node, call);
        }
        assert_eq!(shown(&waits, 1), [(one, 2), (other, 1)]);
        assert_eq!(shown(&waits, 2), [(other, 1)]);
        assert_eq!(shown(&waits, 3), []);
        waits.reset();
        assert_eq!(shown(&waits, 1), []);
        waits.count(1, other);
        let mut folded = WaitsIn::default();
        folded.absorb(7, &waits, 1);
        folded.absorb(7, &waits, 2);
        assert_eq!(shown(&folded, 7), [(other, 1)]);
        folded.undo();
        assert_eq!(shown(&folded, 7), [(one, 2), (other, 3)]);
        waits.undo();
        assert_eq!(shown(&waits, 1), [(one, 2), (other, 2)]);
    }
}
