//! A slot of the time line: what threads and functions did in it.

use crate::app::keyhash::{KeyMap, KeySet};

/// What a thread or a function did in a slot, in parts of one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Load {
    /// On a CPU, as far as that is known.
    pub(crate) working: f64,
    /// In scopes and off the CPU.
    pub(crate) waiting: f64,
    /// The function that worked most, by its key.
    pub(crate) function: u64,
    /// How much it worked.
    pub(super) most: f64,
}

/// What happened in a slot.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// By the key of the thread.
    pub(crate) threads: KeyMap<u64, Load>,
    /// These threads by the key that they have once they have ended.
    pub(super) by_line_once_ended: KeyMap<u64, Vec<u64>>,
    /// By the key of the function, in all threads.
    pub(crate) functions: KeyMap<u64, Load>,
}

impl Slot {
    /// What a thread did that has a line. `lines` has the threads with lines of their own: the others have ended since, and are in the
    /// line of those of their name that have.
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
        // Of equal ones the smaller key, so that the colour does not depend on the order.
        let more = other.most > self.most;
        let first = other.most >= self.most && (self.function == 0 || other.function < self.function);
        if more || first {
            (self.most, self.function) = (other.most, other.function);
        }
    }
}
