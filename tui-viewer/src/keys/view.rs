//! The views: their order, their names, and the help texts of the keys that show them.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum View {
    /// The call tree: each function below its caller.
    #[default]
    Tree,
    /// Functions by self time.
    Hot,
    /// One function, its callers and its callees.
    Function,
    /// Threads with their load and current function.
    Threads,
    /// The call tree as a flame graph.
    Flame,
    /// Sites executed so far, and sites that are switched off.
    Sites,
    /// Calls of async functions that are in flight, and what they are waiting for.
    Tasks,
    /// Why slow calls of watched functions are slow.
    Slow,
    /// Load of threads and functions over time.
    Timeline,
}

/// Texts about a view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// Title on the view's tab. Narrow tabs use `short` instead.
    pub(crate) title: &'static str,
    pub(crate) short: &'static str,
    /// Help text of the key that shows the view. `note` is appended in the documentation only.
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

    /// Returns the view that is `steps` tabs to the right, wrapping around at the ends.
    pub(crate) fn beside(self, steps: isize) -> Self {
        let at = (self as isize + steps).rem_euclid(Self::ALL.len() as isize);
        Self::ALL[at as usize % Self::ALL.len()]
    }
}
