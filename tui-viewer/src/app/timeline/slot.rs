//! A slot of the time line: the load of threads and functions in it.

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
