//! Hooks at the entry and the end of a function that polls an async body, and where such a future is dropped.
//!
//! The compiler turns the body of an `async fn` or an async block into a function that receives the address of the
//! future. The function table gives the offset of the future's state byte, which records how far the body has run.
//! Before a poll, this byte tells whether a call begins; after the poll, it tells whether the call is over. So each
//! future counts as one call, just like a [`Profiled`](crate::enabled::future::Profiled) future, which the source marks
//! explicitly.
//!
//! If a future is dropped by inlined code, which has no sled, no event reports the end of its call, and the call has
//! *vanished*. The collector notices this when another future of the same kind is suspended or dropped at the same
//! address, or by a check (`capture/lost_futures`). A call also vanishes if some polls of its future were inlined into
//! other functions, unless a sled reports the drop. When a drop is reported, the state byte tells whether the body had
//! returned.
//!
//! These hooks may call any function, so they take longer than the hooks of other functions. But a poll itself
//! takes much longer still. In a server, the program and the kernel displace much of their code from the nearest cache
//! between two polls. So they share code with the hooks of other functions, and unusual cases are in separate functions.

use tickscope_format::snapshot::Quantity;

use crate::enabled::call::Call;
use crate::enabled::functions::hooks;
use crate::enabled::functions::unseen::{close_ended, counting_tree, end_polling, is_off_by_now};
use crate::enabled::platform::os::{self, ByteRead};
use crate::enabled::platform::sync::add;
use crate::enabled::record::calls_by_future::{self, Future, Held, SUSPENDED};
use crate::enabled::record::current_thread;
use crate::enabled::record::frames::Poll;
use crate::enabled::record::function_sites::{self, PolledBy};
use crate::enabled::record::node::Node;
use crate::enabled::record::owner::Owner;
use crate::enabled::record::site::Site;
use crate::enabled::record::tree::Tree;
use crate::enabled::runtime::config;
use crate::enabled::scope;

/// State of a body that has not been polled yet.
const UNRESUMED: u8 = 0;

const RETURNED: u8 = 1;

/// Handles the beginning of a poll. `first` and `second` are the first two arguments of the polling function.
pub(super) extern "C" fn begin(number: u32, place: u64, _: u64, _: u64, first: u64, second: u64) {
    os::keeping_errno(|| {
        let Some((site, polled)) = function_sites::polling(number) else {
            return;
        };
        let future = Future {
            address: if polled.of.argument == 0 { first } else { second },
            function: polled.first,
        };
        // SAFETY: the function was called with this future, which it is about to read as well.
        let state = unsafe { state_of(future, polled) };
        // If the table has a call for a future that has not been polled yet, that call belongs to an earlier future.
        let may_be_held = state != UNRESUMED;
        if may_be_held {
            calls_by_future::TABLE.prefetch(future);
        }
        let Some(tree) = counting_tree(site, place) else {
            return;
        };
        close_ended(tree, place, true);
        if tree.current.get().is_none() {
            // The thread is in the middle of an event, so this code runs in a signal handler.
            add(&tree.dropped, 1);
            return;
        }
        let held = may_be_held.then(|| calls_by_future::TABLE.take(future)).flatten();
        let row = held.map_or(0, |held| held.row);
        let mut call = held.map_or_else(|| unknown_call(state), |held| held_call(held, state));
        let is_first = call.is_new();
        let Some((node, has_frame)) = open(tree, (number, site), place, &call) else {
            if !may_be_held {
                end_earlier(future);
            }
            hold(future, call, row, state);
            return;
        };
        let polling = call.begin_poll(site, Some(node), is_first, None);
        if polling.is_none() {
            // No event reported the beginning of this call, so `begin_poll` has not counted the poll.
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
        if has_frame && tree.frames.open_poll(&poll) {
            std::mem::forget(polling);
        } else {
            // There is no space to record the poll, so its end will not be recognized.
            drop(polling);
            hold(future, call, row_of(tree, node), state);
        }
        if is_off_by_now(site) {
            close_ended(tree, place, true);
        }
    });
}

/// Handles the end of a poll, by a return or a tail call.
pub(super) extern "C" fn end(number: u32, place: u64) {
    os::keeping_errno(|| {
        let Some((site, polled)) = function_sites::polling(number) else {
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
                // Another function is open at this stack address, so that function has ended without an event.
                close_ended(tree, place, true);
            }
            return;
        };
        let (Some(node), Some(poll)) = (top.node(), tree.frames.take_poll_at(place)) else {
            return;
        };
        let state = match site.was_ever_off() {
            // The function's entry may not have been reported, so the open poll may be an earlier one, whose future no longer
            // exists.
            true => match os::read_byte(polled.state_place(poll.future())) {
                ByteRead::Is(state) => state,
                ByteRead::IsGone | ByteRead::Refused => u8::MAX,
            },
            // SAFETY: the future is borrowed until the function returns.
            false => unsafe { state_of(poll.future(), polled) },
        };
        if state >= SUSPENDED {
            calls_by_future::TABLE.prefetch(poll.future());
        }
        let mut call = end_polling(tree, &poll);
        // In a watched call, the end of a poll is noted as well, and exact mode keeps its guess of the next child.
        if !(tree.may_skip_clock() && hooks::exit(number, place, poll.number)) {
            tree.frames.close(top);
            scope::end_poll(node, poll.number, &call.id, state < SUSPENDED);
        }
        if state >= SUSPENDED {
            hold(poll.future(), call, row_of(tree, node), state);
        } else {
            call.end(site, Some(node), state != RETURNED);
        }
    });
}

/// Handles the drop of a future. `first` is the first argument of the function that drops it.
pub(super) extern "C" fn dropped(number: u32, place: u64, _: u64, _: u64, first: u64) {
    os::keeping_errno(|| {
        let Some((site, polled)) = function_sites::polling(number) else {
            return;
        };
        let future = Future {
            address: first,
            function: polled.first,
        };
        let tree = current_thread::hot().filter(|tree| tree.current.get().is_some());
        let here = tree.filter(|tree| !tree.frames.is_elsewhere(place));
        // SAFETY: the function was called with this future, which it is about to drop.
        let state = unsafe { state_of(future, polled) };
        // Nobody polls a future that is dropped, so if a poll of it is open, that poll has panicked.
        let panicked = || here.and_then(|tree| tree.frames.place_of(future));
        let is_earlier = |held: &Held| {
            // The slot may still have a poll from long ago, of a call that began before the one in the table.
            let is_later = |poll: Poll| poll.future() == future && poll.began > held.began;
            let ended = here.and_then(|tree| tree.frames.last_poll());
            state == UNRESUMED || ended.is_some_and(is_later) || panicked().is_some()
        };
        let may_be_held = calls_by_future::TABLE.may_have(future);
        let held = match may_be_held.then(|| calls_by_future::TABLE.take(future)).flatten() {
            Some(held) if is_earlier(&held) => {
                calls_by_future::end_unseen(held);
                None
            }
            held => held,
        };
        if let Some(tree) = here
            && let Some(place) = held.map(|_| place).or_else(panicked)
        {
            close_ended(tree, place, true);
        }
        if let Some(held) = held {
            let node = tree.and_then(|tree| held.node(tree, future));
            // The body may have returned in a poll that no event reported.
            held.call().end_at(None, site, node, state != RETURNED);
        }
    });
}

/// Returns the call of a future in this state that is not in the table.
fn unknown_call(state: u8) -> Call {
    if state == UNRESUMED { Call::NEW } else { Call::OVER }
}

/// Returns the call of a future in this state for which the table held a call. That call is over if the future is not
/// suspended.
fn held_call(held: Held, state: u8) -> Call {
    if state >= SUSPENDED {
        return held.call();
    }
    calls_by_future::end_unseen(held);
    unknown_call(state)
}

/// Ends the call of an earlier future, if the table has one. Later polls of this future, whose first poll does not count, would
/// find that call.
#[cold]
#[inline(never)]
fn end_earlier(future: Future) {
    if let Some(earlier) = calls_by_future::TABLE.take(future) {
        calls_by_future::end_unseen(earlier);
    }
}

/// Opens the scope and the frame of a poll. The scope is closed when the function ends, even if no event reports the end.
/// Returns the node, and whether there was memory for the frame. Returns `None` if the poll does not count.
#[inline(always)]
fn open(
    tree: &'static Tree,
    (number, site): (u32, &'static Site),
    place: u64,
    call: &Call,
) -> Option<(&'static Node, bool)> {
    let is_done = hooks::enter(number, place, call.is_new().into());
    // Both results are possible whether or not the scope is open now. No other open function has this place.
    if let Some(opened) = tree.frames.top().filter(|top| top.place() == place) {
        return Some((opened.node()?, true));
    }
    if is_done {
        return None;
    }
    open_rarely(tree, site, place, call)
}

/// Handles the polls that [`hooks::enter`] has neither opened nor ignored.
#[cold]
#[inline(never)]
fn open_rarely(
    tree: &'static Tree,
    site: &'static Site,
    place: u64,
    call: &Call,
) -> Option<(&'static Node, bool)> {
    let node = scope::enter_poll(site, call.is_new(), &call.id, None).keep_open()?;
    Some((node, tree.frames.open_next(place, node)))
}

/// Reads the state byte of a body.
///
/// # Safety
/// The function that polls or drops the future must have been called with this future, and must not have returned.
unsafe fn state_of(future: Future, polled: PolledBy) -> u8 {
    let place = polled.state_place(future);
    // SAFETY: the caller guarantees that the future exists, so its state byte is readable. Only this thread may change
    // it.
    unsafe { std::ptr::with_exposed_provenance::<u8>(place as usize).read_volatile() }
}

/// Returns the row of a node, as [`Held`] has it.
fn row_of(tree: &'static Tree, node: &'static Node) -> u64 {
    Owner::node(tree, node.index()).number()
}

/// Keeps a call until the next poll of its future. `row` is the row of its last poll.
fn hold(future: Future, call: Call, row: u64, state: u8) {
    if !call.is_in_flight() {
        return;
    }
    let held = Held {
        began: call.began,
        call: call.id,
        row,
        state,
    };
    calls_by_future::keep(future, held);
}

impl Held {
    fn call(self) -> Call {
        Call {
            began: self.began,
            id: self.call,
        }
    }

    /// Returns the node of the call's last poll, if this thread made that poll.
    fn node(self, tree: &'static Tree, future: Future) -> Option<&'static Node> {
        let owner = Owner::numbered(self.row).filter(|owner| Owner::of_tree(tree).contains(owner))?;
        let node = tree.nodes.get(owner.index())?;
        let polling = function_sites::polling(function_sites::number_of(node.site.get()?)?);
        polling.filter(|(_, polled)| polled.first == future.function)?;
        Some(node)
    }
}

#[cfg(test)]
mod tests;
