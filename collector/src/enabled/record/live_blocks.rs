//! Samples of live memory blocks, each with the node that allocated it.
//!
//! Sampling points are spread at random over the bytes that a thread allocates, on average [`LIVE_SAMPLE_BYTES`] apart. A block
//! that contains a sampling point is entered into a table, under its address and with its node. Whichever thread frees the block
//! removes it from the table. A capture computes live memory from this table, so a reset does not change it.
//!
//! The table is in static memory. Inserting or removing a block does not allocate, lock or call the kernel. A block is inserted
//! before the program knows its address, and removed before the allocator can hand the address to another thread. So two threads
//! never change the same block's slot at the same time.

use std::cell::Cell;
use std::ops::{AddAssign, RangeInclusive};
use std::sync::atomic::AtomicU8;

use tickscope_format::snapshot::LIVE_SAMPLE_BYTES;

use crate::enabled::platform::sync::{AtomicU64, Ordering};
use crate::enabled::record::arena::{zeroed, zeros};
use crate::enabled::record::owner::Owner;
use crate::enabled::record::tree::Tree;
use crate::enabled::record::untimed::xorshift;

/// Number of slots in a group. A block may occupy any slot of its group.
const GROUP: usize = 32;

/// Number of groups: enough for about 16 GiB of live memory before any group is full.
const GROUPS: usize = 2048;

/// Number of counters in the filter, which can usually show without a search that a block is not in the table.
const FILTER: usize = 1 << 14;

/// A sampled block that was taken out of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) bytes: u64,
    pub(crate) owner: u64,
}

/// Position of a slot: its group, and its index in the group.
type At = (usize, usize);

zeroed! {
    #[derive(Debug)]
    pub(crate) struct Table<const GROUPS: usize, const GROUP: usize> {
        /// For each filter index, the number of blocks in the table that hash to it. A counter that has reached its maximum stays
        /// there.
        filter: [AtomicU8; FILTER],
        /// Addresses of the blocks; 0 in free slots.
        blocks: [[AtomicU64; GROUP]; GROUPS],
        bytes: [[AtomicU64; GROUP]; GROUPS],
        /// Owners of the blocks; 0 while a slot is being changed.
        owners: [[AtomicU64; GROUP]; GROUPS],
        /// Number of blocks inserted so far.
        put: AtomicU64,
        /// Number of blocks removed so far.
        taken: AtomicU64,
        /// Number of sampled blocks that were lost because their group was full.
        lost: AtomicU64,
    }
}

static TABLE: Table<GROUPS, GROUP> = zeros();

/// Number of threads that have begun to sample. It seeds each thread's random number generator differently.
static THREADS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Bytes left until the thread's next sampling point; negative once that point has been passed.
    static LEFT: Cell<i64> = const { Cell::new(0) };
    /// State of the thread's random number generator; 0 until it is seeded.
    static RANDOM: Cell<u64> = const { Cell::new(0) };
}

impl<const GROUPS: usize, const GROUP: usize> Table<GROUPS, GROUP> {
    /// Returns the slots that a block with this hash may occupy.
    fn places(hash: u64) -> impl Iterator<Item = At> + Clone {
        let group = (hash >> 32) as usize % GROUPS;
        (0..GROUP).map(move |place| (group, place))
    }

    pub(crate) fn put(&self, block: usize, bytes: u64, owner: u64) {
        let hash = hash(block);
        let block = block as u64;
        let places = Self::places(hash);
        // If a block was freed without going through this allocator, its address may still be in the table.
        let old = places
            .clone()
            .find(|&(group, at)| self.blocks[group][at].load(Ordering::Relaxed) == block);
        if let Some((group, at)) = old {
            self.owners[group][at].store(0, Ordering::Relaxed);
            self.fill((group, at), bytes, owner);
            return;
        }
        for (group, at) in places {
            let free = &self.blocks[group][at];
            if free.load(Ordering::Relaxed) == 0
                && free
                    .compare_exchange(0, block, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
            {
                let up = |count: u8| count.checked_add(1);
                // The update fails only if the counter is at its maximum, where it stays.
                _ = self.filter[filtered(hash)].fetch_update(Ordering::Relaxed, Ordering::Relaxed, up);
                self.fill((group, at), bytes, owner);
                self.put.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    fn fill(&self, (group, at): At, bytes: u64, owner: u64) {
        // SYNC POINT: the owner is 0 before the bytes change, and is set after they have changed (pairs with `read`).
        self.bytes[group][at].store(bytes, Ordering::Release);
        self.owners[group][at].store(owner, Ordering::Release);
    }

    /// Returns whether a block may be in the table.
    #[inline(always)]
    fn may_have(&self, block: usize) -> bool {
        self.filter[filtered(hash(block))].load(Ordering::Relaxed) != 0
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn take(&self, block: usize) -> Option<Block> {
        let hash = hash(block);
        let (group, at) = Self::places(hash)
            .find(|&(group, at)| self.blocks[group][at].load(Ordering::Relaxed) == block as u64)?;
        let taken = Block {
            bytes: self.bytes[group][at].load(Ordering::Relaxed),
            owner: self.owners[group][at].swap(0, Ordering::Relaxed),
        };
        let down = |count: u8| (count < u8::MAX).then(|| count.saturating_sub(1));
        _ = self.filter[filtered(hash)].fetch_update(Ordering::Relaxed, Ordering::Relaxed, down);
        // SYNC POINT: the slot is freed last (pairs with the exchange in `put`).
        self.blocks[group][at].store(0, Ordering::Release);
        self.taken.fetch_add(1, Ordering::Relaxed);
        Some(taken)
    }

    /// Returns the position, owner and bytes of each block in the table. Blocks that change during the read are left out.
    pub(crate) fn read(&self) -> impl Iterator<Item = (At, u64, u64)> {
        let is_empty = self.put.load(Ordering::Relaxed) == self.taken.load(Ordering::Relaxed);
        let groups = if is_empty { 0..0 } else { 0..GROUPS };
        let places = groups.flat_map(|group| (0..GROUP).map(move |at| (group, at)));
        places.filter_map(|(group, at)| {
            let block = self.blocks[group][at].load(Ordering::Relaxed);
            if block == 0 {
                return None;
            }
            let owner = self.owners[group][at].load(Ordering::Acquire);
            let bytes = self.bytes[group][at].load(Ordering::Acquire);
            let same = self.owners[group][at].load(Ordering::Relaxed) == owner
                && self.blocks[group][at].load(Ordering::Relaxed) == block;
            (same && owner != 0).then_some(((group, at), owner, bytes))
        })
    }
}

/// Counts `bytes` newly allocated bytes on the calling thread, and returns whether they contain a sampling point. Most
/// allocations need only this check.
#[inline(always)]
pub(crate) fn is_due(bytes: usize) -> bool {
    let left = LEFT.get().wrapping_sub_unsigned(bytes as u64);
    LEFT.set(left);
    left < 0
}

/// Enters a block into the table, charged to the calling thread's innermost open call, and draws the distance to the next
/// sampling point. Must be called after [`is_due`] returned true. Without a tree, only the distance is drawn. A thread's first
/// allocation is always due, so that the first distance is drawn.
#[cold]
#[inline(never)]
pub(crate) fn sample(tree: Option<&'static Tree>, block: usize, bytes: usize) {
    if RANDOM.get() == 0 {
        RANDOM.set(seed(THREADS.fetch_add(1, Ordering::Relaxed)));
        let first = next_distance();
        if let Some(left) = first.checked_sub(bytes as u64) {
            LEFT.set(left as i64);
            return;
        }
    }
    LEFT.set(next_distance() as i64);
    if let Some(tree) = tree
        && let Some(index) = tree.place_of_block()
    {
        TABLE.put(block, bytes as u64, Owner::node(tree, index).number());
    }
}

/// Removes a block that is about to be freed from the table, if it is there.
#[inline(always)]
pub(crate) fn take(block: usize) -> Option<Block> {
    if TABLE.may_have(block) {
        TABLE.take(block)
    } else {
        None
    }
}

/// Puts a block back into the table after an attempt to resize it has failed.
#[cold]
pub(crate) fn put_back(block: usize, Block { bytes, owner }: Block) {
    if owner != 0 {
        TABLE.put(block, bytes, owner);
    }
}

/// Passes the blocks of a tree whose thread has ended to other owners. `heir` maps the index of a node to the new owner.
pub(crate) fn hand_over(tree: &'static Tree, heir: impl Fn(u32) -> Owner) {
    if !tree.has_sampled_blocks() {
        return;
    }
    let (all, of_tree) = (TABLE.read(), Owner::of_tree(tree));
    for ((group, at), owner, _) in all {
        let Some(node) = Owner::numbered(owner).filter(|owner| of_tree.contains(owner)) else {
            continue;
        };
        // The block may be freed concurrently. Its slot is then free or has another owner, and the exchange fails.
        _ = TABLE.owners[group][at].compare_exchange(
            owner,
            heir(node.index()).number(),
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
    }
}

/// Returns the number of blocks that could not be put into the table.
pub(crate) fn lost() -> u64 {
    TABLE.lost.load(Ordering::Relaxed)
}

/// An estimate of live memory, made from sampled blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sampled {
    bytes: f64,
    variance: f64,
}

impl Sampled {
    /// Returns the memory that a sampled block stands for: the block itself, and blocks of the same size that contain no sampling
    /// point. A block of `bytes` bytes is sampled with probability `1 - exp(-bytes / LIVE_SAMPLE_BYTES)`.
    fn block(bytes: u64) -> Self {
        let sampled = -(-(bytes as f64) / LIVE_SAMPLE_BYTES as f64).exp_m1();
        let stands_for = bytes as f64 / sampled.max(f64::MIN_POSITIVE);
        Self {
            bytes: stands_for,
            variance: stands_for * stands_for * (1.0 - sampled),
        }
    }

    pub(crate) fn bytes(self) -> u64 {
        self.bytes.round() as u64
    }

    pub(crate) fn variance(self) -> u64 {
        self.variance.round() as u64
    }
}

impl AddAssign for Sampled {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.variance += other.variance;
    }
}

/// The live memory of all rows at one moment.
#[derive(Debug, Default)]
pub(crate) struct Live {
    /// The rows, sorted by owner in ascending order.
    rows: Vec<(Owner, Sampled)>,
}

impl Live {
    pub(crate) fn read() -> Self {
        let all = TABLE.read();
        let mut rows: Vec<(Owner, Sampled)> = all
            .filter_map(|(_, owner, bytes)| Some((Owner::numbered(owner)?, Sampled::block(bytes))))
            .collect();
        rows.sort_unstable_by_key(|&(owner, _)| owner);
        rows.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        Self { rows }
    }

    /// Returns the live memory of each owner in this range, with the index of the owner's node or row, in ascending order.
    pub(crate) fn of(&self, owners: RangeInclusive<Owner>) -> Vec<(u32, Sampled)> {
        let begin = self.rows.partition_point(|(owner, _)| owner < owners.start());
        let rows = self.rows[begin..].iter();
        rows.take_while(|(owner, _)| owner <= owners.end())
            .map(|&(owner, sampled)| (owner.index(), sampled))
            .collect()
    }
}

/// Hashes an address without its lowest bits, which are always 0 because blocks are aligned.
#[inline(always)]
fn hash(block: usize) -> u64 {
    (block as u64 >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[inline(always)]
fn filtered(hash: u64) -> usize {
    (hash >> (u64::BITS - FILTER.ilog2())) as usize
}

/// Returns a random distance to the next sampling point, exponentially distributed.
fn next_distance() -> u64 {
    let state = xorshift(RANDOM.get());
    RANDOM.set(state);
    let bits = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
    let uniform = (bits + 1) as f64 / (1u64 << 53) as f64;
    (-uniform.ln() * LIVE_SAMPLE_BYTES as f64) as u64
}

/// Returns the initial state of a thread's random number generator, computed with splitmix64. It is never 0.
fn seed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ mixed >> 31).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Whole = Table<GROUPS, GROUP>;

    fn all(table: &Whole) -> Vec<(u64, u64)> {
        let mut all: Vec<_> = table.read().map(|(_, owner, bytes)| (owner, bytes)).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn what_is_put_in_is_there_until_it_is_taken() {
        // The table is static because it is too large for the stack of a test.
        static TABLE: Whole = zeros();
        let table = &TABLE;
        assert!(!table.may_have(0x1000) && table.take(0x1000).is_none());
        for number in 1..=1_000 {
            table.put(0x1000 * number, number as u64, 7);
        }
        assert_eq!(all(table).len(), 1_000);
        // An address is in the table at most once.
        table.put(0x1000, 55, 8);
        assert_eq!(all(table).len(), 1_000);
        let taken = table.take(0x1000).unwrap();
        assert_eq!((taken.bytes, taken.owner), (55, 8));
        for number in 2..=1_000 {
            assert!(table.may_have(0x1000 * number));
            assert_eq!(table.take(0x1000 * number).unwrap().bytes, number as u64);
        }
        assert!(all(table).is_empty() && !table.may_have(0x1000));
        let mut filter = table.filter.iter();
        assert!(filter.all(|count| count.load(Ordering::Relaxed) == 0));
        // A full group keeps its blocks, and counts further blocks as lost.
        let same = |&block: &usize| Whole::places(hash(block)).eq(Whole::places(hash(0x10)));
        let blocks: Vec<usize> = (1..)
            .map(|number| number * 0x10)
            .filter(same)
            .take(GROUP + 3)
            .collect();
        for &block in &blocks {
            table.put(block, 1, 9);
        }
        assert_eq!((all(table).len(), table.lost.load(Ordering::Relaxed)), (GROUP, 3));
        assert!(blocks[..GROUP].iter().all(|&block| table.take(block).is_some()));
        assert!(table.take(blocks[GROUP]).is_none());
    }

    #[test]
    fn points_are_as_far_apart_as_they_should_be() {
        RANDOM.set(seed(3));
        let count = 100_000;
        let sum: f64 = (0..count).map(|_| next_distance() as f64).sum();
        let mean = sum / f64::from(count) / LIVE_SAMPLE_BYTES as f64;
        // The mean has a standard deviation of 0.3 %.
        assert!((mean - 1.0).abs() < 0.015, "{mean}");
    }

    #[test]
    fn a_block_stands_for_those_that_were_missed() {
        let mean = LIVE_SAMPLE_BYTES;
        // A small block is sampled with probability bytes / mean distance, and a large block is always sampled.
        let small = Sampled::block(64);
        let is_near = |found: f64, wanted: f64| (found / wanted - 1.0).abs() < 0.001;
        assert!(is_near(small.bytes, mean as f64), "{small:?}");
        assert!(is_near(small.variance, (mean as f64).powi(2)), "{small:?}");
        assert_eq!(Sampled::block(100 * mean).bytes(), 100 * mean);
        assert_eq!(Sampled::block(100 * mean).variance(), 0);
        assert!(Sampled::block(1).bytes().abs_diff(mean) <= 1);
    }

    #[test]
    fn a_row_has_what_its_owner_has() {
        let live = Live {
            rows: vec![
                (Owner::finished(0, 3), Sampled::block(1 << 30)),
                (Owner::finished(1, 2), Sampled::block(2 << 30)),
            ],
        };
        let rows = live.of(Owner::of_finished(1));
        assert_eq!((rows.len(), rows[0].0, rows[0].1.bytes()), (1, 2, 2 << 30));
        assert!(live.of(Owner::of_finished(2)).is_empty());
    }
}
