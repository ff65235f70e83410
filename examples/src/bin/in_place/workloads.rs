//! What is measured: the same code with scopes, with none, and with those of all functions but one.

use std::hint::black_box;
use std::marker::PhantomData;

use tickscope_examples::{Frame, Plain, Probe, Scene, Scoped, probe};

/// Work that is done again and again: a frame, a batch.
#[derive(Debug)]
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) plain: fn(),
    pub(crate) scoped: fn(),
    pub(crate) functions: &'static [Function],
}

/// One of its functions; the name is also the pattern that chooses its site.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// The workload with the scopes of all others.
    pub(crate) without: fn(),
}

/// Opens the scopes of all functions but one.
#[derive(Debug)]
pub(crate) struct Without<N>(PhantomData<N>);

/// Which one, known at compile time.
pub(crate) trait Name: 'static {
    const NAME: &'static str;
}

// === impl Without ===

impl<N: Name> Probe for Without<N> {
    type Guard = Option<tickscope::Scope>;

    #[inline(always)]
    fn begin(name: &'static str, open: impl FnOnce() -> tickscope::Scope) -> Self::Guard {
        if name == N::NAME { None } else { Some(open()) }
    }
}

macro_rules! workloads {
    ($($workload:ident: $($function:ident)*;)*) => {
        /// All workloads.
        pub(crate) const WORKLOADS: &[Workload] = &[$(Workload {
            name: stringify!($workload),
            plain: $workload::<Plain>,
            scoped: $workload::<Scoped>,
            functions: &[$(Function {
                name: stringify!($function),
                without: $workload::<Without<names::$function>>,
            }),*],
        }),*];

        #[allow(non_camel_case_types, reason = "named like the functions that they stand for")]
        mod names {
            $($(
                #[derive(Debug)]
                pub(crate) struct $function;

                impl super::Name for $function {
                    const NAME: &'static str = stringify!($function);
                }
            )*)*
        }
    };
}

workloads! {
    sphereflake: ray_trace intersect_primary intersect_shadow;
    scene: create basis;
    cold: c0 c5;
    work20ns: twenty;
    body1us: thousand;
    recursion: down;
}

// Some two milliseconds each: short beside an interruption, long beside the clock that times it.

/// The reference picture with few pixels, on the calling thread.
fn sphereflake<P: Probe>() {
    const SIZE: usize = 96;
    thread_local! {
        static SCENE: Scene = Scene::build::<Plain>(6);
    }
    SCENE.with(|scene| {
        Frame::new(scene, SIZE, SIZE).work::<P>(|_, pixels| {
            black_box(pixels);
        });
    });
}

/// What the demo does before each of its frames.
fn scene<P: Probe>() {
    for _ in 0..4 {
        black_box(Scene::build::<P>(5));
    }
}

/// Seventeen functions three deep: 4913 leaves and 306 nodes above them, visited at random.
#[inline(never)]
fn cold<P: Probe>() {
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
    for _ in 0..20_000 {
        random = work(1, random);
        visit::<P>(random >> 20, 3);
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
fn work20ns<P: Probe>() {
    for seed in 0..60_000 {
        probe!(P, "twenty");
        black_box(work(24, seed));
    }
}

#[inline(never)]
fn body1us<P: Probe>() {
    for seed in 0..2_000 {
        probe!(P, "thousand");
        black_box(work(650, seed));
    }
}

#[inline(never)]
fn recursion<P: Probe>() {
    #[inline(never)]
    fn down<P: Probe>(left: u32) -> u32 {
        probe!(P, "down");
        if left == 0 {
            0
        } else {
            black_box(down::<P>(left - 1)) + 1
        }
    }
    for _ in 0..5_000 {
        black_box(down::<P>(19));
    }
}
