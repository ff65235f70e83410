//! What is typed: bytes to keys, keys to actions, and lines behind `:` to commands.

pub(crate) mod action;
pub(crate) mod decoder;
pub(crate) mod keymap;
