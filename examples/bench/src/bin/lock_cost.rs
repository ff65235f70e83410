//! Measures what locks of `tickscope::sync` cost beside those of std while no other thread wants them: the time, and the
//! instructions where valgrind is installed.
//!
//! `lock_cost [ROUNDS]`, 101 rounds unless said otherwise.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

#[expect(dead_code, reason = "the benchmark of scopes also switches modes")]
#[path = "overhead/callgrind.rs"]
mod callgrind;

use std::hint::black_box;

use tickscope_bench::statistics::{interval, median, sorted};
use tickscope_bench::timing::timed;

/// How often a round gets the lock and gives it back.
const LOCKS: u64 = 100_000;

/// What is done with a lock, with std's and with that of tickscope.
struct Case {
    name: &'static str,
    of_std: fn(u64),
    of_tickscope: fn(u64),
}

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

const CASES: [Case; 3] = [
    Case {
        name: "Mutex",
        of_std: locks!(std::sync, Mutex, lock),
        of_tickscope: locks!(tickscope::sync, Mutex, lock),
    },
    Case {
        name: "RwLock, read",
        of_std: locks!(std::sync, RwLock, read),
        of_tickscope: locks!(tickscope::sync, RwLock, read),
    },
    Case {
        name: "RwLock, write",
        of_std: locks!(std::sync, RwLock, write),
        of_tickscope: locks!(tickscope::sync, RwLock, write),
    },
];

/// Returns the instructions of getting a lock and giving it back: the difference between two runs of this program.
fn instructions(case: &str, whose: &str) -> Result<f64, String> {
    let few = callgrind::instructions(&["count", case, whose, "1000"], &[])?;
    let many = callgrind::instructions(&["count", case, whose, "101000"], &[])?;
    Ok((many as f64 - few as f64) / 100_000.0)
}

/// Does what a run under callgrind counts.
fn count(arguments: &[String]) -> Result<(), String> {
    let [case, whose, count] = arguments else {
        return Err("wanted a case, whose lock, and a number".into());
    };
    let known = CASES.iter().find(|known| known.name == case);
    let known = known.ok_or_else(|| format!("{case}: no such case"))?;
    let count = count.parse().map_err(|error| format!("{count}: {error}"))?;
    match whose.as_str() {
        "std" => (known.of_std)(count),
        _ => (known.of_tickscope)(count),
    }
    Ok(())
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "count") {
        return self::count(&arguments[1..]);
    }
    let rounds = match arguments.first() {
        None => 101,
        Some(word) => match word.parse() {
            Ok(rounds @ 3..=100_000) => rounds,
            _ => return Err(format!("{word}: wanted 3 to 100000 rounds")),
        },
    };
    println!(
        "Getting a lock and giving it back, in ns, medians of {rounds} rounds; the difference with its 95 % interval:"
    );
    println!("lock                std  tickscope  difference");
    let ns = |body: fn(u64)| timed(|| body(LOCKS)) / LOCKS as f64;
    for case in &CASES {
        let pairs: Vec<(f64, f64)> = (0..rounds)
            .map(|_| (ns(case.of_std), ns(case.of_tickscope)))
            .collect();
        let of_std = sorted(pairs.iter().map(|pair| pair.0));
        let of_tickscope = sorted(pairs.iter().map(|pair| pair.1));
        let added = sorted(pairs.iter().map(|pair| pair.1 - pair.0));
        let (low, high) = interval(&added);
        println!(
            "{:14} {:8.2} {:10.2} {:11.2} [{low:.2} {high:.2}]",
            case.name,
            median(&of_std),
            median(&of_tickscope),
            median(&added),
        );
    }
    if !callgrind::is_here() {
        println!("no valgrind: instructions are not counted");
        return Ok(());
    }
    println!("The same in instructions, by callgrind:");
    for case in &CASES {
        let of_std = instructions(case.name, "std")?;
        let of_tickscope = instructions(case.name, "tickscope")?;
        println!(
            "{:14} {of_std:8.2} {of_tickscope:10.2} {:11.2}",
            case.name,
            of_tickscope - of_std
        );
    }
    Ok(())
}
