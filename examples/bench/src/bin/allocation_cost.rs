//! Measures what `tickscope::Alloc` adds to an allocation: the system's allocator alone and inside `Alloc`, in turns, within
//! an open scope.
//!
//! `allocation_cost [ROUNDS]`, 101 rounds unless said otherwise.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;

use tickscope_bench::pairs;
use tickscope_bench::statistics::{interval, median, sorted};
use tickscope_bench::timing::timed;

/// Blocks that a round allocates and frees.
const BLOCKS: usize = 100_000;

/// Sizes in bytes: one of a list's nodes, and one of a buffer.
const SIZES: [usize; 2] = [64, 4096];

static COUNTED: tickscope::Alloc = tickscope::Alloc::system();

/// Returns the nanoseconds of allocating and freeing a block.
fn nanoseconds(allocator: &impl GlobalAlloc, layout: Layout) -> f64 {
    let all = timed(|| {
        for _ in 0..BLOCKS {
            // SAFETY: the layout is not of size 0.
            let block = black_box(unsafe { allocator.alloc(layout) });
            // SAFETY: this allocator has just made the block with this layout.
            unsafe { allocator.dealloc(block, layout) };
        }
    });
    all / BLOCKS as f64
}

fn main() -> Result<(), String> {
    let rounds = pairs::rounds(std::env::args().nth(1).as_deref())?;
    let _session = tickscope::Builder::new("allocation_cost")
        .mode(tickscope::Mode::Exact)
        .start();
    tickscope::scope!("allocates");
    println!(
        "Allocating and freeing a block, in ns, medians of {rounds} rounds; added by counting both, with its 95 % interval:"
    );
    println!("bytes    plain  counted    added");
    for size in SIZES {
        let layout = Layout::from_size_align(size, 8).map_err(|error| error.to_string())?;
        let pairs: Vec<(f64, f64)> = (0..rounds)
            .map(|_| (nanoseconds(&System, layout), nanoseconds(&COUNTED, layout)))
            .collect();
        let plain = sorted(pairs.iter().map(|pair| pair.0));
        let counted = sorted(pairs.iter().map(|pair| pair.1));
        let added = sorted(pairs.iter().map(|pair| pair.1 - pair.0));
        let (low, high) = interval(&added);
        println!(
            "{size:5} {:8.2} {:8.2} {:8.2} [{low:.2} {high:.2}]",
            median(&plain),
            median(&counted),
            median(&added),
        );
    }
    Ok(())
}
