//! The profilers, each in its own file.

mod bare;
mod coarse_prof;
mod fastrace;
mod hotpath;
mod puffin;
mod tickscope;
mod tracing;
mod tracy;

use tickscope_bench::Plain;

use crate::measure::{Measured, measure};

macro_rules! peers {
    ($($name:literal $peer:ty;)*) => {
        pub(crate) const NAMES: &[&str] = &[$($name),*];

        /// Measures a case with the peer of this name, which must be the only peer in this process. Returns `None` for
        /// unknown names.
        pub(crate) fn measure_named(peer: &str, case: &str) -> Option<Measured> {
            match peer {
                $($name => measure::<$peer>(case),)*
                _ => None,
            }
        }
    };
}

peers! {
    "plain" Plain;
    "floor" tickscope_bench::Floor;
    "exact" tickscope::Exact;
    "tracy" tracy::Tracy;
    "hotpath" hotpath::Hotpath;
    "coarse-prof" coarse_prof::CoarseProf;
    "puffin" puffin::Puffin;
    "fastrace" fastrace::Fastrace;
    "tracing" tracing::Tracing;
}
