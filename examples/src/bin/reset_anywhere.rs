//! A reset at any moment loses no calls and counts none twice: the calls of all epochs add up to the calls that were
//! made.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

const THREADS: u64 = 4;
const ROUNDS: u64 = 200_000;
/// Each thread resets whenever it has done this many rounds, from within its innermost scope.
const ROUNDS_AN_EPOCH: u64 = 40_000;
/// Number of calls in a round: one `round`, one `branch`, two `leaf`s.
const CALLS_A_ROUND: u64 = 4;
/// Number of resets by the main thread, outside any scope, while the other threads run.
const RESETS_OUTSIDE: u64 = 10;

/// Number of calls in each closed epoch, summed over all threads.
static EPOCHS: Mutex<Vec<u64>> = Mutex::new(Vec::new());

fn reset() {
    let calls = tickscope::reset().calls();
    EPOCHS.lock().unwrap_or_else(PoisonError::into_inner).push(calls);
}

fn round(number: u64) {
    tickscope::scope!();
    branch(number);
}

fn branch(number: u64) {
    tickscope::scope!();
    for reset_here in [false, number.is_multiple_of(ROUNDS_AN_EPOCH)] {
        tickscope::scope!("leaf");
        if reset_here {
            reset();
        }
    }
}

fn main() -> ExitCode {
    let _tickscope = tickscope::start("reset_anywhere");
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (1..=ROUNDS).for_each(round));
        }
        for _ in 0..RESETS_OUTSIDE {
            thread::sleep(Duration::from_millis(1));
            reset();
        }
    });
    // All threads have ended, so this reset closes the last epoch.
    reset();

    let epochs = EPOCHS.lock().unwrap_or_else(PoisonError::into_inner);
    for (number, calls) in epochs.iter().enumerate() {
        println!("epoch {:>2}: {calls:>7} calls", number + 1);
    }
    let (counted, called) = (epochs.iter().sum::<u64>(), THREADS * ROUNDS * CALLS_A_ROUND);
    println!("{counted} calls in {} epochs, {called} were made", epochs.len());
    ExitCode::from(u8::from(counted != called))
}
