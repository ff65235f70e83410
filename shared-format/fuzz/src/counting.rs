//! An allocator that counts the memory of each thread, so that a target can limit the memory that its input takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which also counts the bytes of each thread.
pub(crate) struct Counting;

#[derive(Clone, Copy)]
struct Bytes {
    now: isize,
    most: isize,
}

thread_local! {
    // `Bytes` has no destructor, so that the allocator can use it even while the thread ends.
    static BYTES: Cell<Bytes> = const { Cell::new(Bytes { now: 0, most: 0 }) };
}

fn count(change: isize) {
    let Bytes { now, most } = BYTES.get();
    let now = now + change;
    BYTES.set(Bytes {
        now,
        most: most.max(now),
    });
}

/// Runs `work`. Returns how many more bytes the thread had allocated at its peak than before, and the result of `work`.
pub(crate) fn most_allocated<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = BYTES.get().now;
    BYTES.set(Bytes {
        now: before,
        most: before,
    });
    let result = work();
    ((BYTES.get().most - before) as usize, result)
}

// SAFETY: every method forwards to the system allocator, and counting neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // A reallocation may have to copy, so both blocks exist for a moment.
        count(size as isize);
        count(-(layout.size() as isize));
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(memory, layout, size) }
    }
}
