//! Code that the benchmarks share: [`workloads`], their timing ([`timing`]), the statistics of times ([`statistics`]),
//! instructions ([`callgrind`]), the kernel's numbers ([`kernel`]), child processes ([`child`]), probes to compare, and
//! the comparison of shares of time ([`share`]): the shown shares ([`shown`]), and the true ones ([`truth`]).
//!
//! A [`Probe`] decides what a scope of a workload does: [`Scoped`] opens a real scope, [`Plain`] does nothing,
//! [`Floor`] reads the clock twice, [`Counted`] counts. The ray tracer of the demo ([`Scene`], [`Frame`]) represents
//! real programs.

#![forbid(unsafe_code)]

pub mod callgrind;
pub mod child;
mod counted;
mod floor;
pub mod kernel;
pub mod share;
pub mod shown;
pub mod statistics;
pub mod timing;
pub mod truth;
pub mod workloads;

pub use counted::Counted;
pub use floor::{Floor, Read};
pub use tickscope_demo::{Frame, Plain, Probe, Scene, Scoped, probe};
