//! Finds the collector's span from the id that the registry gave the tracing span.
//!
//! The registry could store the collector's span in the extensions of its own span, but access to them takes a lock and
//! a lookup by type. In this table, most spans have a slot of their own, and a lookup is a single load. If a span's
//! slot is already taken by another span, the span goes into a map.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

const PLACES: usize = 4096;

/// A slot for a span of the registry. It is freed only when that span is closed.
struct Place {
    /// The registry's id of the span. It is 0 if the slot is free, and [`TAKEN`] while the slot is being filled.
    id: AtomicU64,
    number: AtomicU32,
}

/// Value of `id` while the slot is being filled. No span has this id.
const TAKEN: u64 = u64::MAX;

static TABLE: [Place; PLACES] = [const {
    Place {
        id: AtomicU64::new(0),
        number: AtomicU32::new(0),
    }
}; PLACES];

/// Spans whose slots are taken by other spans. Maps the registry's ids to the collector's numbers.
static FURTHER: Mutex<Option<HashMap<u64, u32>>> = Mutex::new(None);

/// Number of spans in `FURTHER`. It is usually 0, which means that no lock is needed to look up a span that the layer
/// has filtered out.
static FURTHER_COUNT: AtomicUsize = AtomicUsize::new(0);

fn place_of(id: u64) -> &'static Place {
    let mixed = id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - PLACES.ilog2());
    &TABLE[mixed as usize]
}

fn further() -> MutexGuard<'static, Option<HashMap<u64, u32>>> {
    FURTHER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores the number that the collector gave a span.
pub(crate) fn put(id: u64, number: u32) {
    let place = place_of(id);
    let is_free = place
        .id
        .compare_exchange(0, TAKEN, Ordering::Acquire, Ordering::Relaxed);
    if is_free.is_ok() {
        place.number.store(number, Ordering::Relaxed);
        place.id.store(id, Ordering::Release);
    } else {
        further().get_or_insert_default().insert(id, number);
        FURTHER_COUNT.fetch_add(1, Ordering::Release);
    }
}

/// Returns the number that the collector gave a span, or 0 if none is stored.
pub(crate) fn get(id: u64) -> u32 {
    let place = place_of(id);
    if place.id.load(Ordering::Acquire) == id {
        return place.number.load(Ordering::Relaxed);
    }
    if FURTHER_COUNT.load(Ordering::Acquire) == 0 {
        return 0;
    }
    let further = further();
    let number = further.as_ref().and_then(|further| further.get(&id));
    number.copied().unwrap_or(0)
}

/// Removes the number that the collector gave a span. Returns it, or 0 if none is stored.
pub(crate) fn take(id: u64) -> u32 {
    let place = place_of(id);
    if place.id.load(Ordering::Acquire) == id {
        let number = place.number.load(Ordering::Relaxed);
        place.id.store(0, Ordering::Release);
        return number;
    }
    if FURTHER_COUNT.load(Ordering::Acquire) == 0 {
        return 0;
    }
    let number = further().as_mut().and_then(|further| further.remove(&id));
    if number.is_some() {
        FURTHER_COUNT.fetch_sub(1, Ordering::Release);
    }
    number.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_found_whether_their_place_is_free_or_not() {
        let ids = 1..=3 * PLACES as u64;
        for id in ids.clone() {
            put(id, id as u32 + 7);
        }
        assert!(ids.clone().all(|id| get(id) == id as u32 + 7));
        assert!(ids.clone().all(|id| take(id) == id as u32 + 7));
        assert!(ids.clone().all(|id| get(id) == 0 && take(id) == 0));
        assert!(further().as_ref().is_some_and(HashMap::is_empty));
    }
}
