//! Draws the app's state on the screen, in the colours of a theme.

pub mod theme;
pub(crate) mod view;
