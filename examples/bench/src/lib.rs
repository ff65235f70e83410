//! What the benchmarks share: [`workloads`], how they are timed ([`timing`]), what is made of the times ([`statistics`]),
//! and the probes that they compare.
//!
//! A [`Probe`] says what a scope of a workload costs: [`Scoped`] opens a real one, [`Plain`] none, [`Floor`] reads the clock
//! twice. The ray tracer of the demo ([`Scene`], [`Frame`], [`render`]) is the workload that stands for real programs.

#![forbid(unsafe_code)]

mod floor;
pub mod statistics;
pub mod timing;
pub mod workloads;

pub use floor::{Floor, Read};
pub use tickscope_demo::{Frame, Plain, Probe, Scene, Scoped, probe, render};
