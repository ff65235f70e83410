//! What is measured: the same code with scopes, with none, and with those of all functions but one.

use std::hint::black_box;
use std::marker::PhantomData;

use tickscope_examples::{Frame, Plain, Probe, Scene, Scoped, workloads};

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

fn cold<P: Probe>() {
    workloads::cold5000::<P>(60_000);
}

fn work20ns<P: Probe>() {
    workloads::work20ns::<P>(60_000);
}

fn body1us<P: Probe>() {
    workloads::body1us::<P>(2_000);
}

fn recursion<P: Probe>() {
    workloads::recursion::<P>(100_000);
}
