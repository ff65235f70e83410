//! What the program's allocator calls: counts allocations for the innermost open scope of the calling thread.
//!
//! It neither allocates nor locks, and may run anywhere: before `main`, in signal handlers, in destructors of a thread
//! that ends. The collector's own allocations are not counted.

use tickscope_format::snapshot::Quantity::{AllocatedBytes, Allocations, FreedBytes, Frees};

use crate::enabled::measures::measure;

/// Counts an allocation of so many bytes.
#[inline]
pub(crate) fn allocated(bytes: usize) {
    measure([(Allocations, 1), (AllocatedBytes, bytes as u64)]);
}

/// Counts a block of so many bytes that is given back.
#[inline]
pub(crate) fn freed(bytes: usize) {
    measure([(Frees, 1), (FreedBytes, bytes as u64)]);
}

/// Counts a block that gets another size: given back with the old one, allocated with the new one.
#[inline]
pub(crate) fn reallocated(old: usize, new: usize) {
    measure([
        (Frees, 1),
        (FreedBytes, old as u64),
        (Allocations, 1),
        (AllocatedBytes, new as u64),
    ]);
}
