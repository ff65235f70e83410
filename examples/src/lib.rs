//! What the example programs share: the ray tracer that is the project's reference workload, and the demo.
//!
//! [`Scene::build`] makes a sphereflake, [`render`] draws it. Both take a [`Probe`], which says what a scope
//! costs: [`Scoped`] opens real tickscope scopes, [`Plain`] none. The two copies of the code stand in one
//! program and draw the same picture to the last bit, so that their times can be compared in turns.
//!
//! ```
//! use tickscope_examples::{Plain, Scene, Scoped, render};
//!
//! let plain = render::<Plain>(&Scene::build::<Plain>(3), 64, 64, 1);
//! let scoped = render::<Scoped>(&Scene::build::<Scoped>(3), 64, 64, 2);
//! assert_eq!(plain, scoped);
//! ```
//!
//! Benchmarks share [`workloads`], how they are timed ([`timing`]) and what is made of the times ([`statistics`]).
//!
//! [`demo::run`] is the program behind `tickscope demo`: frames of a turning sphereflake, on several threads.

#![forbid(unsafe_code)]

pub mod demo;
mod image;
mod probe;
mod scene;
mod spawn;
mod sphereflake;
pub mod statistics;
pub mod timing;
pub mod vector;
pub mod workloads;

pub use image::Image;
pub use probe::{Floor, Plain, Probe, Read, Scoped};
pub use scene::Scene;
pub use sphereflake::{Frame, render};
