//! The symbols in reports, for UTF-8 and for ASCII.

/// Tree lines and marks for one of the two character sets.
#[derive(Debug)]
pub(crate) struct Glyphs {
    /// Mark before a row that has siblings after it; 2 cells.
    pub(crate) branch: &'static str,
    /// Mark before the last row of its parent; 2 cells.
    pub(crate) last: &'static str,
    /// Mark below a row that has siblings after it; 2 cells.
    pub(crate) line: &'static str,
    /// Mark after the name of a row in which a thread is now.
    pub(crate) open: &'static str,
    /// Mark after the name of a row whose calls are so short that measuring takes much of their time.
    pub(crate) doubtful: &'static str,
    /// Mark before the sum of a counter, which is no time.
    pub(crate) sum: &'static str,
    /// Mark that replaces text which was cut.
    pub(crate) cut: &'static str,
}

const UNICODE: Glyphs = Glyphs {
    branch: "├─",
    last: "└─",
    line: "│ ",
    open: "•",
    doubtful: "†",
    sum: "Σ",
    cut: "…",
};

const ASCII: Glyphs = Glyphs {
    branch: "|-",
    last: "`-",
    line: "| ",
    open: "*",
    doubtful: "!",
    sum: "sum",
    cut: "...",
};

impl Glyphs {
    /// Returns the glyphs for UTF-8, or for ASCII if `ascii` is true.
    pub(crate) fn of(ascii: bool) -> &'static Self {
        if ascii { &ASCII } else { &UNICODE }
    }
}
