//! A slot of the time line: what threads and functions did in it.

use crate::app::keyhash::KeyMap;

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
    /// By the key of the function, in all threads.
    pub(crate) functions: KeyMap<u64, Load>,
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
