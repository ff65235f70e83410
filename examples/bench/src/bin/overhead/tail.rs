//! The tail of a short operation: how long the slowest of many take, with and without scopes and a viewer.

use std::hint::black_box;
use std::time::Instant;

use tickscope_bench::{Plain, Probe, Scoped, probe};

use crate::viewer;
use tickscope_bench::statistics::{median, sorted};

/// The operations in a series, and how often each series has its turn.
const OPERATIONS: usize = 300_000;
const ROUNDS: usize = 9;

/// The median, p99.9 and p99.99 of a series, in nanoseconds.
type Tail = [f64; 3];

/// Does about 1 us of work.
#[inline(never)]
fn operation<P: Probe>(seed: u64) -> u64 {
    probe!(P, "operation");
    (0..850u64).fold(seed | 1, |x, step| (x ^ x << 13 ^ step).rotate_left(7))
}

fn series<P: Probe>() -> Tail {
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
    .map(|rank| times[rank] as f64)
}

/// Prints the tails as medians of all rounds: plain, scopes with the publisher at one record a second, and the same
/// with a viewer attached (ten records a second). Nothing is subtracted.
pub(crate) fn print(session: &tickscope::Session) {
    let mut tails: [Vec<Tail>; 3] = Default::default();
    let [plain, exact, watched] = &mut tails;
    for _ in 0..ROUNDS {
        plain.push(series::<Plain>());
        exact.push(series::<Scoped>());
        if let Some(_watching) = viewer::attach(session) {
            watched.push(series::<Scoped>());
        }
    }
    let words = ["median", "p99.9", "p99.99"];
    println!(
        "\n{:<28} {:>9} {:>9} {:>9}",
        "operation of 1 us (ns)", words[0], words[1], words[2]
    );
    for (what, tails) in ["plain", "exact", "exact, viewer attached"].iter().zip(&tails) {
        let of_rounds = |at: usize| median(&sorted(tails.iter().map(|tail| tail[at])));
        println!(
            "{what:<28} {:>9.0} {:>9.0} {:>9.0}",
            of_rounds(0),
            of_rounds(1),
            of_rounds(2)
        );
    }
}
