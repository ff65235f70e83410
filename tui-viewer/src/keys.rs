//! The keyboard: decodes bytes into keys, and maps keys to actions.

pub(crate) mod action;
pub(crate) mod decoder;
pub(crate) mod keymap;
pub(crate) mod view;
