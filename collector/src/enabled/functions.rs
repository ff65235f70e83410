//! The functions that the compiler has prepared, because `cargo tickscope` has told it to: each has sleds that lead here when
//! they are on. `begin` runs before `main`; `hooks` handle beginnings and ends, `polls` those of
//! async bodies; `unseen` has what both know; `trampolines` are
//! between sleds and hooks.

mod begin;
mod hooks;
mod polls;
mod trampolines;
mod unseen;
