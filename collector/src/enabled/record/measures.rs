//! What a node counts apart from calls and time. These amounts are stored outside the node, so that nodes stay small and threads
//! without such amounts need no memory for them.

use tickscope_format::snapshot::Quantity;

use crate::enabled::platform::sync::{AtomicU64, Ordering, add};
use crate::enabled::record::arena::zeroed;

/// Number of quantities. This includes live bytes, which nodes do not count: they are read from the table of live blocks.
pub(crate) const QUANTITIES: usize = Quantity::ALL.len();

zeroed! {
    /// The quantities of one node, indexed by [`Quantity::code`]. Only the node's thread writes them.
    #[derive(Debug)]
    pub(crate) struct NodeMeasures {
        values: [AtomicU64; QUANTITIES],
    }
}

/// Amounts to add, each of a different quantity.
pub(crate) type Amounts<const N: usize> = [(Quantity, u64); N];

impl NodeMeasures {
    #[inline(always)]
    pub(crate) fn add<const N: usize>(&self, amounts: Amounts<N>) {
        for (quantity, amount) in amounts {
            add(&self.values[quantity.code() as usize], amount);
        }
    }

    /// Returns the counter of one quantity. Inlined because each poll of a future calls this, from code that is compiled into the
    /// program's crate.
    #[inline]
    pub(crate) fn of(&self, quantity: Quantity) -> &AtomicU64 {
        &self.values[quantity.code() as usize]
    }

    /// Clears the amounts that an earlier thread may have left here.
    pub(crate) fn clear(&self) {
        for value in &self.values {
            value.store(0, Ordering::Relaxed);
        }
    }

    /// Returns all values. Any thread may call this.
    pub(crate) fn read(&self) -> [u64; QUANTITIES] {
        let mut values = self.values.each_ref().map(|value| value.load(Ordering::Relaxed));
        // Nodes use this entry for something else: the number of calls that are not calls of futures (`Tree::leave_out_calls`).
        values[Quantity::InFlight.code() as usize] = 0;
        values
    }
}
