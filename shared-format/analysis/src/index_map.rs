//! Hash maps whose keys are indices.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

/// Hash map whose keys are indices of rows, sites or functions.
pub(crate) type IndexMap<K, V> = HashMap<K, V, IndexState>;

/// Starts each hash from a number that differs between processes, so that nobody can craft a file whose indices all collide.
#[derive(Clone, Copy)]
pub(crate) struct IndexState(u64);

impl Default for IndexState {
    fn default() -> Self {
        static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));
        Self(*SEED)
    }
}

impl BuildHasher for IndexState {
    type Hasher = IndexHasher;

    fn build_hasher(&self) -> IndexHasher {
        IndexHasher(self.0)
    }
}

/// Mixes in each index with a single multiplication. This must be fast, because every row of a tree is looked up.
#[derive(Clone, Copy)]
pub(crate) struct IndexHasher(u64);

impl Hasher for IndexHasher {
    fn write_u32(&mut self, index: u32) {
        // An odd number whose bits show no pattern: the fractional part of the golden ratio, multiplied by 2^64.
        self.0 = (self.0.rotate_left(32) ^ u64::from(index)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    fn finish(&self) -> u64 {
        // The multiplication mixes the high bits best, but hash tables use the low bits first.
        self.0.rotate_left(32)
    }
}
