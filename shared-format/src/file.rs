//! Ring files: where they are, how a program makes one, how others open, judge and clean them up.
//!
//! A file is allocated, filled with its first record and locked before it gets a name, so nobody ever sees
//! one half-made. Whether its program lives is told by that lock and nothing else.

pub mod clean;
pub mod create;
mod damage;
mod descriptor;
pub mod header;
pub mod list;
pub mod open;
pub mod places;
mod space;
