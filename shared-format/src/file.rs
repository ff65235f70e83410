//! Ring files: where they are, and how they are created, opened, checked and cleaned up.
//!
//! A file is allocated, locked and filled with its first record before it gets a name, so that readers never see an
//! unfinished file. Only the lock on a file tells whether its program is alive.

pub mod clean;
pub mod create;
mod damage;
mod descriptor;
pub mod header;
pub mod learned;
pub mod list;
pub mod open;
pub mod places;
mod space;
