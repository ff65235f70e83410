//! Models of the slots that hold calls of futures. The slots are reused while a capture reads them.

use super::{INNER, OUTER, leaked};
use crate::enabled::platform::sync::modelled;
use crate::enabled::record::in_flight::{CallId, OwnSlots, seen};

/// Reads a call's slot as a capture does. This must find `first`, the call that begins at tick 20, or no call, and the
/// data must belong to the call found.
fn check_place(first: CallId) {
    if let Some((call, seen)) = seen(first as u32) {
        let of_first = call == first;
        assert_eq!(seen.began, if of_first { 10 } else { 20 });
        assert!(std::ptr::eq(seen.site, if of_first { &OUTER } else { &INNER }));
        assert_eq!(seen.awaited_by, 0, "and not the next free place");
    }
}

/// A call ends while a capture reads its slot, and another call takes the slot.
#[test]
fn a_call_in_flight_is_seen_whole_or_not_at_all() {
    let own: &'static OwnSlots = leaked();
    let first = own.begin(&OUTER, 10);
    modelled::check(Some(3), move || {
        let owner = modelled::spawn(move || {
            own.end(first);
            assert_ne!(own.begin(&INNER, 20), first);
        });
        check_place(first);
        owner.join().unwrap();
        let (call, seen) = seen(first as u32).unwrap();
        assert!(call != first && seen.began == 20);
    });
}

/// A thread takes the slot of a call that another thread has ended, while a capture reads the slot.
#[test]
fn a_place_that_another_thread_has_left_is_seen_whole_or_not_at_all() {
    let own: &'static OwnSlots = leaked();
    let first = own.begin(&OUTER, 10);
    modelled::check(Some(2), move || {
        let owner = modelled::spawn(move || {
            modelled::spawn(move || own.end(first)).join().unwrap();
            assert_ne!(own.begin(&INNER, 20), first);
        });
        check_place(first);
        owner.join().unwrap();
    });
}
