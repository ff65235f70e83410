//! Workloads: the code inside and around the scopes in benchmarks. Each one opens `scopes` scopes, or slightly fewer if
//! it opens several at once.

pub mod memory;

use std::hint::black_box;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use crate::{Frame, Plain, Probe, Scene, probe};

/// Opens scopes with nothing inside.
#[inline(never)]
pub fn empty<P: Probe>(scopes: u64) {
    for scope in 0..scopes {
        // Without this, the compiler would remove the loop of the plain version.
        black_box(scope);
        probe!(P, "empty");
    }
}

/// Runs a random number generator (Marsaglia's xorshift) for this many steps. Each step needs the result of the previous one.
#[inline(always)]
pub fn work(steps: u32, seed: u64) -> u64 {
    (0..steps).fold(seed | 1, |x, _| {
        let x = x ^ x << 13;
        let x = x ^ x >> 7;
        x ^ x << 17
    })
}

/// Does about 20 ns of work in each scope.
#[inline(never)]
pub fn work20ns<P: Probe>(scopes: u64) {
    for seed in 0..scopes {
        probe!(P, "twenty");
        black_box(work(24, seed));
    }
}

/// Does about 1 us of work in each scope.
#[inline(never)]
pub fn body1us<P: Probe>(scopes: u64) {
    for seed in 0..scopes {
        probe!(P, "thousand");
        black_box(work(650, seed));
    }
}

/// Does about 20 us of work in each scope, which is long enough to be examined for waits.
#[inline(never)]
pub fn busy20us<P: Probe>(scopes: u64) {
    for seed in 0..scopes {
        probe!(P, "busy20");
        black_box(work(13_000, seed));
    }
}

/// Does about 100 us of work in each scope.
#[inline(never)]
pub fn busy100us<P: Probe>(scopes: u64) {
    for seed in 0..scopes {
        probe!(P, "busy100");
        black_box(work(65_000, seed));
    }
}

/// How long [`sleepy`] sleeps in its scopes, in turn: 20 us to 5 ms.
const SLEEPS_US: [u64; 6] = [20, 60, 180, 540, 1_600, 5_000];

/// Waits in each scope.
#[inline(never)]
pub fn sleepy<P: Probe>(scopes: u64) {
    for us in (0..scopes).zip(SLEEPS_US.iter().cycle()).map(|(_, us)| *us) {
        probe!(P, "sleepy");
        thread::sleep(Duration::from_micros(us));
    }
}

/// Opens one scope for each name, one after another.
macro_rules! turns {
    ($probe:ty, $($name:literal)*) => {
        $({
            probe!($probe, $name);
            black_box(());
        })*
    };
}

/// Opens scopes at eight call sites in turn.
#[inline(never)]
pub fn sites8<P: Probe>(scopes: u64) {
    for _ in 0..scopes / 8 {
        turns!(P, "site1" "site2" "site3" "site4" "site5" "site6" "site7" "site8");
    }
}

/// Opens eight nested scopes.
#[inline(never)]
pub fn nested8<P: Probe>(scopes: u64) {
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

/// Opens scopes in a function that calls itself, twenty levels deep.
#[inline(never)]
pub fn recursion<P: Probe>(scopes: u64) {
    #[inline(never)]
    fn down<P: Probe>(left: u32) -> u32 {
        probe!(P, "down");
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

/// Opens scopes nested `levels` deep. Every level has the same seventeen scopes to choose from, and opens the scope
/// that the next base-17 digit of `path` selects.
pub fn deep<P: Probe>(path: u64, levels: u32) {
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

/// Opens random scopes of [`deep`], nested three deep. There are 4913 leaves, and 306 nodes above them.
#[inline(never)]
pub fn cold5000<P: Probe>(scopes: u64) {
    let mut random = 1;
    for _ in 0..scopes / 3 {
        random = work(1, random);
        deep::<P>(random >> 20, 3);
    }
}

/// A future that is pending for this many polls, and then ready.
#[derive(Debug)]
pub struct Pending(pub u64);

impl Future for Pending {
    type Output = ();

    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        match self.0.checked_sub(1) {
            None => Poll::Ready(()),
            Some(left) => {
                self.0 = left;
                Poll::Pending
            }
        }
    }
}

/// Width and height of the picture that [`sphereflake`] renders, in pixels.
pub const SPHEREFLAKE_SIZE: u64 = 96;

/// Renders this many rows of the reference picture, starting over whenever a picture is complete. If the last one is
/// incomplete, only its middle rows are rendered.
#[inline(never)]
pub fn sphereflake<P: Probe>(rows: u64) {
    static SCENE: LazyLock<Scene> = LazyLock::new(|| Scene::build::<Plain>(6));
    let whole = (0..rows / SPHEREFLAKE_SIZE).map(|_| SPHEREFLAKE_SIZE);
    for rows in whole.chain([rows % SPHEREFLAKE_SIZE]) {
        let frame = Frame::new(&*SCENE, SPHEREFLAKE_SIZE as usize, rows as usize);
        frame.work::<P>(|_, pixels| drop(black_box(pixels)));
    }
}
