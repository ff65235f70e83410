//! What a scope costs on this machine, as two bounds: reads of the clock overlap with the work around them, so
//! there is no one true figure.

use std::hint::black_box;

use crate::clock::Moment;
use crate::options::Clock;
use crate::site::Site;
use crate::tree::{NO_LIMIT, Tree};

static TREE: Tree = Tree::new();
static SITE: Site = Site::named("(calibration)", module_path!(), file!(), line!());

/// Scopes in a batch; the best of [`BATCHES`] counts, so that an interruption does not.
const SCOPES: u32 = 1000;
const BATCHES: u32 = 7;

/// Lower and upper bound of a scope's cost in nanoseconds: around some 50 ns of work, and in an empty loop.
/// Takes about half a millisecond. Only one thread at a time may call this.
pub(crate) fn bounds(clock: Clock) -> (f64, f64) {
    if !TREE.open(clock.now(), NO_LIMIT, 4, 4) {
        return (0.0, 0.0);
    }
    let empty = |_: u64| {};
    let plain = best(clock, spend);
    let around_work = best(clock, |seed| scoped(clock, || spend(seed)));
    let nothing = best(clock, empty);
    let around_nothing = best(clock, |seed| scoped(clock, || empty(seed)));
    let upper = (around_nothing - nothing).max(0.0);
    ((around_work - plain).clamp(0.0, upper), upper)
}

/// Some 50 ns of work of which each step waits for the one before, and that leaves the CPU room for a clock
/// read beside it, as waiting for memory does: a chain of square roots.
fn spend(seed: u64) {
    black_box((0..24).fold(seed as f64 + 2.0, |x, _| x.sqrt() + 1.5));
}

#[inline(always)]
fn scoped(clock: Clock, body: impl FnOnce()) {
    let Some(current) = TREE.take() else { return };
    let child = Tree::recent_child(current, &SITE).or_else(|| TREE.find_child(current, &SITE, || true));
    let Some(child) = child else {
        return TREE.put(current);
    };
    TREE.begin(current, child, clock.now(), 1);
    body();
    TREE.end_innermost(child, || clock.now());
}

/// Nanoseconds of one call of `body`, in the best batch.
#[inline(always)]
fn best(clock: Clock, body: impl Fn(u64)) -> f64 {
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

    #[test]
    fn the_lower_bound_is_not_above_the_upper() {
        let (lower, upper) = bounds(Clock::Tsc);
        assert!(
            lower >= 0.0 && lower <= upper && upper > 0.0 && upper.is_finite(),
            "{lower} {upper}"
        );
    }
}
