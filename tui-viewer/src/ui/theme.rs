//! What things mean, and how that looks: styles per theme, marks per character set.

mod choice;
mod palette;

pub(crate) use crate::ui::theme::choice::{chosen, decide, truecolor};
pub use crate::ui::theme::palette::ThemeKind;
pub(crate) use crate::ui::theme::palette::indexed;

use crate::source::status::Mark;

/// What `--color` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorChoice {
    /// As the environment says.
    #[default]
    Auto,
    /// Colours whatever the environment says.
    Always,
    /// No colours.
    Never,
}

/// What a text means; its looks follow from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Plain text.
    Plain,
    /// What the eye should find first.
    Strong,
    /// What may be overlooked: units of the frame, hints.
    Quiet,
    /// Lines that only divide.
    Rule,
    /// The selected row.
    Selected,
    /// A share of a quarter or more.
    Hottest,
    /// A share of a twentieth or more.
    Warm,
    /// A share below a hundredth.
    Small,
    /// Title of the column that rows are sorted by.
    Sorted,
    /// A place where the search found its text.
    Match,
    /// All is well.
    Good,
    /// Not as usual, not wrong.
    Notable,
    /// Over, or wrong.
    Ended,
    /// Wrong, and to be seen.
    Alarm,
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
    /// Running now.
    pub(crate) running: &'static str,
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
    /// Corners and sides of a frame: top left, top right, bottom left, bottom right, upright.
    pub(crate) frame: [&'static str; 5],
    /// Marks of states: live, frozen, stale, ended, kept, waiting.
    marks: [&'static str; 6],
}

const UNICODE: Glyphs = Glyphs {
    branch: "├─",
    last: "└─",
    line: "│ ",
    open: "▾",
    closed: "▸",
    leaf: "─",
    running: "•",
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
    give_or_take: "±",
    doubtful: "†",
    sum: "Σ",
    heights: &[" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    eighths: &["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"],
    frame: ["┌", "┐", "└", "┘", "│"],
    marks: ["●", "‖", "!", "■", "◆", "○"],
};

const ASCII: Glyphs = Glyphs {
    branch: "|-",
    last: "`-",
    line: "| ",
    open: "v",
    closed: ">",
    leaf: "-",
    running: "*",
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
    give_or_take: "+-",
    doubtful: "!",
    sum: "sum",
    heights: &[" ", "_", ".", "-", "=", "#"],
    eighths: &["", "-", "=", "#"],
    frame: ["+", "+", "+", "+", "|"],
    marks: ["*", "||", "!", "#", "=", "o"],
};

// === impl Glyphs ===

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

// === impl Meaning ===

impl Meaning {
    /// How a state looks.
    pub(crate) fn of(mark: Mark) -> Self {
        match mark {
            Mark::Live => Self::Good,
            Mark::Frozen | Mark::Stale => Self::Notable,
            Mark::Ended => Self::Ended,
            Mark::Kept | Mark::Waiting => Self::Strong,
        }
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
mod tests {
    use super::*;

    /// Variables of an environment.
    pub(super) fn with<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
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
