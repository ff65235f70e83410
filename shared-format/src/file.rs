//! Ring files: where they are, and how they are created, opened, checked and cleaned up.
//!
//! A file is allocated, filled with its first record and locked before it gets a name, so that readers never see an
//! unfinished one. Its lock alone tells whether its program is alive.

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
