//! A slot of the timeline: the load of threads and functions in it.

use tickscope_analysis::spent::{Lapse, TimeSpent};

use crate::app::keyhash::{KeyMap, KeySet};

/// Load of a thread or a function in a slot, in parts of one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Load {
    /// Part on a CPU, as far as it is known.
    pub(crate) working: f64,
    /// Part in scopes and off the CPU.
    pub(crate) waiting: f64,
    /// Key of the function that worked most.
    pub(crate) function: u64,
    /// Load of that function.
    pub(super) most: f64,
}

/// Loads in a slot.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// Load by the key of the thread.
    pub(crate) threads: KeyMap<u64, Load>,
    /// For the key that a thread gets when it ends: the keys of such threads in `threads`.
    pub(super) by_line_once_ended: KeyMap<u64, Vec<u64>>,
    /// Load by the key of the function, in all threads.
    pub(crate) functions: KeyMap<u64, Load>,
}

impl Slot {
    /// Returns the slot of a time that ends with a record.
    pub(super) fn of(lapse: &Lapse, end: &TimeSpent) -> Self {
        let mut slot = Self::default();
        for &((thread, function), spent) in &lapse.spent {
            let working = spent.working() as f64 / lapse.ticks;
            let load = Load {
                working,
                waiting: spent.off_ticks as f64 / lapse.ticks,
                function,
                most: working,
            };
            slot.threads.entry(thread).or_default().add(load);
            slot.functions.entry(function).or_default().add(load);
        }
        for &thread in slot.threads.keys() {
            let line = end.once_ended(thread);
            slot.by_line_once_ended.entry(line).or_default().push(thread);
        }
        slot
    }

    /// Returns the load in a thread's line. `lines` has the threads with lines of their own. The other threads have ended since,
    /// and are in the line of ended threads of their name.
    pub(crate) fn thread(&self, line: u64, lines: &KeySet<u64>) -> Load {
        let mut all = Load::default();
        let threads = self.by_line_once_ended.get(&line).into_iter().flatten();
        let ended = threads.filter(|&thread| *thread != line && !lines.contains(thread));
        let loads = ended.chain([&line]).filter_map(|thread| self.threads.get(thread));
        loads.for_each(|&load| all.add(load));
        all
    }
}

impl Load {
    pub(crate) fn add(&mut self, other: Self) {
        self.working += other.working;
        self.waiting += other.waiting;
        // Of equal functions the smaller key wins, so that the colour does not depend on the order.
        let more = other.most > self.most;
        let first = other.most >= self.most && (self.function == 0 || other.function < self.function);
        if more || first {
            (self.most, self.function) = (other.most, other.function);
        }
    }
}

#[cfg(test)]
mod tests {
    use tickscope_analysis::functions::Functions;
    use tickscope_analysis::spent::{Spent, key_of};
    use tickscope_format::Snapshot;
    use tickscope_format::snapshot::Thread;

    use super::*;

    /// The last moment of a recording has only ended threads. Their lines must not be empty before the last column.
    #[test]
    fn what_a_thread_did_is_in_the_line_of_its_name_once_it_has_ended() {
        let worker = |tid| Thread {
            name: "worker".into(),
            tid,
            ..Thread::default()
        };
        let line = |tid| key_of(&worker(tid));
        let end = Snapshot {
            threads: [0, 5, 6].map(worker).into(),
            ..Snapshot::default()
        };
        let spent = [(0, 250), (5, 500), (6, 125)].map(|(tid, ticks)| {
            let spent = Spent { ticks, off_ticks: 0 };
            ((line(tid), 1), spent)
        });
        let lapse = Lapse {
            ticks: 1000.0,
            waits: false,
            spent: spent.into(),
        };
        let slot = Slot::of(&lapse, &TimeSpent::of(&end, &Functions::default()));
        let worked = |shown: &[u32], tid| {
            let lines = shown.iter().map(|&tid| line(tid)).collect();
            slot.thread(line(tid), &lines).working
        };
        assert_eq!([0, 5, 6].map(|tid| worked(&[0, 5, 6], tid)), [0.25, 0.5, 0.125]);
        assert_eq!([0, 6].map(|tid| worked(&[0, 6], tid)), [0.75, 0.125]);
        assert_eq!(worked(&[0], 0), 0.875);
    }
}
