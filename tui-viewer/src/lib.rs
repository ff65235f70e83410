//! The terminal viewer of tickscope: a live call tree of a running program.
//!
//! This library is private to the package. It only gives tests and examples access to the parts of the `tickscope`
//! command, and any release may change all of it.
//!
//! ```text
//! Feed -> Events -> App -> Layout -> rows -> Buffer -> terminal
//!                    ^                           keys
//!                    +----- update(Message) <------+    -> Effects, carried out by the loop
//! ```
//!
//! [`event_loop::run`] is the loop that drives everything else. Data comes in through
//! [`tickscope_programs::events::Feed`], and files are written by [`event_loop::saved_files`].

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub(crate) mod app;
pub mod cli;
pub mod event_loop;
mod keys;
pub mod outcome;
mod source;
mod terminal;
mod text;
pub mod ui;
mod views;

pub use keys::keymap::markdown as key_table_markdown;

#[cfg(test)]
mod test_driver;
#[cfg(test)]
use tickscope_testkit::{modes, orderbook};
