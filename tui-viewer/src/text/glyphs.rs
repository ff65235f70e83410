//! The symbols used on the screen, in Unicode and in ASCII.

use tickscope_programs::status::Mark;

/// The symbols for everything on the screen that is not a word or a number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Glyphs {
    /// Tree line in front of a row that has siblings below it.
    pub(crate) branch: &'static str,
    /// Tree line in front of the last of several siblings.
    pub(crate) last: &'static str,
    /// Tree line beside the descendants of a row that has siblings below it.
    pub(crate) line: &'static str,
    /// Marker for a row whose children are shown.
    pub(crate) open: &'static str,
    /// Marker for a row whose children are hidden.
    pub(crate) closed: &'static str,
    /// Marker for a row that has a parent but no children.
    pub(crate) leaf: &'static str,
    /// Marker for a call in progress, if a thread in it is running or ready to run.
    pub(crate) running: &'static str,
    /// Marker for a call in progress, if all threads in it are waiting.
    pub(crate) waits: &'static str,
    /// Marker for a row that combines recursive calls, or for a function that calls its own caller.
    pub(crate) again: &'static str,
    /// Symbols in front of callers, the function itself, and callees.
    pub(crate) calls: [&'static str; 3],
    /// Mark where a text was cut.
    pub(crate) cut: &'static str,
    /// Marker for the column by which rows are sorted in descending order.
    pub(crate) falls: &'static str,
    /// Marker for the column by which rows are sorted in ascending order.
    pub(crate) rises: &'static str,
    /// Piece of a dividing line.
    pub(crate) rule: &'static str,
    /// Separator between the parts of a path.
    pub(crate) then: &'static str,
    /// Separator between items on the same line.
    pub(crate) dot: &'static str,
    /// Separator between the ends of a range.
    pub(crate) to: &'static str,
    /// Symbol in front of a number that is an upper bound.
    pub(crate) at_most: &'static str,
    pub(crate) at_least: &'static str,
    /// Symbol in front of a standard error.
    pub(crate) give_or_take: &'static str,
    /// Marker for a row whose calls hardly take longer than measuring them does.
    pub(crate) doubtful: &'static str,
    /// Mark before a counter's sum.
    pub(crate) sum: &'static str,
    /// Bars of a small column chart, from empty to full height.
    pub(crate) heights: &'static [&'static str],
    /// Partly filled cells of a horizontal bar, from empty to full.
    pub(crate) eighths: &'static [&'static str],
    /// Fill for time off the CPU: first in a bar, then in a frame of the Flame view.
    pub(crate) off_cpu: [&'static str; 2],
    /// Corners and sides of a box: top left, top right, bottom left, bottom right, vertical.
    pub(crate) frame: [&'static str; 5],
    /// Symbols for the program's state: live, frozen, stale, ended, kept, waiting.
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
    /// Returns the ASCII symbols if `ascii` is set, otherwise the Unicode symbols.
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
