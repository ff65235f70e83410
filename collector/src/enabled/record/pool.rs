//! Pools of values. Any thread can take a value out of a pool and give it back. The free values are in a list under a lock, which
//! is held only for a few loads and stores.

use std::sync::{Mutex, TryLockError};
use std::time::Duration;

use crate::enabled::platform::sync::{AtomicU32, Ordering};
use crate::enabled::record::arena::{Chunk, Column, FromZeros, zeroed, zeros};

/// Number of immediate attempts to take a lock.
const LOOKS_AT_ONCE: u32 = 100;
/// Number of further attempts, with pauses in between because the lock's holder may have no CPU.
const LOOKS_LATER: u32 = 400;
const PAUSE: Duration = Duration::from_micros(250);

/// A value that may be in a list.
pub(crate) trait Linked: FromZeros + 'static {
    /// Returns the field that holds the number of the next value in the list.
    fn next(&self) -> &AtomicU32;
}

/// A pool of values, which are numbered from 1 on.
#[derive(Debug)]
pub(crate) struct Pool<T: 'static> {
    places: Column<T>,
    most: u32,
    /// Number of the first free value; 0 if no value is free.
    free: Mutex<u32>,
    made: std::sync::atomic::AtomicU32,
}

zeroed! {
    /// A list of values, stored in chunks of a pool. Only one thread at a time uses a chain.
    #[derive(Debug)]
    pub(crate) struct Chain {
        first: AtomicU32,
        last: AtomicU32,
        length: AtomicU32,
    }
}

/// Calls `change` under a lock that is held briefly; returns `None` if the lock cannot be taken.
pub(crate) fn briefly<T, R>(lock: &Mutex<T>, change: impl FnOnce(&mut T) -> R) -> Option<R> {
    let mut value = retried(|| match lock.try_lock() {
        Ok(value) => Some(value),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    })?;
    Some(change(&mut value))
}

/// Tries to get a resource that other threads hold only for a few loads and stores. Gives up after a tenth of a second or more,
/// because the holder may never release the resource: after a fork, the holder does not exist in the child, and a holder that was
/// interrupted by a signal handler cannot continue while the handler waits here.
pub(crate) fn retried<T>(mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..LOOKS_AT_ONCE {
        if let Some(got) = attempt() {
            return Some(got);
        }
        std::hint::spin_loop();
    }
    for _ in 0..LOOKS_LATER {
        std::thread::sleep(PAUSE);
        if let Some(got) = attempt() {
            return Some(got);
        }
    }
    None
}

impl<T: FromZeros + 'static, const N: usize> Linked for Chunk<T, N> {
    fn next(&self) -> &AtomicU32 {
        &self.next
    }
}

impl<T: Linked> Pool<T> {
    pub(crate) const fn new(most: u32) -> Self {
        Self {
            places: zeros(),
            most,
            free: Mutex::new(0),
            made: std::sync::atomic::AtomicU32::new(0),
        }
    }

    /// Returns how many values of the pool have been made so far.
    pub(crate) fn made(&self) -> u32 {
        self.made.load(Ordering::Acquire)
    }

    pub(crate) fn get(&self, number: u32) -> Option<&'static T> {
        self.places.get(number).filter(|_| number != 0)
    }

    /// Takes a value, which still has the contents that its last user left. Returns `None` if all values are taken, there is no
    /// memory, or the lock cannot be taken.
    pub(crate) fn take(&self) -> Option<(u32, &'static T)> {
        let taken = briefly(&self.free, |free| {
            if let Some(place) = self.get(*free) {
                let number = std::mem::replace(free, place.next().load(Ordering::Relaxed));
                return Some((number, place));
            }
            let number = self.made.load(Ordering::Relaxed) + 1;
            if number > self.most {
                return None;
            }
            let place = self.places.make(number)?;
            self.made.store(number, Ordering::Release);
            Some((number, place))
        })??;
        taken.1.next().store(0, Ordering::Relaxed);
        Some(taken)
    }

    /// Gives back a list of values, linked from `first` to `last`. If the lock cannot be taken, these values are lost.
    pub(crate) fn give(&self, first: u32, last: u32) {
        let Some(last) = self.get(last) else { return };
        briefly(&self.free, |free| {
            last.next().store(*free, Ordering::Relaxed);
            *free = first;
        });
    }
}

impl Chain {
    pub(crate) fn len(&self) -> u32 {
        self.length.load(Ordering::Relaxed)
    }

    /// Adds one value, which still has the contents that its last user left. Returns `None` if a new chunk is needed and none is
    /// free.
    pub(crate) fn add<T: FromZeros + 'static, const N: usize>(
        &self,
        pool: &Pool<Chunk<T, N>>,
    ) -> Option<&'static T> {
        let length = self.len();
        let at = length as usize % N;
        let last = if at == 0 {
            let (number, place) = pool.take()?;
            match pool.get(self.last.load(Ordering::Relaxed)) {
                Some(last) => last.next().store(number, Ordering::Relaxed),
                None => self.first.store(number, Ordering::Relaxed),
            }
            self.last.store(number, Ordering::Relaxed);
            place
        } else {
            pool.get(self.last.load(Ordering::Relaxed))?
        };
        self.length.store(length + 1, Ordering::Relaxed);
        last.values.get(at)
    }

    /// Returns the values, in order.
    pub(crate) fn values<T: FromZeros + 'static, const N: usize>(
        &self,
        pool: &'static Pool<Chunk<T, N>>,
    ) -> impl Iterator<Item = &'static T> {
        let mut chunk = pool.get(self.first.load(Ordering::Relaxed));
        (0..self.len()).filter_map(move |number| {
            let at = number as usize % N;
            if at == 0 && number > 0 {
                chunk = chunk.and_then(|chunk| pool.get(chunk.next.load(Ordering::Relaxed)));
            }
            chunk?.values.get(at)
        })
    }

    /// Gives all chunks back.
    pub(crate) fn clear<T: Linked>(&self, pool: &Pool<T>) {
        let [first, last] = [&self.first, &self.last].map(|number| number.load(Ordering::Relaxed));
        for number in [&self.first, &self.last, &self.length] {
            number.store(0, Ordering::Relaxed);
        }
        pool.give(first, last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_share_the_places_and_give_them_back() {
        static POOL: Pool<Chunk<AtomicU32, 3>> = Pool::new(5);
        let (one, other): (Chain, Chain) = (zeros(), zeros());
        let add = |chain: &Chain, number| {
            chain.add(&POOL)?.store(number, Ordering::Relaxed);
            Some(())
        };
        for round in 0..3 {
            // Five chunks have space for 15 values. Eight values take three chunks, and six values take two.
            for number in 0..8 {
                add(&one, round + number).unwrap();
                if number < 6 {
                    add(&other, 100 + number).unwrap();
                }
            }
            assert!(add(&one, 9).is_some() && add(&other, 9).is_none());
            let read = |chain: &Chain| -> Vec<u32> {
                let values = chain.values(&POOL);
                values.map(|value| value.load(Ordering::Relaxed)).collect()
            };
            assert_eq!(read(&other), [100, 101, 102, 103, 104, 105]);
            let mut expected: Vec<u32> = (round..round + 8).collect();
            expected.push(9);
            assert_eq!(read(&one), expected);
            one.clear(&POOL);
            other.clear(&POOL);
            assert_eq!((one.len(), POOL.made()), (0, 5));
        }
    }

    #[test]
    fn a_lock_that_stays_held_is_given_up() {
        let lock = Mutex::new(5);
        let held = lock.lock().unwrap();
        assert_eq!(briefly(&lock, |value| *value), None);
        drop(held);
        assert_eq!(briefly(&lock, |value| *value), Some(5));
    }
}
