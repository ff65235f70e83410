//! An allocator that counts the allocations and frees of each call path, around the program's own allocator.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::implementation::allocations;

/// Counts allocations for the call path that makes them, and forwards them to another allocator.
///
/// Each row of the call tree then shows the number of its allocations and frees, and their bytes. A free is counted in
/// the row that frees the block, not in the row that allocated it. A reallocation counts as an allocation of the new
/// size and a free of the old size. Memory that a thread allocates before its first scope or between its scopes is
/// shown as allocated outside of all scopes. Allocations by threads that never open a scope, and by the collector
/// itself, are not counted.
///
/// On average, one block per 512 KiB allocated is sampled: its row is remembered until the block is freed. The live
/// bytes of each row are estimated from the sampled blocks.
///
/// Counting costs a few additions per allocation and takes no lock. Without the feature `enable`, this allocator only
/// calls the inner one.
///
/// ```standalone_crate
/// #[global_allocator]
/// static ALLOCATOR: tickscope::Alloc = tickscope::Alloc::system();
///
/// fn lines(text: &str) -> Vec<String> {
///     tickscope::scope!();
///     text.lines().map(String::from).collect()
/// }
/// # assert_eq!(lines("a\nb").len(), 2);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Alloc<A = System> {
    inner: A,
}

impl Alloc {
    /// Wraps the system allocator.
    pub const fn system() -> Self {
        Self::new(System)
    }
}

impl<A> Alloc<A> {
    /// Wraps another allocator.
    ///
    /// ```standalone_crate
    /// # use std::alloc::System as MiMalloc;
    /// #[global_allocator]
    /// static ALLOCATOR: tickscope::Alloc<MiMalloc> = tickscope::Alloc::new(MiMalloc);
    /// ```
    pub const fn new(inner: A) -> Self {
        Self { inner }
    }
}

// SAFETY: every call goes to the inner allocator unchanged, and its result is returned unchanged. Counting neither
// allocates nor unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Alloc<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this function, which is also the contract of the inner allocator's
        // function.
        let block = unsafe { self.inner.alloc(layout) };
        if !block.is_null() {
            allocations::allocated(block, layout.size());
        }
        block
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { self.inner.alloc_zeroed(layout) };
        if !block.is_null() {
            allocations::allocated(block, layout.size());
        }
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        allocations::freed(block, layout.size());
        // SAFETY: as above.
        unsafe { self.inner.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let before = allocations::resize(block);
        // SAFETY: as above.
        let moved = unsafe { self.inner.realloc(block, layout, new_size) };
        if moved.is_null() {
            allocations::not_resized(block, before);
        } else {
            allocations::resized(moved, layout.size(), new_size);
        }
        moved
    }
}
