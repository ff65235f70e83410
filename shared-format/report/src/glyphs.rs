//! The symbols used in reports, in one set for UTF-8 and one for ASCII.

/// Tree connectors and marks for one of the two character sets.
#[derive(Debug)]
pub(crate) struct Glyphs {
    /// Connector before a row that has later siblings; 2 cells.
    pub(crate) branch: &'static str,
    /// Connector before the last child of its parent; 2 cells.
    pub(crate) last: &'static str,
    /// Vertical line below a row that has later siblings; 2 cells.
    pub(crate) line: &'static str,
    /// Mark after the name of a row that a thread is currently inside.
    pub(crate) open: &'static str,
    /// Mark after the name of a row whose calls are so short that measuring them accounts for much of their time.
    pub(crate) doubtful: &'static str,
    /// Mark before the sum of a counter, to show that it is not a time.
    pub(crate) sum: &'static str,
    /// Mark in place of text that was cut.
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
