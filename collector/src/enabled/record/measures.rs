//! What is counted of a node beside calls and time, in a column of its own: nodes keep their size, and a thread in which
//! nothing of this is counted has no memory for it.

use tickscope_format::snapshot::Quantity;

use crate::enabled::platform::sync::{AtomicU64, Ordering, add};
use crate::enabled::record::arena::zeroed;

/// How many quantities nodes may count. Of live bytes they count none: those are read elsewhere.
pub(crate) const QUANTITIES: usize = Quantity::ALL.len();

zeroed! {
    /// The quantities of one node, by their codes. Only the thread writes them.
    #[derive(Debug)]
    pub(crate) struct NodeMeasures {
        values: [AtomicU64; QUANTITIES],
    }
}

/// Amounts to add, each of another quantity.
pub(crate) type Amounts<const N: usize> = [(Quantity, u64); N];

impl NodeMeasures {
    /// Adds amounts.
    #[inline(always)]
    pub(crate) fn add<const N: usize>(&self, amounts: Amounts<N>) {
        for (quantity, amount) in amounts {
            add(&self.values[quantity.code() as usize], amount);
        }
    }

    /// Returns the counter of one quantity. Each poll of a future asks for one, in code that the program's crate compiles.
    #[inline]
    pub(crate) fn of(&self, quantity: Quantity) -> &AtomicU64 {
        &self.values[quantity.code() as usize]
    }

    /// Forgets what an earlier life of the tree has counted.
    pub(crate) fn clear(&self) {
        for value in &self.values {
            value.store(0, Ordering::Relaxed);
        }
    }

    /// Returns all values, for another thread.
    pub(crate) fn read(&self) -> [u64; QUANTITIES] {
        let mut values = self.values.each_ref().map(|value| value.load(Ordering::Relaxed));
        // What a node has there is of calls that are none of futures (`Tree::leave_out_calls`).
        values[Quantity::InFlight.code() as usize] = 0;
        values
    }
}
