//! Measures the cost of the first visit of a place in the call tree: the beginning of a scope whose node is made for
//! it.
//!
//! `first_visit` starts one process with latency histograms and one without, each with 21 844 nodes.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::process::Command;
use std::time::Instant;

use tickscope_bench::statistics::sorted;

/// The environment variable with the role of a child. Each measurement has its own process, because a process has one
/// collector.
const ROLE: &str = "FIRST_VISIT_ROLE";

/// The depth to which four functions call each other: 4 + 16 + ... + 4^7 nodes.
const DEPTH: u32 = 7;

/// Opens a scope and pushes how long that took, in nanoseconds.
macro_rules! visit {
    ($name:literal, $depth:ident, $times:ident) => {
        let before = Instant::now();
        tickscope::scope!($name);
        $times.push(before.elapsed().as_nanos() as f64);
        visit_below($depth - 1, $times);
    };
}

fn visit_below(depth: u32, times: &mut Vec<f64>) {
    if depth == 0 {
        return;
    }
    {
        visit!("north", depth, times);
    }
    {
        visit!("east", depth, times);
    }
    {
        visit!("south", depth, times);
    }
    {
        visit!("west", depth, times);
    }
}

fn print(histograms: bool) {
    let session = tickscope::Builder::new("first_visit")
        .mode(tickscope::Mode::Exact)
        .histogram(histograms)
        .start();
    // The memory for all times is written before, so only the collector's memory is new.
    let mut times = vec![0.0; 4 << (2 * DEPTH)];
    times.clear();
    visit_below(DEPTH, &mut times);
    let first = sorted(times.drain(..));
    visit_below(DEPTH, &mut times);
    let second = sorted(times);
    for (visit, times) in [("first", first), ("second", second)] {
        let quantile = |share: f64| times[((times.len() - 1) as f64 * share) as usize] / 1000.0;
        println!(
            "{:10} {visit:>6} {:8.3} {:8.3} {:8.3} {:8.3} {:8.3}",
            if histograms { "on" } else { "off" },
            quantile(0.5),
            quantile(0.9),
            quantile(0.99),
            quantile(0.999),
            quantile(1.0),
        );
    }
    drop(session);
}

fn main() -> Result<(), String> {
    if let Ok(role) = std::env::var(ROLE) {
        print(role == "histograms");
        return Ok(());
    }
    println!("Opening a scope, in microseconds, a read of the clock in it:");
    println!("histograms  visit   median      p90      p99    p99.9  longest");
    for role in ["histograms", "none"] {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let status = Command::new(program)
            .env(ROLE, role)
            .status()
            .map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!("{role}: {status}"));
        }
    }
    Ok(())
}
