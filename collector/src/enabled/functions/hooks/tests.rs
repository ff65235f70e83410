//! Switches functions on and off at random moments, and compares the open calls with a model. No compiled functions are
//! called: the test reports each simulated call itself, with an address on its own stack, if the sled that would report
//! it is on.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;

use super::*;
use crate::enabled::platform::{sleds, threads};
use crate::enabled::record::function_sites::{Sleds, ends_wait, number_of, set_for_tests, sleds_of};
use crate::enabled::record::site_table;

/// Number of functions used by this test. The remaining functions belong to other tests.
const FUNCTIONS: u32 = 5;

/// Switches a function on or off. Returns whether the kernel has the barrier that is needed if other threads call the
/// function.
fn switch(number: u32, on: bool) -> bool {
    let site = function_sites::get(number).unwrap();
    site.set_ruled_off(!on);
    site_table::update_if_met(site);
    // With real sleds, this barrier separates the change of a function's state from the check of its open calls.
    let is_serialized = sleds::serialize();
    function_sites::follow(false);
    is_serialized
}

/// Returns the functions that are open on this thread, according to its tree.
fn open() -> Vec<u32> {
    let Some(tree) = current_thread::hot() else {
        return Vec::new();
    };
    let nodes = std::iter::successors(tree.current.get(), |node| node.parent.get());
    let mut numbers: Vec<u32> = nodes.filter_map(|node| number_of(node.site.get()?)).collect();
    numbers.reverse();
    numbers
}

/// Simulates a call, which causes an event if the function's sleds are on. Returns whether there was an event.
fn call(number: u32, place: u64) -> bool {
    let is_told = sleds_of(number) == Sleds::All;
    if is_told && !enter(number, place, 1) {
        enter_rarely(number, place);
    }
    is_told
}

fn end(number: u32, place: u64) -> bool {
    let is_told = sleds_of(number) != Sleds::None;
    if is_told && !exit(number, place, 0) {
        exit_rarely(number, place);
    }
    is_told
}

#[derive(Clone, Debug)]
enum Step {
    /// Calls function `.0`, whose return address is stored `.1` bytes below the caller's return address.
    Call(u32, u64),
    Return,
    /// Leaves this number of calls at once, without events for their ends.
    Unwind(usize),
    Switch(u32, bool),
    /// The publisher checks the functions.
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..FUNCTIONS, 2..40_u64).prop_map(|(number, words)| Step::Call(number, words * 8)),
        6 => Just(Step::Return),
        1 => (1..6_usize).prop_map(Step::Unwind),
        2 => (0..FUNCTIONS, any::<bool>()).prop_map(|(number, on)| Step::Switch(number, on)),
        2 => Just(Step::Look),
    ]
}

#[derive(Clone, Copy, Debug)]
struct Call {
    number: u32,
    place: u64,
    is_told: bool,
}

fn run(steps: &[Step]) -> Result<(), TestCaseError> {
    let (low, bytes) = threads::own_stack();
    let top = low + bytes - 4096;
    let mut calls: Vec<Call> = Vec::new();
    // Calls that were left without an event for their end. They stay open until the next event at or above their stack
    // address.
    let mut left: Vec<Call> = Vec::new();
    let (mut begun, mut returned) = (0, 0);
    for step in steps {
        match *step {
            Step::Call(number, bytes) => {
                let place = calls.last().map_or(top, |call| call.place) - bytes;
                let is_told = call(number, place);
                if is_told {
                    left.retain(|left| left.place > place);
                    begun += 1;
                }
                calls.push(Call {
                    number,
                    place,
                    is_told,
                });
            }
            Step::Return => {
                let Some(done) = calls.pop() else { continue };
                let is_told = end(done.number, done.place);
                prop_assert!(
                    is_told || !done.is_told,
                    "the end of {done:?} was switched off before it came"
                );
                if is_told {
                    let is_as_if =
                        |left: &Call| (left.place, left.number) == (done.place, done.number) && !done.is_told;
                    returned += u64::from(done.is_told || left.iter().any(is_as_if));
                    left.retain(|left| left.place > done.place);
                }
            }
            Step::Unwind(count) => {
                let kept = calls.len().saturating_sub(count);
                let unwound = calls.split_off(kept);
                let unwound = unwound.into_iter().filter(|call| call.is_told);
                left.extend(unwound);
            }
            // The thread switches its own functions, which needs no barrier.
            Step::Switch(number, on) => {
                switch(number, on);
            }
            Step::Look => {
                while let Some(wait) = ends_wait().filter(|wait| !wait.is_zero()) {
                    std::thread::sleep(wait);
                }
                function_sites::follow(false);
            }
        }
        let mut told: Vec<&Call> = calls.iter().filter(|call| call.is_told).chain(&left).collect();
        told.sort_by_key(|call| std::cmp::Reverse(call.place));
        let wanted: Vec<u32> = told.iter().map(|call| call.number).collect();
        prop_assert_eq!(open(), wanted, "after {:?}", step);
    }
    if let Some(tree) = current_thread::hot() {
        let frames = &tree.frames;
        let ends = (
            frames.returned.load(Ordering::Relaxed),
            frames.unwound.load(Ordering::Relaxed),
        );
        prop_assert_eq!(ends.0, returned);
        prop_assert_eq!(ends.0 + ends.1 + open().len() as u64, begun);
    }
    Ok(())
}

/// Runs `body` on a new thread, whose tree is empty.
pub(in crate::enabled::functions) fn on_new_thread<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|threads| threads.spawn(body).join().unwrap())
}

/// Runs a test in its own process, because the models of other tests empty the registry of threads. Returns
/// whether this is that process.
pub(in crate::enabled::functions) fn is_alone(module: &str, test: &str) -> bool {
    const ALONE: &str = "TICKSCOPE_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let done = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            &format!("{}::{test}", module.split_once("::").unwrap().1),
        ])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(said.contains("1 passed"), "{said}");
    false
}

#[test]
fn open_calls_are_right_whenever_functions_are_switched() {
    if !is_alone(
        module_path!(),
        "open_calls_are_right_whenever_functions_are_switched",
    ) {
        return;
    }
    set_for_tests();
    let steps = proptest::collection::vec(step(), 1..120);
    let mut runner = proptest::test_runner::TestRunner::default();
    let checked = runner.run(&steps, |steps| {
        for number in 0..FUNCTIONS {
            switch(number, true);
        }
        on_new_thread(|| run(&steps))
    });
    checked.unwrap();

    // Without the barrier, functions are never switched while other threads call them.
    if !sleds::serialize() {
        return;
    }
    // The threads call functions continuously. A function that is switched off while one of its calls begins must not
    // leave that call open.
    let switches = std::env::var("SWITCHES").map_or(500, |number| number.parse().unwrap());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| {
                let (low, bytes) = threads::own_stack();
                let place = low + bytes - 4096;
                while !is_over.load(Ordering::Relaxed) {
                    for number in 0..FUNCTIONS {
                        call(number, place - u64::from(number) * 64);
                    }
                    for number in (0..FUNCTIONS).rev() {
                        end(number, place - u64::from(number) * 64);
                    }
                    assert_eq!(open(), Vec::<u32>::new());
                }
            });
        }
        for round in 0..switches {
            assert!(switch(round % FUNCTIONS, round / FUNCTIONS % 2 == 1));
        }
        is_over.store(true, Ordering::Relaxed);
    });
}
