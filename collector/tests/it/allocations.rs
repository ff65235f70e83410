//! Counts of allocations while the program and the collector do other work. The tests in `programs` cover the rest, in
//! every mode: which scope an allocation is counted in, and the counts after resets and after threads have ended.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::signals::{HANDLED, profile};
use crate::support::{checked, measured};
use tickscope::{Mode, Snapshot};
use tickscope_format::snapshot::Quantity::{
    AllocatedBytes, Allocations, FreedBytes, Frees, LiveBytes, LiveVariance,
};
use tickscope_format::snapshot::{LIVE_SAMPLE_BYTES, live_error};

#[global_allocator]
static ALLOCATOR: tickscope::Alloc<Counting> = tickscope::Alloc::new(Counting);

/// The system's allocator, which also counts the allocations of each thread, independently of scopes.
struct Counting;

/// Number of blocks and bytes that a thread has allocated and freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allocated {
    pub(crate) blocks: u64,
    pub(crate) bytes: u64,
    pub(crate) freed_blocks: u64,
    pub(crate) freed_bytes: u64,
}

thread_local! {
    static ACCOUNT: Cell<Allocated> = const { Cell::new(Allocated::NOTHING) };
}

impl Allocated {
    pub(crate) const NOTHING: Self = Self {
        blocks: 0,
        bytes: 0,
        freed_blocks: 0,
        freed_bytes: 0,
    };

    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            blocks: self.blocks - before.blocks,
            bytes: self.bytes - before.bytes,
            freed_blocks: self.freed_blocks - before.freed_blocks,
            freed_bytes: self.freed_bytes - before.freed_bytes,
        }
    }
}

/// Returns the calling thread's counts so far. A reallocation counts as an allocation and a free.
pub(crate) fn allocated() -> Allocated {
    ACCOUNT.get()
}

fn note(blocks: u64, bytes: usize, freed_blocks: u64, freed_bytes: usize) {
    let account = ACCOUNT.get();
    ACCOUNT.set(Allocated {
        blocks: account.blocks + blocks,
        bytes: account.bytes + bytes as u64,
        freed_blocks: account.freed_blocks + freed_blocks,
        freed_bytes: account.freed_bytes + freed_bytes as u64,
    });
}

// SAFETY: every method forwards its arguments to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size(), 0, 0);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        note(0, 0, 1, layout.size());
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size(), 0, 0);
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(1, new_size, 1, layout.size());
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(block, layout, new_size) }
    }
}

/// Returns the allocations, allocated bytes, frees and freed bytes of all rows with this name.
fn counted(snapshot: &Snapshot, name: &str) -> [u64; 4] {
    [Allocations, AllocatedBytes, Frees, FreedBytes].map(|quantity| measured(snapshot, name, quantity))
}

#[allow(clippy::vec_box, reason = "each block is to be a separate allocation")]
fn made(count: usize) -> Vec<Box<[u8; 64]>> {
    let mut made = Vec::with_capacity(count);
    tickscope::scope!("make");
    for _ in 0..count {
        made.push(black_box(Box::new([7; 64])));
    }
    made
}

fn all_ways_to_allocate_are_counted() {
    {
        tickscope::scope!("ways");
        // The four ways are to allocate zeroed memory, to grow, to shrink and to free.
        let mut bytes = black_box(vec![0u8; 100]);
        bytes.reserve_exact(300);
        bytes.truncate(50);
        bytes.shrink_to_fit();
        drop(black_box(bytes));
    }
    let snapshot = tickscope::snapshot();
    assert_eq!(counted(&snapshot, "ways"), [3, 550, 3, 550]);
}

fn the_collectors_own_work_is_not_the_programs() {
    tickscope::scope!("asks");
    let session = tickscope::start("asks");
    for round in 0..5 {
        let snapshots = [tickscope::snapshot(), tickscope::reset()];
        assert!(tickscope::disable_sites("nothing::*").is_ok());
        tickscope::set_histogram(round % 2 == 0);
        // The snapshots belong to the program, so freeing them is counted.
        drop(snapshots);
        tickscope::set_mode(Mode::Exact);
    }
    drop(session);
    let [allocations, ..] = counted(&tickscope::snapshot(), "asks");
    assert_eq!(allocations, 0);
}

/// Signal handlers open scopes while the thread allocates in its own scopes. They interrupt it at any point, even in
/// the middle of opening or closing a scope.
fn handlers_change_no_count() {
    drop(made(1));
    profile(true);
    let mut rounds = 1;
    while HANDLED.load(Ordering::Relaxed) < 100 {
        drop(made(10));
        rounds += 10;
    }
    profile(false);
    let snapshot = checked(tickscope::snapshot());
    assert_eq!(counted(&snapshot, "make")[..2], [rounds, 64 * rounds]);
}

/// Returns the live bytes of all rows with this name, and their possible error in bytes.
fn live(snapshot: &Snapshot, name: &str) -> (u64, u64) {
    let [bytes, variance] = [LiveBytes, LiveVariance].map(|quantity| measured(snapshot, name, quantity));
    (bytes, live_error(variance))
}

/// Allocates blocks of many sizes, about `bytes` bytes in total. Returns the blocks and their total size in bytes.
fn blocks(bytes: usize, number: usize) -> (Vec<Vec<u8>>, u64) {
    tickscope::scope!("holds");
    // The vector never grows, because it has room for all blocks. It is itself one of the counted blocks.
    let mut blocks = Vec::with_capacity(bytes / 64);
    let mut all = bytes / 64 * size_of::<Vec<u8>>();
    let sizes = [64, 100, 640, 4_000, 5_000, 40_000, 300_000];
    for size in sizes.into_iter().cycle().skip(number).take(bytes / 64) {
        if all >= bytes {
            break;
        }
        blocks.push(black_box(Vec::with_capacity(size)));
        all += size;
    }
    (blocks, all as u64)
}

fn live_bytes_are_as_far_from_the_truth_as_they_say() {
    let rounds = 100;
    // A new thread makes the test repeatable: its random numbers are the same in each run.
    let thread = std::thread::spawn(move || {
        tickscope::scope!("thread");
        let (mut inside, mut sum) = (0, 0.0);
        for round in 0..rounds {
            let (held, bytes) = blocks(8 << 20, round);
            let snapshot = tickscope::snapshot();
            let (live, error) = live(&snapshot, "holds");
            inside += usize::from(live.abs_diff(bytes) <= error);
            sum += live as f64 / bytes as f64;
            assert!(
                error >= 4 * LIVE_SAMPLE_BYTES && error < bytes * 3 / 2,
                "{error} of {bytes}"
            );
            drop(held);
            assert_eq!(self::live(&tickscope::snapshot(), "holds").0, 0);
        }
        (inside, sum)
    });
    let (inside, sum) = thread.join().unwrap();
    assert!(inside * 20 >= rounds * 19, "{inside} of {rounds}");
    // 8 MiB give 16 samples in each round, so the mean over all 1 600 samples has a standard deviation of 2.5 %.
    let mean = sum / rounds as f64;
    assert!((mean - 1.0).abs() < 0.1, "{mean} of the truth");
}

fn a_block_that_cannot_grow_is_live_where_it_was() {
    let mut block: Vec<u8> = tickscope::time!("holds", Vec::with_capacity(64 << 20));
    // A block of this size is always sampled, and its sample stands for this block alone.
    let whole = (64 << 20, 4 * LIVE_SAMPLE_BYTES);
    assert_eq!(live(&tickscope::snapshot(), "holds"), whole);
    // No allocator can serve this new size.
    let refused = tickscope::time!("grows", block.try_reserve_exact(isize::MAX as usize - 1));
    assert!(refused.is_err());
    assert_eq!(live(&tickscope::snapshot(), "holds"), whole);
}

/// An allocator that returns addresses with no memory behind them.
struct Addresses(AtomicUsize);

// SAFETY: the memory at these addresses is never accessed, and no address is returned twice.
unsafe impl GlobalAlloc for Addresses {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        std::ptr::without_provenance_mut(self.0.fetch_add(layout.size(), Ordering::Relaxed))
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

fn more_live_blocks_than_have_a_place_are_said() {
    const BLOCKS: usize = 100_000;
    const PLACES: u64 = 65_536;
    // Blocks of this size are always sampled.
    let layout = Layout::from_size_align(64 << 20, 4096).unwrap();
    let addresses = tickscope::Alloc::new(Addresses(AtomicUsize::new(1 << 40)));
    let mut blocks = Vec::with_capacity(BLOCKS);
    let allocate = |blocks: &mut Vec<*mut u8>, count: usize| {
        tickscope::scope!("holds");
        // SAFETY: the size is not 0.
        blocks.extend((0..count).map(|_| unsafe { addresses.alloc(layout) }));
    };
    let size = layout.size() as u64;
    allocate(&mut blocks, 1_000);
    let snapshot = tickscope::snapshot();
    assert_eq!(live(&snapshot, "holds"), (1_000 * size, 4 * LIVE_SAMPLE_BYTES));
    assert!(snapshot.process.warnings.is_empty());
    allocate(&mut blocks, BLOCKS - 1_000);
    let snapshot = checked(tickscope::snapshot());
    assert_eq!(counted(&snapshot, "holds")[0], BLOCKS as u64);
    let (full, _) = live(&snapshot, "holds");
    assert!(full > 16 << 30 && full <= PLACES * size, "{full}");
    let said = &snapshot.process.warnings;
    assert!(
        said.iter().any(|warning| warning.contains("live bytes")),
        "{said:?}"
    );
    for block in blocks.drain(..) {
        // SAFETY: `addresses` allocated the block.
        unsafe { addresses.dealloc(block, layout) };
    }
    assert_eq!(live(&tickscope::snapshot(), "holds").0, 0, "no block is left");
    allocate(&mut blocks, 10);
    assert_eq!(
        live(&tickscope::snapshot(), "holds").0,
        10 * size,
        "there is room again"
    );
}

crate::support::tests![
    isolated:
    more_live_blocks_than_have_a_place_are_said,
    all_ways_to_allocate_are_counted,
    live_bytes_are_as_far_from_the_truth_as_they_say,
    a_block_that_cannot_grow_is_live_where_it_was,
    the_collectors_own_work_is_not_the_programs,
    handlers_change_no_count;
];
