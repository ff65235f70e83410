//! Functions that the compiler has instrumented: by sleds (`cargo tickscope`), or by calls (`-finstrument-functions`).
//! `usual` handles the beginnings and ends that need no further checks, and `unseen` the ends without an event. `begin`
//! runs before `main` and switches sleds on; `trampolines` lead from sleds to `hooks`, and `polls` handles the sleds of
//! async bodies. `calls` handles the calls of `-finstrument-functions`.

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
