//! The functions that the compiler has prepared: by sleds, because `cargo tickscope` has told it to, or by calls, because
//! `-finstrument-functions` has. `usual` handles the beginnings and ends that need no closer look, `unseen` those that no event
//! tells of. `begin` runs before `main` and switches sleds on; `trampolines` are between sleds and `hooks`, `polls` handles those of
//! async bodies. `calls` handles the calls that a compiler has put in.

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
