//! Hooks for the program's allocator. They count allocations for the innermost open scope of the calling thread.
//!
//! They neither allocate nor lock, so they may run anywhere: before `main`, in signal handlers, and in destructors that
//! run when a thread ends. The collector's own allocations are not counted.

use tickscope_format::snapshot::Quantity::{AllocatedBytes, Allocations, FreedBytes, Frees};

use crate::enabled::measures::measure;
use crate::enabled::record::current_thread;
use crate::enabled::record::live_blocks::{self, Block};

/// A sampled block whose size is about to change; `None` if the block was not sampled.
pub(crate) type Resized = Option<Block>;

/// Counts an allocation of `bytes` at this address.
#[inline]
pub(crate) fn allocated(block: *mut u8, bytes: usize) {
    measure([(Allocations, 1), (AllocatedBytes, bytes as u64)]);
    sample(block, bytes);
}

/// Counts a block of `bytes` that is about to be freed.
#[inline]
pub(crate) fn freed(block: *mut u8, bytes: usize) {
    measure([(Frees, 1), (FreedBytes, bytes as u64)]);
    live_blocks::take(block.addr());
}

/// Begins to resize a block. Must come before the allocator's call, because another thread may get the old address
/// before that call returns.
#[inline]
pub(crate) fn resize(block: *mut u8) -> Resized {
    live_blocks::take(block.addr())
}

/// Counts a resized block: freed with the old size, allocated with the new one.
#[inline]
pub(crate) fn resized(block: *mut u8, old: usize, new: usize) {
    measure([
        (Frees, 1),
        (FreedBytes, old as u64),
        (Allocations, 1),
        (AllocatedBytes, new as u64),
    ]);
    sample(block, new);
}

/// Ends a failed attempt to resize a block, which stays unchanged.
#[inline]
pub(crate) fn not_resized(block: *mut u8, before: Resized) {
    if let Some(before) = before {
        live_blocks::put_back(block.addr(), before);
    }
}

#[inline]
fn sample(block: *mut u8, bytes: usize) {
    if live_blocks::is_due(bytes) {
        let tree = current_thread::hot().filter(|_| !current_thread::is_own_work());
        live_blocks::sample(tree, block.addr(), bytes);
    }
}
