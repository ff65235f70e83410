//! Symbols on the screen, in Unicode and in ASCII.

use tickscope_programs::status::Mark;

/// Characters for everything but words and numbers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Glyphs {
    /// Mark before a row that has siblings below it.
    pub(crate) branch: &'static str,
    /// Mark before the last sibling.
    pub(crate) last: &'static str,
    /// Mark in the lines below a row that has further siblings.
    pub(crate) line: &'static str,
    /// Mark of a row whose children are shown.
    pub(crate) open: &'static str,
    /// Mark of a row whose children are hidden.
    pub(crate) closed: &'static str,
    /// Mark of a row that has a parent but no children.
    pub(crate) leaf: &'static str,
    /// Mark of a row that is open now, in a thread that runs or is ready to run.
    pub(crate) running: &'static str,
    /// Mark of a row that is open now, but only in threads that wait.
    pub(crate) waits: &'static str,
    /// Mark of recursion in one row, or of a function that calls its own caller.
    pub(crate) again: &'static str,
    /// Marks before callers, before the function itself, and before callees.
    pub(crate) calls: [&'static str; 3],
    /// Mark where a text was cut.
    pub(crate) cut: &'static str,
    /// Mark of a column that is sorted by falling values.
    pub(crate) falls: &'static str,
    /// Mark of a column that is sorted by rising values.
    pub(crate) rises: &'static str,
    /// Piece of a dividing line.
    pub(crate) rule: &'static str,
    /// Mark between the parts of a path.
    pub(crate) then: &'static str,
    /// Mark between items in one line.
    pub(crate) dot: &'static str,
    /// Mark between the ends of a range.
    pub(crate) to: &'static str,
    /// Mark before a number that is an upper bound.
    pub(crate) at_most: &'static str,
    pub(crate) at_least: &'static str,
    /// Mark before the standard error of a number.
    pub(crate) give_or_take: &'static str,
    /// Mark of a row whose calls are hardly longer than the cost of measuring them.
    pub(crate) doubtful: &'static str,
    /// Mark before a counter's sum.
    pub(crate) sum: &'static str,
    /// Columns of a small chart, from empty to full height.
    pub(crate) heights: &'static [&'static str],
    /// Parts of a cell of a bar, from empty to full.
    pub(crate) eighths: &'static [&'static str],
    /// Cell for time off the CPU: in a bar, and in a frame of the view Flame.
    pub(crate) off_cpu: [&'static str; 2],
    /// Corners and sides of a box: top left, top right, bottom left, bottom right, vertical.
    pub(crate) frame: [&'static str; 5],
    /// Marks of the program's state: live, frozen, stale, ended, kept, waiting.
    marks: [&'static str; 6],
}

pub(crate) const UNICODE: Glyphs = Glyphs {
    branch: "├─",
    last: "└─",
    line: "│ ",
    open: "▾",
    closed: "▸",
    leaf: "─",
    running: "•",
    waits: "◦",
    again: "↻",
    calls: ["↑ ", "· ", "↓ "],
    cut: "…",
    falls: "▼",
    rises: "▲",
    rule: "─",
    then: " › ",
    dot: " · ",
    to: "–",
    at_most: "≤",
    at_least: "≥",
    give_or_take: "±",
    doubtful: "†",
    sum: "Σ",
    heights: &[" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    eighths: &["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"],
    off_cpu: ["▒", "·"],
    frame: ["┌", "┐", "└", "┘", "│"],
    marks: ["●", "‖", "!", "■", "◆", "○"],
};

pub(crate) const ASCII: Glyphs = Glyphs {
    branch: "|-",
    last: "`-",
    line: "| ",
    open: "v",
    closed: ">",
    leaf: "-",
    running: "*",
    waits: "o",
    again: "@",
    calls: ["^ ", "= ", "v "],
    cut: "...",
    falls: "v",
    rises: "^",
    rule: "-",
    then: " > ",
    dot: " - ",
    to: "-",
    at_most: "<=",
    at_least: ">=",
    give_or_take: "+-",
    doubtful: "!",
    sum: "sum",
    heights: &[" ", "_", ".", "-", "=", "#"],
    eighths: &["", "-", "=", "#"],
    off_cpu: [".", "~"],
    frame: ["+", "+", "+", "+", "|"],
    marks: ["*", "||", "!", "#", "=", "o"],
};

impl Glyphs {
    /// Returns the characters for a terminal.
    pub(crate) fn of(ascii: bool) -> &'static Self {
        if ascii { &ASCII } else { &UNICODE }
    }

    /// Returns the mark of a state.
    pub(crate) fn mark(&self, mark: Mark) -> &'static str {
        self.marks[match mark {
            Mark::Live => 0,
            Mark::Frozen => 1,
            Mark::Stale => 2,
            Mark::Ended => 3,
            Mark::Kept => 4,
            Mark::Waiting => 5,
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_marks_are_ascii_and_no_two_states_share_one() {
        assert!(format!("{ASCII:?}").is_ascii());
        for glyphs in [&UNICODE, &ASCII] {
            let marks: std::collections::HashSet<_> = glyphs.marks.iter().collect();
            assert_eq!(marks.len(), glyphs.marks.len());
        }
    }
}
