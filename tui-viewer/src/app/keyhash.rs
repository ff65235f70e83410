//! A quick hasher for keys that are hashes already: path ids and function keys.
//!
//! Speed matters because every update looks up every row of a large tree. A program could choose names whose keys
//! collide, but it could slow the viewer just as well with a huge tree.

use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

/// A map from keys that are hashes.
pub(crate) type KeyMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<KeyHasher>>;

/// A set of keys that are hashes.
pub(crate) type KeySet<K> = std::collections::HashSet<K, BuildHasherDefault<KeyHasher>>;

/// Returns a hash of the value.
pub(crate) fn number_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Mixes in each word with one multiplication.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyHasher(u64);

/// The fractional bits of the golden ratio: an odd number whose bits have no pattern.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for KeyHasher {
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(ODD);
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn finish(&self) -> u64 {
        // Multiplication carries bits only upward, but hash tables look at the low bits first.
        self.0.rotate_left(32)
    }
}
