//! The functions that the compiler has prepared, because `cargo tickscope` has told it to: each has sleds that lead here when
//! they are on. `begin` runs before `main`; `hooks` handle beginnings and ends; `trampolines` are between sleds and hooks.

mod begin;
mod hooks;
mod trampolines;
