//! The calls of futures that are not marked in the source, keyed by the address of the future.
//!
//! A future that is marked in the source carries its call with it. Any other future can only be recognized by its address, which
//! no longer changes once the future has been polled. So its call is kept in this table between polls. A poll takes the call out
//! of the table, so only one thread at a time has it.
//!
//! The table is in static memory, and is divided into groups with a lock each. A future always belongs to the same group. The
//! lock is held for only a few loads and stores. A thread that fails to get the lock after a number of attempts gives up
//! ([`retried`]).

use tickscope_format::snapshot::Quantity;

use crate::enabled::record::arena::{prefetch, zeroed, zeros};
use crate::enabled::record::current_thread;
use crate::enabled::record::in_flight::{self, CallId};
use crate::enabled::record::owner::Owner;
use crate::enabled::record::pool::retried;
use crate::enabled::record::registry;
use crate::enabled::record::tree::Tree;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const GROUPS: usize = 4096;

/// Number of places in a group.
const GROUP: usize = 32;

/// Smallest state number of an async body that is suspended at an await.
pub(crate) const SUSPENDED: u8 = 3;

/// A future, identified by its address and by the number of the function that polls it. The address alone is not enough, because
/// a future may have the same address as the future that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Future {
    pub(crate) address: u64,
    pub(crate) function: u32,
}

impl Future {
    /// Returns the key of a call that is over. No function has this number, and no place in use has the address 0.
    fn ended(call: CallId) -> Self {
        Self {
            address: call.max(1),
            function: u32::MAX,
        }
    }

    /// Returns whether this is the key of a call that is over.
    pub(crate) fn has_ended(self) -> bool {
        self.function == u32::MAX
    }
}

/// The call of a future, kept between two polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// The tick of the first poll.
    pub(crate) began: u64,
    pub(crate) call: CallId,
    /// Number of the [`Owner`] in which the call's last poll was counted; 0 if that poll had no node.
    pub(crate) row: u64,
    /// State of the future after its last poll.
    pub(crate) state: u8,
}

/// How certain a check is that a call is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspicion {
    None,
    /// The call seems to be over.
    Some,
    /// The call is over, or one of its polls was not seen.
    Certain,
}

zeroed! {
    #[derive(Debug)]
    struct Place {
        /// Address of the future; 0 if this place is free.
        address: AtomicU64,
        function: AtomicU32,
        began: AtomicU64,
        call: AtomicU64,
        row: AtomicU64,
        state: AtomicU32,
        /// Tick at which a check first found that the call seems to be over; 0 if it does not seem to be over.
        suspected: AtomicU64,
    }
}

zeroed! {
    /// Everything but the places after the first one is in one cache line.
    #[repr(C, align(64))]
    #[derive(Debug)]
    struct Group {
        is_locked: AtomicU32,
        /// Number of places in use.
        count: AtomicU32,
        places: [Place; GROUP],
    }
}

zeroed! {
    #[derive(Debug)]
    pub(crate) struct Table<const GROUPS: usize> {
        /// [`Group::count`] of each group. These copies are stored next to each other, because a check reads them all and most are
        /// 0.
        counts: [AtomicU32; GROUPS],
        groups: [Group; GROUPS],
        /// The group at which the next check starts.
        next: AtomicU32,
    }
}

pub(crate) static TABLE: Table<GROUPS> = zeros();

/// Number of calls since the start of the program that ended without being seen.
static VANISHED: AtomicU64 = AtomicU64::new(0);

/// Returns the number of calls since the start of the program that ended without being seen. The end of a call is missed if the
/// drop of its future, or one of its polls, was inlined into another function.
pub(crate) fn vanished() -> u64 {
    VANISHED.load(Ordering::Relaxed)
}

/// Keeps a call until the next poll of its future. A call for which the table has no place ends, as its end will not be seen.
#[inline]
pub(crate) fn keep(future: Future, held: Held) {
    if let Some(left) = TABLE.put(future, held) {
        end_unseen(left);
    }
}

/// Ends a call whose end was not seen, or leaves this to the next check, if the call's row is not one of this thread's.
#[cold]
#[inline(never)]
pub(crate) fn end_unseen(held: Held) {
    let here = current_thread::hot();
    let row = Owner::numbered(held.row);
    let is_here = here.is_some_and(|tree| row.is_none_or(|row| Owner::of_tree(tree).contains(&row)));
    let left = if is_here {
        Some(held)
    } else {
        TABLE.put(Future::ended(held.call), held)
    };
    _ = left.and_then(Held::vanish);
}

/// Returns whether the table is empty.
pub(crate) fn are_none() -> bool {
    TABLE
        .counts
        .iter()
        .all(|count| count.load(Ordering::Relaxed) == 0)
}

/// Moves the calls in the rows of a tree to other rows, because the tree's thread has ended. `heir` returns the new row for the
/// index of a node.
pub(crate) fn hand_over(tree: &'static Tree, heir: impl Fn(u32) -> Owner) {
    let of_tree = Owner::of_tree(tree);
    let groups = TABLE.groups.iter().zip(&TABLE.counts);
    let has_calls = |(_, count): &(_, &AtomicU32)| count.load(Ordering::Relaxed) > 0;
    for (group, _) in groups.filter(has_calls) {
        group.with(|places| {
            for place in places.iter().filter(|place| place.future().address != 0) {
                let row = Owner::numbered(place.row.load(Ordering::Relaxed));
                if let Some(row) = row.filter(|row| of_tree.contains(row)) {
                    place.row.store(heir(row.index()).number(), Ordering::Relaxed);
                }
            }
            Some(())
        });
    }
}

impl Held {
    /// Ends a call whose end was not seen. The call gets no latency, because it is unknown when it ended. It is counted as
    /// vanished in the row of its last poll. If that row belongs to finished threads, this function returns the row, and the
    /// caller has to count the call.
    #[cold]
    pub(crate) fn vanish(self) -> Option<Owner> {
        VANISHED.fetch_add(1, Ordering::Relaxed);
        let here = current_thread::hot();
        let current = here.and_then(|tree| Some((tree, tree.take()?)));
        match current {
            Some((tree, current)) => {
                tree.slots.end(self.call);
                tree.put(current);
            }
            None => in_flight::end_without_tree(self.call),
        }
        let row = Owner::numbered(self.row)?;
        let has_row = |tree: &&'static Tree| Owner::of_tree(tree).contains(&row);
        let mut others = registry::living().map(|block| &block.tree);
        let Some(tree) = here.filter(has_row).or_else(|| others.find(has_row)) else {
            return Some(row);
        };
        if let Some(measures) = tree.measures.get(row.index()) {
            // Any thread may discover that the call is over, so unlike all other quantities, this one has several writers.
            measures
                .of(Quantity::FutureVanished)
                .fetch_add(1, Ordering::Release);
        }
        None
    }
}

impl Place {
    fn future(&self) -> Future {
        Future {
            address: self.address.load(Ordering::Relaxed),
            function: self.function.load(Ordering::Relaxed),
        }
    }

    fn held(&self) -> Held {
        Held {
            began: self.began.load(Ordering::Relaxed),
            call: self.call.load(Ordering::Relaxed),
            row: self.row.load(Ordering::Relaxed),
            state: self.state.load(Ordering::Relaxed) as u8,
        }
    }
}

impl Group {
    /// Takes the lock, and calls `change` with the places of the group. Returns `None` if the lock cannot be taken, or if
    /// `change` returns `None`.
    fn with<T>(&self, change: impl FnOnce(&[Place; GROUP]) -> Option<T>) -> Option<T> {
        retried(|| {
            let lock = &self.is_locked;
            lock.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed)
                .ok()
        })?;
        let done = change(&self.places);
        self.is_locked.store(0, Ordering::Release);
        done
    }
}

impl<const GROUPS: usize> Table<GROUPS> {
    /// Returns the number of the group to which a future belongs.
    fn group(future: Future) -> usize {
        // Most futures are aligned, so the lowest bits of their addresses are of little use.
        let mixed =
            (future.address >> 3 ^ u64::from(future.function) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 40) as usize % GROUPS
    }

    /// Puts the call of a future into the table. Returns the call that is not in the table, if there is one: the call of an
    /// earlier future, which had the same address, or `held` itself if the future's group is full or locked.
    pub(crate) fn put(&self, future: Future, held: Held) -> Option<Held> {
        let group = Self::group(future);
        let put = self.groups[group].with(|places| {
            let earlier = self
                .find(group, places, future)
                .map(|place| self.leave(group, place));
            let free = |place: &&Place| place.address.load(Ordering::Relaxed) == 0;
            let place = places.iter().find(free)?;
            place.address.store(future.address, Ordering::Relaxed);
            place.function.store(future.function, Ordering::Relaxed);
            place.began.store(held.began, Ordering::Relaxed);
            place.call.store(held.call, Ordering::Relaxed);
            place.row.store(held.row, Ordering::Relaxed);
            place.state.store(held.state.into(), Ordering::Relaxed);
            place.suspected.store(0, Ordering::Relaxed);
            self.count(group, 1);
            Some(earlier)
        });
        put.unwrap_or(Some(held))
    }

    /// Removes the call of a future from the table and returns it, if it is in the table.
    pub(crate) fn take(&self, future: Future) -> Option<Held> {
        let group = Self::group(future);
        self.groups[group].with(|places| {
            let place = self.find(group, places, future)?;
            Some(self.leave(group, place))
        })
    }

    /// Returns whether the table may contain the call of a future that no other thread is polling or dropping.
    #[inline]
    pub(crate) fn may_have(&self, future: Future) -> bool {
        // The polls of a future never overlap, so this thread sees a count that includes the future's call.
        self.counts[Self::group(future)].load(Ordering::Relaxed) != 0
    }

    /// Prefetches the memory that [`Self::put`] and [`Self::take`] need for a future.
    #[inline(always)]
    pub(crate) fn prefetch(&self, future: Future) {
        prefetch(&self.groups[Self::group(future)]);
    }

    /// Returns the place of a future in a group that the caller has locked. Does not look at places after the last one in use.
    #[inline(always)]
    fn find<'a>(&self, group: usize, places: &'a [Place; GROUP], future: Future) -> Option<&'a Place> {
        let count = self.groups[group].count.load(Ordering::Relaxed) as usize;
        let in_use = places
            .iter()
            .filter(|place| place.address.load(Ordering::Relaxed) != 0);
        in_use.take(count).find(|place| place.future() == future)
    }

    /// Frees a place in a group that the caller has locked, and returns the call that it held.
    fn leave(&self, group: usize, place: &Place) -> Held {
        let held = place.held();
        place.address.store(0, Ordering::Relaxed);
        self.count(group, -1);
        held
    }

    /// Changes the number of places in use in a group that the caller has locked, so no other thread changes it.
    fn count(&self, group: usize, change: i32) {
        let count = &self.groups[group].count;
        let changed = count.load(Ordering::Relaxed).wrapping_add_signed(change);
        count.store(changed, Ordering::Relaxed);
        self.counts[group].store(changed, Ordering::Relaxed);
    }

    /// Checks the calls in the table, group by group. Removes calls that are certainly over, and calls that at tick `now` have
    /// seemed to be over for at least `ticks` ticks, and passes them to `taken`. Stops after the group in which the number of
    /// checked calls reaches `most`; the next check continues with the group after it.
    pub(crate) fn take_suspected(
        &self,
        most: u32,
        now: u64,
        ticks: u64,
        suspicion: impl Fn(Future, Held) -> Suspicion,
        mut taken: impl FnMut(Held),
    ) {
        let is_over = |place: &Place| match suspicion(place.future(), place.held()) {
            Suspicion::None => {
                place.suspected.store(0, Ordering::Relaxed);
                false
            }
            Suspicion::Certain => true,
            Suspicion::Some => {
                let since = place.suspected.load(Ordering::Relaxed);
                if since == 0 {
                    place.suspected.store(now.max(1), Ordering::Relaxed);
                }
                since != 0 && now.saturating_sub(since) >= ticks
            }
        };
        let first = self.next.load(Ordering::Relaxed);
        let mut looked_at = 0_u32;
        for number in (first..).take(GROUPS) {
            let group = number as usize % GROUPS;
            let count = self.counts[group].load(Ordering::Relaxed);
            if count == 0 {
                continue;
            }
            let take = || {
                self.groups[group].with(|places| {
                    let mut places = places.iter().filter(|place| place.future().address != 0);
                    let place = places.find(|place| is_over(place))?;
                    Some(self.leave(group, place))
                })
            };
            while let Some(held) = take() {
                taken(held);
            }
            looked_at += count;
            if looked_at >= most {
                self.next.store((number + 1) % GROUPS as u32, Ordering::Relaxed);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn future(number: u64) -> Future {
        Future {
            address: 0x7000_0000 + number * 8,
            function: number as u32 % 3,
        }
    }

    fn held(number: u64) -> Held {
        Held {
            began: number,
            call: number + 1,
            row: number + 2,
            state: 3,
        }
    }

    #[test]
    fn calls_are_found_by_their_futures_and_once() {
        static OWN: Table<64> = zeros();
        for number in 0..500 {
            assert_eq!(OWN.put(future(number), held(number)), None);
        }
        // A future at the same address that another function polls is a different future.
        let other = Future {
            function: 7,
            ..future(3)
        };
        assert_eq!(OWN.take(other), None);
        assert_eq!(OWN.put(other, held(9000)), None);
        // A later future of the same kind, at the same address, displaces the call of the earlier one.
        assert_eq!(OWN.put(future(4), held(4000)), Some(held(4)));
        assert_eq!(OWN.put(future(4), held(4)), Some(held(4000)));
        for number in 0..500 {
            assert_eq!(OWN.take(future(number)), Some(held(number)));
            assert_eq!(OWN.take(future(number)), None);
        }
        assert_eq!(OWN.take(other), Some(held(9000)));
    }

    #[test]
    fn a_full_group_says_so() {
        static OWN: Table<1> = zeros();
        for number in 0..GROUP as u64 {
            assert_eq!(OWN.put(future(number), held(number)), None);
        }
        assert_eq!(OWN.put(future(99), held(99)), Some(held(99)));
        assert_eq!(OWN.take(future(5)), Some(held(5)));
        assert_eq!(OWN.put(future(99), held(99)), None);
        assert_eq!(OWN.take(future(99)), Some(held(99)));
    }

    #[test]
    fn calls_that_seem_over_for_some_time_are_taken() {
        static OWN: Table<1> = zeros();
        for number in 0..3 {
            assert_eq!(OWN.put(future(number), held(number)), None);
        }
        let look = |now, call| {
            let mut all = Vec::new();
            let add = |held| all.push(held);
            let suspicion = |_, found: Held| match found.call == call {
                true => Suspicion::Some,
                false if found.call == 9000 => Suspicion::Certain,
                false => Suspicion::None,
            };
            OWN.take_suspected(u32::MAX, now, 10, suspicion, add);
            all
        };
        assert_eq!(look(100, 2), []);
        assert_eq!(look(109, 2), []);
        assert_eq!(look(110, 2), [held(1)]);
        assert_eq!(look(200, 2), []);
        // A call that did not seem to be over for a moment must seem so for the full time again.
        assert_eq!(look(300, 1), []);
        assert_eq!(look(305, 2), []);
        assert_eq!(look(310, 1), []);
        // After another poll, a call must again seem to be over for the full time.
        assert_eq!(look(100, 3), []);
        assert_eq!(OWN.take(future(2)), Some(held(2)));
        assert_eq!(OWN.put(future(2), held(2)), None);
        assert_eq!(look(120, 3), []);
        assert_eq!(look(130, 3), [held(2)]);
        assert_eq!(OWN.put(future(7), held(8999)), None);
        assert_eq!(look(131, 3), [held(8999)]);
    }

    #[test]
    fn threads_share_the_table() {
        static OWN: Table<4> = zeros();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for round in 0..2_000 {
                        let own = |number: u64| future(thread * 1_000 + number);
                        for number in 0..8 {
                            assert_eq!(OWN.put(own(number), held(round)), None);
                        }
                        for number in 0..8 {
                            assert_eq!(OWN.take(own(number)), Some(held(round)));
                        }
                    }
                });
            }
        });
        assert!(OWN.counts.iter().all(|count| count.load(Ordering::Relaxed) == 0));
    }
}
