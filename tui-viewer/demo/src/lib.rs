//! The program behind `tickscope demo`, and the ray tracer that it uses.
//!
//! [`run`] renders frames of a turning sphereflake on several threads, and runs a small service alongside;
//! [`session`] publishes both under the name `demo`.
//!
//! [`Scene::build`] makes a sphereflake, and [`render`] draws it. Both are generic over a [`Probe`]: [`Scoped`] opens
//! tickscope scopes, and [`Plain`] opens none. Both variants are compiled into one program and draw exactly the same
//! picture, so they can be timed alternately.
//!
//! ```
//! use tickscope_demo::{Plain, Scene, Scoped, render};
//!
//! let plain = render::<Plain>(&Scene::build::<Plain>(3), 64, 64, 1);
//! let scoped = render::<Scoped>(&Scene::build::<Scoped>(3), 64, 64, 2);
//! assert_eq!(plain, scoped);
//! ```

#![forbid(unsafe_code)]

mod database;
mod demo;
mod image;
mod light;
mod probe;
mod random;
mod scene;
mod shop;
mod sources;
mod spawn;
mod sphereflake;
mod tasks;
mod tracer;
pub mod vector;

pub use demo::{run, session};
pub use image::Image;
pub use probe::{Plain, Probe, Scoped};
pub use scene::Scene;
pub use sources::source;
pub use sphereflake::{Frame, render};
/// Counts the demo's allocations when it is installed as the global allocator.
pub use tickscope::Alloc;
