//! Code samples: the places in the code at which a timer has interrupted a thread. The thread's signal handler writes the
//! samples, and the publisher reads them.

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering, add};
use crate::enabled::record::arena::{Array, zeroed, zeros};
use crate::enabled::record::owner::Owner;

/// Maximum number of samples that can wait for the publisher: enough for a quarter of a second at 1000 samples a second.
const PLACES: u32 = 256;

zeroed! {
    #[derive(Debug)]
    struct Place {
        /// The number of the [`Owner`] to which the sample belongs; 0 if the thread was handling an event of its tree.
        inside: AtomicU64,
        pc: AtomicU64,
        cpu_ns: AtomicU64,
    }
}

zeroed! {
    #[derive(Debug)]
    pub(crate) struct PcRing {
        written: AtomicU32,
        read: AtomicU32,
        /// Number of samples that were lost because the ring was full.
        lost: AtomicU64,
        /// CPU time of the lost samples, in ns.
        lost_ns: AtomicU64,
        /// The thread's CPU time at the last sample, in ns.
        cpu_ns: AtomicU64,
        places: [Place; PLACES as usize],
    }
}

/// Where a thread was in the code, and how much CPU time, in ns, it has used since its previous sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PcSample {
    /// The innermost open node, which is the root if no scope is open; `None` if the thread was handling an event of its tree.
    pub(crate) inside: Option<Owner>,
    pub(crate) pc: u64,
    pub(crate) cpu_ns: u64,
}

impl PcRing {
    /// Makes a ring; `None` if there is no memory.
    pub(crate) fn make() -> Option<&'static Self> {
        let pages: Array<Self> = zeros();
        pages.allocate(1).then(|| pages.get(0))?
    }

    /// Prepares the ring for a thread that has used `cpu_ns` of CPU time. The thread's timer must not run yet.
    pub(crate) fn begin(&self, cpu_ns: u64) {
        self.cpu_ns.store(cpu_ns, Ordering::Relaxed);
    }

    /// Records the thread's program counter and its CPU time. Only the thread's signal handler may call this.
    pub(crate) fn push(&self, inside: Option<Owner>, pc: u64, cpu_ns: u64) {
        let since = cpu_ns.saturating_sub(self.cpu_ns.load(Ordering::Relaxed));
        self.cpu_ns.store(cpu_ns, Ordering::Relaxed);
        let written = self.written.load(Ordering::Relaxed);
        // SYNC POINT: a slot is written again only after the publisher has read it (pairs with `take`).
        if written.wrapping_sub(self.read.load(Ordering::Acquire)) >= PLACES {
            add(&self.lost, 1);
            add(&self.lost_ns, since);
            return;
        }
        let place = &self.places[(written % PLACES) as usize];
        place
            .inside
            .store(inside.map_or(0, Owner::number), Ordering::Relaxed);
        place.pc.store(pc, Ordering::Relaxed);
        place.cpu_ns.store(since, Ordering::Relaxed);
        // SYNC POINT: the slot is written before `written` counts it.
        self.written.store(written.wrapping_add(1), Ordering::Release);
    }

    /// Takes all samples out of the ring. Only one thread at a time may call this.
    pub(crate) fn take(&self, mut with: impl FnMut(PcSample)) {
        let written = self.written.load(Ordering::Acquire);
        let mut at = self.read.load(Ordering::Relaxed);
        while at != written {
            let place = &self.places[(at % PLACES) as usize];
            with(PcSample {
                inside: Owner::numbered(place.inside.load(Ordering::Relaxed)),
                pc: place.pc.load(Ordering::Relaxed),
                cpu_ns: place.cpu_ns.load(Ordering::Relaxed),
            });
            at = at.wrapping_add(1);
        }
        // SYNC POINT: the samples are read before `read` frees their slots.
        self.read.store(at, Ordering::Release);
    }

    /// Returns the number of lost samples so far, and their CPU time in ns.
    pub(crate) fn lost(&self) -> (u64, u64) {
        (
            self.lost.load(Ordering::Relaxed),
            self.lost_ns.load(Ordering::Relaxed),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_out_in_their_order_and_none_is_lost_unsaid() {
        let ring = PcRing::make().unwrap();
        ring.begin(1_000);
        let mut now = 1_000;
        let mut push = |count: u64| {
            for pc in 0..count {
                now += 10;
                ring.push(Owner::numbered(pc % 3), pc, now);
            }
        };
        let take = || {
            let mut taken = Vec::new();
            ring.take(|sample| taken.push(sample));
            taken
        };
        for _ in 0..3 {
            push(200);
            let taken = take();
            assert!(taken.iter().map(|sample| sample.pc).eq(0..200));
            assert!(taken.iter().all(|sample| sample.cpu_ns == 10));
            let inside = taken.iter().map(|sample| sample.inside);
            assert!(inside.eq((0..200).map(|pc| Owner::numbered(pc % 3))));
        }
        push(300);
        assert_eq!((take().len(), ring.lost()), (256, (44, 440)));
    }
}
