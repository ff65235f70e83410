//! Memory for call trees: pages of their own, recycled but never given back, so that no reference dangles.
//!
//! The pages come from the kernel and not from the program's allocator: a scope inside a global allocator must
//! work. Everything in them is an atomic, so that sharing them is safe whatever the other side does; the
//! atomics that have one writer are read and written with plain loads and stores.

use std::fmt;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::os;
use crate::site::Site;

/// A place that holds nothing or a reference to something that lives for ever.
pub(crate) struct Ref<T: Sync + 'static>(AtomicPtr<T>);

/// One function in one place of a thread's call tree: one cache line.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Node {
    /// Calls begun. Written by the thread alone, like all that follows.
    pub(crate) calls: AtomicU64,
    /// Ticks in the node itself.
    pub(crate) self_ticks: AtomicU64,
    /// The clock when the newest call began.
    pub(crate) began: AtomicU64,
    /// Its call site; none for the root. Fixed once the node is published.
    pub(crate) site: Ref<Site>,
    /// Its parent; none for the root. Fixed once the node is published.
    pub(crate) parent: Ref<Node>,
    /// The child entered last: [`NOBODY`] at first. A guess, never wrong but in speed.
    pub(crate) recent: Ref<Node>,
    /// Gaps that were not charged to it because of the clock.
    pub(crate) errors: AtomicU64,
    /// Its place in the thread's arena. Fixed once the node is published.
    pub(crate) index: AtomicU32,
    /// 0 for the root. Fixed once the node is published.
    pub(crate) depth: AtomicU32,
}

const _: () = assert!(size_of::<Node>() == 64);

/// A node without a site: what `recent` points at before there is a child, and what an idle guard holds.
pub(crate) static NOBODY: Node = Node {
    calls: AtomicU64::new(0),
    self_ticks: AtomicU64::new(0),
    began: AtomicU64::new(0),
    site: Ref::none(),
    parent: Ref::none(),
    recent: Ref::none(),
    errors: AtomicU64::new(0),
    index: AtomicU32::new(0),
    depth: AtomicU32::new(0),
};

/// Types of which a page of zeros holds valid values.
///
/// # Safety
/// All-zero bytes are a valid value, and the type has no drop glue.
pub(crate) unsafe trait FromZeros: Sync {}

// SAFETY: atomics and `Ref`s only; zero is a number, and a null pointer is none.
unsafe impl FromZeros for Node {}
// SAFETY: a null pointer is none.
unsafe impl<T: Sync> FromZeros for Ref<T> {}

/// An array in pages of its own, all zeros at first.
#[derive(Debug)]
pub(crate) struct Array<T: 'static> {
    /// First element, or null.
    first: AtomicPtr<T>,
    /// Elements; stored after `first`, with Release.
    length: AtomicU32,
}

/// Nodes of the first chunk; each further chunk is as large as all before it.
const FIRST_CHUNK: u32 = 256;

/// Chunks for up to 2^20 nodes.
const CHUNKS: usize = 13;

/// The most nodes a thread may have.
pub(crate) const NODES_MAX: u32 = FIRST_CHUNK << (CHUNKS - 1);

/// A thread's nodes, parents before children. The thread alone adds; others may read below `len`.
#[derive(Debug)]
pub(crate) struct Nodes {
    chunks: [Array<Node>; CHUNKS],
    /// Nodes that are filled in. Stored with Release after a node's fixed fields.
    length: AtomicU32,
}

// === impl Ref ===

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
    pub(crate) fn get(&self) -> Option<&'static T> {
        Self::resolve(self.0.load(Ordering::Relaxed))
    }

    #[inline(always)]
    pub(crate) fn get_acquire(&self) -> Option<&'static T> {
        Self::resolve(self.0.load(Ordering::Acquire))
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: Option<&'static T>) {
        self.0.store(as_pointer(value), Ordering::Relaxed);
    }

    #[inline(always)]
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

// === impl Array ===

impl<T: FromZeros + 'static> Array<T> {
    pub(crate) const fn empty() -> Self {
        Self {
            first: AtomicPtr::new(std::ptr::null_mut()),
            length: AtomicU32::new(0),
        }
    }

    /// Elements.
    pub(crate) fn len(&self) -> u32 {
        self.length.load(Ordering::Acquire)
    }

    /// Takes pages for `length` zeroed elements in place of those it had; false where there are none. Those it
    /// had stay mapped, for whoever still looks at them.
    pub(crate) fn allocate(&self, length: u32) -> bool {
        let Some(pages) = os::map_zeroed(length as usize * size_of::<T>()) else {
            return false;
        };
        self.first.store(pages.cast::<T>().as_ptr(), Ordering::Relaxed);
        self.length.store(length, Ordering::Release);
        true
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

// === impl Nodes ===

impl Nodes {
    pub(crate) const fn new() -> Self {
        Self {
            chunks: [const { Array::empty() }; CHUNKS],
            length: AtomicU32::new(0),
        }
    }

    /// Nodes that may be read.
    pub(crate) fn len(&self) -> u32 {
        // SYNC POINT: node before length.
        self.length.load(Ordering::Acquire)
    }

    /// Chunk and place of a node: chunk 0 holds 256, each further one as many as all before it.
    fn place(index: u32) -> (usize, u32) {
        let chunk = (index / FIRST_CHUNK).checked_ilog2().map_or(0, |log| log + 1);
        let before = if chunk == 0 { 0 } else { FIRST_CHUNK << (chunk - 1) };
        (chunk as usize, index - before)
    }

    pub(crate) fn get(&self, index: u32) -> Option<&'static Node> {
        let (chunk, place) = Self::place(index);
        self.chunks.get(chunk)?.get(place)
    }

    /// Adds a node, or fills one of an earlier life anew; none where there is no memory or no room. Only the
    /// thread that owns the tree may call this.
    pub(crate) fn add(
        &self,
        site: Option<&'static Site>,
        parent: Option<&'static Node>,
    ) -> Option<&'static Node> {
        let index = self.length.load(Ordering::Relaxed);
        let (chunk, place) = Self::place(index);
        let array = self.chunks.get(chunk)?;
        if array.len() == 0 && !array.allocate(FIRST_CHUNK << chunk.saturating_sub(1)) {
            return None;
        }
        let node = array.get(place)?;
        node.calls.store(0, Ordering::Relaxed);
        node.self_ticks.store(0, Ordering::Relaxed);
        node.began.store(0, Ordering::Relaxed);
        node.errors.store(0, Ordering::Relaxed);
        node.site.set(site);
        node.parent.set(parent);
        node.recent.set(Some(&NOBODY));
        node.index.store(index, Ordering::Relaxed);
        let depth = parent.map_or(0, |parent| parent.depth.load(Ordering::Relaxed) + 1);
        node.depth.store(depth, Ordering::Relaxed);
        // SYNC POINT: node before length.
        self.length.store(index + 1, Ordering::Release);
        Some(node)
    }

    /// Forgets all nodes; their memory serves again. Only for a tree that nobody writes to or reads: of a block without a thread.
    pub(crate) fn clear(&self) {
        self.length.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_side_by_side_and_chunks_double() {
        assert_eq!(Nodes::place(0), (0, 0));
        assert_eq!(Nodes::place(255), (0, 255));
        assert_eq!(Nodes::place(256), (1, 0));
        assert_eq!(Nodes::place(511), (1, 255));
        assert_eq!(Nodes::place(512), (2, 0));
        assert_eq!(Nodes::place(1023), (2, 511));
        assert_eq!(Nodes::place(NODES_MAX - 1), (CHUNKS - 1, NODES_MAX / 2 - 1));
    }

    #[test]
    fn nodes_keep_their_place_and_serve_again() {
        let nodes = Nodes::new();
        let first = nodes.add(None, None).unwrap();
        for index in 1..5000 {
            let node = nodes.add(None, Some(first)).unwrap();
            assert_eq!(node.index.load(Ordering::Relaxed), index);
            assert!(std::ptr::eq(nodes.get(index).unwrap(), node));
        }
        nodes.clear();
        assert!(std::ptr::eq(nodes.add(None, None).unwrap(), first));
    }
}
