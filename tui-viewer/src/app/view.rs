//! The tabs of the views, the second view below the tree, and the view to which Escape leads back.

use crate::app::layout::Layout;
pub(crate) use crate::keys::view::View;

/// The second view below the tree, on screens with room for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Below {
    /// The flame graph of the tree.
    Flame,
    /// The timeline of threads.
    Timeline,
    /// No second view. The tree uses all lines.
    Nothing,
}

impl Below {
    /// Returns what the key chooses next. There is no flame graph of a bottom-up tree, where each row is a caller of
    /// the row above it, not a part of it.
    pub(crate) fn next(self, bottom_up: bool) -> Self {
        match self {
            Self::Nothing if bottom_up => Self::Timeline,
            Self::Nothing => Self::Flame,
            Self::Flame => Self::Timeline,
            Self::Timeline => Self::Nothing,
        }
    }

    /// Returns the choice in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Flame => "the flame graph",
            Self::Timeline => "the time line of threads",
            Self::Nothing => "nothing",
        }
    }
}

/// How tabs look, depending on the width of their line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TabForm {
    /// Full names, and two blanks between tabs: ` 3 Function `.
    Wide,
    /// Full names, and one blank between tabs, which is part of the tab on its right: ` 3 Function`.
    Close,
    /// Like `Close`, but with short names: ` 3 Fn`.
    Narrow,
    /// Only digits, and the name of the view on screen, on a line that is shared with other items: `[1 Tree] 2 3`.
    Digits,
}

impl TabForm {
    /// Minimum width at which the full names of the views fit next to everything that is said about the numbers.
    const WIDE: u16 = 145;

    /// Minimum width at which the full names of the views fit.
    const CLOSE: u16 = 100;

    /// Returns the form of the tabs on a screen.
    pub(crate) fn of(layout: &Layout) -> Self {
        match layout.tabs {
            Some(line) if line.width >= Self::WIDE => Self::Wide,
            Some(line) if line.width >= Self::CLOSE => Self::Close,
            Some(_) => Self::Narrow,
            None => Self::Digits,
        }
    }

    /// Returns the number of cells between two tabs.
    pub(crate) fn gap(self) -> u16 {
        u16::from(self == Self::Digits)
    }

    /// Whether the tab of a view is followed by a blank that can be replaced by a mark.
    pub(crate) fn has_room_for_mark(self, view: View, shown: View) -> bool {
        // In the forms `Close` and `Narrow`, the blank is part of the next tab. If the next tab belongs to the view on
        // screen, its bracket takes the place of the blank.
        self != Self::Digits && shown != view && (self == Self::Wide || shown != view.beside(1))
    }
}

impl View {
    /// Returns the tab of the view. Brackets around the tab on screen replace blanks, so that no tab ever moves.
    pub(crate) fn tab(self, shown: Self, form: TabForm) -> String {
        let digit = self as usize + 1;
        let words = self.words();
        let title = match form {
            TabForm::Narrow => words.short,
            TabForm::Wide | TabForm::Close | TabForm::Digits => words.title,
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

    /// Returns the view whose tab covers a cell of the line of tabs.
    pub(crate) fn at(x: u16, shown: Self, form: TabForm) -> Option<Self> {
        let mut start = 1;
        Self::ALL.into_iter().find(|view| {
            let end = start + view.tab(shown, form).len() as u16;
            // A digit is a small target, so the cell after it counts as well.
            let under = (start..end + u16::from(form == TabForm::Digits)).contains(&x);
            start = end + form.gap();
            under
        })
    }
}

/// The view from which a key led to the current one. Escape leads back to it.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) view: View,
    /// Whether the key also restricted the screen to one thread.
    pub(crate) filtered: bool,
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
