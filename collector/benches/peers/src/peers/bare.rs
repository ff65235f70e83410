//! The floor: two bare reads of the time stamp counter.

use std::hint::black_box;

use tickscope_examples::Probe;

use crate::peer::Peer;

/// Reads the clock at the beginning and the end, and forgets what it read.
#[derive(Debug)]
pub(crate) struct Floor;

/// Reads the clock when it goes.
#[derive(Debug)]
pub(crate) struct Read;

// === impl Floor ===

impl Probe for Floor {
    type Guard = Read;

    #[inline(always)]
    fn begin(_: &'static str, _: impl FnOnce() -> tickscope::Scope) -> Read {
        black_box(tickscope::__private::tsc());
        Read
    }
}

impl Peer for Floor {
    fn start() -> Self {
        Self
    }

    fn finish(self) -> Option<u64> {
        None
    }
}

// === impl Read ===

impl Drop for Read {
    #[inline(always)]
    fn drop(&mut self) {
        black_box(tickscope::__private::tsc());
    }
}
