//! Adds amounts to the innermost open scope of the calling thread.

use crate::enabled::record::current_thread;
use crate::enabled::record::measures::Amounts;
use crate::enabled::runtime::config;

/// Adds amounts. This function neither allocates nor locks, so it may run anywhere: before `main`, in signal handlers,
/// and in destructors of a thread that is ending. The collector's own work is not counted.
#[inline]
pub(crate) fn measure<const N: usize>(amounts: Amounts<N>) {
    match current_thread::hot() {
        Some(tree) if !current_thread::is_own_work() => _ = tree.measure(amounts, config::exact_path),
        Some(_) => {}
        None => current_thread::measure_early(amounts),
    }
}
