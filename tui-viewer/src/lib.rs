//! The terminal viewer of tickscope: a live call tree of a running program.
//!
//! ```text
//! a Feed -> News -> Model -> Layout -> rows -> Buffer -> terminal
//!                    ^                            keys
//!                    +------ update(Message) <------+   -> Effects, carried out by the loop
//! ```
//!
//! [`screen::run`] drives it all; where data comes from is behind [`news::Feed`], what is written
//! to files is made in [`files`].

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod action;
pub mod args;
mod cells;
mod columns;
pub mod command;
pub mod container;
mod editor;
pub mod feed;
pub mod files;
mod help;
mod keyboard;
mod layout;
pub mod local_time;
mod model;
mod near;
pub mod news;
pub mod picture;
mod process_time;
pub mod report;
pub mod screen;
pub mod status;
pub mod target;
mod terminal;
pub mod theme;
pub mod timeline;
mod verb;
mod view;

pub use action::markdown as key_table_markdown;

#[cfg(test)]
#[path = "../tests/support/modes.rs"]
mod modes;
#[cfg(test)]
#[path = "../tests/support/orderbook.rs"]
mod orderbook;
#[cfg(test)]
mod stage;
