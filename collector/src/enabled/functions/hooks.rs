//! Hooks at the entry and the end of a function.
//!
//! The hooks run at points where the program expects no call. `enter` and `exit` handle the usual events. They are
//! compiled for the baseline CPU and call no other function, for the reasons given in `trampolines`. If they return
//! false, `enter_rarely` or `exit_rarely` has to handle the event. In that case they have counted no call, with one
//! exception: `enter` may have opened a call of a function that was being switched off at that moment. No event may
//! report the end of that call, so `enter_rarely` closes it. `polls` uses `enter` and `exit` too, and does the same.

use crate::enabled::functions::unseen::{close_ended, counting_tree, is_off_by_now};
use crate::enabled::functions::usual;
use crate::enabled::platform::os;
use crate::enabled::record::current_thread;
use crate::enabled::record::function_sites;
use crate::enabled::record::site::SiteState;
use crate::enabled::scope;

/// Handles the beginning of a function whose return address is at `place`. It counts as `calls` calls: 0 if it is a poll
/// that continues an earlier call, and otherwise 1. Polls use this function as well, because the code that all functions
/// use is probably in the nearest cache.
#[inline(never)]
pub(super) extern "C" fn enter(number: u32, place: u64, calls: u64) -> bool {
    let Some(site) = function_sites::get(number) else {
        return true;
    };
    if !site.is(SiteState::Enabled) {
        return site.is(SiteState::Disabled);
    }
    let Some(tree) = current_thread::hot() else {
        // An excluded thread ignores this event. A new thread has to be registered first.
        return current_thread::is_decided();
    };
    let is_done = usual::begin(
        tree,
        site,
        (place, calls),
        |top| top.place() > place,
        |frame, node| tree.frames.open(frame, place, node),
    );
    is_done && !is_off_by_now(site)
}

/// Handles the end of a function, by a return or a tail call. `nth` is the number of a poll in its row, and 0 for other
/// functions.
#[inline(never)]
pub(super) extern "C" fn exit(number: u32, place: u64, nth: u64) -> bool {
    let Some(tree) = current_thread::hot() else {
        return true;
    };
    let Some(top) = tree.frames.top() else { return true };
    if top.place() > place || tree.frames.is_elsewhere(place) {
        // The function began while its sleds were off, or its beginning was not counted.
        return true;
    }
    let Some(node) = top.node().filter(|node| {
        let is_own = function_sites::get(number).is_some_and(|site| node.site.is(site));
        top.place() == place && is_own && tree.current.is(node)
    }) else {
        return false;
    };
    usual::end(tree, top, node, nth)
}

/// Handles the beginnings for which [`enter`] returns false.
pub(super) extern "C" fn enter_rarely(number: u32, place: u64) {
    os::keeping_errno(|| {
        let Some(site) = function_sites::get(number) else {
            return;
        };
        let Some(tree) = counting_tree(site, place) else {
            return;
        };
        close_ended(tree, place, true);
        // The scope is closed when the function ends, even if no event reports the end.
        if let Some(node) = scope::enter(site).keep_open() {
            tree.frames.open_next(place, node);
        }
        if is_off_by_now(site) {
            close_ended(tree, place, true);
        }
    });
}

/// Handles the ends for which [`exit`] returns false.
pub(super) extern "C" fn exit_rarely(number: u32, place: u64) {
    os::keeping_errno(|| {
        let Some(tree) = current_thread::hot() else { return };
        close_ended(tree, place, false);
        let Some(top) = tree.frames.top().filter(|top| top.place() == place) else {
            return;
        };
        let Some(node) = top.node() else { return };
        let is_own = |site| node.site.is(site) || node.is_over_the_limit();
        if function_sites::get(number).is_some_and(is_own) {
            tree.frames.close(top);
            scope::end(node);
        } else {
            // Another function is open at this stack address, so that function has ended without an event.
            close_ended(tree, place, true);
        }
    });
}

#[cfg(test)]
pub(super) mod tests;
