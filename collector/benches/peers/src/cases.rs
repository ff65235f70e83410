//! The cases of the `overhead` benchmark, divided into passes.
//!
//! A pass is one frame for puffin and one trace for fastrace. fastrace keeps at most 10 240 spans per trace and drops
//! the rest, so a pass has fewer scopes than that.

use std::hint::black_box;

use tickscope_bench::workloads::{body1us, cold5000, empty, nested8, recursion, sites8, work20ns};
use tickscope_bench::{Frame, Plain, Scene};

use crate::peer::Peer;

/// Number of scopes in a pass.
const PASS: u64 = 10_000;

macro_rules! cases {
    ($($name:ident $scopes:expr;)*) => {
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// Returns a function that runs a case once and opens its scopes with the peer `P`.
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

// Each case takes about 2 ms without a profiler, or has enough scopes to take 2 ms with a profiler.
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

/// Width and height of the image in pixels. At this size, drawing the image once opens nearly [`PASS`] scopes.
const SPHEREFLAKE_SIZE: usize = 32;

/// Draws one small image on the calling thread.
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
