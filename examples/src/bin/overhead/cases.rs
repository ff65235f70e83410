//! The cases: what stands inside and around the scopes.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::LazyLock;

use tickscope_examples::{Frame, Plain, Probe, Scene, Scoped, probe};

use crate::modes::{Floor, Mode};

/// A way to spend time in scopes.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// How much one run does: scopes, or rows of the picture.
    pub(crate) amount: u64,
    plain: fn(u64),
    floor: fn(u64),
    scoped: fn(u64),
    counted: fn(u64),
}

/// Counts scopes and nothing else.
#[derive(Debug)]
struct Counted;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// === impl Counted ===

impl Probe for Counted {
    type Guard = ();

    fn begin(_: &'static str, _: impl FnOnce() -> tickscope::Scope) {
        COUNT.set(COUNT.get() + 1);
    }
}

// === impl Case ===

impl Case {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        CASES.iter().find(|case| case.name == name)
    }

    /// Runs it once.
    pub(crate) fn run(&self, mode: Mode) {
        self.run_so_much(mode, self.amount);
    }

    /// Runs another amount of it.
    pub(crate) fn run_so_much(&self, mode: Mode, amount: u64) {
        let body = match mode {
            Mode::Plain => self.plain,
            Mode::Floor => self.floor,
            Mode::Exact | Mode::ExactWithoutHistogram | Mode::Adaptive | Mode::Sampled | Mode::Off => {
                self.scoped
            }
        };
        body(amount);
    }

    /// Scopes in one run.
    pub(crate) fn scopes(&self) -> u64 {
        self.scopes_in(self.amount)
    }

    /// Scopes in another amount.
    pub(crate) fn scopes_in(&self, amount: u64) -> u64 {
        COUNT.set(0);
        (self.counted)(amount);
        COUNT.get()
    }
}

macro_rules! cases {
    ($($name:ident $amount:expr;)*) => {
        /// All cases.
        pub(crate) const CASES: &[Case] = &[$(Case {
            name: stringify!($name),
            amount: $amount,
            plain: $name::<Plain>,
            floor: $name::<Floor>,
            scoped: $name::<Scoped>,
            counted: $name::<Counted>,
        }),*];
    };
}

// Some two milliseconds each, the picture more: short beside an interruption, long beside the clock that times it.
cases! {
    empty 100_000;
    work20ns 60_000;
    sites8 100_000;
    nested8 100_000;
    recursion 100_000;
    body1us 2_000;
    cold5000 60_000;
    sphereflake SPHEREFLAKE_SIZE;
}

#[inline(never)]
fn empty<P: Probe>(scopes: u64) {
    for scope in 0..scopes {
        // Without it the plain loop would be none.
        black_box(scope);
        probe!(P, "empty");
    }
}

/// Steps of a generator, each needing the one before (Marsaglia's xorshift).
#[inline(always)]
fn work(steps: u32, seed: u64) -> u64 {
    (0..steps).fold(seed | 1, |x, _| {
        let x = x ^ x << 13;
        let x = x ^ x >> 7;
        x ^ x << 17
    })
}

#[inline(never)]
fn work20ns<P: Probe>(scopes: u64) {
    for seed in 0..scopes {
        probe!(P, "work20ns");
        black_box(work(24, seed));
    }
}

#[inline(never)]
fn body1us<P: Probe>(scopes: u64) {
    for seed in 0..scopes {
        probe!(P, "body1us");
        black_box(work(650, seed));
    }
}

/// One of many functions that take turns.
macro_rules! turns {
    ($probe:ty, $($name:literal)*) => {
        $({
            probe!($probe, $name);
            black_box(());
        })*
    };
}

#[inline(never)]
fn sites8<P: Probe>(scopes: u64) {
    for _ in 0..scopes / 8 {
        turns!(P, "site1" "site2" "site3" "site4" "site5" "site6" "site7" "site8");
    }
}

#[inline(never)]
fn nested8<P: Probe>(scopes: u64) {
    fn level<P: Probe>() {
        probe!(P, "level1");
        probe!(P, "level2");
        probe!(P, "level3");
        probe!(P, "level4");
        probe!(P, "level5");
        probe!(P, "level6");
        probe!(P, "level7");
        probe!(P, "level8");
        black_box(());
    }
    for _ in 0..scopes / 8 {
        level::<P>();
    }
}

#[inline(never)]
fn recursion<P: Probe>(scopes: u64) {
    #[inline(never)]
    fn down<P: Probe>(left: u32) -> u32 {
        probe!(P, "recursion");
        if left == 0 {
            0
        } else {
            black_box(down::<P>(left - 1)) + 1
        }
    }
    for _ in 0..scopes / 20 {
        black_box(down::<P>(19));
    }
}

/// Seventeen functions, all of which call all: what the digits of `path` to the base 17 say, so many levels deep.
pub(crate) fn deep<P: Probe>(path: u64, levels: u32) {
    macro_rules! pick {
        ($($digit:literal $name:literal)*) => {
            match path % 17 {
                $($digit => {
                    probe!(P, $name);
                    if levels > 1 {
                        deep::<P>(path / 17, levels - 1);
                    }
                    black_box(());
                })*
                _ => {}
            }
        };
    }
    pick! {
        0 "c0" 1 "c1" 2 "c2" 3 "c3" 4 "c4" 5 "c5" 6 "c6" 7 "c7" 8 "c8" 9 "c9" 10 "c10" 11 "c11" 12 "c12" 13 "c13"
        14 "c14" 15 "c15" 16 "c16"
    }
}

/// Three levels of them: 4913 leaves and 306 nodes above, visited at random.
#[inline(never)]
fn cold5000<P: Probe>(scopes: u64) {
    let mut random = 1;
    for _ in 0..scopes / 3 {
        random = work(1, random);
        deep::<P>(random >> 20, 3);
    }
}

/// 96 x 96 pixels of the reference picture, again and again; of the last one the rows in the middle.
const SPHEREFLAKE_SIZE: u64 = 96;

fn sphereflake<P: Probe>(rows: u64) {
    static SCENE: LazyLock<Scene> = LazyLock::new(|| Scene::build::<Plain>(6));
    let whole = (0..rows / SPHEREFLAKE_SIZE).map(|_| SPHEREFLAKE_SIZE);
    for rows in whole.chain([rows % SPHEREFLAKE_SIZE]) {
        let frame = Frame::new(&*SCENE, SPHEREFLAKE_SIZE as usize, rows as usize);
        frame.work::<P>(|_, pixels| drop(black_box(pixels)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_open_as_many_scopes_as_they_are_asked_to() {
        for case in CASES {
            let [half, whole] = [case.amount / 2, case.amount].map(|amount| case.scopes_in(amount));
            assert!(whole >= 2_000 && half < whole, "{}: {half}, {whole}", case.name);
            let ratio = whole as f64 / half as f64;
            // The middle of the picture has more rays that hit something.
            assert!((1.2..2.3).contains(&ratio), "{}: {half}, {whole}", case.name);
        }
    }
}
