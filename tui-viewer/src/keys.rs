//! The keyboard: decodes bytes to keys, and finds the actions of keys.

pub(crate) mod action;
pub(crate) mod decoder;
pub(crate) mod keymap;
pub(crate) mod view;
