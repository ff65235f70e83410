//! What is seen: the screen drawn from the state, in the colours of a theme.

pub mod theme;
pub(crate) mod view;
