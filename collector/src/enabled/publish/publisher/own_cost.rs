//! The cost of measuring, as snapshots show it: the cost of a scope, and the publisher's CPU time.

use tickscope_format::snapshot::Cost;

use crate::enabled::capture::capture_lock;
use crate::enabled::platform::{clock_drain, os, signals, threads};
use crate::enabled::publish::overhead;
use crate::enabled::record::mode_switch::{self, Switch};
use crate::enabled::runtime::config;

/// The shortest time over which the publisher's CPU share is computed, in nanoseconds.
const SHARE_LEAST_NS: u64 = 5_000_000;

#[derive(Default)]
pub(super) struct OwnCost {
    cost: Cost,
    /// The mode switch for which the cost of a scope was last measured.
    measured_for: Option<Switch>,
    /// The publisher's CPU time and the monotonic time when the share was last computed, in nanoseconds.
    share_since: (u64, u64),
    /// Id of the publisher's thread; 0 before the thread has begun. Only this thread's CPU time is the publisher's.
    tid: u32,
}

impl OwnCost {
    /// Notes that the calling thread is the publisher's thread.
    pub(super) fn begin(&mut self) {
        self.tid = threads::thread_id();
        self.share_since = (os::own_cpu_ns(), os::monotonic_ns());
    }

    pub(super) fn has_begun(&self) -> bool {
        self.tid != 0
    }

    fn is_in_own_thread(&self) -> bool {
        self.tid == threads::thread_id()
    }

    /// Returns the newest known cost.
    pub(super) fn now(&mut self) -> Cost {
        if self.is_in_own_thread() {
            self.cost.publisher_cpu_ns = os::own_cpu_ns();
        }
        self.cost
    }

    /// Computes the publisher's share of a core since the previous record began. Called when a record begins, so the share
    /// includes the cost of the previous record.
    pub(super) fn note_share(&mut self, cpu_ns: u64) {
        let now_ns = os::monotonic_ns();
        let passed = now_ns.saturating_sub(self.share_since.1);
        if passed >= SHARE_LEAST_NS && self.is_in_own_thread() {
            self.cost.publisher_share = cpu_ns.saturating_sub(self.share_since.0) as f64 / passed as f64;
            self.share_since = (cpu_ns, now_ns);
        }
    }

    /// Measures the cost of a scope in the current mode. Returns false if that cost is already known.
    pub(super) fn measure(&mut self) -> bool {
        let switch = mode_switch::newest();
        if self.measured_for == Some(switch) || !config::is_settled() {
            return false;
        }
        let bounds = overhead::bounds(switch);
        (self.cost.lower_ns, self.cost.upper_ns) = (bounds.lower, bounds.upper);
        // The effect of clock reads on memory loads does not depend on the mode, so it is measured only once.
        let drains_ns = self.measured_for.is_none().then(|| {
            let clock = config::get().chosen.clock;
            signals::without_signals(|| clock_drain::drains_ns(clock))
        });
        self.measured_for = Some(switch);
        capture_lock::with(|state| {
            state.session.timed_ns = (bounds.timed, bounds.timed_within);
            if let Some(drains_ns) = drains_ns {
                state.session.drains_ns = drains_ns;
            }
        });
        true
    }
}
