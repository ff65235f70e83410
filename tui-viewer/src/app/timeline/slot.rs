//! A slot of the time line: the load of threads and functions in it.

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
    /// Keys of these threads by the key that they have once they have ended.
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
    pub(super) fn thread(&self, line: u64, lines: &KeySet<u64>) -> Load {
        let mut all = Load::default();
        let threads = self.by_line_once_ended.get(&line).into_iter().flatten();
        let ended = threads.filter(|&thread| *thread != line && !lines.contains(thread));
        let loads = ended.chain([&line]).filter_map(|thread| self.threads.get(thread));
        loads.for_each(|&load| all.add(load));
        all
    }
}

impl Load {
    pub(super) fn add(&mut self, other: Self) {
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
    use tickscope_analysis::spent::{key_of, lapse};
    use tickscope_format::Snapshot;
    use tickscope_format::ids::SiteId;
    use tickscope_format::snapshot::{Site, Sites, Thread};

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Returns a moment with threads of one name, each with the seconds that it has worked; ended threads have the id 0.
    fn moment(second: u64, threads: &[(u32, f64)]) -> TimeSpent {
        let site = Site {
            name: "work".into(),
            ..Site::default()
        };
        let mut s = Snapshot {
            sites: Sites::from([site]),
            ..Snapshot::default()
        };
        s.clock.ticks_per_second = SECOND as f64;
        s.capture.since_reset_ns = second * SECOND;
        for (first_row, &(tid, worked)) in (0..).zip(threads) {
            s.nodes.push(None, SiteId(0), 1, (worked * SECOND as f64) as u64);
            s.threads.push(Thread {
                name: "worker".into(),
                tid,
                first_row,
                rows: 1,
                ..Thread::default()
            });
        }
        TimeSpent::of(&s, &Functions::of(&s))
    }

    /// The last moment of a recording has only ended threads. Their lines were empty except for the last column.
    #[test]
    fn what_a_thread_did_is_in_the_line_of_its_name_once_it_has_ended() {
        let end = moment(100, &[(0, 30.25), (5, 90.5), (6, 0.125)]);
        let lapse = lapse(&[&end], &[&moment(99, &[(0, 30.0), (5, 90.0)])]).unwrap();
        let slot = Slot::of(&lapse, &end);
        let line = |tid| {
            key_of(&Thread {
                name: "worker".into(),
                tid,
                ..Thread::default()
            })
        };
        let worked = |shown: &[u32], tid| {
            slot.thread(line(tid), &shown.iter().map(|&tid| line(tid)).collect())
                .working
        };
        assert_eq!([0, 5, 6].map(|tid| worked(&[0, 5, 6], tid)), [0.25, 0.5, 0.125]);
        assert_eq!([0, 6].map(|tid| worked(&[0, 6], tid)), [0.75, 0.125]);
        assert_eq!(worked(&[0], 0), 0.875);
    }
}
