//! Marks on the screen, in Unicode and in ASCII.

/// A shape that goes with a word, so that nothing is told by colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A filled dot.
    Live,
    /// Two bars.
    Frozen,
    /// An exclamation mark.
    Stale,
    /// A filled square.
    Ended,
    /// A diamond.
    Kept,
    /// An empty dot.
    Waiting,
}

/// Characters that are not letters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Glyphs {
    /// Before a row with siblings after it.
    pub(crate) branch: &'static str,
    /// Before the last of its siblings.
    pub(crate) last: &'static str,
    /// Below a row with siblings after it.
    pub(crate) line: &'static str,
    /// A row whose children are shown.
    pub(crate) open: &'static str,
    /// A row whose children are hidden.
    pub(crate) closed: &'static str,
    /// A row without children, below a parent.
    pub(crate) leaf: &'static str,
    /// Open now, in a thread that runs or is ready to.
    pub(crate) running: &'static str,
    /// Open now, in threads that wait, all of them.
    pub(crate) waits: &'static str,
    /// Recursion in one row, or a function that calls back.
    pub(crate) again: &'static str,
    /// Before who calls, what is itself, and what is called.
    pub(crate) calls: [&'static str; 3],
    /// For what was cut.
    pub(crate) cut: &'static str,
    /// Sorted, largest first.
    pub(crate) falls: &'static str,
    /// Sorted, smallest first.
    pub(crate) rises: &'static str,
    /// A dividing line.
    pub(crate) rule: &'static str,
    /// Between the parts of a path.
    pub(crate) then: &'static str,
    /// Between things that stand side by side.
    pub(crate) dot: &'static str,
    /// Between the ends of a range.
    pub(crate) to: &'static str,
    /// Before a number that is an upper bound.
    pub(crate) at_most: &'static str,
    pub(crate) at_least: &'static str,
    /// Before how far a number may be off.
    pub(crate) give_or_take: &'static str,
    /// A row whose calls are hardly longer than what measuring them costs.
    pub(crate) doubtful: &'static str,
    /// Before what a counter has added up.
    pub(crate) sum: &'static str,
    /// Columns of a small chart, from empty to full.
    pub(crate) heights: &'static [&'static str],
    /// Parts of a cell, from empty to full.
    pub(crate) eighths: &'static [&'static str],
    /// A cell of a bar, and of a frame in Flame, for time off the CPU.
    pub(crate) off_cpu: [&'static str; 2],
    /// Corners and sides of a frame: top left, top right, bottom left, bottom right, upright.
    pub(crate) frame: [&'static str; 5],
    /// Marks of states: live, frozen, stale, ended, kept, waiting.
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
    /// The set for a terminal.
    pub(crate) fn of(ascii: bool) -> &'static Self {
        if ascii { &ASCII } else { &UNICODE }
    }

    /// The shape that goes with a state.
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

/// Whether the locale leaves only ASCII: the first of three variables that is set decides.
pub(crate) fn ascii_locale(variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| variable(name).filter(|v| !v.is_empty()));
    let utf8 = |locale: &str| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    };
    !locale.is_some_and(|locale| utf8(&locale))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Variables of an environment.
    pub(crate) fn with<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |name| {
            set.iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value.to_string())
        }
    }

    #[test]
    fn the_first_locale_variable_decides() {
        assert!(!ascii_locale(with(&[("LANG", "de_DE.UTF-8")])));
        assert!(ascii_locale(with(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")])));
        assert!(!ascii_locale(with(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8")])));
        assert!(ascii_locale(with(&[])));
    }

    #[test]
    fn ascii_marks_are_ascii_and_no_two_states_share_one() {
        assert!(format!("{ASCII:?}").is_ascii());
        for glyphs in [&UNICODE, &ASCII] {
            let marks: std::collections::HashSet<_> = glyphs.marks.iter().collect();
            assert_eq!(marks.len(), glyphs.marks.len());
        }
    }
}
