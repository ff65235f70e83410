//! Measures what locks of `tickscope::sync` cost beside those of std while no other thread wants them: the time, and the
//! instructions where valgrind is installed.
//!
//! `lock_cost [ROUNDS]`, 101 rounds unless said otherwise.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

#[expect(dead_code, reason = "the benchmark of scopes also switches modes")]
#[path = "overhead/callgrind.rs"]
mod callgrind;

use std::hint::black_box;

use tickscope_bench::pairs;
use tickscope_bench::pairs::Pair;

/// How often a round gets the lock and gives it back.
const LOCKS: u64 = 100_000;

/// Gets a lock and gives it back, so often, with the types of a module.
macro_rules! locks {
    ($sync:path, $lock:ident, $get:ident) => {
        |count| {
            use $sync as sync;
            let lock = black_box(sync::$lock::new(0u64));
            for _ in 0..count {
                // A panic is no part of what is compared.
                if let Ok(guard) = lock.$get() {
                    black_box(&*guard);
                }
            }
        }
    };
}

const CASES: [Pair; 3] = [
    Pair {
        name: "Mutex",
        plain: locks!(std::sync, Mutex, lock),
        measured: locks!(tickscope::sync, Mutex, lock),
    },
    Pair {
        name: "RwLock, read",
        plain: locks!(std::sync, RwLock, read),
        measured: locks!(tickscope::sync, RwLock, read),
    },
    Pair {
        name: "RwLock, write",
        plain: locks!(std::sync, RwLock, write),
        measured: locks!(tickscope::sync, RwLock, write),
    },
];

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|first| first == "count") {
        return pairs::count(&CASES, "locks", &words[1..]);
    }
    let rounds = pairs::rounds(words.first().map(String::as_str))?;
    println!(
        "Getting a lock and giving it back, in ns, medians of {rounds} rounds; the difference with its 95 % interval:"
    );
    println!("lock                std  tickscope  difference");
    pairs::print_times(&CASES, rounds, LOCKS);
    if !callgrind::is_here() {
        println!("no valgrind: instructions are not counted");
        return Ok(());
    }
    pairs::print_instructions(&CASES, |words| callgrind::instructions(words, &[]))
}
