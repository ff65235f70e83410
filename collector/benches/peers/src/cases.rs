//! The cases: the same as those of the `overhead` example, cut into passes.
//!
//! A pass is a frame to puffin and a trace to fastrace. fastrace keeps 10 240 spans of a trace and drops the
//! others, so a pass has fewer.

use std::hint::black_box;

use tickscope_examples::{Frame, Plain, Scene, probe};

use crate::peer::Peer;

/// Scopes in a pass.
const PASS: u64 = 10_000;

macro_rules! cases {
    ($($name:ident $scopes:expr;)*) => {
        /// Names of all cases.
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// What runs a case once with the scopes of a peer.
        pub(crate) fn case<P: Peer>(name: &str) -> Option<fn()> {
            match name {
                $(stringify!($name) => Some(|| {
                    let mut left: u64 = $scopes;
                    while left > 0 {
                        let scopes = left.min(PASS);
                        P::pass(|| $name::<P>(scopes));
                        left -= scopes;
                    }
                }),)*
                _ => None,
            }
        }
    };
}

// Some two milliseconds each without a profiler, or enough scopes for that with one.
cases! {
    empty 50_000;
    work20ns 50_000;
    sites8 50_000;
    nested8 50_000;
    recursion 50_000;
    body1us 2_000;
    cold5000 30_000;
    sphereflake 16 * PASS;
}

#[inline(never)]
fn empty<P: Peer>(scopes: u64) {
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
fn work20ns<P: Peer>(scopes: u64) {
    for seed in 0..scopes {
        probe!(P, "work20ns");
        black_box(work(24, seed));
    }
}

#[inline(never)]
fn body1us<P: Peer>(scopes: u64) {
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
fn sites8<P: Peer>(scopes: u64) {
    for _ in 0..scopes / 8 {
        turns!(P, "site1" "site2" "site3" "site4" "site5" "site6" "site7" "site8");
    }
}

#[inline(never)]
fn nested8<P: Peer>(scopes: u64) {
    for _ in 0..scopes / 8 {
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
}

#[inline(never)]
fn recursion<P: Peer>(scopes: u64) {
    #[inline(never)]
    fn down<P: Peer>(left: u32) -> u32 {
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
fn cold5000<P: Peer>(scopes: u64) {
    fn visit<P: Peer>(path: u64, left: u32) {
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

/// 32 x 32 pixels of the reference picture: nearly a pass of scopes.
const SPHEREFLAKE_SIZE: usize = 32;

/// One small picture, drawn by the calling thread.
fn sphereflake<P: Peer>(_: u64) {
    thread_local! {
        static SCENE: Scene = Scene::build::<Plain>(6);
    }
    SCENE.with(|scene| {
        let frame = Frame::new(scene, SPHEREFLAKE_SIZE, SPHEREFLAKE_SIZE);
        frame.work::<P>(|row, pixels| {
            black_box((row, pixels));
        });
    });
}
