//! Fast paths for the beginnings and ends of functions. They call no other function. If the event needs further checks,
//! they return false without having counted a call.

use crate::enabled::platform::clock;
use crate::enabled::platform::sync::add;
use crate::enabled::record::frames::Frame;
use crate::enabled::record::journal::Kind;
use crate::enabled::record::node::Node;
use crate::enabled::record::site::Site;
use crate::enabled::record::tree::{Path, Tree};

/// Begins a function whose return address is at `place`, and which counts as `calls` calls. `is_inside` tells whether it
/// is inside the innermost open function, and `open` makes its frame the innermost one.
#[inline(always)]
pub(super) fn begin(
    tree: &'static Tree,
    site: &'static Site,
    (place, calls): (u64, u64),
    is_inside: impl FnOnce(&'static Frame) -> bool,
    open: impl Fn(&'static Frame, &'static Node),
) -> bool {
    let Some(current) = tree.current.get() else {
        // The thread is in the middle of an event, so this code runs in a signal handler or in the program's allocator.
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
    if !is_inside(top) {
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
        open(frame, child);
        tree.begin_usually(current, child, now, calls, false);
    } else if tree.is(Path::Sampled) || tree.may_skip_clock() && child.is_skipped(current) {
        tree.mark();
        open(frame, child);
        tree.begin_untimed(child, calls);
    } else if tree.is(Path::Adaptive) {
        tree.mark();
        let now = clock::tsc();
        if !tree.is_usual_gap(now) {
            tree.put(current);
            return false;
        }
        open(frame, child);
        tree.begin_usually(current, child, now, calls, true);
    } else if tree.is(Path::Watched) {
        tree.mark();
        let now = clock::tsc();
        if !tree.may_note_usually(now) {
            tree.put(current);
            return false;
        }
        open(frame, child);
        tree.note_usual(current, Kind::of_beginning(calls), tree.gap_until(now));
        tree.begin_usually(current, child, now, calls, tree.is_adaptive_outside());
    } else {
        return false;
    }
    true
}

/// Ends the innermost call. `top` is the frame of the call, and `node` is its node, which must be the innermost open
/// node. `nth` is the number of the execution, or 0 if the number of the call is to be used ([`Tree::end_usually`]).
#[inline(always)]
pub(super) fn end(tree: &'static Tree, top: &'static Frame, node: &'static Node, nth: u64) -> bool {
    let Some(parent) = node.parent.get() else {
        return false;
    };
    if tree.is(Path::Fast) {
        tree.mark();
        if !tree.end_usually(node, clock::tsc(), nth, false) {
            tree.put(node);
            return false;
        }
    } else if tree.may_skip_clock() && !node.is_timed() {
        tree.mark();
    } else if tree.is(Path::Adaptive) {
        tree.mark();
        if !tree.end_usually(node, clock::tsc(), nth, true) {
            tree.put(node);
            return false;
        }
        tree.choose_next(parent, node);
    } else if tree.is(Path::Watched) && !tree.watching.root.is(node) {
        tree.mark();
        let now = clock::tsc();
        let gap = tree.gap_until(now);
        if !(tree.may_note_usually(now) && tree.end_usually(node, now, nth, tree.is_adaptive_outside())) {
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
