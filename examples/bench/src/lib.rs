//! Code that the benchmarks share: [`workloads`], ways to time them ([`timing`]), statistics of the results ([`statistics`]),
//! instruction counts ([`callgrind`]), numbers from the kernel ([`kernel`]), child processes ([`child`]), and probes to
//! compare. [`share`] compares the shares of time that tickscope shows ([`shown`]) with the true ones ([`truth`]).
//!
//! A [`Probe`] decides what a workload does for each scope: [`Scoped`] opens a real scope, [`Plain`] does nothing,
//! [`Floor`] reads the clock twice, and [`Counted`] only counts. The demo's ray tracer ([`Scene`], [`Frame`]) stands in
//! for real programs.

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
