//! The views: one question each.

/// What the list shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum View {
    /// Where inside what.
    #[default]
    Tree,
    /// Which function costs most itself.
    Hot,
    /// One function, who calls it and what it calls.
    Function,
    /// Who is busy, and with what.
    Threads,
    /// The tree as widths.
    Flame,
    /// What was met in the source, and what is switched off.
    Sites,
}

// === impl View ===

impl View {
    /// All of them, from left to right.
    pub(crate) const ALL: [Self; 6] = [
        Self::Tree,
        Self::Hot,
        Self::Function,
        Self::Threads,
        Self::Flame,
        Self::Sites,
    ];

    /// Its tab while another is on screen, or itself: `[1 Tree]` or ` 2 Hot `, in short `2`. A cell lies between two.
    pub(crate) fn tab(self, shown: Self, short: bool) -> String {
        let (digit, title) = (self as usize + 1, self.title());
        match (self == shown, short) {
            (true, _) => format!("[{digit} {title}]"),
            (false, true) => digit.to_string(),
            (false, false) => format!(" {digit} {title} "),
        }
    }

    /// The view whose tab stands over a cell of the line of tabs.
    pub(crate) fn at(x: u16, shown: Self, short: bool) -> Option<Self> {
        let mut start = 1;
        Self::ALL.into_iter().find(|view| {
            let end = start + view.tab(shown, short).len() as u16;
            // A digit is a small thing to hit: the cell after it counts as well.
            let under = (start..end + u16::from(short)).contains(&x);
            start = end + 1;
            under
        })
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
        }
    }

    /// The view so many tabs to the right; the last is followed by the first.
    pub(crate) fn beside(self, steps: isize) -> Self {
        let at = (self as isize + steps).rem_euclid(Self::ALL.len() as isize);
        Self::ALL[at as usize % Self::ALL.len()]
    }
}
