//! Decides whether an event counts, and closes functions and polls that have ended earlier without an event.

#[cfg(feature = "functions")]
use std::sync::atomic::{Ordering, compiler_fence};

use crate::enabled::call::Call;
use crate::enabled::capture::thread_lifecycle;
use crate::enabled::platform::threads;
use crate::enabled::record::calls_by_future::Held;
use crate::enabled::record::current_thread::{self, Phase};
use crate::enabled::record::frames::Poll;
use crate::enabled::record::in_flight;
use crate::enabled::record::node::Node;
use crate::enabled::record::owner::Owner;
use crate::enabled::record::site::{Site, SiteState};
use crate::enabled::record::tree::Tree;
use crate::enabled::runtime::config;
use crate::enabled::scope;

/// Returns the tree that counts a call of this site, or `None` if the call does not count. The function's return
/// address is at `place`.
#[inline(always)]
pub(super) fn counting_tree(site: &'static Site, place: u64) -> Option<&'static Tree> {
    let usual = current_thread::hot().filter(|tree| tree.frames.top().is_some() && !site.is(SiteState::New));
    let tree = usual.or_else(|| registered_tree(site))?;
    if tree.frames.is_elsewhere(place) {
        tree.frames.note_elsewhere();
        return None;
    }
    Some(tree)
}

/// Registers the site and the thread if they are new, and returns the thread's tree if the call counts.
#[cold]
#[inline(never)]
fn registered_tree(site: &'static Site) -> Option<&'static Tree> {
    if site.is(SiteState::New) && !scope::may_count(site) {
        return None;
    }
    if thread_lifecycle::register() != Phase::Counting {
        return None;
    }
    let tree = current_thread::hot()?;
    if tree.frames.top().is_none() {
        let (low, bytes) = threads::own_stack();
        if !tree.frames.begin(low, bytes) {
            return None;
        }
    }
    Some(tree)
}

/// Returns whether the function was switched off while its call was beginning.
#[inline(always)]
#[cfg(feature = "functions")]
pub(super) fn is_off_by_now(site: &'static Site) -> bool {
    // SYNC POINT: the call is open before the site's state is read (pairs with the barrier that all threads pass before
    // the check of open calls). So either that check finds the call, or this function finds the site disabled.
    compiler_fence(Ordering::SeqCst);
    site.is(SiteState::Disabled)
}

/// Closes the functions and polls that have ended without an event: those below `place` on the stack, and also the one
/// at `place` if `at_it` is true.
#[inline(always)]
pub(super) fn close_ended(tree: &'static Tree, place: u64, at_it: bool) {
    if tree.frames.has_ended(place, at_it) {
        close_ended_now(tree, place, at_it);
    }
}

#[cold]
#[inline(never)]
fn close_ended_now(tree: &'static Tree, place: u64, at_it: bool) {
    if let Some(outermost) = tree.frames.close_below(place, at_it) {
        end_unseen(tree, outermost);
    }
    while let Some(poll) = tree.frames.take_ended_poll(place, at_it) {
        end_unwound(tree, &poll);
    }
}

/// Closes the `count` innermost functions, which have ended without an event.
pub(super) fn close_inner(tree: &'static Tree, count: usize) {
    if let Some(outermost) = tree.frames.close_inner(count) {
        end_unseen(tree, outermost);
    }
}

fn end_unseen(tree: &'static Tree, node: &'static Node) {
    tree.catch_up_if_alarmed(config::exact_path());
    tree.end_unseen(node, config::now);
}

/// Ends a poll and its call after the body has panicked, in which case no event ends the poll.
fn end_unwound(tree: &'static Tree, poll: &Poll) {
    let mut call = end_polling(tree, poll);
    let Some(site) = poll.node.site.get() else { return };
    if call.is_in_flight() && site.is(SiteState::Disabled) {
        // The call may have ended without an event while the function was being switched off, so it counts as vanished.
        let held = Held {
            began: call.began,
            call: call.id,
            row: Owner::node(tree, poll.node.index()).number(),
            state: 0,
        };
        _ = held.vanish();
    } else {
        call.end(site, Some(poll.node), true);
    }
}

/// Ends a poll, and returns the call that it polled. The call that the thread was polling before becomes the current
/// one again.
pub(super) fn end_polling(tree: &'static Tree, poll: &Poll) -> Call {
    // After a panic in a marked future around this poll, the thread no longer polls this call.
    if poll.call != 0 && tree.slots.polled() == poll.call {
        tree.slots.poll(poll.outer);
    }
    if let Some(slot) = in_flight::slot_of(poll.call) {
        slot.set_polled(false);
    }
    Call {
        began: poll.began,
        id: poll.call,
    }
}
