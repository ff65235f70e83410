//! Allocations under rayon: the counts are exact, although many threads allocate and free.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use rayon::prelude::*;
use tickscope_format::Snapshot;
use tickscope_format::ids::{NodeId, ThreadId};
use tickscope_format::snapshot::Quantity::{self, AllocatedBytes, Allocations, FreedBytes, Frees};

#[global_allocator]
static ALLOCATOR: tickscope::Alloc = tickscope::Alloc::system();

/// Number of groups, and number of items in a group. Each group and each item may run on another thread.
const GROUPS: u64 = 200;
const ITEMS: u64 = 100;

const THREADS: usize = 8;

/// Returns the number of blocks that an item allocates, and the bytes of each.
fn blocks_of(group: u64, item: u64) -> (u64, u64) {
    (group % 5 + item % 3, 1 + group + 7 * item)
}

/// Allocates an item's blocks and returns them. Also clones all of them, and frees the clones.
fn blocks(group: u64, item: u64) -> Vec<Box<[u8]>> {
    tickscope::scope!("item");
    let (blocks, bytes) = blocks_of(group, item);
    let block = |_| vec![1u8; bytes as usize].into_boxed_slice();
    // Without blocks, the list itself needs no allocation either.
    let kept: Vec<Box<[u8]>> = (0..blocks).map(block).collect();
    drop(kept.clone());
    kept
}

/// Returns the sum of each quantity over all rows named `name`, on all threads and paths.
fn counted(snapshot: &Snapshot, name: &str) -> [u64; 4] {
    let quantities: [Quantity; 4] = [Allocations, AllocatedBytes, Frees, FreedBytes];
    quantities.map(|quantity| {
        let column = snapshot.measures.of(quantity).unwrap();
        let rows = 0..snapshot.nodes.len() as u32;
        let rows = rows.filter(|&row| snapshot.site_of(NodeId(row)).name == name);
        rows.map(|row| column.of_row(row)).sum()
    })
}

#[test]
fn allocations_under_rayon_are_exact() {
    let directory = tempfile::tempdir().unwrap();
    let _session = tickscope::Builder::new("rayon").dir(directory.path()).start();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(THREADS)
        .build()
        .unwrap();
    // Make sure that each thread has at least one item.
    pool.broadcast(|context| drop(blocks(context.index() as u64, 0)));
    pool.install(|| {
        (0..GROUPS).into_par_iter().for_each(|group| {
            // While a thread waits for its items, it may work on other groups, so the rows are on many different
            // paths.
            tickscope::scope!("group");
            let kept = (0..ITEMS).into_par_iter().map(|item| blocks(group, item));
            let kept: Vec<Vec<Box<[u8]>>> = kept.collect();
            kept.into_par_iter().for_each(|kept| {
                tickscope::time!("gives back", drop(kept));
            });
        });
    });
    drop(pool);
    // Each item allocates a list and its blocks.
    let reference = size_of::<Box<[u8]>>() as u64;
    let count = |(number, sum): (u64, u64), (group, item)| match blocks_of(group, item) {
        (0, _) => (number, sum),
        (blocks, bytes) => (number + 1 + blocks, sum + blocks * (reference + bytes)),
    };
    let parallel = (0..GROUPS).flat_map(|group| (0..ITEMS).map(move |item| (group, item)));
    let (number, bytes) = parallel.fold((0, 0), count);
    let (first_number, first_bytes) = (0..THREADS as u64).map(|group| (group, 0)).fold((0, 0), count);
    let snapshot = tickscope::snapshot();
    assert_eq!(snapshot.capture.losses.dropped, 0);
    // Half of an item's allocations are clones, which are freed within the item.
    let item = [number + first_number, bytes + first_bytes];
    let wanted = [2 * item[0], 2 * item[1], item[0], item[1]];
    assert_eq!(counted(&snapshot, "item"), wanted);
    assert_eq!(counted(&snapshot, "gives back"), [0, 0, number, bytes]);
    let rows = |thread| snapshot.rows_of(ThreadId(thread as u32));
    let has_items = |thread| rows(thread).any(|row| snapshot.site_of(NodeId(row as u32)).name == "item");
    let threads = snapshot.threads.iter().enumerate();
    let threads = threads.filter(|&(thread, _)| has_items(thread));
    assert_eq!(
        threads.map(|(_, thread)| thread.count).sum::<u64>(),
        THREADS as u64
    );
}
