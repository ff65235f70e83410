//! Random numbers for choosing moments: quick, and not for secrets.

/// The state after this one, which is never 0: Marsaglia's xorshift64.
pub(crate) fn step(state: u64) -> u64 {
    let x = state ^ state << 13;
    let x = x ^ x >> 7;
    x ^ x << 17
}
