//! Text handling that does not depend on programs or screens: words, widths and symbols.

pub(crate) mod cells;
pub(crate) mod glyphs;
pub(crate) mod words;
