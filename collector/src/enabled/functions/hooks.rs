//! What happens at the entry and the end of a function: the usual event, which calls nothing, and all others.
//!
//! These functions run at places where the program expects no call. `enter` and `exit` are compiled for the baseline CPU
//! and call nothing; `trampolines` says why. Each returns false, with nothing changed, if `enter_rarely` or
//! `exit_rarely` has to handle the event.

use crate::enabled::functions::unseen::{close_ended, counting_tree};
use crate::enabled::platform::clock;
use crate::enabled::platform::os;
use crate::enabled::platform::sync::add;
use crate::enabled::record::current_thread;
use crate::enabled::record::function_sites;
use crate::enabled::record::journal::Kind;
use crate::enabled::record::site::SiteState;
use crate::enabled::record::tree::Path;
use crate::enabled::scope;

/// A function begins. Its return address stands at `place`.
pub(super) extern "C" fn enter(number: u32, place: u64) -> bool {
    let Some(site) = function_sites::get(number) else {
        return true;
    };
    if !site.is(SiteState::Enabled) {
        return site.is(SiteState::Disabled);
    }
    let Some(tree) = current_thread::hot() else {
        // A thread that does not count now is not made to by this event.
        return current_thread::is_decided();
    };
    let Some(current) = tree.current.get() else {
        // An event of this thread is in progress: this is a signal handler or the program's allocator.
        add(&tree.dropped, 1);
        return true;
    };
    let Some(top) = tree.frames.top() else {
        return false;
    };
    if tree.frames.is_elsewhere(place) {
        tree.frames.note_elsewhere();
        return true;
    }
    if top.place() <= place {
        return false;
    }
    let Some(frame) = top.above() else { return false };
    let Some(child) = tree.known_child(current, site) else {
        return false;
    };
    if tree.is(Path::Fast) {
        tree.mark();
        let now = clock::tsc();
        if !tree.is_usual_gap(now) {
            tree.put(current);
            return false;
        }
        tree.frames.open(frame, place, child);
        tree.begin_usually(current, child, now, false);
    } else if tree.is(Path::Sampled) || tree.may_skip_clock() && child.is_skipped(current) {
        tree.mark();
        tree.frames.open(frame, place, child);
        tree.begin_untimed(child, 1);
    } else if tree.is(Path::Adaptive) {
        tree.mark();
        let now = clock::tsc();
        if !tree.is_usual_gap(now) {
            tree.put(current);
            return false;
        }
        tree.frames.open(frame, place, child);
        tree.begin_usually(current, child, now, true);
    } else if tree.is(Path::Watched) {
        tree.mark();
        let now = clock::tsc();
        if !tree.may_note_usually(now) {
            tree.put(current);
            return false;
        }
        tree.frames.open(frame, place, child);
        tree.note_usual(current, Kind::Enter, tree.gap_until(now));
        tree.begin_usually(current, child, now, tree.is_adaptive_outside());
    } else {
        return false;
    }
    true
}

/// A function ends, by a return or a tail call.
pub(super) extern "C" fn exit(number: u32, place: u64) -> bool {
    let Some(tree) = current_thread::hot() else {
        return true;
    };
    let Some(top) = tree.frames.top() else { return true };
    if top.place() > place || tree.frames.is_elsewhere(place) {
        // It began while its sleds were off, or was not counted.
        return true;
    }
    let Some(node) = top.node().filter(|node| {
        let is_own = function_sites::get(number).is_some_and(|site| node.site.is(site));
        top.place() == place && is_own && tree.current.is(node)
    }) else {
        return false;
    };
    let Some(parent) = node.parent.get() else {
        return false;
    };
    if tree.unit.is_of(node) {
        return false;
    }
    if tree.is(Path::Fast) {
        tree.mark();
        if !tree.end_usually(node, clock::tsc(), false) {
            tree.put(node);
            return false;
        }
    } else if tree.may_skip_clock() && !node.is_timed() {
        tree.mark();
    } else if tree.is(Path::Adaptive) {
        if node.latency.get().is_some_and(|latency| latency.is_rate_due()) {
            return false;
        }
        tree.mark();
        if !tree.end_usually(node, clock::tsc(), true) {
            tree.put(node);
            return false;
        }
        tree.skip_some(parent, node);
    } else if tree.is(Path::Watched) && !tree.watching.is_of(node) {
        tree.mark();
        let now = clock::tsc();
        let gap = tree.gap_until(now);
        if !(tree.may_note_usually(now) && tree.end_usually(node, now, tree.is_adaptive_outside())) {
            tree.put(node);
            return false;
        }
        tree.note_usual(node, Kind::Exit, gap);
    } else {
        return false;
    }
    tree.frames.close(top);
    tree.put(parent);
    true
}

/// Handles all other beginnings.
pub(super) extern "C" fn enter_rarely(number: u32, place: u64) {
    os::keeping_errno(|| {
        let Some(site) = function_sites::get(number) else {
            return;
        };
        let Some(tree) = counting_tree(site, place) else {
            return;
        };
        close_ended(tree, place, true);
        let scope = scope::enter(site);
        if scope.counts()
            && let Some(node) = tree.current.get()
        {
            // The function's end closes it, whichever way it ends.
            std::mem::forget(scope);
            tree.frames.open_next(place, node);
        }
    });
}

/// Handles all other ends.
pub(super) extern "C" fn exit_rarely(number: u32, place: u64) {
    os::keeping_errno(|| {
        let Some(tree) = current_thread::hot() else { return };
        close_ended(tree, place, false);
        let Some(top) = tree.frames.top().filter(|top| top.place() == place) else {
            return;
        };
        let Some(node) = top.node() else { return };
        if function_sites::get(number).is_some_and(|site| node.site.is(site)) {
            tree.frames.close(top);
            scope::end_function(tree, node);
        } else {
            // Another function stood there, whose end was not seen.
            close_ended(tree, place, true);
        }
    });
}
