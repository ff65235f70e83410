//! Spans: calls that are entered and exited by number, in any order and on any thread, until they are closed.
//! `tickscope-tracing` turns the spans of `tracing` into rows this way.
//!
//! A span that is entered only once is counted like a call of a scope. A span that is entered again is a call of a
//! future: each time that it is open is a poll, and the call lasts from the first poll until the span is closed. The
//! first entry does not show which kind of span it is. So a site is treated as a function's site until one of its spans
//! is entered a second time, and as a future's site from then on. Calls that were counted before that do not count as
//! calls of futures (`Tree::leave_out_calls`).
//!
//! A span may be exited while spans inside it are still open. These spans end with it, and are then entered again in
//! its place, which continues the same calls.

use tickscope_format::snapshot::Quantity;

use crate::enabled::call::{Call, Polling};
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::current_thread;
use crate::enabled::record::in_flight;
use crate::enabled::record::node::Node;
use crate::enabled::record::open_spans::{self, OpenSpan, Span};
use crate::enabled::record::site::{Site, SiteState};
use crate::enabled::record::tree::Tree;
use crate::enabled::runtime::config;
use crate::enabled::scope;

/// Whether anything is measured in this build.
pub const IS_MEASURED: bool = true;

/// Value of `first` while the span has no counted call.
const NOT_COUNTED: u64 = 0;
/// Value of `first` if the span's call was counted at an unknown tick, or is about to be counted.
const UNKNOWN: u64 = 1;

/// Creates a site for spans that are known only at run time. The site is never freed, so callers must limit the number
/// of such sites.
pub fn site(
    name: &'static str,
    module: &'static str,
    file: &'static str,
    line: u32,
    is_counter: bool,
) -> &'static Site {
    let _own = current_thread::own_work();
    let site = Site::named(name, module, file, line);
    Box::leak(Box::new(if is_counter { site.counting() } else { site }))
}

/// Creates a span with one handle. Returns the span's number, or 0 if there is no space for it. All functions here
/// ignore the number 0. [`current`] returns `tag` along with the number.
#[inline]
pub fn begin(site: &'static Site, tag: u32) -> u32 {
    let place = match current_thread::hot() {
        Some(tree) => tree.spans.take_place(),
        None => open_spans::take(),
    };
    let Some((number, span)) = place else {
        current_thread::drop_call();
        return 0;
    };
    span.site.set(Some(site));
    span.tag.store(tag, Ordering::Relaxed);
    span.is_entered.store(0, Ordering::Relaxed);
    span.is_decided.store(0, Ordering::Relaxed);
    span.is_future.store(0, Ordering::Relaxed);
    span.first.store(UNKNOWN, Ordering::Relaxed);
    // SYNC POINT: stores the span's data before its handle.
    span.handles.store(1, Ordering::Release);
    number
}

/// Adds a handle to a span.
#[inline]
pub fn hold(number: u32) {
    if let Some(span) = open_spans::get(number) {
        span.handles.fetch_add(1, Ordering::Relaxed);
    }
}

/// Releases a handle of a span. Returns whether this was the last handle, in which case the span is closed.
#[inline]
pub fn release(number: u32) -> bool {
    let Some(span) = open_spans::get(number) else {
        return false;
    };
    // If there is only one handle, no other thread can be using the span. SYNC POINT: reads the handles before the
    // span's data.
    let is_only = span.handles.load(Ordering::Acquire) == 1;
    // Adding `u32::MAX` subtracts one.
    if !is_only && span.handles.fetch_add(u32::MAX, Ordering::AcqRel) != 1 {
        return false;
    }
    if span.is_future.load(Ordering::Relaxed) != 0 {
        end_call(span);
    }
    match current_thread::hot() {
        Some(tree) => tree.spans.give_place(number, span),
        None => open_spans::give(number),
    }
    true
}

/// Enters a span on the calling thread.
#[inline]
pub fn enter(number: u32) {
    let Some(span) = open_spans::get(number) else {
        return;
    };
    let Some(site) = span.site.get() else { return };
    // Two threads may enter the span at the same time, but only one of them is the first.
    let is_first = span.is_entered.swap(1, Ordering::AcqRel) == 0;
    if !is_first || site.is_future() {
        return enter_again(number, span, site, is_first);
    }
    let node = scope::enter(site).keep_open();
    let first = node.map_or(NOT_COUNTED, |node| node.known_beginning().unwrap_or(UNKNOWN));
    span.first.store(first, Ordering::Relaxed);
    note_open(number, node, None);
}

/// Exits a span on the calling thread. Does nothing if the thread has not entered it.
#[inline]
pub fn exit(number: u32) {
    let Some(tree) = current_thread::hot().filter(|_| number != 0) else {
        return;
    };
    let depth = tree.spans.depth();
    let Some(at) = depth.checked_sub(1) else { return };
    let Some(open) = tree.spans.get(at) else { return };
    if open.span.load(Ordering::Relaxed) != number {
        return exit_outer(tree, number);
    }
    tree.spans.set_depth(at);
    end(tree, open);
}

/// Returns the number and the tag of the innermost span that the thread has open.
pub fn current() -> Option<(u32, u32)> {
    let tree = current_thread::hot()?;
    let open = tree.spans.get(tree.spans.depth().checked_sub(1)?)?;
    let number = open.span.load(Ordering::Relaxed);
    Some((number, open_spans::get(number)?.tag.load(Ordering::Relaxed)))
}

/// Notes that a span is open in `node`. If `polling` is given, this entry of the span is a poll.
#[inline]
fn note_open(number: u32, node: Option<&'static Node>, polling: Option<Polling>) {
    let open = current_thread::hot().and_then(|tree| Some((tree, tree.spans.next()?)));
    let Some((tree, open)) = open else {
        drop(polling);
        return node.into_iter().for_each(scope::end);
    };
    open.node.set(node);
    open.span.store(number, Ordering::Relaxed);
    open.is_poll.store(polling.is_some().into(), Ordering::Relaxed);
    if let Some(polling) = polling {
        open.outer.store(polling.outer, Ordering::Relaxed);
        open.number.store(polling.number, Ordering::Relaxed);
        // The poll ends when the span is exited.
        std::mem::forget(polling);
    }
    tree.spans.set_depth(tree.spans.depth() + 1);
}

/// Ends the scope or the poll of an entry that was removed from the list of open spans.
#[inline]
fn end(tree: &'static Tree, open: &'static OpenSpan) {
    if open.is_poll.load(Ordering::Relaxed) != 0 {
        return end_poll(tree, open);
    }
    if let Some(node) = open.node.get() {
        scope::end(node);
    }
}

#[inline(never)]
fn end_poll(tree: &'static Tree, open: &'static OpenSpan) {
    let span = open_spans::get(open.span.load(Ordering::Relaxed));
    let id = span.map_or(0, |span| span.call.load(Ordering::Relaxed));
    tree.slots.poll(open.outer.load(Ordering::Relaxed));
    if let Some(slot) = in_flight::slot_of(id) {
        slot.set_polled(false);
    }
    if let Some(node) = open.node.get() {
        // Whether the call is over is not known until the span is closed.
        scope::end_poll(node, open.number.load(Ordering::Relaxed), &id, false);
    }
}

/// Exits a span that is not the innermost one. The spans inside it are ended and then entered again in its place.
#[cold]
#[inline(never)]
fn exit_outer(tree: &'static Tree, number: u32) {
    let depth = tree.spans.depth();
    let Some(at) = place_of(tree, number) else { return };
    let span_at = |at| Some(tree.spans.get(at)?.span.load(Ordering::Relaxed));
    for inner in (at..depth).rev() {
        if let Some(open) = tree.spans.get(inner) {
            end(tree, open);
        }
    }
    let mut free = at;
    for inner in at + 1..depth {
        tree.spans.set_depth(depth);
        let Some(number) = span_at(inner) else { break };
        // The span's entry moves to an earlier slot in the list, which is free now.
        tree.spans.set_depth(free);
        go_on(number);
        free = tree.spans.depth();
    }
    tree.spans.set_depth(free);
}

/// Re-enters a span that ended only because a span around it was exited.
fn go_on(number: u32) {
    let Some(span) = open_spans::get(number) else {
        return;
    };
    let Some(site) = span.site.get() else { return };
    if span.is_future.load(Ordering::Acquire) != 0 {
        enter_poll(number, span, site, false);
    } else {
        note_open(number, scope::enter_counting(site, 0).keep_open(), None);
    }
}

/// Enters a span that was entered before, or whose site is known to be a future's site.
#[inline(never)]
fn enter_again(number: u32, span: &'static Span, site: &'static Site, is_first: bool) {
    // SYNC POINT: reads `is_future` before the span's call.
    if span.is_future.load(Ordering::Acquire) != 0 && !is_first {
        return enter_poll(number, span, site, false);
    }
    // If the span is already open on this thread, this is not another poll. Only one thread may decide what kind of
    // call the span is.
    let is_open = || current_thread::hot().is_some_and(|tree| place_of(tree, number).is_some());
    let may_decide = (is_first || !is_open()) && span.is_decided.swap(1, Ordering::AcqRel) == 0;
    if !may_decide {
        let node = scope::enter_counting(site, is_first.into()).keep_open();
        return note_open(number, node, None);
    }
    if !is_first {
        site.note_late_future();
    }
    enter_poll(number, span, site, is_first);
}

/// Returns the index of the innermost entry of a span on the calling thread.
fn place_of(tree: &'static Tree, number: u32) -> Option<u32> {
    let is_it = |&at: &u32| {
        let open = tree.spans.get(at);
        open.is_some_and(|open| open.span.load(Ordering::Relaxed) == number)
    };
    (0..tree.spans.depth()).rev().find(is_it)
}

/// Begins the call of a future for a span whose first entry was counted as a call of a function.
fn begin_late(span: &'static Span, site: &'static Site) -> Option<Call> {
    let tree = current_thread::hot()?;
    let began = match span.first.load(Ordering::Relaxed) {
        NOT_COUNTED => return None,
        UNKNOWN => config::now(),
        first => first,
    };
    let id = tree.begin_call(site, began)?;
    Some(Call { began, id })
}

/// Enters a span whose call belongs to a future. The call has begun earlier, or begins with this poll.
fn enter_poll(number: u32, span: &'static Span, site: &'static Site, is_first: bool) {
    // SYNC POINT: reads `is_future` before the span's call.
    let has_call = span.is_future.load(Ordering::Acquire) != 0;
    let mut call = if has_call { call_of(span) } else { Call::NEW };
    let node = scope::enter_poll(site, is_first, &call.id, None).keep_open();
    let is_late = !has_call && !is_first;
    if is_late {
        call = begin_late(span, site).unwrap_or(Call::OVER);
    }
    if let Some((tree, node)) = current_thread::hot().zip(node) {
        tree.leave_out_calls(node, is_first, is_late && call.is_in_flight());
    }
    let polling = call.begin_poll(site, node, is_first, None);
    if !has_call {
        span.began.store(call.began, Ordering::Relaxed);
        span.call.store(call.id, Ordering::Relaxed);
        // SYNC POINT: stores the span's call before `is_future`.
        span.is_future.store(1, Ordering::Release);
    }
    if let Some(polling) = polling.as_ref().filter(|_| is_late && node.is_some()) {
        // The first entry of the span was not counted as a poll, so it is counted now.
        polling.tree.measure([(Quantity::Polls, 1)], config::exact_path);
    }
    note_open(number, node, polling);
}

fn call_of(span: &Span) -> Call {
    Call {
        began: span.began.load(Ordering::Relaxed),
        id: span.call.load(Ordering::Relaxed),
    }
}

/// Ends the call of a span that is closed. It is not known whether its future completed or was dropped.
#[inline(never)]
fn end_call(span: &'static Span) {
    let mut call = call_of(span);
    let Some(site) = span.site.get().filter(|_| call.is_in_flight()) else {
        return;
    };
    let mut node = None;
    if site.is(SiteState::Watched) || current_thread::hot().is_none() {
        // A watched call can end only in a poll, so a poll is entered here. The same is done if this is the thread's
        // first event.
        node = scope::enter_poll(site, false, &call.id, None).keep_open();
        if let Some(node) = node {
            node.forget_beginning();
            scope::end_poll(node, 0, &call.id, true);
        }
    }
    call.end(site, node, false);
}
