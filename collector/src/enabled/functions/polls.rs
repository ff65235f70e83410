//! What happens at the entry and the end of a function that polls an async body, and where such a future is dropped.
//!
//! The compiler makes of the body of an `async fn` or an async block a function that is given the address of the future, and
//! the table says where in the future a byte tells how far the body has come. Before a poll it tells whether a call begins, and
//! after it whether the call is over: so each future counts one call, as [`Profiled`](crate::enabled::future::Profiled) does
//! for futures that the source marks.
//!
//! A future may be dropped by code that was inlined and has no sled. The call is over then, and it is noticed later: when a
//! future of the same kind begins at its address, when the byte has another value than the last poll left, or when the call that
//! awaited it has been over for some time. It counts as cancelled, and as one whose end was not seen. The same happens where
//! some polls of a future are parts of other functions, unless its drop is seen: the byte says then whether the body has returned.
//!
//! These events may do anything, so they take longer than those of other functions; but a poll is long.

use std::sync::atomic::AtomicU64;

use tickscope_format::snapshot::Quantity;

use crate::enabled::call::Call;
use crate::enabled::functions::unseen::{close_ended, counting_tree, end_polling, is_off_by_now};
use crate::enabled::platform::os;
use crate::enabled::platform::sync::{Ordering, add};
use crate::enabled::record::calls_by_future::{self, Future, Held, Suspicion};
use crate::enabled::record::current_thread;
use crate::enabled::record::frames::Poll;
use crate::enabled::record::function_sites::{self, PolledBy};
use crate::enabled::record::in_flight;
use crate::enabled::record::node::Node;
use crate::enabled::record::owner::Owner;
use crate::enabled::record::site::Site;
use crate::enabled::record::tree::Tree;
use crate::enabled::runtime::config;
use crate::enabled::scope;

/// The state of a body that was not polled yet.
const UNRESUMED: u8 = 0;

/// The state of a body that has returned.
const RETURNED: u8 = 1;

/// The first state of a body that waits.
const SUSPENDED: u8 = 3;

/// How long a call must seem to be over, and how long until the next look at such calls.
const SUSPECTED_SECONDS: f64 = 1.0;
const LOOK_SECONDS: f64 = 0.1;

/// The tick of the next look.
static NEXT_LOOK: AtomicU64 = AtomicU64::new(0);

/// A poll begins. The function's first two arguments are the last two here.
pub(super) extern "C" fn begin(number: u32, place: u64, _: u64, _: u64, first: u64, second: u64) {
    os::keeping_errno(|| {
        let Some((site, polled)) = known(number) else {
            return;
        };
        let Some(tree) = counting_tree(site, place) else {
            return;
        };
        close_ended(tree, place, true);
        if tree.current.get().is_none() {
            // An event of this thread is in progress: this is a signal handler.
            add(&tree.dropped, 1);
            return;
        }
        let future = Future {
            address: if polled.of.argument == 0 { first } else { second },
            function: polled.first,
        };
        // SAFETY: the function was called with this future, which it is about to read as well.
        let state = unsafe { state_of(future, polled) };
        let held = calls_by_future::take(future);
        let mut call = match held {
            Some(held) if state >= SUSPENDED => held.call(),
            held => {
                if let Some(held) = held {
                    end_vanished(tree, future, held);
                }
                if state == UNRESUMED { Call::NEW } else { Call::OVER }
            }
        };
        let is_first = call.is_new();
        let scope = scope::enter_poll(site, is_first, &call.id, None);
        let Some(node) = scope.node() else {
            hold(tree, future, call, None, state);
            return;
        };
        // The function's end closes it, whichever way it ends.
        std::mem::forget(scope);
        let polling = call.begin_poll(site, Some(node), is_first, None);
        if polling.is_none() {
            // A poll of a call whose beginning was not seen.
            tree.measure([(Quantity::Polls, 1)], config::exact_path);
        }
        let poll = Poll {
            place,
            node,
            address: future.address,
            function: future.function,
            began: if call.is_in_flight() { call.began } else { 0 },
            call: call.id,
            outer: polling
                .as_ref()
                .map_or_else(|| tree.slots.polled(), |polling| polling.outer),
            number: polling.as_ref().map_or(0, |polling| polling.number),
        };
        if tree.frames.open_next(place, node) && tree.frames.open_poll(&poll) {
            std::mem::forget(polling);
        } else {
            // Its end will not be recognized.
            drop(polling);
            hold(tree, future, call, Some(node), state);
        }
        if is_off_by_now(site) {
            close_ended(tree, place, true);
        }
    });
}

/// A poll ends, by a return or a tail call.
pub(super) extern "C" fn end(number: u32, place: u64) {
    os::keeping_errno(|| {
        let Some((site, polled)) = known(number) else {
            return;
        };
        let Some(tree) = current_thread::hot() else { return };
        if tree.frames.is_elsewhere(place) {
            return;
        }
        close_ended(tree, place, false);
        let top = tree.frames.top().filter(|top| top.place() == place);
        let is_own = |node: &Node| node.site.is(site) || node.is_over_the_limit();
        let Some(top) = top.filter(|top| top.node().is_some_and(is_own)) else {
            if top.is_some() {
                // Another function stood there, whose end was not seen.
                close_ended(tree, place, true);
            }
            return;
        };
        let (Some(node), Some(poll)) = (top.node(), tree.frames.take_poll_at(place)) else {
            return;
        };
        // SAFETY: the future is borrowed until the function returns.
        let state = unsafe { state_of(poll.future(), polled) };
        tree.frames.close(top);
        let mut call = end_polling(tree, &poll);
        scope::end_poll(node, poll.number, &call.id, state < SUSPENDED);
        if state >= SUSPENDED {
            hold(tree, poll.future(), call, Some(node), state);
        } else {
            call.end(site, Some(node), state != RETURNED);
        }
        end_suspected(tree);
    });
}

/// A future is dropped. The function's first argument is the last one here.
pub(super) extern "C" fn dropped(number: u32, place: u64, _: u64, _: u64, first: u64) {
    os::keeping_errno(|| {
        let Some((site, polled)) = known(number) else {
            return;
        };
        let future = Future {
            address: first,
            function: polled.first,
        };
        let Some(held) = calls_by_future::take(future) else {
            return;
        };
        let tree = current_thread::hot().filter(|tree| tree.current.get().is_some());
        if let Some(tree) = tree
            && !tree.frames.is_elsewhere(place)
        {
            close_ended(tree, place, true);
        }
        let node = tree.and_then(|tree| held.node(tree, future));
        // SAFETY: the function was called with this future, which it is about to drop.
        let state = unsafe { state_of(future, polled) };
        // The body may have returned in a poll that was not seen.
        held.call().end_at(None, site, node, state != RETURNED);
    });
}

fn known(number: u32) -> Option<(&'static Site, PolledBy)> {
    Some((function_sites::get(number)?, function_sites::polled_by(number)?))
}

/// Where a future's byte is that tells how far its body has come.
fn state_place(future: Future, polled: PolledBy) -> u64 {
    future.address.wrapping_add(polled.of.state_offset.into())
}

/// Reads how far a body has come.
///
/// # Safety
/// The function must have been called with this future and not have returned.
unsafe fn state_of(future: Future, polled: PolledBy) -> u8 {
    let place = state_place(future, polled);
    // SAFETY: the future is there, as the caller promises, and its state with it. Only this thread may change it.
    unsafe { std::ptr::with_exposed_provenance::<u8>(place as usize).read_volatile() }
}

/// Keeps a call until the next poll of its future.
fn hold(tree: &'static Tree, future: Future, mut call: Call, node: Option<&'static Node>, state: u8) {
    if !call.is_in_flight() {
        return;
    }
    let held = Held {
        began: call.began,
        call: call.id,
        row: node.map_or(0, |node| Owner::node(tree, node.index()).number()),
        state,
    };
    if !calls_by_future::put(future, held)
        && let Some(site) = function_sites::get(future.function)
    {
        add(&tree.frames.vanished, 1);
        call.end_at(None, site, node, true);
    }
}

/// Ends a call that was over before, which was not seen.
fn end_vanished(tree: &'static Tree, future: Future, held: Held) {
    if let Some(site) = function_sites::get(future.function) {
        add(&tree.frames.vanished, 1);
        held.call().end_at(None, site, held.node(tree, future), true);
    }
}

/// Looks for calls that must be over, from time to time.
fn end_suspected(tree: &'static Tree) {
    let now = config::now();
    let second = config::ticks_per_second();
    let due = NEXT_LOOK.load(Ordering::Relaxed);
    let next = now.saturating_add((second * LOOK_SECONDS) as u64);
    let is_due = now >= due || due > next;
    if !is_due
        || NEXT_LOOK
            .compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed)
            .is_err()
    {
        return;
    }
    let suspicion = |future: Future, held: Held| {
        let polled = function_sites::polled_by(future.function);
        let place = polled.map_or(0, |polled| state_place(future, polled));
        let site = function_sites::get(future.function);
        if held.state >= SUSPENDED && os::read_byte(place) != Some(held.state) {
            // No poll that is seen can be in progress: it would have taken the call out.
            Suspicion::Certain
        } else if in_flight::is_left_behind(held.call) || site.is_some_and(Site::is_ruled_off) {
            Suspicion::Some
        } else {
            Suspicion::None
        }
    };
    let long = (second * SUSPECTED_SECONDS) as u64;
    let end = |future, held| end_vanished(tree, future, held);
    calls_by_future::take_suspected(now, long, suspicion, end);
}

impl Held {
    fn call(self) -> Call {
        Call {
            began: self.began,
            id: self.call,
        }
    }

    /// The node of its last poll, if that was on this thread.
    fn node(self, tree: &'static Tree, future: Future) -> Option<&'static Node> {
        let owner = Owner::numbered(self.row).filter(|owner| Owner::of_tree(tree).contains(owner))?;
        let node = tree.nodes.get(owner.index())?;
        let polled = function_sites::polled_by(function_sites::number_of(node.site.get()?)?);
        polled.filter(|polled| polled.first == future.function)?;
        Some(node)
    }
}
