//! Where a thread was when a timer interrupted it. The thread's signal handler writes, and the publisher reads.

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering, add};
use crate::enabled::record::arena::{Array, Ref, zeroed};
use crate::enabled::record::site::Site;

/// How many samples wait for the publisher at most: those of a quarter of a second, at a thousand a second.
const PLACES: u32 = 256;

/// A sample was taken while no scope was open.
const OUTSIDE: u32 = 1;
/// The thread was in an event of its tree.
const MEASURING: u32 = 2;

zeroed! {
    #[derive(Debug)]
    struct Place {
        site: Ref<Site>,
        /// [`OUTSIDE`] or [`MEASURING`] if there is no site.
        outside: AtomicU32,
        pc: AtomicU64,
        cpu_ns: AtomicU64,
    }
}

zeroed! {
    #[derive(Debug)]
    pub(crate) struct PcRing {
        written: AtomicU32,
        read: AtomicU32,
        /// Samples that had no place, and their CPU time.
        lost: AtomicU64,
        lost_ns: AtomicU64,
        /// The thread's CPU time at the last sample.
        cpu_ns: AtomicU64,
        places: [Place; PLACES as usize],
    }
}

/// Which code a thread was in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inside {
    Scope(&'static Site),
    NoScope,
    Event,
}

/// Where a thread was, and how much CPU time it had used since the sample before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PcSample {
    pub(crate) inside: Inside,
    pub(crate) pc: u64,
    pub(crate) cpu_ns: u64,
}

impl PcRing {
    /// Makes a ring; `None` if there is no memory.
    pub(crate) fn make() -> Option<&'static Self> {
        let pages: Array<Self> = Array::empty();
        pages.allocate(1).then(|| pages.get(0))?
    }

    /// Begins with a thread that has used so much CPU time. No timer runs for the thread before that.
    pub(crate) fn begin(&self, cpu_ns: u64) {
        self.cpu_ns.store(cpu_ns, Ordering::Relaxed);
    }

    /// Notes where the thread is, and its CPU time. Only its signal handler calls this.
    pub(crate) fn push(&self, inside: Inside, pc: u64, cpu_ns: u64) {
        let since = cpu_ns.saturating_sub(self.cpu_ns.load(Ordering::Relaxed));
        self.cpu_ns.store(cpu_ns, Ordering::Relaxed);
        let written = self.written.load(Ordering::Relaxed);
        // SYNC POINT: places that were read before they are written again.
        if written.wrapping_sub(self.read.load(Ordering::Acquire)) >= PLACES {
            add(&self.lost, 1);
            add(&self.lost_ns, since);
            return;
        }
        let place = &self.places[(written % PLACES) as usize];
        let (site, outside) = match inside {
            Inside::Scope(site) => (Some(site), 0),
            Inside::NoScope => (None, OUTSIDE),
            Inside::Event => (None, MEASURING),
        };
        place.site.set(site);
        place.outside.store(outside, Ordering::Relaxed);
        place.pc.store(pc, Ordering::Relaxed);
        place.cpu_ns.store(since, Ordering::Relaxed);
        // SYNC POINT: the place before its number.
        self.written.store(written.wrapping_add(1), Ordering::Release);
    }

    /// Takes all samples. Only one thread at a time calls this.
    pub(crate) fn take(&self, mut with: impl FnMut(PcSample)) {
        let written = self.written.load(Ordering::Acquire);
        let mut at = self.read.load(Ordering::Relaxed);
        while at != written {
            let place = &self.places[(at % PLACES) as usize];
            let inside = match (place.site.get(), place.outside.load(Ordering::Relaxed)) {
                (Some(site), _) => Inside::Scope(site),
                (None, OUTSIDE) => Inside::NoScope,
                (None, _) => Inside::Event,
            };
            with(PcSample {
                inside,
                pc: place.pc.load(Ordering::Relaxed),
                cpu_ns: place.cpu_ns.load(Ordering::Relaxed),
            });
            at = at.wrapping_add(1);
        }
        // SYNC POINT: what was read before the places are free.
        self.read.store(at, Ordering::Release);
    }

    /// Returns how many samples had no place so far, and their CPU time.
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

    static SITE: Site = Site::named("a", "m", "f.rs", 1);

    #[test]
    fn samples_come_out_in_their_order_and_none_is_lost_unsaid() {
        let ring = PcRing::make().unwrap();
        ring.begin(1_000);
        let mut now = 1_000;
        let mut push = |count: u64| {
            for pc in 0..count {
                now += 10;
                let inside = [Inside::Scope(&SITE), Inside::NoScope, Inside::Event][pc as usize % 3];
                ring.push(inside, pc, now);
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
            let kinds = taken.iter().map(|sample| match sample.inside {
                Inside::Scope(site) => u64::from(!std::ptr::eq(site, &SITE)),
                Inside::NoScope => 1,
                Inside::Event => 2,
            });
            assert!(kinds.eq((0..200).map(|pc| pc % 3)));
        }
        push(300);
        assert_eq!((take().len(), ring.lost()), (256, (44, 440)));
    }
}
