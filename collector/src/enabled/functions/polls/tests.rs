//! Polls and drops random futures, and compares how their calls ended with a model. No bodies are compiled: the test sets
//! the states itself, and reports each poll with an address on its own stack.

use std::sync::atomic::{AtomicU8, Ordering};

use proptest::prelude::*;

use super::*;
use crate::enabled::functions::hooks::tests::{is_alone, on_new_thread};
use crate::enabled::platform::threads;
use crate::enabled::record::calls_by_future::{Suspicion, TABLE};
use crate::enabled::record::function_sites::{POLLS, get, set_for_tests};
use crate::enabled::record::site_table;

/// Number of places where futures may be. Futures at odd places report each drop, but not each poll. Those at even places
/// report each poll, but not each drop.
const PLACES: usize = 4;

const PANICKED: u8 = 2;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Polls the future at place `.0`, which makes one if there is none. Afterwards, its state is `.1`. At an odd place, `.2`
    /// tells whether the poll is reported; at an even one, whether a body that has returned is dropped at once and reports
    /// this.
    Poll(usize, u8, bool),
    /// Drops the future at place `.0`. If there is none, drops one that has not been polled. `.1` tells whether the drop is
    /// reported.
    Drop(usize, bool),
}

fn step() -> impl Strategy<Value = Step> {
    let state =
        prop_oneof![3 => Just(SUSPENDED), 1 => Just(SUSPENDED + 1), 3 => Just(RETURNED), 1 => Just(PANICKED)];
    let seen = || prop::bool::weighted(0.7);
    prop_oneof![
        3 => (0..PLACES, state, seen()).prop_map(|(at, state, seen)| Step::Poll(at, state, seen)),
        1 => (0..PLACES, seen()).prop_map(|(at, seen)| Step::Drop(at, seen)),
    ]
}

/// How many calls have begun, and how they have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    begun: u64,
    ended: u64,
    cancelled: u64,
    vanished: u64,
}

fn counts() -> Counts {
    let Some(tree) = current_thread::hot() else {
        return Counts::default();
    };
    let mut counts = Counts::default();
    for index in 1..tree.nodes.len() {
        let node = tree.nodes.get(index).unwrap();
        let of = |quantity| {
            let measures = tree.measures.get(index);
            measures.map_or(0, |measures| measures.of(quantity).load(Ordering::Relaxed))
        };
        counts.begun += node.calls.load(Ordering::Relaxed);
        counts.ended += of(Quantity::FutureEnds);
        counts.cancelled += of(Quantity::FutureCancels);
        counts.vanished += of(Quantity::FutureVanished);
    }
    counts
}

fn run(steps: &[Step]) -> Result<(), TestCaseError> {
    let (low, bytes) = threads::own_stack();
    let place = low + bytes - 4096;
    let memory: [AtomicU8; 8 * PLACES] = std::array::from_fn(|_| AtomicU8::new(UNRESUMED));
    let address = |at: usize| memory[8 * at].as_ptr().expose_provenance() as u64;
    // For each future: whether its call is counted, and has not ended.
    let mut futures: [Option<bool>; PLACES] = [None; PLACES];
    let mut wanted = Counts::default();
    let drop_it = |at: usize, is_open: bool, is_seen: bool, wanted: &mut Counts| {
        let state = memory[8 * at].load(Ordering::Relaxed);
        if is_seen {
            dropped(POLLS, place - 64, 0, 0, address(at));
        }
        if is_open {
            match state {
                RETURNED => wanted.ended += 1,
                SUSPENDED.. if !is_seen => wanted.vanished += 1,
                _ => wanted.cancelled += 1,
            }
        }
        memory[8 * at].store(UNRESUMED, Ordering::Relaxed);
    };
    let is_odd = |at: usize| at % 2 == 1;
    for step in steps {
        match *step {
            Step::Poll(at, to, flag) => {
                let state = &memory[8 * at];
                let before = state.load(Ordering::Relaxed);
                if before != UNRESUMED && before < SUSPENDED {
                    continue;
                }
                let is_seen = flag || !is_odd(at);
                if is_seen {
                    begin(POLLS, place, 0, 0, address(at), 0);
                    wanted.begun += u64::from(before == UNRESUMED);
                }
                state.store(to, Ordering::Relaxed);
                let is_open = futures[at].unwrap_or(is_seen);
                if to == PANICKED {
                    // The panic unwinds the poll, and then drops the future.
                    drop_it(at, is_open, flag || is_odd(at), &mut wanted);
                    futures[at] = None;
                    continue;
                }
                if is_seen {
                    end(POLLS, place);
                    wanted.ended += u64::from(is_open && to == RETURNED);
                }
                futures[at] = Some(is_open && !(is_seen && to == RETURNED));
                if flag && !is_odd(at) && to == RETURNED {
                    drop_it(at, false, true, &mut wanted);
                    futures[at] = None;
                }
            }
            Step::Drop(at, flag) => {
                let has_returned = memory[8 * at].load(Ordering::Relaxed) == RETURNED;
                let is_open = futures[at].take().unwrap_or(false);
                drop_it(at, is_open, is_odd(at) || flag && !has_returned, &mut wanted);
            }
        }
    }
    // A last event ends the polls that have panicked. A check then finds the calls that have vanished.
    for (at, is_open) in futures.into_iter().enumerate() {
        drop_it(at, is_open.unwrap_or(false), is_odd(at), &mut wanted);
    }
    end(POLLS, place + 64);
    TABLE.take_suspected(
        u32::MAX,
        1,
        0,
        |_, _| Suspicion::Certain,
        |held| {
            assert_eq!(held.vanish(), None);
        },
    );
    prop_assert_eq!(counts(), wanted);
    Ok(())
}

#[test]
fn calls_end_once_and_as_their_futures_did() {
    if !is_alone(module_path!(), "calls_end_once_and_as_their_futures_did") {
        return;
    }
    set_for_tests();
    site_table::update_if_met(get(POLLS).unwrap());
    let steps = proptest::collection::vec(step(), 1..60);
    let mut runner = proptest::test_runner::TestRunner::default();
    runner.run(&steps, |steps| on_new_thread(|| run(&steps))).unwrap();
}
