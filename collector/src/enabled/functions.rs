//! Functions instrumented by the compiler, either with sleds (`cargo tickscope`) or with calls
//! (`-finstrument-functions`).
//!
//! `begin` runs before `main` and switches sleds on. `trampolines` lead from the sleds to `hooks`, or to `polls` if a
//! function polls an async body. `calls` handles the calls that `-finstrument-functions` inserts. `usual` is the fast
//! path for functions that begin and end as expected, and `unseen` handles functions that ended without an event.

#[cfg(feature = "functions")]
mod begin;
pub mod calls;
#[cfg(feature = "functions")]
mod hooks;
#[cfg(feature = "functions")]
mod polls;
#[cfg(feature = "functions")]
mod trampolines;
mod unseen;
mod usual;
