//! Facts about a view that hold at any time.

use crate::app::row::Portion;
use crate::app::sort::Order;
use crate::app::update::acts::Act;

/// Facts about a view.
#[derive(Debug)]
pub(crate) struct About {
    /// Actions that have a meaning of their own in the view, or are available at other times.
    pub(crate) acts: &'static [Act],
    /// Order of the rows at the start.
    pub(crate) sort: Order,
    /// Part of a row's time that shares, bars and colours show.
    pub(crate) main: Portion,
    /// Word for several rows.
    pub(crate) rows: &'static str,
    /// Whether the rows are parts of the measured time.
    pub(crate) is_of_time: bool,
    /// Whether the view ignores the choice of threads and shows members in place of their groups, because a site is a
    /// place in the source.
    pub(crate) is_of_all: bool,
    /// Whether the numbers ignore the choice of threads.
    pub(crate) is_of_all_threads: bool,
    /// Whether the view shows only the rows in focus.
    pub(crate) has_focus: bool,
    /// Whether the view shows the calls as a tree that can be turned, and rows as shares of their parents.
    pub(crate) has_parents: bool,
    /// Whether the rows are paths of the call tree.
    pub(crate) has_paths: bool,
    /// Whether the view shows watched functions. Its tab has a mark while functions are watched.
    pub(crate) is_of_watches: bool,
    /// Whether a function that was selected by hand in another view is selected here too.
    pub(crate) follows: bool,
    /// Whether the cursor stays on the top row until the first key, even if another row comes to the top.
    pub(crate) stays_at_top: bool,
}

impl About {
    /// Facts of a list whose rows are not parts of the measured time.
    pub(crate) const LIST: Self = Self {
        acts: &[],
        sort: Order::TOTAL,
        main: Portion::Total,
        rows: "rows",
        is_of_time: false,
        is_of_all: false,
        is_of_all_threads: false,
        has_focus: false,
        has_parents: false,
        has_paths: false,
        is_of_watches: false,
        follows: false,
        stays_at_top: false,
    };

    /// Facts of a view of the measured time.
    pub(crate) const TIME: Self = Self {
        is_of_time: true,
        ..Self::LIST
    };
}
