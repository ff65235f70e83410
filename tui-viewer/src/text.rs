//! Words, widths and marks of text, independent of programs and screens.

pub(crate) mod cells;
pub(crate) mod glyphs;
pub(crate) mod words;
