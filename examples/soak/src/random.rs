//! Random numbers that can be repeated with the seed that was printed.

use std::time::Duration;

/// Marsaglia's xorshift.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Makes a sequence that differs for each seed and `part`.
    pub(crate) fn new(seed: u64, part: u64) -> Self {
        let mut random = Self((seed ^ part.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1);
        // The first numbers of small seeds are small.
        for _ in 0..8 {
            random.next();
        }
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `limit`, which must not be 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 11) % limit
    }

    /// Returns true once in `times` times on average.
    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Returns one of these; there must be at least one.
    pub(crate) fn of<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[self.below(things.len() as u64) as usize]
    }

    /// Returns a time between two limits in milliseconds.
    pub(crate) fn ms(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(least + self.below(most - least + 1))
    }
}
