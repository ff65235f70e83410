//! Measures how much slower it is to allocate and free a block with the counting allocators of tickscope, hotpath and
//! dhat than with the system allocator, which all three call. The allocators take turns in one process, while all three
//! profilers run, and tickscope and hotpath each have a scope open.
//!
//! `allocations [ROUNDS]`, 101 rounds by default.
#![allow(unsafe_code, reason = "calls four allocators to compare them")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;

use tickscope_bench::statistics::{interval, median, sorted};
use tickscope_bench::timing::timed;

/// Number of blocks that a round allocates and frees.
const BLOCKS: usize = 100_000;

/// Number of blocks for dhat: fewer, because dhat takes a backtrace of each allocation.
const BLOCKS_OF_DHAT: usize = 1_000;

/// Block sizes in bytes: a small list node, and a buffer.
const SIZES: [usize; 2] = [64, 4096];

static TICKSCOPE: tickscope::Alloc = tickscope::Alloc::system();
static HOTPATH: hotpath::CountingAllocator = hotpath::CountingAllocator::new();
static DHAT: dhat::Alloc = dhat::Alloc;

/// Returns the time in ns to allocate and free one block.
fn nanoseconds(allocator: &impl GlobalAlloc, layout: Layout, blocks: usize) -> f64 {
    let all = timed(|| {
        for _ in 0..blocks {
            // SAFETY: the size of the layout is not 0.
            let block = black_box(unsafe { allocator.alloc(layout) });
            // SAFETY: this allocator has just allocated the block, with this layout.
            unsafe { allocator.dealloc(block, layout) };
        }
    });
    all / blocks as f64
}

fn main() -> Result<(), String> {
    let rounds = match std::env::args().nth(1) {
        None => 101,
        Some(word) => match word.parse() {
            Ok(rounds @ 3..=100_000) => rounds,
            _ => return Err(format!("{word}: wanted 3 to 100000 rounds")),
        },
    };
    let report = std::env::temp_dir().join(format!("peers-allocations-{}.json", std::process::id()));
    let _session = tickscope::start("allocations");
    let hotpath = hotpath::HotpathGuardBuilder::new("allocations")
        .format(hotpath::Format::Json)
        .output_path(&report)
        .build();
    let dhat = dhat::Profiler::builder().testing().build();
    tickscope::scope!("allocates");
    let measured = hotpath::functions::build_measurement_guard_sync("allocates", false);
    println!(
        "Allocating and freeing a block, in ns, medians of {rounds} rounds; added, with its 95 % interval:"
    );
    println!("bytes  allocator         ns     added");
    for size in SIZES {
        let layout = Layout::from_size_align(size, 8).map_err(|error| error.to_string())?;
        let turns: Vec<[f64; 4]> = (0..rounds)
            .map(|_| {
                [
                    nanoseconds(&System, layout, BLOCKS),
                    nanoseconds(&TICKSCOPE, layout, BLOCKS),
                    nanoseconds(&HOTPATH, layout, BLOCKS),
                    nanoseconds(&DHAT, layout, BLOCKS_OF_DHAT),
                ]
            })
            .collect();
        for (at, name) in ["system", "tickscope", "hotpath", "dhat"].iter().enumerate() {
            let all = sorted(turns.iter().map(|turn| turn[at]));
            let added = sorted(turns.iter().map(|turn| turn[at] - turn[0]));
            let (low, high) = interval(&added);
            let (all, added) = (median(&all), median(&added));
            println!("{size:5}  {name:10} {all:9.2} {added:9.2} [{low:.2} {high:.2}]");
        }
    }
    // dhat must have counted every block whose time was measured.
    let counted = dhat::HeapStats::get().total_blocks;
    let wanted = (SIZES.len() * rounds * BLOCKS_OF_DHAT) as u64;
    if counted < wanted {
        return Err(format!("dhat has counted {counted} blocks, wanted {wanted}"));
    }
    let snapshot = tickscope::snapshot();
    let allocations = tickscope_format::snapshot::Quantity::Allocations;
    let counted = snapshot
        .measures
        .of(allocations)
        .map_or(0, |column| column.of_row(0));
    let wanted = (SIZES.len() * rounds * BLOCKS) as u64;
    if counted != wanted {
        return Err(format!("tickscope has counted {counted} blocks, wanted {wanted}"));
    }
    drop((measured, dhat));
    drop(hotpath);
    std::fs::remove_file(&report).map_err(|error| format!("{}: {error}", report.display()))
}
