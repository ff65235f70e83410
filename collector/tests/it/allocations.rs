//! Allocations: each counts for the scope that made it, whatever else the program and the collector do.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::signals::{HANDLED, profile};
use crate::support::{check, isolated};
use tickscope::{Mode, Snapshot};
use tickscope_format::snapshot::Quantity::{
    self, AllocatedBytes, Allocations, FreedBytes, Frees, LiveBytes, LiveVariance,
};
use tickscope_format::snapshot::{LIVE_SAMPLE_BYTES, ThreadState, live_error};

#[global_allocator]
static ALLOCATOR: tickscope::Alloc<Counting> = tickscope::Alloc::new(Counting);

/// The system's allocator with an account of each thread, which knows nothing of scopes.
struct Counting;

/// Blocks that a thread has allocated and freed.
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

/// What the calling thread has allocated and freed so far. A reallocation counts as both.
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

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size(), 0, 0);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        note(0, 0, 1, layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size(), 0, 0);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(1, new_size, 1, layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.realloc(block, layout, new_size) }
    }
}

/// Allocations, their bytes, frees and theirs, of all rows of a name.
fn measured(snapshot: &Snapshot, name: &str) -> [u64; 4] {
    let of = |quantity: Quantity| {
        let Some(column) = snapshot.measures.of(quantity) else {
            return 0;
        };
        let rows = column.rows.iter();
        let named =
            rows.filter(|(row, _)| snapshot.site_of(tickscope_format::ids::NodeId(*row)).name == name);
        named.map(|(_, value)| value).sum()
    };
    [of(Allocations), of(AllocatedBytes), of(Frees), of(FreedBytes)]
}

fn outside(snapshot: &Snapshot, quantity: Quantity) -> u64 {
    let column = snapshot.measures.of(quantity);
    column.map_or(0, |column| column.outside.iter().map(|(_, value)| value).sum())
}

#[allow(clippy::vec_box, reason = "each block is to be an allocation of its own")]
fn made(count: usize) -> Vec<Box<[u8; 64]>> {
    let mut made = Vec::with_capacity(count);
    tickscope::scope!("make");
    for _ in 0..count {
        made.push(black_box(Box::new([7; 64])));
    }
    made
}

fn each_scope_has_its_own() {
    isolated!(|| {
        let made = {
            tickscope::scope!("outer");
            made(100)
        };
        {
            tickscope::scope!("drop");
            drop(made);
        }
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        assert_eq!(measured(&snapshot, "make"), [100, 6_400, 0, 0]);
        // The vector was made before the inner scope, and goes with what it holds.
        assert_eq!(measured(&snapshot, "outer"), [1, 800, 0, 0]);
        assert_eq!(measured(&snapshot, "drop"), [0, 0, 101, 7_200]);
    });
}

fn all_ways_to_allocate_are_counted() {
    isolated!(|| {
        {
            tickscope::scope!("ways");
            // Zeroed, grown, shrunk and given back.
            let mut bytes = black_box(vec![0u8; 100]);
            bytes.reserve_exact(300);
            bytes.truncate(50);
            bytes.shrink_to_fit();
            drop(black_box(bytes));
        }
        let snapshot = tickscope::snapshot();
        assert_eq!(measured(&snapshot, "ways"), [3, 550, 3, 550]);
    });
}

fn what_comes_before_the_first_scope_is_outside() {
    isolated!(|| {
        std::thread::spawn(|| {
            let early = black_box(vec![0u8; 5_000_000]);
            {
                tickscope::scope!("first");
            }
            drop(early);
            let late = black_box(vec![0u8; 7_000_000]);
            let snapshot = tickscope::snapshot();
            let bytes = outside(&snapshot, AllocatedBytes);
            assert!((12_000_000..13_000_000).contains(&bytes), "{bytes}");
            let freed = outside(&snapshot, FreedBytes);
            assert!((5_000_000..6_000_000).contains(&freed), "{freed}");
            assert_eq!(measured(&snapshot, "first"), [0; 4]);
            drop(late);
        })
        .join()
        .unwrap();
    });
}

fn the_collectors_own_work_is_not_the_programs() {
    isolated!(|| {
        tickscope::scope!("asks");
        let session = tickscope::start("asks");
        for round in 0..5 {
            let snapshots = [tickscope::snapshot(), tickscope::reset()];
            assert!(tickscope::disable_sites("nothing::*").is_ok());
            tickscope::set_histogram(round % 2 == 0);
            // Who owns a snapshot gives it back.
            drop(snapshots);
            tickscope::set_mode(Mode::Exact);
        }
        drop(session);
        let [allocations, ..] = measured(&tickscope::snapshot(), "asks");
        assert_eq!(allocations, 0);
    });
}

fn resets_undo_and_ended_threads_keep_the_sum() {
    isolated!(|| {
        let work = || drop(made(10));
        let in_worker = || {
            let worker = std::thread::Builder::new().name("worker".into());
            worker.spawn(work).unwrap().join().unwrap();
        };
        in_worker();
        work();
        let closing = tickscope::reset();
        assert_eq!(measured(&closing, "make")[0], 20);
        assert_eq!(measured(&tickscope::snapshot(), "make"), [0; 4]);
        in_worker();
        work();
        work();
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        assert_eq!(measured(&snapshot, "make")[..2], [30, 1_920]);
        let ended = snapshot
            .threads
            .iter()
            .position(|thread| thread.tid == 0)
            .unwrap();
        let rows = snapshot.rows_of(tickscope_format::ids::ThreadId(ended as u32));
        let column = snapshot.measures.of(Allocations).unwrap();
        let of_ended: u64 = rows.map(|row| column.of_row(row as u32)).sum();
        assert_eq!(of_ended, 10);
    });
}

fn nothing_is_counted_where_nothing_is_measured() {
    isolated!(|| {
        drop(made(1));
        tickscope::set_mode(Mode::Off);
        // The thread notices at its next scope.
        drop(made(1));
        let before = tickscope::reset();
        drop(made(50));
        let off = tickscope::snapshot();
        assert!(off.measures.of(Allocations).is_none(), "{:?}", off.measures);
        for mode in [Mode::Adaptive, Mode::Sampled, Mode::Exact] {
            tickscope::set_mode(mode);
            drop(made(50));
            let snapshot = tickscope::snapshot();
            assert_eq!(measured(&snapshot, "make")[..2], [50, 3_200], "{mode:?}");
        }
        drop(before);
    });
}

/// Handlers open scopes between and inside of events while the thread's scopes allocate.
fn handlers_change_no_count() {
    isolated!(|| {
        drop(made(1));
        profile(true);
        let mut rounds = 1;
        while HANDLED.load(Ordering::Relaxed) < 100 {
            drop(made(10));
            rounds += 10;
        }
        profile(false);
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        assert_eq!(measured(&snapshot, "make")[..2], [rounds, 64 * rounds]);
    });
}

/// The live bytes of all rows of a name, and how far they may be from the truth.
fn live(snapshot: &Snapshot, name: &str) -> (u64, u64) {
    let of = |quantity: Quantity| -> u64 {
        let column = snapshot.measures.of(quantity);
        let rows = column.iter().flat_map(|column| &column.rows);
        let named =
            rows.filter(|(row, _)| snapshot.site_of(tickscope_format::ids::NodeId(*row)).name == name);
        named.map(|(_, value)| value).sum()
    };
    (of(LiveBytes), live_error(of(LiveVariance)))
}

/// Allocates blocks of many sizes, about so many bytes. Returns them and their bytes.
fn blocks(bytes: usize, number: usize) -> (Vec<Vec<u8>>, u64) {
    tickscope::scope!("holds");
    // Room for all, so that the list is one block.
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
    isolated!(|| {
        let rounds = 100;
        // The random numbers of a thread are the same in each run.
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
        // 16 samples in each round: 1 600 in all make a standard deviation of 2.5 %.
        let mean = sum / rounds as f64;
        assert!((mean - 1.0).abs() < 0.1, "{mean} of the truth");
    });
}

fn live_bytes_outlast_resets_and_threads_and_end_on_any_thread() {
    isolated!(|| {
        let in_thread = || {
            std::thread::Builder::new()
                .name("makes".into())
                .spawn(|| blocks(64 << 20, 0))
        };
        let (held, bytes) = in_thread().unwrap().join().unwrap();
        let is_near = |snapshot: &Snapshot, bytes: u64| {
            let (live, error) = live(snapshot, "holds");
            assert!(
                live.abs_diff(bytes) <= error,
                "{live} +- {error}, {bytes} in truth"
            );
            assert!(error < 16 << 20, "{error}");
            live
        };
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        let before = is_near(&snapshot, bytes);
        let closing = tickscope::reset();
        assert_eq!(is_near(&closing, bytes), before);
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        assert_eq!(is_near(&snapshot, bytes), before, "a reset takes nothing away");
        assert_eq!(measured(&snapshot, "holds"), [0; 4]);
        let makes = snapshot
            .threads
            .iter()
            .find(|thread| thread.name == "makes")
            .unwrap();
        assert_eq!(makes.state, ThreadState::Finished);
        // Another thread of the name adds its own to the same rows.
        let (more, more_bytes) = in_thread().unwrap().join().unwrap();
        is_near(&tickscope::snapshot(), bytes + more_bytes);
        tickscope::time!("drops", drop(held));
        is_near(&tickscope::snapshot(), more_bytes);
        std::thread::spawn(move || drop(more)).join().unwrap();
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        assert_eq!(live(&snapshot, "holds").0, 0);
    });
}

fn a_block_that_grows_is_live_where_it_grew() {
    isolated!(|| {
        let mut block: Vec<u8> = {
            tickscope::scope!("holds");
            Vec::with_capacity(64 << 20)
        };
        // A block of this size is sampled always, and stands for itself.
        assert_eq!(
            live(&tickscope::snapshot(), "holds"),
            (64 << 20, 4 * LIVE_SAMPLE_BYTES)
        );
        tickscope::time!("grows", block.reserve_exact(128 << 20));
        let snapshot = tickscope::snapshot();
        assert_eq!(live(&snapshot, "holds").0, 0);
        assert_eq!(live(&snapshot, "grows").0, 128 << 20);
        // A new size that no allocator has: the block stays as it was.
        let refused = block.try_reserve_exact(isize::MAX as usize - 1);
        assert!(refused.is_err());
        assert_eq!(live(&tickscope::snapshot(), "grows").0, 128 << 20);
        let early = tickscope::snapshot();
        tickscope::set_mode(Mode::Off);
        drop(block);
        tickscope::set_mode(Mode::Exact);
        assert_eq!(
            live(&tickscope::snapshot(), "grows").0,
            0,
            "freed while nothing was counted"
        );
        assert_eq!(live(&early, "grows").0, 128 << 20);
    });
}

/// An allocator of addresses without memory.
struct Addresses(AtomicUsize);

// SAFETY: the memory at these addresses is never used, and each of them is given once.
unsafe impl GlobalAlloc for Addresses {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        std::ptr::without_provenance_mut(self.0.fetch_add(layout.size(), Ordering::Relaxed))
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

fn more_live_blocks_than_have_a_place_are_said() {
    isolated!(|| {
        const BLOCKS: usize = 100_000;
        const PLACES: u64 = 65_536;
        // One point lies on each block of this size.
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
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        assert_eq!(measured(&snapshot, "holds")[0], BLOCKS as u64);
        let (full, _) = live(&snapshot, "holds");
        assert!(full > 16 << 30 && full <= PLACES * size, "{full}");
        let said = &snapshot.process.warnings;
        assert!(
            said.iter().any(|warning| warning.contains("live bytes")),
            "{said:?}"
        );
        for block in blocks.drain(..) {
            // SAFETY: it was allocated there.
            unsafe { addresses.dealloc(block, layout) };
        }
        assert_eq!(live(&tickscope::snapshot(), "holds").0, 0, "and none is left");
        allocate(&mut blocks, 10);
        assert_eq!(
            live(&tickscope::snapshot(), "holds").0,
            10 * size,
            "there is room again"
        );
    });
}

tickscope_testkit::tests![
    more_live_blocks_than_have_a_place_are_said,
    each_scope_has_its_own,
    all_ways_to_allocate_are_counted,
    live_bytes_are_as_far_from_the_truth_as_they_say,
    live_bytes_outlast_resets_and_threads_and_end_on_any_thread,
    a_block_that_grows_is_live_where_it_grew,
    what_comes_before_the_first_scope_is_outside,
    the_collectors_own_work_is_not_the_programs,
    resets_undo_and_ended_threads_keep_the_sum,
    nothing_is_counted_where_nothing_is_measured,
    handlers_change_no_count,
];
