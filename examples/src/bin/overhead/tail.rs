//! The tail of a short operation: what the slowest of many take, with and without scopes and a viewer.

use std::hint::black_box;
use std::time::Instant;

use crate::viewer;
use tickscope_examples::{Plain, Probe, Scoped, probe};

/// Operations in a series.
const OPERATIONS: usize = 1_000_000;

/// Some 1 us of work.
#[inline(never)]
fn operation<P: Probe>(seed: u64) -> u64 {
    probe!(P, "operation");
    (0..850u64).fold(seed | 1, |x, step| (x ^ x << 13 ^ step).rotate_left(7))
}

/// Median, p99.9 and p99.99 in nanoseconds.
fn series<P: Probe>() -> [u64; 3] {
    let mut times: Vec<u64> = (0..OPERATIONS as u64)
        .map(|seed| {
            let begin = Instant::now();
            black_box(operation::<P>(seed));
            begin.elapsed().as_nanos() as u64
        })
        .collect();
    times.sort_unstable();
    [
        OPERATIONS / 2,
        OPERATIONS / 1000 * 999,
        OPERATIONS / 10_000 * 9_999,
    ]
    .map(|rank| times[rank])
}

/// Prints the tails: plain, scopes with the publisher at one record a second, the same with a viewer attached
/// (ten records a second).
pub(crate) fn print(session: &tickscope::Session) {
    println!(
        "\n{:<28} {:>9} {:>9} {:>9}",
        "operation of 1 us (ns)", "median", "p99.9", "p99.99"
    );
    let row = |what: &str, [median, p999, p9999]: [u64; 3]| {
        println!("{what:<28} {median:>9} {p999:>9} {p9999:>9}");
    };
    row("plain", series::<Plain>());
    row("exact", series::<Scoped>());
    match viewer::attach(session) {
        Some(_watching) => row("exact, viewer attached", series::<Scoped>()),
        None => println!("exact, viewer attached: nothing is published here, so no viewer can attach"),
    }
    row("plain again", series::<Plain>());
}
