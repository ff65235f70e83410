//! The calls in flight of futures that the source does not mark, by the address of the future.
//!
//! A future that is marked in the source carries its call with it. One that is not has nothing but its address, which stays the
//! same from its first poll on. So its call stands here between two polls. While it is polled it is not here, so a thread that
//! finds it is the only one that has it.
//!
//! The table is in static memory. A future has its place in one group; each group has a lock of its own, which is held for some
//! loads and stores. A thread that does not get it, as in a child that was forked meanwhile, gives up.

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering};
use crate::enabled::record::in_flight::CallId;

const GROUPS: usize = 4096;

/// The places of one group.
const GROUP: usize = 32;

/// How often a thread tries to get a lock, and how often it does so before others may run: who holds it may have been
/// interrupted.
const LOOKS: u32 = 10_000;
const LOOKS_AT_ONCE: u32 = 100;

/// How many groups a thread looks at when it looks for calls that are over.
const AT_ONCE: u32 = 4;

/// A future: its address, and the number of the function that polls it. A future inside of another one may have the address
/// of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Future {
    pub(crate) address: u64,
    pub(crate) function: u32,
}

/// The call of a future between two polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// The tick of the first poll.
    pub(crate) began: u64,
    pub(crate) call: CallId,
    /// The node of its last poll, as an owner of blocks ([`Owner`](crate::enabled::record::live_blocks::Owner)); 0 for none.
    pub(crate) row: u64,
}

#[derive(Debug)]
struct Place {
    /// 0 where there is none.
    address: AtomicU64,
    function: AtomicU32,
    began: AtomicU64,
    call: AtomicU64,
    row: AtomicU64,
    /// Since which tick it seems to be over; 0 if it does not.
    suspected: AtomicU64,
}

#[derive(Debug)]
struct Group {
    is_locked: AtomicU32,
    count: AtomicU32,
    places: [Place; GROUP],
}

#[derive(Debug)]
struct Table<const GROUPS: usize>([Group; GROUPS]);

static TABLE: Table<GROUPS> = Table::new();

/// The group that is looked at next.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Puts the call of a future in. Returns false if there is no place for it.
pub(crate) fn put(future: Future, held: Held) -> bool {
    TABLE.put(future, held)
}

/// Takes the call of a future out, if it is there.
pub(crate) fn take(future: Future) -> Option<Held> {
    TABLE.take(future)
}

/// Looks at some of the calls, and takes one out that has seemed to be over for `ticks` up to `now`.
pub(crate) fn take_suspected(
    now: u64,
    ticks: u64,
    seems_over: impl Fn(Future, CallId) -> bool,
) -> Option<(Future, Held)> {
    let first = NEXT.fetch_add(AT_ONCE, Ordering::Relaxed);
    (first..first.wrapping_add(AT_ONCE))
        .find_map(|group| TABLE.take_suspected(group as usize % GROUPS, now, ticks, &seems_over))
}

impl Place {
    const fn new() -> Self {
        Self {
            address: AtomicU64::new(0),
            function: AtomicU32::new(0),
            began: AtomicU64::new(0),
            call: AtomicU64::new(0),
            row: AtomicU64::new(0),
            suspected: AtomicU64::new(0),
        }
    }

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
        }
    }
}

impl Group {
    const fn new() -> Self {
        Self {
            is_locked: AtomicU32::new(0),
            count: AtomicU32::new(0),
            places: [const { Place::new() }; GROUP],
        }
    }

    /// Does something with the places, if the lock can be had.
    fn with<T>(&self, change: impl FnOnce(&Self) -> Option<T>) -> Option<T> {
        for look in 0..LOOKS {
            // SYNC POINT: the lock before what it guards.
            let got = self
                .is_locked
                .compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed);
            if got.is_ok() {
                let done = change(self);
                // SYNC POINT: what it guards before the lock.
                self.is_locked.store(0, Ordering::Release);
                return done;
            }
            if look < LOOKS_AT_ONCE {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        None
    }

    fn leave(&self, place: &Place) -> Held {
        let held = place.held();
        place.address.store(0, Ordering::Relaxed);
        self.count
            .store(self.count.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        held
    }
}

impl<const GROUPS: usize> Table<GROUPS> {
    const fn new() -> Self {
        Self([const { Group::new() }; GROUPS])
    }

    fn group(&self, future: Future) -> &Group {
        // Futures are aligned, so the lowest bits say nothing.
        let mixed =
            (future.address >> 3 ^ u64::from(future.function) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        &self.0[(mixed >> 40) as usize % GROUPS]
    }

    fn put(&self, future: Future, held: Held) -> bool {
        let put = self.group(future).with(|group| {
            let free = |place: &&Place| place.address.load(Ordering::Relaxed) == 0;
            let place = group.places.iter().find(free)?;
            place.address.store(future.address, Ordering::Relaxed);
            place.function.store(future.function, Ordering::Relaxed);
            place.began.store(held.began, Ordering::Relaxed);
            place.call.store(held.call, Ordering::Relaxed);
            place.row.store(held.row, Ordering::Relaxed);
            place.suspected.store(0, Ordering::Relaxed);
            group
                .count
                .store(group.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            Some(())
        });
        put.is_some()
    }

    fn take(&self, future: Future) -> Option<Held> {
        let group = self.group(future);
        if group.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        group.with(|group| {
            let place = group.places.iter().find(|place| place.future() == future)?;
            Some(group.leave(place))
        })
    }

    fn take_suspected(
        &self,
        group: usize,
        now: u64,
        ticks: u64,
        seems_over: impl Fn(Future, CallId) -> bool,
    ) -> Option<(Future, Held)> {
        let group = &self.0[group];
        if group.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        group.with(|group| {
            group.places.iter().find_map(|place| {
                let future = place.future();
                if future.address == 0 || !seems_over(future, place.held().call) {
                    return None;
                }
                let since = place.suspected.load(Ordering::Relaxed);
                if since == 0 {
                    place.suspected.store(now.max(1), Ordering::Relaxed);
                }
                let is_over = since != 0 && now.saturating_sub(since) >= ticks;
                is_over.then(|| (future, group.leave(place)))
            })
        })
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
        }
    }

    #[test]
    fn calls_are_found_by_their_futures_and_once() {
        static OWN: Table<64> = Table::new();
        for number in 0..500 {
            assert!(OWN.put(future(number), held(number)));
        }
        // The same address with another function is another future.
        let other = Future {
            function: 7,
            ..future(3)
        };
        assert_eq!(OWN.take(other), None);
        assert!(OWN.put(other, held(9000)));
        for number in 0..500 {
            assert_eq!(OWN.take(future(number)), Some(held(number)));
            assert_eq!(OWN.take(future(number)), None);
        }
        assert_eq!(OWN.take(other), Some(held(9000)));
    }

    #[test]
    fn a_full_group_says_so() {
        static OWN: Table<1> = Table::new();
        for number in 0..GROUP as u64 {
            assert!(OWN.put(future(number), held(number)));
        }
        assert!(!OWN.put(future(99), held(99)));
        assert_eq!(OWN.take(future(5)), Some(held(5)));
        assert!(OWN.put(future(99), held(99)));
        assert_eq!(OWN.take(future(99)), Some(held(99)));
    }

    #[test]
    fn calls_that_seem_over_for_some_time_are_taken() {
        static OWN: Table<1> = Table::new();
        for number in 0..3 {
            assert!(OWN.put(future(number), held(number)));
        }
        let look = |now, call| OWN.take_suspected(0, now, 10, |_, found| found == call);
        assert_eq!(look(100, 2), None);
        assert_eq!(look(109, 2), None);
        assert_eq!(look(110, 2), Some((future(1), held(1))));
        assert_eq!(look(200, 2), None);
        // What was polled meanwhile begins anew.
        assert_eq!(look(100, 3), None);
        assert_eq!(OWN.take(future(2)), Some(held(2)));
        assert!(OWN.put(future(2), held(2)));
        assert_eq!(look(120, 3), None);
        assert_eq!(look(130, 3), Some((future(2), held(2))));
    }

    #[test]
    fn threads_share_the_table() {
        static OWN: Table<4> = Table::new();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for round in 0..2_000 {
                        let own = |number: u64| future(thread * 1_000 + number);
                        for number in 0..8 {
                            assert!(OWN.put(own(number), held(round)));
                        }
                        for number in 0..8 {
                            assert_eq!(OWN.take(own(number)), Some(held(round)));
                        }
                    }
                });
            }
        });
        assert!(OWN.0.iter().all(|group| group.count.load(Ordering::Relaxed) == 0));
    }
}
