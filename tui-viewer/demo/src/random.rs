//! Pseudo-random numbers. The same seed gives the same numbers, so every run makes the same requests.

/// A SplitMix64 generator.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// Returns a number from 0 to `limit - 1`. `limit` must not be 0.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        (self.next() % u64::from(limit)) as u32
    }

    /// Returns true in one out of `many` cases.
    pub(crate) fn one_in(&mut self, many: u32) -> bool {
        self.below(many) == 0
    }
}

/// Returns a number that looks random and depends on `number` alone.
pub(crate) fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
