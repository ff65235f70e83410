//! The cases: what stands inside and around the scopes.

use std::hint::black_box;

use tickscope_examples::{Plain, Probe, Scene, Scoped, probe, render};

/// What surrounds the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nothing.
    Plain,
    /// Two bare reads of the time stamp counter.
    Floor,
    /// A scope.
    Exact,
}

/// Two bare reads of the time stamp counter, at the beginning and the end.
#[derive(Debug)]
pub(crate) struct Floor;

/// Reads the clock when it goes.
#[derive(Debug)]
pub(crate) struct Read;

/// A way to spend time in scopes.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Scopes in one run.
    pub(crate) scopes: u64,
    plain: fn(u64),
    floor: fn(u64),
    exact: fn(u64),
}

// === impl Mode ===

impl Mode {
    pub(crate) const ALL: [Self; 3] = [Self::Plain, Self::Floor, Self::Exact];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Floor => "floor",
            Self::Exact => "exact",
        }
    }
}

// === impl Floor ===

impl Probe for Floor {
    type Guard = Read;

    #[inline(always)]
    fn begin(_: &'static str, _: impl FnOnce() -> tickscope::Scope) -> Read {
        black_box(tickscope::__private::tsc());
        Read
    }
}

impl Drop for Read {
    #[inline(always)]
    fn drop(&mut self) {
        black_box(tickscope::__private::tsc());
    }
}

// === impl Case ===

impl Case {
    /// Runs it once.
    pub(crate) fn run(&self, mode: Mode) {
        let body = match mode {
            Mode::Plain => self.plain,
            Mode::Floor => self.floor,
            Mode::Exact => self.exact,
        };
        body(self.scopes);
    }
}

macro_rules! cases {
    ($($name:ident $scopes:expr;)*) => {
        /// All cases.
        pub(crate) const CASES: &[Case] = &[$(Case {
            name: stringify!($name),
            scopes: $scopes,
            plain: $name::<Plain>,
            floor: $name::<Floor>,
            exact: $name::<Scoped>,
        }),*];
    };
}

// Some two milliseconds each: short beside an interruption, long beside the clock that times it.
cases! {
    empty 100_000;
    work20ns 60_000;
    sites8 100_000;
    nested8 100_000;
    recursion 100_000;
    body1us 2_000;
    cold5000 60_000;
    sphereflake SPHEREFLAKE_SCOPES;
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

/// Seventeen functions three deep: 4913 leaves and 306 nodes above them, visited at random.
#[inline(never)]
fn cold5000<P: Probe>(scopes: u64) {
    fn visit<P: Probe>(path: u64, left: u32) {
        macro_rules! pick {
            ($($digit:literal $name:literal)*) => {
                match path % 17 {
                    $($digit => {
                        probe!(P, $name);
                        if left > 1 {
                            visit::<P>(path / 17, left - 1);
                        }
                        black_box(());
                    })*
                    _ => {}
                }
            };
        }
        pick! {
            0 "c0" 1 "c1" 2 "c2" 3 "c3" 4 "c4" 5 "c5" 6 "c6" 7 "c7" 8 "c8" 9 "c9" 10 "c10" 11 "c11" 12 "c12"
            13 "c13" 14 "c14" 15 "c15" 16 "c16"
        }
    }
    let mut random = 1;
    for _ in 0..scopes / 3 {
        random = work(1, random);
        visit::<P>(random >> 20, 3);
    }
}

/// 128 x 128 pixels of the reference picture: its rays, and those of its shadows as counted.
const SPHEREFLAKE_SIZE: usize = 128;
const SPHEREFLAKE_SCOPES: u64 = 154_142;

fn sphereflake<P: Probe>(_: u64) {
    thread_local! {
        static SCENE: Scene = Scene::build::<Plain>(6);
    }
    SCENE.with(|scene| {
        black_box(render::<P>(scene, SPHEREFLAKE_SIZE, SPHEREFLAKE_SIZE, 1));
    });
}
