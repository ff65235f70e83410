//! Random numbers for choosing moments. They are fast and not suitable for secrets.

/// Returns the next state, which is never 0, by Marsaglia's xorshift64.
pub(crate) fn step(state: u64) -> u64 {
    let x = state ^ state << 13;
    let x = x ^ x >> 7;
    x ^ x << 17
}
