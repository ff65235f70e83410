//! The table of the calls of futures that are in flight. It holds the site of each call, its beginning, and the call that awaits
//! it.
//!
//! A call takes a slot at its first poll and gives it back when it ends, on any thread. Each thread has its own list of
//! free slots, and threads exchange slots in whole batches. So most calls wait for neither a lock nor another thread.
//! Captures read a slot while it may be changing. If its generation is the same before and after, the slot belonged to
//! a single call throughout.

use std::sync::Mutex;

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering, fence};
use crate::enabled::record::arena::{Column, PLACES, Ref, zeroed, zeros};
use crate::enabled::record::pool::briefly;
use crate::enabled::record::site::Site;

/// Number of slots in a batch. Threads exchange slots in whole batches.
const BATCH: u32 = 64;

/// A thread with this many free slots gives one batch away.
const FREE_MAX: u32 = 3 * BATCH;

zeroed! {
    /// A call in flight, or a free slot.
    #[derive(Debug)]
    pub(crate) struct Slot {
        /// Odd while a call has the slot.
        generation: AtomicU32,
        /// Nonzero while the call is being polled.
        polled: AtomicU32,
        /// The tick of the first poll.
        began: AtomicU64,
        site: Ref<Site>,
        /// While a call has the slot: the [`CallId`] of the call that awaits it, or 0. While the slot is free: the index of the
        /// next slot in the list. In the first slot of a batch, the high half is the index of the next batch's first slot.
        link: AtomicU64,
    }
}

zeroed! {
    /// A thread's free slots, and the call that the thread is polling.
    #[derive(Debug)]
    pub(crate) struct OwnSlots {
        /// The first slot of the list; 0 if the list is empty.
        free: AtomicU32,
        length: AtomicU32,
        /// The [`CallId`] of the innermost call that the thread is polling; 0 if it is polling none.
        polled: AtomicU64,
    }
}

/// Id of a call in flight: the slot is in the low half, and the generation of the slot is in the high half. 0 means no call.
pub(crate) type CallId = u64;

/// What a capture reads about a call in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) site: &'static Site,
    pub(crate) began: u64,
    pub(crate) is_polled: bool,
    pub(crate) awaited_by: CallId,
}

/// The slots, numbered from 1. New ones are made under the lock of `BATCHES`.
static SLOTS: Column<Slot> = zeros();

/// Number of slots that have been made.
static MADE: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// Number of calls in flight that have no slot, because the table was full.
static BEYOND: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Head of the list of batches that belong to no thread.
static BATCHES: Mutex<u32> = Mutex::new(0);

#[inline]
fn slot(index: u32) -> Option<&'static Slot> {
    SLOTS.get(index)
}

/// Returns the slot of a call in flight, if it has one.
#[inline]
pub(crate) fn slot_of(call: CallId) -> Option<&'static Slot> {
    slot(index_of(call)).filter(|_| call != 0)
}

impl Slot {
    /// Sets whether the call is being polled.
    #[inline]
    pub(crate) fn set_polled(&self, polled: bool) {
        self.polled.store(polled.into(), Ordering::Relaxed);
    }

    /// Sets the call that awaits this one, because it polls this one now. 0 stands for none.
    #[inline]
    pub(crate) fn set_awaited_by(&self, call: CallId) {
        self.link.store(call, Ordering::Relaxed);
    }
}

pub(crate) fn index_of(id: CallId) -> u32 {
    id as u32
}

impl OwnSlots {
    /// Prepares the slots for the next thread that uses the tree. The free slots stay in the list.
    pub(crate) fn clear(&self) {
        self.polled.store(0, Ordering::Relaxed);
    }

    pub(crate) fn polled(&self) -> CallId {
        self.polled.load(Ordering::Relaxed)
    }

    /// Makes `call` the innermost call that the thread is polling, and returns the previous one.
    #[inline]
    pub(crate) fn poll(&self, call: CallId) -> CallId {
        let before = self.polled.load(Ordering::Relaxed);
        self.polled.store(call, Ordering::Relaxed);
        before
    }

    /// Takes a slot for a call that is polled for the first time. The call that the thread is already polling becomes the one
    /// that awaits it. Returns 0 if the table is full. This must not be interrupted by another event of the thread.
    pub(crate) fn begin(&self, site: &'static Site, tick: u64) -> CallId {
        let Some((index, slot)) = self.take() else {
            BEYOND.fetch_add(1, Ordering::Relaxed);
            return 0;
        };
        // SYNC POINT: the slot is marked as free before the data of the next call is stored (pairs with the fence in `seen`).
        fence(Ordering::Release);
        slot.site.set(Some(site));
        slot.began.store(tick, Ordering::Relaxed);
        slot.polled.store(1, Ordering::Relaxed);
        slot.link.store(self.polled(), Ordering::Relaxed);
        let generation = slot.generation.load(Ordering::Relaxed).wrapping_add(1);
        // SYNC POINT: the call's data is stored before the generation (pairs with the first load in `seen`).
        slot.generation.store(generation, Ordering::Release);
        u64::from(generation) << 32 | u64::from(index)
    }

    /// Gives back the slot of a call that has ended. This must not be interrupted by another event of the thread.
    pub(crate) fn end(&self, call: CallId) {
        let Some(slot) = slot_of(call) else {
            BEYOND.fetch_sub(1, Ordering::Relaxed);
            return;
        };
        let generation = slot.generation.load(Ordering::Relaxed);
        slot.generation
            .store(generation.wrapping_add(1), Ordering::Relaxed);
        // SYNC POINT: the slot is marked as free before its link is used for the list of free slots (pairs with the fence in
        // `seen`).
        fence(Ordering::Release);
        slot.link
            .store(self.free.load(Ordering::Relaxed).into(), Ordering::Relaxed);
        self.free.store(index_of(call), Ordering::Relaxed);
        let length = self.length.load(Ordering::Relaxed) + 1;
        self.length.store(length, Ordering::Relaxed);
        if length >= FREE_MAX {
            self.give_batch();
        }
    }

    #[inline]
    fn take(&self) -> Option<(u32, &'static Slot)> {
        if self.free.load(Ordering::Relaxed) == 0 {
            self.get_batch();
        }
        let index = self.free.load(Ordering::Relaxed);
        let slot = slot(index).filter(|_| index != 0)?;
        self.free
            .store(slot.link.load(Ordering::Relaxed) as u32, Ordering::Relaxed);
        self.length
            .store(self.length.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        Some((index, slot))
    }

    /// Takes a batch that another thread gave away, or makes a new one.
    #[cold]
    #[inline(never)]
    fn get_batch(&self) {
        let taken = briefly(&BATCHES, |batches| {
            let head = *batches;
            if let Some(first) = slot(head).filter(|_| head != 0) {
                *batches = (first.link.load(Ordering::Relaxed) >> 32) as u32;
                return Some(head);
            }
            let made = MADE.load(Ordering::Relaxed);
            let first = made + 1;
            if first + BATCH > PLACES {
                return None;
            }
            for index in first..first + BATCH {
                let next = if index + 1 < first + BATCH { index + 1 } else { 0 };
                SLOTS.make(index)?.link.store(next.into(), Ordering::Relaxed);
            }
            MADE.store(made + BATCH, Ordering::Release);
            Some(first)
        });
        if let Some(first) = taken.flatten() {
            let next = |index: u32| slot(index).map_or(0, |slot| slot.link.load(Ordering::Relaxed) as u32);
            let length =
                std::iter::successors(Some(first), |&at| Some(next(at)).filter(|&at| at != 0)).count();
            self.free.store(first, Ordering::Relaxed);
            self.length.store(length as u32, Ordering::Relaxed);
        }
    }

    /// Moves a batch of this thread's free slots to [`BATCHES`].
    #[cold]
    #[inline(never)]
    fn give_batch(&self) {
        let first = self.free.load(Ordering::Relaxed);
        let mut last = first;
        for _ in 1..BATCH {
            last = slot(last).map_or(0, |slot| slot.link.load(Ordering::Relaxed) as u32);
        }
        let Some((first_slot, last_slot)) = slot(first).zip(slot(last)) else {
            return;
        };
        briefly(&BATCHES, |batches| {
            self.free
                .store(last_slot.link.load(Ordering::Relaxed) as u32, Ordering::Relaxed);
            self.length
                .store(self.length.load(Ordering::Relaxed) - BATCH, Ordering::Relaxed);
            last_slot.link.store(0, Ordering::Relaxed);
            let next = first_slot.link.load(Ordering::Relaxed) & u64::from(u32::MAX);
            first_slot
                .link
                .store(next | u64::from(*batches) << 32, Ordering::Relaxed);
            *batches = first;
        });
    }
}

/// Ends a call on a thread that has no tree. The call's slot becomes a batch of its own.
pub(crate) fn end_without_tree(call: CallId) {
    let own: OwnSlots = zeros();
    own.end(call);
    let alone = slot(own.free.load(Ordering::Relaxed)).filter(|_| call != 0);
    briefly(&BATCHES, |batches| {
        if let Some(slot) = alone {
            slot.link.store(u64::from(*batches) << 32, Ordering::Relaxed);
            *batches = index_of(call);
        }
    });
}

/// Returns whether a call is in flight.
pub(crate) fn is_live(call: CallId) -> bool {
    let generation = slot_of(call).map(|slot| slot.generation.load(Ordering::Acquire));
    generation == Some((call >> 32) as u32)
}

/// Returns whether a call is still in flight although the call that awaited it is over.
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
pub(crate) fn is_left_behind(call: CallId) -> bool {
    let awaited_by = slot_of(call).map_or(0, |slot| slot.link.load(Ordering::Relaxed));
    awaited_by != 0 && is_live(call) && !is_live(awaited_by)
}

pub(crate) fn beyond() -> u64 {
    BEYOND.load(Ordering::Relaxed)
}

/// Returns the number of the last slot.
pub(crate) fn last_slot() -> u32 {
    MADE.load(Ordering::Acquire)
}

/// Returns the call in a slot, along with its id. Returns `None` if the slot is free, or if it changes while it is being read.
pub(crate) fn seen(index: u32) -> Option<(CallId, Seen)> {
    let slot = slot(index)?;
    let generation = slot.generation.load(Ordering::Acquire);
    if generation.is_multiple_of(2) {
        return None;
    }
    let seen = Seen {
        site: slot.site.get()?,
        began: slot.began.load(Ordering::Relaxed),
        is_polled: slot.polled.load(Ordering::Relaxed) != 0,
        awaited_by: slot.link.load(Ordering::Relaxed),
    };
    // SYNC POINT: the call's data is read before the generation is read again (pairs with the fences in `begin` and `end`).
    fence(Ordering::Acquire);
    let same = slot.generation.load(Ordering::Relaxed) == generation;
    same.then_some((u64::from(generation) << 32 | u64::from(index), seen))
}

#[cfg(test)]
mod tests {
    use super::*;

    static SITE: Site = Site::named("future", "m", "f.rs", 1);

    #[test]
    fn slots_pass_from_thread_to_thread_and_serve_again() {
        let (one, other): (OwnSlots, OwnSlots) = (zeros(), zeros());
        let made = last_slot();
        for round in 0..5 {
            let calls: Vec<CallId> = (0..1_000).map(|tick| one.begin(&SITE, tick + 1)).collect();
            for (&call, tick) in calls.iter().zip(1..) {
                let (id, seen) = seen(index_of(call)).unwrap();
                assert_eq!((id, seen.began, seen.is_polled), (call, tick, true));
            }
            calls.iter().for_each(|&call| other.end(call));
            assert!(calls.iter().all(|&call| seen(index_of(call)).is_none()));
            // The other thread keeps fewer than `FREE_MAX` free slots.
            let most = 1_000 + FREE_MAX + 2 * BATCH;
            let more = last_slot() - made;
            assert!(more <= most, "round {round}: {more}");
        }
    }

    #[test]
    fn a_call_knows_who_awaits_it() {
        let own: OwnSlots = zeros();
        let outer = own.begin(&SITE, 1);
        let before = own.poll(outer);
        let inner = own.begin(&SITE, 2);
        assert_eq!((before, seen(index_of(inner)).unwrap().1.awaited_by), (0, outer));
        own.poll(before);
        own.end(inner);
        own.end(outer);
        let next = own.begin(&SITE, 3);
        assert_ne!(next, outer, "the same slot has another generation");
        own.end(next);
    }
}
