//! The screen, drawn from the state, in the colours of a theme.

pub mod theme;
pub(crate) mod view;
