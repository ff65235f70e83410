//! Memory for call trees: pages of their own, recycled but never given back, so that no reference dangles.
//!
//! The pages come from the kernel and not from the program's allocator: a scope inside a global allocator must
//! work. Everything in them is an atomic, so that sharing them is safe whatever the other side does; the
//! atomics that have one writer are read and written with plain loads and stores.

use std::fmt;
use std::ptr::NonNull;

use crate::enabled::platform::os;
use crate::enabled::platform::sync::{self, AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// A place that holds nothing or a reference to something that lives for ever.
pub(crate) struct Ref<T: Sync + 'static>(AtomicPtr<T>);

/// Types of which a page of zeros holds valid values.
///
/// # Safety
/// All-zero bytes are a valid value, and the type has no drop glue.
pub(crate) unsafe trait FromZeros: Sync {}

// SAFETY: a null pointer is none.
unsafe impl<T: Sync> FromZeros for Ref<T> {}
// SAFETY: zero is a number.
unsafe impl FromZeros for AtomicU32 {}
// SAFETY: zero is a number.
unsafe impl FromZeros for AtomicU64 {}
// SAFETY: as good as its elements.
unsafe impl<T: FromZeros, const N: usize> FromZeros for [T; N] {}
// SAFETY: a null pointer and no elements: an array that was never allocated.
unsafe impl<T: FromZeros> FromZeros for Array<T> {}
// SAFETY: an array of arrays.
unsafe impl<T: FromZeros> FromZeros for Column<T> {}

/// Declares a struct of [`FromZeros`] fields as one itself.
macro_rules! zeroed {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $name:ident {
            $($(#[$of_field:meta])* $field_visible:vis $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$attribute])*
        $visible struct $name {
            $($(#[$of_field])* $field_visible $field: $type,)*
        }

        const _: fn() = || {
            fn must_be<T: $crate::enabled::record::arena::FromZeros>() {}
            $(must_be::<$type>();)*
            assert!(!std::mem::needs_drop::<$name>());
        };

        // SAFETY: zeros are valid for each field, as checked above, and a struct has nothing else that could be wrong.
        unsafe impl $crate::enabled::record::arena::FromZeros for $name {}
    };
}
pub(crate) use zeroed;

/// An array in pages of its own, all zeros at first.
#[derive(Debug)]
pub(crate) struct Array<T: 'static> {
    /// First element, or null.
    first: AtomicPtr<T>,
    /// Elements in use; stored after `first`, with Release. At most `allocated`.
    length: AtomicU32,
    /// Elements that the pages hold.
    allocated: AtomicU32,
    /// Elements whose pages the kernel has been asked to make ready.
    ready: AtomicU32,
}

/// Bytes that the kernel hands out at a time.
const PAGE: usize = 4096;

/// Most pages made ready at a time.
const READY_PAGES: usize = 32;

/// Places of the first chunk; each further chunk is as large as all before it.
const FIRST_CHUNK: u32 = 256;

/// Chunks for up to 2^20 places.
const CHUNKS: usize = 13;

/// Places of a column.
pub(crate) const PLACES: u32 = FIRST_CHUNK << (CHUNKS - 1);

/// Many values in chunks that are made when one of theirs is needed. One thread alone makes chunks; what it finds in
/// them is as it was left.
#[derive(Debug)]
pub(crate) struct Column<T: 'static> {
    chunks: [Array<T>; CHUNKS],
}

impl<T: Sync + 'static> Ref<T> {
    pub(crate) const fn none() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    #[inline(always)]
    fn resolve(pointer: *mut T) -> Option<&'static T> {
        // SAFETY: null, or made from a `&'static T` by `set`.
        unsafe { pointer.as_ref() }
    }

    #[inline(always)]
    #[cfg_attr(test, track_caller)]
    pub(crate) fn get(&self) -> Option<&'static T> {
        Self::resolve(self.0.load(Ordering::Relaxed))
    }

    #[inline(always)]
    #[cfg_attr(test, track_caller)]
    pub(crate) fn get_acquire(&self) -> Option<&'static T> {
        Self::resolve(self.0.load(Ordering::Acquire))
    }

    #[inline(always)]
    #[cfg_attr(test, track_caller)]
    pub(crate) fn set(&self, value: Option<&'static T>) {
        self.0.store(as_pointer(value), Ordering::Relaxed);
    }

    #[inline(always)]
    #[cfg_attr(test, track_caller)]
    pub(crate) fn set_release(&self, value: Option<&'static T>) {
        self.0.store(as_pointer(value), Ordering::Release);
    }

    #[inline(always)]
    pub(crate) fn is(&self, value: &'static T) -> bool {
        std::ptr::eq(self.0.load(Ordering::Relaxed), value)
    }

    /// Puts a value at the head of a list that others push to as well: `next` is told the old head.
    pub(crate) fn push(&self, value: &'static T, next: impl Fn(Option<&'static T>)) {
        let mut head = self.0.load(Ordering::Acquire);
        loop {
            next(Self::resolve(head));
            let new = as_pointer(Some(value));
            match self
                .0
                .compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }
}

#[inline(always)]
fn as_pointer<T>(value: Option<&'static T>) -> *mut T {
    value.map_or(std::ptr::null_mut(), |value| std::ptr::from_ref(value).cast_mut())
}

impl<T: Sync + 'static> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address alone: a tree's nodes point at each other.
        write!(f, "Ref({:p})", self.0.load(Ordering::Relaxed))
    }
}

impl<T: FromZeros + 'static> Array<T> {
    pub(crate) const fn empty() -> Self {
        Self {
            first: AtomicPtr::new(std::ptr::null_mut()),
            length: AtomicU32::new(0),
            allocated: AtomicU32::new(0),
            ready: AtomicU32::new(0),
        }
    }

    /// Elements.
    pub(crate) fn len(&self) -> u32 {
        self.length.load(Ordering::Acquire)
    }

    /// Takes pages for `length` zeroed elements in place of those it had; false where there are none. Those it
    /// had stay mapped, for whoever still looks at them.
    pub(crate) fn allocate(&self, length: u32) -> bool {
        let Some(pages) = sync::map_zeroed(length as usize * size_of::<T>()) else {
            return false;
        };
        self.first.store(pages.cast::<T>().as_ptr(), Ordering::Relaxed);
        self.allocated.store(length, Ordering::Relaxed);
        self.ready.store(0, Ordering::Relaxed);
        self.length.store(length, Ordering::Release);
        true
    }

    /// Uses so many elements of the pages it has, as they were left; false where it has fewer.
    pub(crate) fn reuse(&self, length: u32) -> bool {
        let has = length <= self.allocated.load(Ordering::Relaxed);
        if has {
            self.length.store(length, Ordering::Release);
        }
        has
    }

    /// Has the kernel make ready the pages of this element and of those behind it, up to `pages`, if it has not been
    /// asked to.
    pub(crate) fn make_ready(&self, index: u32, pages: usize) {
        if index < self.ready.load(Ordering::Relaxed) {
            return;
        }
        let (begin, end) = (
            index as usize * size_of::<T>(),
            self.allocated.load(Ordering::Relaxed) as usize * size_of::<T>(),
        );
        let begin = begin / PAGE * PAGE;
        let end = end.min(begin + pages * PAGE);
        let first = self
            .first
            .load(Ordering::Relaxed)
            .cast::<u8>()
            .wrapping_add(begin);
        if let Some(first) = NonNull::new(first) {
            os::make_ready(first.cast(), end - begin);
        }
        self.ready.store((end / size_of::<T>()) as u32, Ordering::Relaxed);
    }

    /// An element.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&'static T> {
        if index >= self.length.load(Ordering::Acquire) {
            return None;
        }
        let element = self.first.load(Ordering::Relaxed).wrapping_add(index as usize);
        // SAFETY: in bounds of pages that are never unmapped, aligned (they begin at a page), valid from the
        // zeros on (`FromZeros`), and shared only as `&T` of a `Sync` type.
        Some(unsafe { &*element })
    }
}

impl<T: FromZeros + 'static> Column<T> {
    pub(crate) const fn new() -> Self {
        Self {
            chunks: [const { Array::empty() }; CHUNKS],
        }
    }

    /// Chunk and place in it: chunk 0 holds 256, each further one as many as all before it.
    fn place(index: u32) -> (usize, u32) {
        let chunk = (index / FIRST_CHUNK).checked_ilog2().map_or(0, |log| log + 1);
        let before = if chunk == 0 { 0 } else { FIRST_CHUNK << (chunk - 1) };
        (chunk as usize, index - before)
    }

    /// A value, where its chunk has been made.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&'static T> {
        let (chunk, place) = Self::place(index);
        self.chunks.get(chunk)?.get(place)
    }

    /// A value, its chunk made where there is none; none where there is no memory or no room.
    pub(crate) fn make(&self, index: u32) -> Option<&'static T> {
        let (chunk, place) = Self::place(index);
        let array = self.chunks.get(chunk)?;
        if array.len() == 0 && !array.allocate(FIRST_CHUNK << chunk.saturating_sub(1)) {
            return None;
        }
        // As much again as there is: one visit in many waits for the kernel, and little memory is taken in vain.
        let used = index as usize * size_of::<T>() / PAGE;
        array.make_ready(place, used.clamp(1, READY_PAGES));
        array.get(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_side_by_side_and_chunks_double() {
        let place = Column::<AtomicU64>::place;
        assert_eq!(place(0), (0, 0));
        assert_eq!(place(255), (0, 255));
        assert_eq!(place(256), (1, 0));
        assert_eq!(place(511), (1, 255));
        assert_eq!(place(512), (2, 0));
        assert_eq!(place(1023), (2, 511));
        assert_eq!(place(PLACES - 1), (CHUNKS - 1, PLACES / 2 - 1));
    }

    #[test]
    fn a_column_has_what_was_made() {
        let column: Column<AtomicU64> = Column::new();
        assert!(column.get(300).is_none());
        column.make(300).unwrap().store(7, Ordering::Relaxed);
        assert_eq!(column.get(300).unwrap().load(Ordering::Relaxed), 7);
        assert!(column.get(0).is_none() && column.make(PLACES).is_none());
    }
}
