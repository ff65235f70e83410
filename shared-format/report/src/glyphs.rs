//! The symbols in reports, for UTF-8 and for ASCII.

/// One set of tree lines and marks.
#[derive(Debug)]
pub(crate) struct Glyphs {
    /// Mark before a row that has siblings after it; 2 cells.
    pub(crate) branch: &'static str,
    /// Mark before the last row of its parent; 2 cells.
    pub(crate) last: &'static str,
    /// Mark below a row that has siblings after it; 2 cells.
    pub(crate) line: &'static str,
    /// Mark after the name of a row that is open now.
    pub(crate) open: &'static str,
    /// Mark after the name of a row whose calls are so short that measuring them tells little.
    pub(crate) doubtful: &'static str,
    /// Mark before the sum of a counter, which is no time.
    pub(crate) sum: &'static str,
    /// Mark for cut text.
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
    /// Returns the set for a terminal.
    pub(crate) fn of(ascii: bool) -> &'static Self {
        if ascii { &ASCII } else { &UNICODE }
    }
}
