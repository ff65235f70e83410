//! Measures the cost of a scope on this machine, as a lower and an upper bound. The CPU overlaps the code of a scope
//! with the work inside it, so the cost has no single true value. Each mode has its own bounds.

use std::hint::black_box;
use std::sync::{Mutex, TryLockError};

#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use tickscope_format::snapshot::CALL_IN_PROGRAM;
use tickscope_format::snapshot::{Cost, Snapshot};

use crate::enabled::platform::signals;
use crate::enabled::platform::sync::{AtomicU64, Ordering};
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::platform::{sleds, threads};
use crate::enabled::record::arena::zeros;
use crate::enabled::record::current_thread;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::record::function_sites;
use crate::enabled::record::mode_switch::{self, Switch};
use crate::enabled::record::node::Node;
use crate::enabled::record::site::{Site, SiteState};
use crate::enabled::record::tree::{NO_LIMIT, Path, Tree};
use crate::enabled::runtime::clock_rate::Moment;
use crate::enabled::runtime::config;
use crate::enabled::scope;
use crate::types::Clock;

/// The tree that records the measured scopes. It is not in the registry, so captures never read it.
static TREE: Tree = zeros();
static SITE: Site = Site::named("(calibration)", module_path!(), file!(), line!());

/// Locked during a measurement.
static ALONE: Mutex<()> = Mutex::new(());

/// Number of scopes in a batch. The fastest of [`BATCHES`] batches is used, so that interruptions do not matter.
const SCOPES: u32 = 250;
const BATCHES: u32 = 7;

/// Number of timed calls in a batch.
const TIMED_IN_BATCH: u64 = 64;

/// Number of timed calls that `pretend` gives a node. With the next one, the rate is recomputed.
const TIMED: u64 = (1 << 20) - 1;

/// Cost of a scope, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bounds {
    /// Cost of a scope around about 50 ns of work.
    pub(crate) lower: f64,
    /// Cost of a scope in an empty loop.
    pub(crate) upper: f64,
    /// In adaptive mode: cost of a timed call around about 50 ns of work. `timed_within` is the part of this cost that
    /// is counted as the call's own time. Both are 0 with a clock of the program's own, which may stand still during a
    /// scope, or may be moved by other threads.
    pub(crate) timed: f64,
    pub(crate) timed_within: f64,
}

/// Measures the cost of a scope in the mode of `switch`. This takes about 0.2 ms, or 1 ms in adaptive mode. All
/// measurements share one tree. Returns zeros if the tree cannot be opened, or if it is in use by another measurement,
/// either on another thread or further up this thread's call stack.
pub(crate) fn bounds(switch: Switch) -> Bounds {
    let _alone = match ALONE.try_lock() {
        Ok(alone) => alone,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return Bounds::default(),
    };
    if !open_tree(switch, &SITE) {
        return Bounds::default();
    }
    // Signals are blocked, because the scopes of a signal handler would also be recorded in this tree.
    signals::without_signals(|| current_thread::with_tree(&TREE, || measured(switch)))
}

/// Opens [`TREE`] and gives it a node for `site`. Returns false if the tree cannot be opened.
fn open_tree(switch: Switch, site: &'static Site) -> bool {
    if !TREE.open(config::now(), NO_LIMIT, 4, 4) {
        return false;
    }
    TREE.set_path(Path::of(switch.mode, config::exact_path()));
    TREE.wants_latencies
        .store(u32::from(switch.wants_latencies()), Ordering::Relaxed);
    site.set_state(if switch.mode.traits().is_counting {
        SiteState::Enabled
    } else {
        SiteState::Disabled
    });
    // The node is made here without a limit check, so it does not count towards the limit of the process.
    if let Some(root) = TREE.take() {
        TREE.add_child(root, site, || true);
        TREE.put(root);
    }
    true
}

/// Measures the cost, in nanoseconds, of a call to a function whose sleds are on, in the mode of `switch`. Returns 0 if
/// no measurement is possible now.
///
/// The result is the cost in an empty loop, multiplied by [`CALL_IN_PROGRAM`]. The factor is needed because a call
/// costs more in a program, where the function's memory is no longer in the nearest cache and a clock read has to wait
/// for earlier instructions. In ripgrep, for example, a call cost 31 ns instead of 21 ns.
///
/// In adaptive mode, `skips` is whether all calls skip the clock. If not, some of them are timed.
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
pub(crate) fn function_call_ns(switch: Switch, skips: bool) -> f64 {
    let Ok(_alone) = ALONE.try_lock() else { return 0.0 };
    let Some((number, site, trampolines)) = function_sites::to_measure() else {
        return 0.0;
    };
    let (low, bytes) = threads::own_stack();
    let ready = open_tree(switch, site) && TREE.frames.begin(low, bytes);
    let node = TREE.current.get().and_then(|root| Tree::recent_child(root, site));
    let Some(node) = node.filter(|_| ready) else {
        return 0.0;
    };
    // The frame is made in advance, because in a program most calls find a frame that is already made.
    TREE.frames.open_next(low, node);
    TREE.frames.close_all(|_| 0, true);
    if skips {
        node.skip.store(u32::MAX, Ordering::Relaxed);
    }
    signals::without_signals(|| {
        current_thread::with_tree(&TREE, || {
            let (entry, ret) = (trampolines.entry, trampolines.ret);
            // SAFETY: the trampolines belong to the function with this number.
            let measured = best(|_| unsafe { sleds::measured_call(number, entry, ret) });
            let plain = best(|_| sleds::plain_call(number, entry, ret));
            CALL_IN_PROGRAM * (measured - plain).max(0.0)
        })
    })
}

/// Measures the bounds, with [`TREE`] as the tree of the calling thread.
fn measured(switch: Switch) -> Bounds {
    drop(scope::enter(&SITE));
    let node = TREE
        .current
        .get()
        .and_then(|root| Tree::recent_child(root, &SITE));
    let working = |chain: &mut f64| {
        let _scope = scope::enter(&SITE);
        spend(chain);
    };
    let plain = best(spend);
    let mut bounds = Bounds::default();
    if switch.mode.times_some_calls()
        && !matches!(config::get().chosen.clock, Clock::Custom(..))
        && let Some(node) = node
    {
        // The node's calls appear to be long, so every call is timed.
        pretend(node, 1 << 30);
        bounds.timed = (best(working) - plain).max(0.0);
        // One call in eight is timed, and the CPU cannot predict which ones.
        pretend(node, 24_000);
        bounds.timed_within = (best_within(node, working) - plain).clamp(0.0, bounds.timed);
        // The node's calls appear to be about as long as they really are.
        pretend(node, 300);
    }
    let nothing = |_: &mut f64| {
        let _scope = scope::enter(&SITE);
        black_box(());
    };
    bounds.upper = (best(nothing) - best(|_| black_box(()))).max(0.0);
    bounds.lower = (best(working) - plain).clamp(0.0, bounds.upper);
    bounds
}

/// Makes a node look as if many of its calls had been timed and had taken `ticks` each.
fn pretend(node: &'static Node, ticks: u64) {
    if let Some(latency) = node.latency.get() {
        latency.timed.store(TIMED, Ordering::Relaxed);
        latency.timed_ticks.store(TIMED * ticks, Ordering::Relaxed);
    }
    // The next call is timed, and determines how often later calls are timed.
    node.skip.store(0, Ordering::Relaxed);
}

/// About 50 ns of work: a chain of square roots in which each step needs the result of the previous one, even across
/// calls. Like a wait for memory, the chain leaves the CPU free for other instructions.
fn spend(chain: &mut f64) {
    *chain = black_box((0..10).fold(*chain, |x, _| x.sqrt() + 1.5));
}

/// Runs `body` in batches, and returns the mean time of the node's timed calls in the fastest batch, in nanoseconds.
fn best_within(node: &'static Node, body: impl Fn(&mut f64)) -> f64 {
    let Some(latency) = node.latency.get() else {
        return 0.0;
    };
    let timed = || {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (count(&latency.timed), count(&latency.timed_ticks))
    };
    let batch = || {
        let before = timed();
        let mut chain = 2.0;
        while timed().0 < before.0 + TIMED_IN_BATCH {
            (0..SCOPES).for_each(|_| body(&mut chain));
        }
        let after = timed();
        (after.1 - before.1) as f64 / (after.0 - before.0) as f64
    };
    let ticks = (0..BATCHES).map(|_| batch()).fold(f64::INFINITY, f64::min);
    ticks * 1e9 / config::ticks_per_second()
}

/// Returns the time of one call of `body` in ns, in the fastest batch.
#[inline(always)]
fn best(body: impl Fn(&mut f64)) -> f64 {
    let clock = config::get().chosen.clock;
    let batch = || {
        let begin = Moment::now(clock);
        let mut chain = 2.0;
        for _ in 0..SCOPES {
            body(&mut chain);
        }
        Moment::now(clock).ns.saturating_sub(begin.ns) as f64 / f64::from(SCOPES)
    };
    (0..BATCHES).map(|_| batch()).fold(f64::INFINITY, f64::min)
}

/// Fills in the cost of a scope if no publisher has measured it yet.
pub(crate) fn fill_in(snapshot: &mut Snapshot) {
    if snapshot.capture.cost == Cost::default() {
        let bounds = bounds(mode_switch::newest());
        snapshot.capture.cost = Cost {
            lower_ns: bounds.lower,
            upper_ns: bounds.upper,
            ..Cost::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::mode_switch;

    #[test]
    fn bounds_are_in_order() {
        config::get();
        let of = |mode| {
            let bounds = bounds(Switch {
                mode,
                ..mode_switch::newest()
            });
            assert!(0.0 <= bounds.lower, "{mode:?}: {bounds:?}");
            assert!(bounds.lower <= bounds.upper, "{mode:?}: {bounds:?}");
            assert!(bounds.upper.is_finite(), "{mode:?}: {bounds:?}");
            bounds
        };
        // The test does not compare the modes with each other, because on a busy machine any of them may come out
        // cheapest. `tickscope-bench overhead` compares them.
        let [exact, adaptive, ..] = tickscope_format::snapshot::Mode::ALL.map(of);
        assert!(exact.upper > 0.0);
        assert!(0.0 <= adaptive.timed_within, "{adaptive:?}");
        assert!(adaptive.timed_within <= adaptive.timed, "{adaptive:?}");
    }
}
