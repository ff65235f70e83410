//! Finds calls of async functions that are over without an event that reported their end.
//!
//! A call between two polls is over when its future's state differs from the state after the last poll: the memory is gone, or
//! belongs to another value. A call seems to be over when the call that awaited it is over, or when its function was switched
//! off. If a call seems to be over for a second, it counts as over.

use crate::enabled::platform::os::{self, ByteRead};
use crate::enabled::record::calls_by_future::{self, Future, Held, SUSPENDED, Suspicion};
use crate::enabled::record::function_sites;
use crate::enabled::record::in_flight;
use crate::enabled::record::owner::Owner;
use crate::enabled::record::site::Site;
use crate::enabled::runtime::config;

/// Time for which a call must seem to be over, in seconds.
const SUSPECTED_SECONDS: f64 = 1.0;

/// Maximum number of calls that a snapshot checks if it is not whole. Checking them takes some milliseconds.
const AT_ONCE: u32 = 10_000;

/// Checks calls of async functions that are between two polls, and ends the calls that are over. Returns a row for each ended
/// call that a finished thread is to count.
pub(super) fn end(is_whole: bool) -> Vec<Owner> {
    let mut of_finished = Vec::new();
    if calls_by_future::are_none() {
        return of_finished;
    }
    let long = (config::ticks_per_second() * SUSPECTED_SECONDS) as u64;
    let most = if is_whole { u32::MAX } else { AT_ONCE };
    calls_by_future::TABLE.take_suspected(most, config::now(), long, suspicion, |held| {
        of_finished.extend(held.vanish());
    });
    of_finished
}

fn suspicion(future: Future, held: Held) -> Suspicion {
    let place = function_sites::polled_by(future.function).map_or(0, |polled| polled.state_place(future));
    let site = function_sites::get(future.function);
    let is_as_it_was = || match os::read_byte(place) {
        ByteRead::Is(state) => state == held.state,
        ByteRead::IsGone => false,
        ByteRead::Refused => true,
    };
    if held.state >= SUSPENDED && !is_as_it_was() {
        // No poll that the hooks saw can be in progress, because it would have taken the call out of the table.
        Suspicion::Certain
    } else if in_flight::is_left_behind(held.call) || site.is_some_and(Site::is_ruled_off) {
        Suspicion::Some
    } else {
        Suspicion::None
    }
}
