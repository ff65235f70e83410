//! Finds calls of async functions that are over, although no event reported their end.
//!
//! Between two polls, the state in the future's memory stays as it was after the last poll. If it has changed, the memory was
//! freed or reused, so the call is over. A call is also suspected to be over if the call that awaited it is over, or if its
//! function was switched off. A call that has been suspected for a second counts as over.

use crate::enabled::platform::os::{self, ByteRead};
use crate::enabled::record::calls_by_future::{self, Future, Held, SUSPENDED, Suspicion};
use crate::enabled::record::function_sites;
use crate::enabled::record::in_flight;
use crate::enabled::record::owner::Owner;
use crate::enabled::record::site::SiteState;
use crate::enabled::runtime::config;

/// How long a call must be suspected to be over before it counts as over, in seconds.
const SUSPECTED_SECONDS: f64 = 1.0;

/// Maximum number of calls that are checked for a snapshot, unless it is a whole snapshot. Checking this many takes a
/// few milliseconds.
const AT_ONCE: u32 = 10_000;

/// Checks calls of async functions that are between two polls, and ends the calls that are over. For each ended call whose row
/// belongs to finished threads, returns that row, so that the caller can count the call there.
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
    let place = function_sites::polling(future.function).map_or(0, |(_, polled)| polled.state_place(future));
    let site = function_sites::get(future.function);
    let is_as_it_was = || match os::read_byte(place) {
        ByteRead::Is(state) => state == held.state,
        ByteRead::IsGone => false,
        ByteRead::Refused => true,
    };
    if future.has_ended() || held.state >= SUSPENDED && !is_as_it_was() {
        // The hooks take a call out of the table while it is polled, so no poll that they saw can be in progress.
        Suspicion::Certain
    } else if in_flight::is_left_behind(held.call) || site.is_some_and(|site| site.is(SiteState::Disabled)) {
        Suspicion::Some
    } else {
        Suspicion::None
    }
}
