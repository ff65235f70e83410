//! The keyboard: bytes to keys, and keys to actions.

pub(crate) mod action;
pub(crate) mod decoder;
pub(crate) mod keymap;
pub(crate) mod view;
