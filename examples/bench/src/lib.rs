//! What the benchmarks share: [`workloads`], their timing ([`timing`]), the statistics of the times ([`statistics`]), the
//! comparison of two ways in turns ([`pairs`]), and the probes that they compare.
//!
//! A [`Probe`] decides what a scope of a workload does: [`Scoped`] opens a real scope, [`Plain`] does nothing,
//! [`Floor`] reads the clock twice. The ray tracer of the demo ([`Scene`], [`Frame`], [`render`]) stands for real
//! programs.

#![forbid(unsafe_code)]

mod floor;
pub mod pairs;
pub mod statistics;
pub mod timing;
pub mod workloads;

pub use floor::{Floor, Read};
pub use tickscope_demo::{Frame, Plain, Probe, Scene, Scoped, probe, render};
