//! The rows of `tracing` call sites. A row is created when its call site is first used, and is found by the address of
//! the call site's static metadata.
//!
//! A call site of `tracing` has no field that could hold its row, so a table maps addresses to rows. Entries are never removed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use tickscope::__private::{Site, spans};
use tracing_core::{Level, Metadata};

/// Maximum number of call sites that have rows of their own.
const MOST: usize = 8192;

/// Number of slots in the table, which is at most half full.
const PLACES: usize = 2 * MOST;

/// A call site that has its own row.
pub(crate) struct CallSite {
    pub(crate) site: &'static Site,
    /// Static metadata of the call site.
    pub(crate) metadata: &'static Metadata<'static>,
}

/// The addresses of the metadata, as a hash table with open addressing and linear probing. A slot is claimed under the
/// lock, and is never released.
static ADDRESSES: [AtomicUsize; PLACES] = [const { AtomicUsize::new(0) }; PLACES];

/// The call sites, at the same indices as their addresses.
static CALL_SITES: [OnceLock<CallSite>; PLACES] = [const { OnceLock::new() }; PLACES];

/// Number of occupied slots. A thread holds this lock while it claims a slot.
static TAKEN: Mutex<usize> = Mutex::new(0);

/// Returns the call site with a number that [`of`] has returned.
pub(crate) fn get(number: u32) -> Option<&'static CallSite> {
    CALL_SITES.get(number as usize)?.get()
}

/// Returns the number and the row of a call site. If the row is shared, [`get`] finds no call site with the number.
#[inline]
pub(crate) fn of(metadata: &'static Metadata<'static>) -> (u32, &'static Site) {
    let address = std::ptr::from_ref(metadata).addr();
    let (place, is_there) = find(address);
    if !is_there {
        return add(address, metadata);
    }
    match CALL_SITES[place].get() {
        Some(call_site) => (place as u32, call_site.site),
        None => shared(metadata),
    }
}

/// Returns the slot that has this address, and true. If no slot has it, returns the free slot where the address can be
/// added, and false.
#[inline]
fn find(address: usize) -> (usize, bool) {
    let mut place = first_place(address);
    loop {
        match ADDRESSES[place].load(Ordering::Acquire) {
            0 => return (place, false),
            found if found == address => return (place, true),
            _ => place = (place + 1) % PLACES,
        }
    }
}

/// Returns the slot at which the search for a metadata address begins. These addresses are aligned and close together, so
/// the address is multiplied to spread them, and the slot is taken from the high bits of the product.
fn first_place(address: usize) -> usize {
    (address >> 3).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize) >> (usize::BITS - PLACES.ilog2())
}

#[cold]
#[inline(never)]
fn add(address: usize, metadata: &'static Metadata<'static>) -> (u32, &'static Site) {
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    // Another thread may have added the address before this one took the lock.
    let (place, is_there) = find(address);
    if !is_there && *taken == MOST {
        return shared(metadata);
    }
    let call_site = CALL_SITES[place].get_or_init(|| {
        *taken += 1;
        CallSite {
            site: site_of(metadata),
            metadata,
        }
    });
    ADDRESSES[place].store(address, Ordering::Release);
    (place as u32, call_site.site)
}

fn site_of(metadata: &'static Metadata<'static>) -> &'static Site {
    let module = metadata.module_path().unwrap_or_else(|| metadata.target());
    let file = metadata.file().unwrap_or_default();
    let line = metadata.line().unwrap_or_default();
    let is_event = metadata.is_event();
    let name = if is_event {
        event_name(metadata).leak()
    } else {
        metadata.name()
    };
    spans::site(name, module, file, line, is_event)
}

/// Returns the name of an event's row. By default, `tracing` calls an event `event FILE:LINE`.
fn event_name(metadata: &Metadata<'_>) -> String {
    let level = match *metadata.level() {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        _ => "trace",
    };
    let name = metadata.name();
    format!("[{level}] {}", name.strip_prefix("event ").unwrap_or(name))
}

/// Returns the row that is shared by all call sites beyond the limit. Spans share one row, and events another.
fn shared(metadata: &Metadata<'_>) -> (u32, &'static Site) {
    static FURTHER: [OnceLock<&Site>; 2] = [const { OnceLock::new() }; 2];
    let is_event = metadata.is_event();
    let name = if is_event {
        "(further events)"
    } else {
        "(further spans)"
    };
    let site = FURTHER[usize::from(is_event)].get_or_init(|| spans::site(name, "", "", 0, is_event));
    (u32::MAX, site)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing_core::callsite::{Callsite, Identifier};
    use tracing_core::field::FieldSet;
    use tracing_core::metadata::Kind;
    use tracing_core::subscriber::Interest;

    #[derive(Debug)]
    struct Nowhere;

    static NOWHERE: Nowhere = Nowhere;

    impl Callsite for Nowhere {
        fn set_interest(&self, _: Interest) {}

        fn metadata(&self) -> &Metadata<'_> {
            metadata("nowhere", Kind::SPAN)
        }
    }

    fn metadata(name: &'static str, kind: Kind) -> &'static Metadata<'static> {
        let fields = FieldSet::new(&[], Identifier(&NOWHERE));
        let (file, module) = (Some("src/a.rs"), Some("app::a"));
        let metadata = Metadata::new(name, "target", Level::WARN, file, Some(7), module, fields, kind);
        Box::leak(Box::new(metadata))
    }

    #[test]
    fn an_event_is_called_by_its_level_and_its_name_or_place() {
        assert_eq!(
            event_name(metadata("event src/a.rs:7", Kind::EVENT)),
            "[warn] src/a.rs:7"
        );
        assert_eq!(event_name(metadata("full", Kind::EVENT)), "[warn] full");
    }

    #[test]
    fn a_call_site_keeps_its_row_and_too_many_share_one() {
        let first = metadata("first", Kind::SPAN);
        let (number, site) = of(first);
        let known: Vec<_> = (0..MOST).map(|_| metadata("more", Kind::SPAN)).collect();
        let numbers: Vec<u32> = known.iter().map(|metadata| of(metadata).0).collect();
        let mut own = numbers.clone();
        own.retain(|number| *number != u32::MAX);
        own.sort_unstable();
        own.dedup();
        // `first` has taken a row, and tests that run at the same time may have taken some, too.
        assert!((MOST - 3..MOST).contains(&own.len()), "{}", own.len());
        assert_eq!(numbers.last(), Some(&u32::MAX), "the last one shares a row");
        assert!(get(u32::MAX).is_none());
        assert_eq!(of(first).0, number);
        assert!(std::ptr::eq(of(first).1, site));
        assert_eq!(get(number).map(|known| known.metadata.name()), Some("first"));
        assert!(
            known
                .iter()
                .zip(&numbers)
                .all(|(metadata, &number)| of(metadata).0 == number)
        );
    }
}
