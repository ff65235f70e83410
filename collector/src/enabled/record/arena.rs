//! Memory for call trees. Pages are reused but never unmapped, so that no reference dangles.
//!
//! The pages come from the kernel rather than from the program's allocator, because scopes must also work inside a global
//! allocator. The pages contain only atomics, so any thread may access them soundly at any time. An atomic with a single writing
//! thread is updated with a load and a store rather than an atomic read-modify-write.

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU8;

use crate::enabled::platform::os;
use crate::enabled::platform::sync::{self, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// Holds nothing, or a reference to a value that lives for ever.
pub(crate) struct Ref<T: Sync + 'static>(AtomicPtr<T>);

/// Holds nothing, or a reference to a value that lives for ever, together with a tag of [`TAG_BITS`] bits. The value is aligned
/// to a cache line, so the low bits of its address are always 0. The tag is stored in these bits.
#[derive(Debug)]
pub(crate) struct Tagged<T: Sync + 'static>(AtomicPtr<T>);

/// The number of bits of a tag.
pub(crate) const TAG_BITS: u32 = 6;

const TAGS: usize = 1 << TAG_BITS;

/// A type for which zeroed memory is a valid value.
///
/// # Safety
/// All-zero bytes must be a valid value, and the type must have no drop glue.
pub(crate) unsafe trait FromZeros: Sync {}

// SAFETY: a null pointer represents `None`.
unsafe impl<T: Sync> FromZeros for Ref<T> {}
// SAFETY: a null pointer represents `None`.
unsafe impl<T: Sync> FromZeros for Tagged<T> {}
// SAFETY: zero is a valid value.
unsafe impl FromZeros for AtomicU8 {}
// SAFETY: zero is a valid value.
unsafe impl FromZeros for AtomicU16 {}
// SAFETY: zero is a valid value.
unsafe impl FromZeros for AtomicU32 {}
// SAFETY: zero is a valid value.
unsafe impl FromZeros for AtomicU64 {}
#[cfg(test)]
// SAFETY: zero is a valid value.
unsafe impl FromZeros for std::sync::atomic::AtomicU32 {}
#[cfg(test)]
// SAFETY: zero is a valid value.
unsafe impl FromZeros for std::sync::atomic::AtomicU64 {}
// SAFETY: zeros are valid for each element.
unsafe impl<T: FromZeros, const N: usize> FromZeros for [T; N] {}
// SAFETY: a null pointer and a length of 0 represent an array without pages.
unsafe impl<T: FromZeros> FromZeros for Array<T> {}
// SAFETY: a column is an array of arrays.
unsafe impl<T: FromZeros> FromZeros for Column<T> {}
// SAFETY: zeros are valid for both fields.
unsafe impl<T: FromZeros, const N: usize> FromZeros for Chunk<T, N> {}

/// Returns a zeroed value, for statics and tests. Trees are made of zeroed pages instead.
pub(crate) const fn zeros<T: FromZeros>() -> T {
    // SAFETY: zeros are a valid value, as the trait promises.
    unsafe { std::mem::zeroed() }
}

/// Declares a struct and implements [`FromZeros`] for it, if all fields implement it.
macro_rules! zeroed {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $name:ident $(<$(const $size:ident: usize),+>)? {
            $($(#[$of_field:meta])* $field_visible:vis $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$attribute])*
        $visible struct $name $(<$(const $size: usize),+>)? {
            $($(#[$of_field])* $field_visible $field: $type,)*
        }

        const _: () = {
            #[allow(dead_code, reason = "the compiler checks its types")]
            fn must_be_valid $(<$(const $size: usize),+>)? () {
                fn must_be<T: $crate::enabled::record::arena::FromZeros>() {}
                $(must_be::<$type>();)*
                assert!(!std::mem::needs_drop::<$name $(<$($size),+>)?>());
            }
        };

        // SAFETY: zeros are valid for each field, as checked above, and a struct has no other invariant.
        unsafe impl $(<$(const $size: usize),+>)? $crate::enabled::record::arena::FromZeros
            for $name $(<$($size),+>)?
        {
        }
    };
}
pub(crate) use zeroed;

/// An array with pages of its own, which are zeroed initially.
#[derive(Debug)]
pub(crate) struct Array<T: 'static> {
    /// The first element, or null.
    first: AtomicPtr<T>,
    /// The number of elements in use, at most `allocated`. It is stored with Release, after `first` has been stored.
    length: AtomicU32,
    /// The number of elements that fit into the mapped pages.
    allocated: AtomicU32,
    /// The number of elements, from the first, whose pages the kernel has been asked to populate.
    ready: AtomicU32,
}

const PAGE: usize = 4096;

/// The largest number of pages to populate in one call.
const READY_PAGES: usize = 32;

/// The number of values in the first chunk. Each further chunk is as large as all the chunks before it combined.
const FIRST_CHUNK: u32 = 256;

/// Number of chunks, enough for 2^20 values.
const CHUNKS: usize = 13;

/// Maximum number of values in a column.
pub(crate) const PLACES: u32 = FIRST_CHUNK << (CHUNKS - 1);

/// A large array of values, stored in chunks. A chunk is allocated when one of its values is first needed. Only one thread at a
/// time may do this. Values keep their contents when the tree is reused.
#[derive(Debug)]
pub(crate) struct Column<T: 'static> {
    chunks: [Array<T>; CHUNKS],
}

/// A part of a list: some values, and the number of the next chunk.
#[derive(Debug)]
pub(crate) struct Chunk<T, const N: usize> {
    pub(crate) next: AtomicU32,
    pub(crate) values: [T; N],
}

/// Up to `N` values, which are added one by one and live for ever. As long as it is empty, a `Made` takes up address space but no
/// memory.
pub(crate) struct Made<T, const N: usize> {
    count: AtomicU32,
    places: [UnsafeCell<MaybeUninit<T>>; N],
}

// SAFETY: each place is written once, by the caller that got its index from `count`, and only that caller gets a reference to the
// value. The caller may hand that reference to other threads because `T` is `Sync`. Any thread may move a value into a place
// because `T` is `Send`.
unsafe impl<T: Send + Sync, const N: usize> Sync for Made<T, N> {}

impl<T, const N: usize> Made<T, N> {
    pub(crate) const fn none() -> Self {
        Self {
            count: AtomicU32::new(0),
            places: [const { UnsafeCell::new(MaybeUninit::uninit()) }; N],
        }
    }

    /// Stores a value, or returns `None` if there are already `N` values.
    pub(crate) fn keep(&'static self, value: T) -> Option<&'static T> {
        if self.count.load(Ordering::Relaxed) as usize >= N {
            return None;
        }
        let place = self
            .places
            .get(self.count.fetch_add(1, Ordering::Relaxed) as usize)?;
        // SAFETY: no other caller got this index, so there is no other reference to the place.
        Some(unsafe { (*place.get()).write(value) })
    }
}

/// Strings with a total of at most `N` bytes, stored back to back, which live for ever. As long as it is empty, a `Texts` takes
/// up address space but no memory.
pub(crate) struct Texts<const N: usize> {
    used: AtomicU64,
    bytes: UnsafeCell<[u8; N]>,
}

// SAFETY: each range of bytes is written once, by the caller that got it from `used`, and is only read after that.
unsafe impl<const N: usize> Sync for Texts<N> {}

impl<const N: usize> Texts<N> {
    pub(crate) const fn none() -> Self {
        Self {
            used: AtomicU64::new(0),
            bytes: UnsafeCell::new([0; N]),
        }
    }

    /// Stores a copy of a string, or returns `None` if there is no space for it.
    pub(crate) fn keep(&'static self, text: &str) -> Option<&'static str> {
        self.keep_parts(std::iter::once(text))
    }

    /// Stores one string, which is the concatenation of `parts`.
    pub(crate) fn keep_parts(
        &'static self,
        parts: impl Iterator<Item: AsRef<str>> + Clone,
    ) -> Option<&'static str> {
        let bytes = parts.clone().map(|part| part.as_ref().len() as u64).sum();
        let fits = |from: u64| from.checked_add(bytes).is_some_and(|end| end <= N as u64);
        if !fits(self.used.load(Ordering::Relaxed)) {
            return None;
        }
        let from = self.used.fetch_add(bytes, Ordering::Relaxed);
        if !fits(from) {
            return None;
        }
        let to = self.bytes.get().cast::<u8>().wrapping_add(from as usize);
        let mut written = 0;
        for part in parts {
            let part = part.as_ref();
            if part.len() > bytes as usize - written {
                return None;
            }
            // SAFETY: the range is in bounds, as just checked, and no other caller got any part of it.
            unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), to.wrapping_add(written), part.len()) };
            written += part.len();
        }
        #[allow(
            clippy::disallowed_methods,
            reason = "this memory is private and is not written again"
        )]
        // SAFETY: these bytes were just written, and are never written again.
        let kept = unsafe { std::slice::from_raw_parts(to, written) };
        // SAFETY: the bytes are copies of whole strings, so they are UTF-8.
        Some(unsafe { std::str::from_utf8_unchecked(kept) })
    }
}

impl<T: Sync + 'static> Ref<T> {
    pub(crate) const fn none() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    #[inline(always)]
    fn resolve(pointer: *mut T) -> Option<&'static T> {
        // SAFETY: the pointer is null, or `set` made it from a `&'static T`.
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

    /// Prefetches the value into the CPU's caches, without waiting for it.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        prefetch(self.0.load(Ordering::Relaxed));
    }

    /// Makes this refer to the same value as `other`, or to nothing if `other` does.
    #[inline(always)]
    #[cfg_attr(test, track_caller)]
    pub(crate) fn copy(&self, other: &Self) {
        self.0.store(other.0.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Sets the value, unless one has already been set. Returns the value that was set first, this one or the earlier one.
    pub(crate) fn set_first(&self, value: &'static T) -> &'static T {
        loop {
            let none = std::ptr::null_mut();
            let new = as_pointer(Some(value));
            match self
                .0
                .compare_exchange_weak(none, new, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return value,
                Err(now) => {
                    if let Some(first) = Self::resolve(now) {
                        return first;
                    }
                }
            }
        }
    }

    /// Pushes a value onto the front of a list onto which other threads may push at the same time. `next` is called with the old
    /// front, and must store it in the value. It may be called several times.
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

impl<T: Sync + 'static> Tagged<T> {
    /// Returns the value and whether its tag equals the low bits of `tag`.
    #[inline(always)]
    pub(crate) fn get(&self, tag: u32) -> Option<(&'static T, bool)> {
        let tagged = self.0.load(Ordering::Relaxed);
        let differs = tagged.addr() ^ tag as usize;
        let pointer = tagged.map_addr(|address| address & !(TAGS - 1));
        // SAFETY: the pointer is null, or `set` made it from a `&'static T` and a tag, and the tag has just been masked out.
        let value = unsafe { pointer.as_ref() }?;
        Some((value, differs.is_multiple_of(TAGS)))
    }

    /// Sets the value, with the low bits of `tag` as its tag.
    pub(crate) fn set(&self, value: &'static T, tag: u32) {
        const { assert!(align_of::<T>() >= TAGS) };
        let tag = tag as usize % TAGS;
        let tagged = std::ptr::from_ref(value)
            .cast_mut()
            .map_addr(|address| address | tag);
        self.0.store(tagged, Ordering::Relaxed);
    }

    pub(crate) fn clear(&self) {
        self.0.store(std::ptr::null_mut(), Ordering::Relaxed);
    }
}

/// Prefetches memory into the CPU's caches, without waiting for it.
#[inline(always)]
pub(crate) fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction belongs to SSE, which every x86-64 CPU has, and has no effect visible to a program at any
        // address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
}

#[inline(always)]
fn as_pointer<T>(value: Option<&'static T>) -> *mut T {
    value.map_or(std::ptr::null_mut(), |value| std::ptr::from_ref(value).cast_mut())
}

impl<T: Sync + 'static> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Print only the address. The nodes of a tree refer to each other, so printing the values would never end.
        write!(f, "Ref({:p})", self.0.load(Ordering::Relaxed))
    }
}

impl<T: FromZeros + 'static> Array<T> {
    pub(crate) fn len(&self) -> u32 {
        self.length.load(Ordering::Acquire)
    }

    /// Replaces the pages with new pages for `length` zeroed elements. Returns false if there is no memory. The old pages stay
    /// mapped for threads that are still reading them.
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

    /// Sets the length to `length`, without clearing the existing pages. Returns false if the pages are too small.
    pub(crate) fn reuse(&self, length: u32) -> bool {
        let has = length <= self.allocated.load(Ordering::Relaxed);
        if has {
            self.length.store(length, Ordering::Release);
        }
        has
    }

    /// Asks the kernel to populate up to `pages` pages, starting with the page of the element at `index`. Does nothing if that
    /// page has already been requested.
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

    /// Returns an element; `None` if `index` is not below the length.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&'static T> {
        if index >= self.length.load(Ordering::Acquire) {
            return None;
        }
        let element = self.first.load(Ordering::Relaxed).wrapping_add(index as usize);
        // SAFETY: the element is in bounds of pages that are never unmapped. It is aligned, because the array begins at
        // a page. It is valid, because zeros are valid (`FromZeros`), and it is shared only as `&T` of a `Sync` type.
        Some(unsafe { &*element })
    }

    /// Returns the element at `number` modulo the length, or `None` if the array is empty. The length must be a power of two.
    #[inline(always)]
    pub(crate) fn wrapped(&self, number: u32) -> Option<&'static T> {
        let mask = self.length.load(Ordering::Acquire).checked_sub(1)?;
        let element = self
            .first
            .load(Ordering::Relaxed)
            .wrapping_add((number & mask) as usize);
        // SAFETY: as in `get`; `number & mask` is at most `mask`, which is less than the length.
        Some(unsafe { &*element })
    }
}

impl<T: FromZeros + 'static> Column<T> {
    /// Returns the number of the chunk that contains the value at `index`, and the value's index within that chunk.
    fn place(index: u32) -> (usize, u32) {
        let chunk = (index / FIRST_CHUNK).checked_ilog2().map_or(0, |log| log + 1);
        let before = if chunk == 0 { 0 } else { FIRST_CHUNK << (chunk - 1) };
        (chunk as usize, index - before)
    }

    /// Returns whether no chunk has been made.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.iter().all(|chunk| chunk.len() == 0)
    }

    /// Returns the value at `index`, if its chunk has been allocated.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&'static T> {
        let (chunk, place) = Self::place(index);
        self.chunks.get(chunk)?.get(place)
    }

    /// Returns the value at `index`, and allocates its chunk if needed. Returns `None` if there is no memory, or if `index` is
    /// too large.
    pub(crate) fn make(&self, index: u32) -> Option<&'static T> {
        let (chunk, place) = Self::place(index);
        let array = self.chunks.get(chunk)?;
        if array.len() == 0 && !array.allocate(FIRST_CHUNK << chunk.saturating_sub(1)) {
            return None;
        }
        // Each request roughly doubles the number of populated pages. So few calls have to wait for the kernel, and few pages are
        // populated without being used.
        let used = index as usize * size_of::<T>() / PAGE;
        array.make_ready(place, used.clamp(1, READY_PAGES));
        array.get(place)
    }
}

#[cfg(test)]
mod tests;
