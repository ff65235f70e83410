//! The tabs of the views, the second view below the tree, and the way back to a view.

use crate::app::layout::Layout;
pub(crate) use crate::keys::view::View;

/// The second view below the tree, on screens with room for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Below {
    /// The flame graph of the tree.
    Flame,
    /// The timeline of threads.
    Timeline,
    /// No second view: the tree has all lines.
    Nothing,
}

impl Below {
    /// Returns the next choice of the key. A bottom-up tree has no flame graph, because a row is not a part of the row above it.
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

/// Form of the tabs, by the width of their line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TabForm {
    /// Whole names, and two cells between two tabs: ` 3 Function `.
    Wide,
    /// Whole names, and one cell between two tabs, which belongs to the second tab: ` 3 Function`.
    Close,
    /// The same with shorter names: ` 3 Fn`.
    Narrow,
    /// Digits, and a name for the view on screen only, in a line with other items: `[1 Tree] 2 3`.
    Digits,
}

impl TabForm {
    /// Minimum width at which the whole names of views fit next to all words about the numbers.
    const WIDE: u16 = 145;

    /// Minimum width at which the whole names of views fit.
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

    /// Whether a blank follows the tab of a view, so that a mark can replace the blank.
    pub(crate) fn has_room_for_mark(self, view: View, shown: View) -> bool {
        // Close tabs share the blank with the next tab, which begins with a bracket instead if it is on screen.
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

/// View from which a key led to another view; Escape leads back to it.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) view: View,
    /// Whether the key also left out all threads but one.
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
