//! Words, widths, times and names of functions as text, independent of programs and screens.

pub(crate) mod cells;
pub(crate) mod clock_time;
pub(crate) mod did_you_mean;
pub(crate) mod function_name;
pub(crate) mod glyphs;
pub(crate) mod words;
