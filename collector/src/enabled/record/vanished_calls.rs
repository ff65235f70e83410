//! Calls of async functions whose end was not seen, because the future was dropped by code that was inlined, or because some
//! of its polls are parts of other functions. When such a call ended is not known, so it has no latency.

use std::sync::atomic::AtomicU64;

use tickscope_format::snapshot::Quantity;

use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::calls_by_future::Held;
use crate::enabled::record::in_flight;
use crate::enabled::record::owner::Owner;
use crate::enabled::record::registry;

/// The number of these calls since the start of the program.
static VANISHED: AtomicU64 = AtomicU64::new(0);

/// Returns the number of calls that have vanished since the start of the program.
pub(crate) fn count() -> u64 {
    VANISHED.load(Ordering::Relaxed)
}

/// Ends a call that is over. It counts in the row of its last poll. Returns that row if it is not of a thread that runs: the
/// rows of finished threads have others who count.
pub(crate) fn end(held: Held) -> Option<Owner> {
    VANISHED.fetch_add(1, Ordering::Relaxed);
    in_flight::end_without_tree(held.call);
    let row = Owner::numbered(held.row)?;
    let of_row = |block: &&'static registry::Block| Owner::of_tree(&block.tree).contains(&row);
    let Some(block) = registry::living().find(of_row) else {
        return Some(row);
    };
    if let Some(measures) = block.tree.measures.get(row.index()) {
        // Any thread may find that the call is over, so this quantity alone is not its own thread's to write.
        measures
            .of(Quantity::FutureVanished)
            .fetch_add(1, Ordering::Release);
    }
    None
}
