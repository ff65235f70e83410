//! Measures the cost of visiting a node of the call tree for the first time, that is, of opening a scope that needs a
//! new node. One process has latency histograms and another one does not, each with 21 844 nodes.

use std::time::Instant;

use tickscope_bench::child;
use tickscope_bench::statistics::{quantile, sorted};

/// Quantiles that are printed for the measured times; 1.0 is the longest time.
const SHARES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 1.0];

/// Depth of the tree in which four functions call each other: it has 4 + 16 + ... + 4^7 nodes.
const DEPTH: u32 = 7;

/// Opens a scope, records how many nanoseconds that took, and then visits the scopes below it.
macro_rules! visit {
    ($name:literal, $depth:ident, $times:ident) => {{
        let before = Instant::now();
        tickscope::scope!($name);
        $times.push(before.elapsed().as_nanos() as f64);
        visit_below($depth - 1, $times);
    }};
}

fn visit_below(depth: u32, times: &mut Vec<f64>) {
    if depth == 0 {
        return;
    }
    visit!("north", depth, times);
    visit!("east", depth, times);
    visit!("south", depth, times);
    visit!("west", depth, times);
}

/// Runs as a child process that visits all nodes twice, and prints the times of both visits in microseconds.
pub(crate) fn visit(histograms: bool) {
    let _session = tickscope::Builder::new("first_visit")
        .mode(tickscope::Mode::Exact)
        .histogram(histograms)
        .start();
    // Touches the memory for all times in advance, so that from then on only the collector touches new memory.
    let mut times = vec![0.0; 4 << (2 * DEPTH)];
    times.clear();
    for _ in 0..2 {
        visit_below(DEPTH, &mut times);
        let times = sorted(times.drain(..));
        for share in SHARES {
            println!("{}", quantile(&times, share) / 1000.0);
        }
    }
}

pub(crate) fn print() -> Result<(), String> {
    println!("Opening a scope, in microseconds, a read of the clock in it:");
    println!("histograms  visit   median      p90      p99    p99.9  longest");
    for histograms in [true, false] {
        let told: [f64; 2 * SHARES.len()] = child::numbers(&["first-visit", &histograms.to_string()])?;
        for (visit, times) in ["first", "second"].iter().zip(told.chunks(SHARES.len())) {
            let times: String = times.iter().map(|time| format!(" {time:8.3}")).collect();
            println!("{:10} {visit:>6}{times}", if histograms { "on" } else { "off" });
        }
    }
    Ok(())
}
