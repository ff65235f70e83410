//! The views: their order, their names, and the help of the keys that show them.

/// The views of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum View {
    /// Functions below their callers.
    #[default]
    Tree,
    /// Functions by self time.
    Hot,
    /// One function, its callers and its callees.
    Function,
    /// Threads with their load and current function.
    Threads,
    /// The call tree as widths.
    Flame,
    /// Sites that were met, and sites that are switched off.
    Sites,
    /// Calls of futures in flight, and their waits.
    Tasks,
    /// Causes of slow calls of watched functions.
    Slow,
    /// Load of threads and functions over time.
    Timeline,
}

/// Words of a view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// Name on its tab, and the name on a narrow tab.
    pub(crate) title: &'static str,
    pub(crate) short: &'static str,
    /// Help of the key that shows the view, and a text that only the book adds.
    pub(crate) help: &'static str,
    pub(crate) note: &'static str,
}

impl View {
    /// All views, from left to right.
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

    pub(crate) const fn words(self) -> Words {
        let (title, short, help, note) = match self {
            Self::Tree => ("Tree", "Tree", "tree: each function below its caller", ""),
            Self::Hot => ("Hot", "Hot", "hot: functions by self time", ""),
            Self::Function => ("Function", "Fn", "function: its callers and callees", ""),
            Self::Threads => (
                "Threads",
                "Thr",
                "threads: CPU share, current function",
                " of each",
            ),
            Self::Flame => ("Flame", "Flame", "flame: the tree as a flame graph", ""),
            Self::Sites => ("Sites", "Site", "sites: places in the source, on or off", ""),
            Self::Tasks => ("Tasks", "Task", "tasks: async calls that are in flight", ""),
            Self::Slow => ("Slow", "Slow", "slow: why slow calls are slow", ""),
            Self::Timeline => ("Timeline", "Time", "timeline: what happened when", ""),
        };
        Words {
            title,
            short,
            help,
            note,
        }
    }

    /// Returns the view this number of tabs to the right. After the last view comes the first.
    pub(crate) fn beside(self, steps: isize) -> Self {
        let at = (self as isize + steps).rem_euclid(Self::ALL.len() as isize);
        Self::ALL[at as usize % Self::ALL.len()]
    }
}
