//! Spans, and the list of open spans of each thread. A span is a call that the program identifies by a number. It can be entered
//! any number of times, on any thread, until it is closed.
//!
//! A span occupies a slot from its beginning until it is closed. Each thread keeps some free slots, so most spans need no lock.
//!
//! Two threads may enter a span for the first time at once, but only one of them may count it. So entering a span needs an atomic
//! exchange. Closing it needs none if there is only one handle. Fields and parents of spans are not kept, because rows do not use
//! them.

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering};
use crate::enabled::record::arena::{Column, PLACES, Ref, zeroed};
use crate::enabled::record::node::Node;
use crate::enabled::record::pool::{Linked, Pool};
use crate::enabled::record::site::Site;

/// A thread that has this many free slots gives half of them to other threads.
const FREE_MAX: u32 = 128;

zeroed! {
    /// A span, or a free slot for one.
    #[derive(Debug)]
    pub(crate) struct Span {
        pub(crate) site: Ref<Site>,
        /// Not 0 if the span was entered.
        pub(crate) is_entered: AtomicU32,
        /// Not 0 once a thread has claimed the right to turn the span's call into a call of a future. Only one thread gets this
        /// right.
        pub(crate) is_decided: AtomicU32,
        /// Not 0 if the span's call is a call of a future, which `began` and `call` then describe.
        pub(crate) is_future: AtomicU32,
        /// Number of handles.
        pub(crate) handles: AtomicU32,
        /// Tick of the span's first entry, if the entry was counted as a call of a function: see `spans.rs`.
        pub(crate) first: AtomicU64,
        /// Tick at which the future's call began.
        pub(crate) began: AtomicU64,
        /// Id of the future's call.
        pub(crate) call: AtomicU64,
        /// The tag that the caller chose when it began the span.
        pub(crate) tag: AtomicU32,
        /// The next free slot.
        next: AtomicU32,
    }
}

zeroed! {
    /// A span that was entered and not exited yet.
    #[derive(Debug)]
    pub(crate) struct OpenSpan {
        pub(crate) node: Ref<Node>,
        /// The number of the span.
        pub(crate) span: AtomicU32,
        /// Not 0 if the entry is a poll of a future's call.
        pub(crate) is_poll: AtomicU32,
        /// For a poll: the call that the thread was polling before this poll.
        pub(crate) outer: AtomicU64,
        /// For a poll: its number among the polls of its row, counted from 1; 0 if unknown.
        pub(crate) number: AtomicU64,
    }
}

zeroed! {
    /// A thread's open spans, innermost last, and its free slots for new spans.
    #[derive(Debug)]
    pub(crate) struct OpenSpans {
        depth: AtomicU32,
        /// Number of the first free slot; 0 if no slot is free.
        free: AtomicU32,
        free_count: AtomicU32,
        open: Column<OpenSpan>,
    }
}

impl Linked for Span {
    fn next(&self) -> &AtomicU32 {
        &self.next
    }
}

static SPANS: Pool<Span> = Pool::new(PLACES - 1);

#[inline]
pub(crate) fn get(number: u32) -> Option<&'static Span> {
    SPANS.get(number)
}

/// Takes a free slot from the list that all threads share, for a thread without free slots of its own. Returns `None` if the
/// maximum number of spans exists, there is no memory, or the list's lock cannot be taken.
#[cold]
#[inline(never)]
pub(crate) fn take() -> Option<(u32, &'static Span)> {
    SPANS.take()
}

/// Gives a slot back to the list that all threads share, for a thread that keeps no free slots.
#[cold]
#[inline(never)]
pub(crate) fn give(number: u32) {
    SPANS.give(number, number);
}

impl OpenSpans {
    /// Removes all entries from the list of open spans. The free slots stay.
    pub(crate) fn clear(&self) {
        self.depth.store(0, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.depth.load(Ordering::Relaxed)
    }

    /// Returns an open entry by its index, which is 0 for the outermost entry.
    #[inline]
    pub(crate) fn get(&self, at: u32) -> Option<&'static OpenSpan> {
        self.open.get(at).filter(|_| at < self.depth())
    }

    /// Returns the slot for one more entry; `None` if there is no memory.
    #[inline]
    pub(crate) fn next(&self) -> Option<&'static OpenSpan> {
        let depth = self.depth();
        self.open.get(depth).or_else(|| self.open.make(depth))
    }

    #[inline]
    pub(crate) fn set_depth(&self, depth: u32) {
        self.depth.store(depth, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn take_place(&self) -> Option<(u32, &'static Span)> {
        let number = self.free.load(Ordering::Relaxed);
        let Some(span) = get(number) else { return take() };
        self.free
            .store(span.next.load(Ordering::Relaxed), Ordering::Relaxed);
        self.free_count.store(
            self.free_count.load(Ordering::Relaxed).saturating_sub(1),
            Ordering::Relaxed,
        );
        Some((number, span))
    }

    #[inline]
    pub(crate) fn give_place(&self, number: u32, span: &'static Span) {
        span.next
            .store(self.free.load(Ordering::Relaxed), Ordering::Relaxed);
        self.free.store(number, Ordering::Relaxed);
        let count = self.free_count.load(Ordering::Relaxed) + 1;
        self.free_count.store(count, Ordering::Relaxed);
        if count >= FREE_MAX {
            self.give_half();
        }
    }

    #[cold]
    #[inline(never)]
    fn give_half(&self) {
        let first = self.free.load(Ordering::Relaxed);
        let next = |&number: &u32| get(number).map(|span| span.next.load(Ordering::Relaxed));
        let half = FREE_MAX / 2;
        let Some(last) = std::iter::successors(Some(first), next).nth(half as usize - 1) else {
            return;
        };
        let Some(rest) = next(&last) else { return };
        self.free.store(rest, Ordering::Relaxed);
        self.free_count.store(FREE_MAX - half, Ordering::Relaxed);
        SPANS.give(first, last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::arena::zeros;

    #[test]
    fn places_pass_from_thread_to_thread_and_serve_again() {
        let (one, other): (OpenSpans, OpenSpans) = (zeros(), zeros());
        let made = SPANS.made();
        for round in 0..5 {
            let taken: Vec<_> = (0..1_000).map(|_| one.take_place().unwrap()).collect();
            let mut numbers: Vec<u32> = taken.iter().map(|taken| taken.0).collect();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), 1_000, "each span has a place of its own");
            for (number, span) in taken {
                other.give_place(number, span);
            }
            // The other thread keeps fewer than `FREE_MAX` free slots and gives the rest back, so no more slots than this are
            // needed.
            let most = 1_000 + FREE_MAX;
            assert!(SPANS.made() - made <= most, "round {round}");
        }
    }
}
