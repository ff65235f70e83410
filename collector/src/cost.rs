//! What a scope costs on this machine, as two bounds: what is around it overlaps with the work in it, so there is no
//! one true figure. Each mode has its own.

use std::hint::black_box;
use std::sync::atomic::Ordering;

use tickscope_format::snapshot::Mode;

use crate::clock::Moment;
use crate::process;
use crate::scope;
use crate::site::{Gate, Site};
use crate::switch::Switch;
use crate::threads;
use crate::tree::{NO_LIMIT, Path, Tree};

/// Not in the registry: what is measured here is shown nowhere.
static TREE: Tree = Tree::new();
static SITE: Site = Site::named("(calibration)", module_path!(), file!(), line!());

/// Scopes in a batch; the best of [`BATCHES`] counts, so that an interruption does not.
const SCOPES: u32 = 1000;
const BATCHES: u32 = 7;

/// Calls of the calibrated node that count as timed already: adaptive mode has settled on its rate.
const TIMED: u64 = 1 << 20;

/// Lower and upper bound of a scope's cost in nanoseconds, as it is measured after a switch: around some 50 ns of work,
/// and in an empty loop. Takes about half a millisecond. Only one thread at a time may call this.
pub(crate) fn bounds(switch: Switch) -> (f64, f64) {
    let path = match switch.mode {
        Mode::Adaptive => Path::Adaptive,
        Mode::Sampled => Path::Sampled,
        Mode::Off => Path::Off,
        Mode::Exact | _ => process::exact_path(),
    };
    if !TREE.open(process::now(), NO_LIMIT, 4, 4) {
        return (0.0, 0.0);
    }
    TREE.set_path(path);
    let latencies = switch.histograms || switch.mode == Mode::Adaptive;
    TREE.wants_latencies
        .store(u32::from(latencies), Ordering::Relaxed);
    SITE.set_gate(if switch.mode == Mode::Off {
        Gate::Shut
    } else {
        Gate::Open
    });
    let (lower, upper) = threads::with_tree(&TREE, || {
        settle_rate();
        let empty = |_: u64| {};
        let scoped = |body: fn(u64)| {
            move |seed| {
                let _scope = scope::enter(&SITE);
                body(seed);
            }
        };
        let upper = best(scoped(empty)) - best(empty);
        (best(scoped(spend)) - best(spend), upper.max(0.0))
    });
    (lower.clamp(0.0, upper), upper)
}

/// Lets the node look as if short calls of it had been timed for long.
fn settle_rate() {
    drop(scope::enter(&SITE));
    let node = TREE
        .current
        .get()
        .and_then(|root| Tree::recent_child(root, &SITE));
    if let Some(latency) = node.and_then(|node| node.latency.get()) {
        latency.timed.store(TIMED, Ordering::Relaxed);
        latency.timed_ticks.store(TIMED * 100, Ordering::Relaxed);
    }
}

/// Some 50 ns of work of which each step waits for the one before, and that leaves the CPU room for a clock
/// read beside it, as waiting for memory does: a chain of square roots.
fn spend(seed: u64) {
    black_box((0..24).fold(seed as f64 + 2.0, |x, _| x.sqrt() + 1.5));
}

/// Nanoseconds of one call of `body`, in the best batch.
#[inline(always)]
fn best(body: impl Fn(u64)) -> f64 {
    let clock = process::fixed().chosen.clock;
    let batch = || {
        let begin = Moment::now(clock);
        for seed in 0..SCOPES {
            body(black_box(u64::from(seed)));
        }
        Moment::now(clock).ns.saturating_sub(begin.ns) as f64 / f64::from(SCOPES)
    };
    (0..BATCHES).map(|_| batch()).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switch;

    #[test]
    fn bounds_are_in_order_and_modes_below_exact_cost_less() {
        process::fixed();
        let of = |mode| {
            let (lower, upper) = bounds(Switch {
                mode,
                ..switch::newest()
            });
            assert!(
                0.0 <= lower && lower <= upper && upper.is_finite(),
                "{mode:?}: {lower} {upper}"
            );
            upper
        };
        let [exact, adaptive, sampled, off] = Mode::ALL.map(of);
        assert!(exact > 0.0);
        // By far: twice the clock is not read, or not often.
        assert!(
            adaptive < exact && sampled < exact && off < exact,
            "{adaptive} {sampled} {off} of {exact}"
        );
    }
}
