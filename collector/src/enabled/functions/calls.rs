//! Functions that report their own calls: the compiler has inserted two calls into each (`-finstrument-functions`).
//!
//! These are ordinary calls in the body of the function. They pass the function's address and its return address, but
//! not where on the stack the return address is stored. That stack address, called the *place* of the call, tells open
//! functions apart and reveals functions that ended without an event (`record/frames`). It is usually as far from the
//! stack pointer as in the function's previous call. If the return address is not found there, the frame pointer or the
//! unwinder is used to find it. Searching the stack is the last resort, because this may find a stale copy of the
//! return address, which an earlier call has left in a part of the frame that the function has not written yet.
//!
//! Inlined functions report their calls as well. They have the place and the return address of the function into which
//! they were inlined. So if a function begins at the place of an open function, either it was inlined into that
//! function, or that function has ended without an event, for instance by `longjmp`. The code address from which the
//! beginning is reported tells the two cases apart.

use tickscope_format::snapshot;

use crate::enabled::functions::unseen::{close_ended, close_inner, counting_tree};
use crate::enabled::functions::usual;
use crate::enabled::platform::modules::Loaded;
use crate::enabled::platform::os;
use crate::enabled::platform::unwinder;
use crate::enabled::record::called_functions::{self, Function};
use crate::enabled::record::current_thread;
use crate::enabled::record::frames::Frame;
use crate::enabled::record::site::SiteState;
use crate::enabled::record::tree::Tree;
use crate::enabled::scope;

/// How far above the stack pointer to search for a return address, in bytes.
const LOOK: u64 = 1 << 20;

/// Describes the function at an address. Called when the function is shown for the first time.
pub type Describe = fn(u64) -> snapshot::Site;

/// Registers and addresses at the point where a function reports its beginning or end.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// The address of the function.
    pub function: u64,
    /// Return address of the function.
    pub caller: u64,
    /// The stack pointer in the function.
    pub stack: u64,
    /// The frame pointer, if the function has one; otherwise any value.
    pub frame: u64,
    /// Return address of the inserted call that reports this event.
    pub from: u64,
}

impl Event {
    /// Returns whether the function reports its end with a tail call, which returns directly to the function's caller.
    #[inline(always)]
    fn is_in_place_of_return(&self) -> bool {
        self.from == self.caller
    }
}

/// Handles the beginning of a function.
#[inline(always)]
pub fn begin(event: &Event, describe: Describe) {
    if !begin_usually(event) {
        begin_rarely(*event, describe);
    }
}

/// Handles the end of a function.
#[inline(always)]
pub fn end(event: &Event) {
    let mut event = *event;
    if event.is_in_place_of_return() {
        // Unlike a call, a jump pushes no return address. So the stack pointer was 8 bytes lower than assumed, and
        // pointed to the function's return address.
        event.stack -= 8;
    }
    let event = &event;
    if !end_usually(event) {
        end_rarely(*event);
    }
}

/// A loaded executable or library.
#[derive(Debug)]
pub struct File(Loaded);

impl File {
    /// Returns the file that contains an address.
    pub fn holding(address: u64) -> Option<Self> {
        Loaded::holding(address as usize).map(Self)
    }

    /// Returns a path under which this process can open the file.
    pub fn path(&self) -> &std::path::Path {
        self.0.file()
    }

    /// Returns the difference between loaded addresses and addresses in the file.
    pub fn base(&self) -> u64 {
        self.0.base as u64
    }

    /// Reads the address and the symbol name of each function in the file, sorted by address.
    pub fn functions(&self) -> Vec<(u64, String)> {
        self.0.functions()
    }
}

#[inline(always)]
fn begin_usually(event: &Event) -> bool {
    let Some(function) = called_functions::find(event.function) else {
        return false;
    };
    let site = &function.site;
    if !site.is(SiteState::Enabled) {
        return site.is(SiteState::Disabled);
    }
    let Some(tree) = current_thread::hot() else {
        // An excluded thread ignores this event. A new thread has to be registered first.
        return current_thread::is_decided();
    };
    let Some(top) = tree.frames.top() else {
        return false;
    };
    let place = match usual_place(tree, function, event) {
        Some(place) if top.place() > place => place,
        _ => match inlined_place(tree, event) {
            Some(place) => place,
            None => return false,
        },
    };
    usual::begin(
        tree,
        site,
        (place, 1),
        |_| true,
        |frame, node| {
            set_call(frame, event);
            tree.frames.open(frame, place, node);
        },
    )
}

#[inline(always)]
fn set_call(frame: &Frame, event: &Event) {
    frame
        .call
        .set(event.function, event.caller, event.from, event.stack);
}

#[inline(always)]
fn end_usually(event: &Event) -> bool {
    let Some(tree) = current_thread::hot() else {
        return true;
    };
    let Some(top) = tree.frames.top() else { return true };
    let is_there = if event.is_in_place_of_return() {
        top.place() == event.stack
    } else {
        top.call.stack() == event.stack
    };
    let is_it = is_there && top.call.function() == event.function && top.call.caller() == event.caller;
    match top.node().filter(|node| is_it && tree.current.is(node)) {
        Some(node) => usual::end(tree, top, node, 0),
        None => false,
    }
}

/// Returns the word at an address on the thread's own stack.
#[inline(always)]
fn word(tree: &Tree, address: u64) -> Option<u64> {
    if tree.frames.is_elsewhere(address) || !address.is_multiple_of(8) {
        return None;
    }
    let place = std::ptr::with_exposed_provenance::<u64>(address as usize);
    // SAFETY: the word is on this thread's stack, between the stack pointer and the stack's end, so it is mapped and
    // aligned. No other code of this thread runs meanwhile, and every bit pattern is a valid number.
    Some(unsafe { place.read_volatile() })
}

/// Returns the place of the return address, if it is at the same distance from the stack pointer as in the function's
/// previous call.
#[inline(always)]
fn usual_place(tree: &Tree, function: &Function, event: &Event) -> Option<u64> {
    let place = event.stack.wrapping_add(function.to_return());
    (word(tree, place) == Some(event.caller)).then_some(place)
}

/// Returns the place of the innermost open function, if the function that reports the event was inlined into it.
#[inline(always)]
fn inlined_place(tree: &Tree, event: &Event) -> Option<u64> {
    let top = tree.frames.top()?;
    let place = top.place();
    if place < event.stack || top.call.caller() != event.caller || word(tree, place) != Some(event.caller) {
        return None;
    }
    let mut outer = top;
    loop {
        if outer.call.from() == event.from {
            // The same instruction has already reported a beginning, and no end has been reported since.
            return None;
        }
        match outer.below().filter(|below| below.place() == place) {
            Some(below) => outer = below,
            None => break,
        }
    }
    is_inlined(outer.call.function(), event.function, event.from).then_some(place)
}

/// Returns whether `function`, which reports its beginning from the code address `from`, was inlined into `into`. A
/// function that was not inlined reports from an address after its own start, and `into` does not start in between.
#[inline(always)]
fn is_inlined(into: u64, function: u64, from: u64) -> bool {
    let is_its_own = function <= from && !(function < into && into <= from);
    into == function || !is_its_own
}

/// Finds the return address on the stack, with the frame pointer, with the unwinder, or by searching the stack.
fn find_place(tree: &Tree, event: &Event) -> Option<u64> {
    let is_return = |place: &u64| *place >= event.stack && word(tree, *place) == Some(event.caller);
    let by_frame = Some(event.frame.wrapping_add(8)).filter(is_return);
    let by_table = || unwinder::place_of_return(event.from, event.caller).filter(is_return);
    let until = tree.frames.stack_end().min(event.stack.saturating_add(LOOK));
    by_frame
        .or_else(by_table)
        .or_else(|| (event.stack..until).step_by(8).find(is_return))
}

/// Handles the beginnings for which [`begin_usually`] returns false.
#[cold]
#[inline(never)]
fn begin_rarely(event: Event, describe: Describe) {
    os::keeping_errno(|| {
        if current_thread::is_own_work() {
            return;
        }
        let Some(function) = called_functions::meet(event.function, describe) else {
            return current_thread::drop_call();
        };
        let Some(tree) = counting_tree(&function.site, event.stack) else {
            let is_elsewhere =
                |tree: &&Tree| tree.frames.top().is_some() && tree.frames.is_elsewhere(event.stack);
            if current_thread::hot().filter(is_elsewhere).is_some() {
                // The event is on the stack of a coroutine or of a signal handler.
                current_thread::drop_call();
            }
            return;
        };
        let usual = usual_place(tree, function, &event);
        let is_deeper = |place: &u64| tree.frames.top().is_some_and(|top| top.place() > *place);
        let inlined = match usual.filter(is_deeper) {
            Some(_) => None,
            None => inlined_place(tree, &event),
        };
        let place = match inlined.or(usual) {
            Some(place) => place,
            None => {
                let place = find_place(tree, &event).unwrap_or(event.stack);
                function
                    .to_return
                    .store(place - event.stack, std::sync::atomic::Ordering::Relaxed);
                place
            }
        };
        close_ended(
            tree,
            place,
            inlined.is_none() && !begins_again(tree, &event, place),
        );
        // The scope is closed when the function ends, even if no event reports the end.
        if let Some(node) = scope::enter(&function.site).keep_open()
            && tree.frames.open_next(place, node)
            && let Some(top) = tree.frames.top()
        {
            set_call(top, &event);
        }
    });
}

/// Checks whether an inlined function begins again, at the same code address, without having reported an end. If so,
/// closes the function and the calls inside it, and returns true. The function into which it was inlined stays open.
fn begins_again(tree: &'static Tree, event: &Event, place: u64) -> bool {
    let mut frame = tree.frames.top();
    let mut count = 0;
    while let Some(open) = frame.filter(|open| open.place() == place && open.call.caller() == event.caller) {
        count += 1;
        let below = open.below().filter(|below| below.place() == place);
        if open.call.from() == event.from {
            if below.is_some() {
                close_inner(tree, count);
            }
            return below.is_some();
        }
        frame = below;
    }
    false
}

/// Handles the ends for which [`end_usually`] returns false.
#[cold]
#[inline(never)]
fn end_rarely(event: Event) {
    os::keeping_errno(|| {
        let Some(tree) = current_thread::hot() else { return };
        if tree.frames.is_elsewhere(event.stack) {
            return;
        }
        close_ended(tree, event.stack, false);
        let function = called_functions::find(event.function);
        let own_place = function.and_then(|function| usual_place(tree, function, &event));
        let is_it = |open: &Frame| {
            let call = &open.call;
            (call.function(), call.caller()) == (event.function, event.caller)
                && open.place() >= event.stack
                && (call.stack() == event.stack || own_place.is_none_or(|place| place == open.place()))
        };
        let mut inner = 0;
        let mut frame = tree.frames.top();
        // If no open function matches, this function began while it was not counted.
        while let Some(open) = frame.filter(|open| !is_it(open)) {
            inner += 1;
            frame = open.below();
        }
        let Some(open) = frame else { return };
        let Some(node) = open.node() else { return };
        close_inner(tree, inner);
        tree.frames.close(open);
        scope::end(node);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inlined_function_is_told_from_one_that_is_called() {
        // Start addresses of two functions of 16 bytes each.
        let (low, high) = (0x1000, 0x1010);
        assert!(!is_inlined(low, high, 0x1014));
        assert!(!is_inlined(high, low, 0x1004));
        assert!(is_inlined(low, high, 0x1004));
        assert!(is_inlined(high, low, 0x1014));
        // In the first case, the function is inlined into itself. In the second case, the cold code of the outer
        // function was moved elsewhere.
        assert!(is_inlined(low, low, 0x1008) && is_inlined(low, high, 0x800));
    }
}
