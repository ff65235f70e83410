//! The views: one question each.

use crate::app::layout::Layout;
use crate::keys::action::Context;
pub(crate) use crate::keys::action::View;

/// A second view below the tree, on screens with room for one, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Below {
    /// The flame graph of the tree.
    Flame,
    /// The time line of threads.
    Timeline,
    /// The tree has all lines.
    Nothing,
}

impl Below {
    /// What the key brings next. Bottom-up a row is no part of the one above it, so there is no graph then.
    pub(super) fn next(self, bottom_up: bool) -> Self {
        match self {
            Self::Nothing if bottom_up => Self::Timeline,
            Self::Nothing => Self::Flame,
            Self::Flame => Self::Timeline,
            Self::Timeline => Self::Nothing,
        }
    }

    /// In words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Flame => "the flame graph",
            Self::Timeline => "the time line of threads",
            Self::Nothing => "nothing",
        }
    }
}

/// How much room the tabs take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TabForm {
    /// Whole names, and two cells between two tabs: ` 3 Function `.
    Wide,
    /// Whole names, and one cell between two tabs, which belongs to the second one: ` 3 Function`.
    Close,
    /// The same with shorter names: ` 3 Fn`.
    Narrow,
    /// In a line with other things: `[1 Tree] 2 3`.
    Digits,
}

impl TabForm {
    /// From this width on there is room for whole names side by side with all that is said of the numbers.
    const WIDE: u16 = 145;

    /// From this width on there is room for whole names.
    const CLOSE: u16 = 100;

    /// How they stand on a screen.
    pub(crate) fn of(layout: &Layout) -> Self {
        match layout.tabs {
            Some(line) if line.width >= Self::WIDE => Self::Wide,
            Some(line) if line.width >= Self::CLOSE => Self::Close,
            Some(_) => Self::Narrow,
            None => Self::Digits,
        }
    }

    /// Cells between two tabs.
    pub(crate) fn gap(self) -> u16 {
        u16::from(self == Self::Digits)
    }

    /// Whether a blank stands behind the tab of the view Slow, in place of which a mark may stand.
    pub(crate) fn has_room_for_mark(self, shown: View) -> bool {
        // Where tabs stand close, the next one begins with the blank.
        self != Self::Digits && shown != View::Slow && (self == Self::Wide || shown != View::Timeline)
    }
}

impl View {
    /// All of them, from left to right.
    pub(crate) const ALL: [Self; 9] = [
        Self::Tree,
        Self::Hot,
        Self::Function,
        Self::Threads,
        Self::Flame,
        Self::Sites,
        Self::Tasks,
        Self::Slow,
        Self::Timeline,
    ];

    /// Its tab, in brackets if it is on screen: they take the place of blanks, so that no tab ever moves.
    pub(crate) fn tab(self, shown: Self, form: TabForm) -> String {
        let digit = self as usize + 1;
        let title = match (form, self) {
            (TabForm::Narrow, Self::Function) => "Fn",
            (TabForm::Narrow, Self::Threads) => "Thr",
            (TabForm::Narrow, Self::Sites) => "Site",
            (TabForm::Narrow, Self::Tasks) => "Task",
            (TabForm::Narrow, Self::Timeline) => "Time",
            (TabForm::Wide | TabForm::Close | TabForm::Narrow | TabForm::Digits, _) => self.title(),
        };
        match (self == shown, form) {
            (_, TabForm::Close | TabForm::Narrow) => {
                let is_behind = digit == shown as usize + 2;
                let begin = match self == shown {
                    true => "[",
                    false if is_behind => "]",
                    false => " ",
                };
                let end = match digit == Self::ALL.len() {
                    false => "",
                    true if self == shown => "]",
                    true => " ",
                };
                format!("{begin}{digit} {title}{end}")
            }
            (true, _) => format!("[{digit} {title}]"),
            (false, TabForm::Digits) => digit.to_string(),
            (false, TabForm::Wide) => format!(" {digit} {title} "),
        }
    }

    /// The view whose tab stands over a cell of the line of tabs.
    pub(crate) fn at(x: u16, shown: Self, form: TabForm) -> Option<Self> {
        let mut start = 1;
        Self::ALL.into_iter().find(|view| {
            let end = start + view.tab(shown, form).len() as u16;
            // A digit is a small thing to hit: the cell after it counts as well.
            let under = (start..end + u16::from(form == TabForm::Digits)).contains(&x);
            start = end + form.gap();
            under
        })
    }

    /// Whether it shows all threads, and members and not their groups, whatever was chosen: a site is a place in the source.
    pub(crate) fn is_of_all(self) -> bool {
        matches!(self, Self::Sites | Self::Tasks | Self::Slow | Self::Timeline)
    }

    /// Who has the keyboard there.
    pub(crate) fn context(self) -> Context {
        match self {
            Self::Tree => Context::Tree,
            Self::Hot => Context::Hot,
            Self::Function => Context::Function,
            Self::Threads => Context::Threads,
            Self::Flame => Context::Flame,
            Self::Sites => Context::Sites,
            Self::Tasks => Context::Tasks,
            Self::Slow => Context::Slow,
            Self::Timeline => Context::Timeline,
        }
    }

    /// Its name on its tab.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Tree => "Tree",
            Self::Hot => "Hot",
            Self::Function => "Function",
            Self::Threads => "Threads",
            Self::Flame => "Flame",
            Self::Sites => "Sites",
            Self::Tasks => "Tasks",
            Self::Slow => "Slow",
            Self::Timeline => "Timeline",
        }
    }

    /// The view so many tabs to the right; the last is followed by the first.
    pub(crate) fn beside(self, steps: isize) -> Self {
        let at = (self as isize + steps).rem_euclid(Self::ALL.len() as isize);
        Self::ALL[at as usize % Self::ALL.len()]
    }
}

/// Where one was before a key led to another view.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(super) view: View,
    /// The key left out all threads but one as well.
    pub(super) filtered: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tab_is_hit_where_it_stands() {
        for form in [TabForm::Wide, TabForm::Close, TabForm::Narrow, TabForm::Digits] {
            for shown in View::ALL {
                let mut x = 1;
                for view in View::ALL {
                    let cells = view.tab(shown, form).len() as u16;
                    for cell in x..x + cells {
                        assert_eq!(View::at(cell, shown, form), Some(view), "{form:?} {cell}");
                    }
                    x += cells + form.gap();
                }
                assert_eq!(View::at(0, shown, form), None);
                assert_eq!(View::at(x + 1, shown, form), None);
            }
        }
    }
}
