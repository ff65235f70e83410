//! The actions of keys, the contexts that may have the keyboard, and a line of the table that combines both.

use crate::keys::decoder::{Code, key_name};
use crate::keys::view::View;

/// Actions of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// Show a view.
    Show(View),
    /// Go a column of the timeline to the left.
    SlotEarlier,
    /// Go a column of the timeline to the right.
    SlotLater,
    /// Choose a stretch of time, a column to the left.
    RangeEarlier,
    /// Choose a stretch of time, a column to the right.
    RangeLater,
    /// Show threads or functions as lines.
    Lanes,
    /// Show the view to the right.
    NextView,
    /// Show the view to the left.
    PreviousView,
    /// Show the list of keys, or hide it.
    Help,
    /// Go one step back; never quits.
    Back,
    /// Close the overlay; without one, quit.
    Close,
    /// Quit, in any context.
    Quit,
    /// Draw everything again.
    Repaint,
    /// Stop like any program of the shell.
    Suspend,
    /// One row up.
    Up,
    /// One row down.
    Down,
    PageUp,
    PageDown,
    /// Half a page up.
    HalfUp,
    /// Half a page down.
    HalfDown,
    /// The first row.
    First,
    /// The last row.
    Last,
    /// Open, then go to the first child.
    Open,
    /// Close, then go to the parent.
    Shut,
    /// Open or close.
    Fold,
    /// Open all rows below.
    OpenAll,
    /// Close all rows below.
    CloseAll,
    /// Open and go down the hottest path.
    HotPath,
    /// Go to the sibling above.
    PreviousSibling,
    /// Go to the callers at the left, on the same line.
    ToCallers,
    /// Go to the callees at the right, on the same line.
    ToCallees,
    /// Go to the sibling below.
    NextSibling,
    /// Put the row in the middle of the screen.
    Centre,
    /// Open the selected row: a function with its callers, or a thread alone.
    Enter,
    /// Take the selected row.
    Choose,
    /// Show a function at its heaviest row in the tree.
    ToTree,
    /// Show only the calls of this function, on all paths, or all calls again.
    FocusFunction,
    /// Show only the calls below this row, or all calls again.
    FocusSubtree,
    /// Turn the tree bottom-up, or top-down.
    Invert,
    /// Show recursion in one row, or call by call.
    FoldRecursion,
    /// Show groups in place of their members, or the members.
    Groups,
    /// Go to the next row of the same function.
    OtherPlace,
    /// Start a search.
    Search,
    /// Go to the match after this one.
    NextMatch,
    /// Go to the match before this one.
    PreviousMatch,
    /// List only matches and the rows above them, or all rows.
    MatchesOnly,
    /// Sort by the column to the left.
    SortLeft,
    /// Sort by the column to the right.
    SortRight,
    /// Turn the order round.
    Reverse,
    /// Change what 100 % means.
    Percent,
    /// Show every number per call of this row, or totals.
    PerCall,
    /// Show nanoseconds or ticks.
    Units,
    /// Change the measure of shares, totals and the order.
    Measure,
    /// Show numbers since the reset, or only of the last seconds.
    Window,
    /// Go to the snapshot before the one on screen.
    Earlier,
    /// Go to the snapshot after the one on screen.
    Later,
    /// Go some seconds before the snapshot on screen.
    FarEarlier,
    /// Go some seconds after the snapshot on screen.
    FarLater,
    /// Go to the oldest snapshot.
    Oldest,
    /// Go to the newest snapshot, and stay there.
    Newest,
    /// Follow the program again.
    Live,
    /// Remember this moment.
    Mark,
    /// Show differences to the mark or to a kept snapshot.
    Compare,
    /// Show one thread, or all threads.
    Scope,
    /// Stop the screen, or follow the program again.
    Freeze,
    /// Count from zero.
    Reset,
    /// Undo the reset.
    Undo,
    /// List the ways to measure.
    Modes,
    /// Answer a question with yes.
    Yes,
    /// Switch a site off, or on again.
    ToggleSite,
    /// Switch the functions that the row calls off, or on again.
    ToggleCallees,
    /// Watch the function of the row, or show why its slow calls are slow.
    Watch,
    /// Stop watching the function on the screen.
    Unwatch,
    /// Show the source of the function with samples of its lines, or hide it.
    Source,
    /// Go further down in the source.
    SourceDown,
    /// Go further up in the source.
    SourceUp,
    /// Show the next watched function.
    NextWatch,
    /// Choose the next of the slowest calls.
    NextCall,
    /// Choose the previous slow call.
    PreviousCall,
    /// Write the call for other tools.
    ExportCall,
    /// Zoom in to a part of the call.
    Closer,
    /// Zoom out from the part of the call.
    Further,
    /// Move to an earlier part of the call.
    PartEarlier,
    /// Move to a later part of the call.
    PartLater,
    /// Show the whole call.
    WholeCall,
    /// Write the report of the screen.
    Report,
    /// Keep the snapshot on screen.
    Keep,
    /// Copy the full name.
    Copy,
    /// Open the source in an editor.
    Edit,
    /// Ask for a slower rate.
    Slower,
    /// Ask for a faster rate.
    Faster,
    /// Show the next second view below the tree, or none.
    Second,
    /// Change the meaning of the flame graph's colours.
    FlameColour,
    /// Switch to the next theme.
    Theme,
    /// Take the mouse, or leave it to the terminal.
    Mouse,
}

/// Part of the screen that has the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Context {
    In(View),
    /// The line of a search.
    Typing,
    /// The list of keys.
    Help,
    /// The list of threads to choose from.
    Choosing,
    /// The list of ways to measure.
    Measuring,
    /// The question before a reset or another mode.
    Asking,
    /// The list of programs, while there is no data yet.
    Start,
}

/// Part of the help in which a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// Views.
    Views,
    /// Moves of the cursor.
    Move,
    /// Opening and closing.
    Tree,
    /// Searching.
    Find,
    /// Sorting and shares.
    Columns,
    /// Moments and stretches of time.
    Time,
    /// Requests to the program, and files of its snapshots.
    Program,
    /// The screen itself.
    Screen,
    /// Lists and questions on top of a view.
    OnTop,
}

/// A hint in the footer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    /// Text of one or two words.
    pub(crate) text: &'static str,
    /// Rank: hints with a lower rank stay longer when the line gets short.
    pub(crate) rank: u8,
    /// Whether the hint stands at the right end of the line.
    pub(crate) right: bool,
}

/// Maximum number of keys of a binding.
pub(crate) const KEYS_MOST: usize = 4;

/// A line of the help: keys that belong together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    /// Part of the help.
    pub(crate) section: Section,
    /// Views in which the keys work.
    pub(crate) views: &'static [View],
    /// Other contexts in which the keys work.
    pub(crate) others: &'static [Context],
    /// Keys and their actions. Only the first `count` are used.
    pub(crate) keys: [(Code, Action); KEYS_MOST],
    pub(crate) count: usize,
    /// Help text.
    pub(crate) help: &'static str,
    /// Text that only the book adds, because the screen has no space for it.
    pub(crate) note: &'static str,
    /// Hint in the footer, if there is one.
    pub(crate) hint: Option<Hint>,
    /// Views in which the hint comes before most others.
    pub(crate) early: &'static [View],
}

/// Rank of a hint in the views of [`Binding::early`].
const EARLY: u8 = 3;

impl Binding {
    /// Whether the keys work in a context.
    pub(crate) fn works_in(&self, context: Context) -> bool {
        let in_view = matches!(context, Context::In(view) if self.views.contains(&view));
        in_view || self.others.contains(&context)
    }

    pub(crate) fn keys(&self) -> &[(Code, Action)] {
        &self.keys[..self.count]
    }

    /// Returns the names of all keys: `↑ ↓ k j`.
    pub(crate) fn keys_text(&self, ascii: bool) -> String {
        let names: Vec<String> = self.keys().iter().map(|&(key, _)| key_name(key, ascii)).collect();
        names.join(" ")
    }

    /// Returns the hint in the footer of a context.
    pub(crate) fn hint_in(&self, context: Context) -> Option<Hint> {
        let hint = self.hint?;
        let is_early = matches!(context, Context::In(view) if self.early.contains(&view));
        let rank = if is_early { EARLY } else { hint.rank };
        Some(Hint { rank, ..hint })
    }

    /// Returns the first key's name, or the first two if their actions differ, close together: `↑↓`.
    pub(crate) fn hint_keys(&self, ascii: bool) -> String {
        let two = self.count > 1 && self.keys[0].1 != self.keys[1].1;
        let first: Vec<String> = self.keys()[..1 + usize::from(two)]
            .iter()
            .map(|&(key, _)| key_name(key, ascii))
            .collect();
        let short = first.iter().all(|name| name.chars().count() == 1);
        first.join(if short { "" } else { "/" })
    }
}

impl Section {
    /// All sections, in the order of the help.
    pub(crate) const ALL: [Self; 9] = [
        Self::Views,
        Self::Move,
        Self::Tree,
        Self::Find,
        Self::Columns,
        Self::Time,
        Self::Program,
        Self::Screen,
        Self::OnTop,
    ];

    /// Returns the heading of the section.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Views => "Views",
            Self::Move => "Move the cursor",
            Self::Tree => "In a view",
            Self::Find => "Find",
            Self::Columns => "Columns",
            Self::Time => "Time",
            Self::Program => "Program",
            Self::Screen => "Screen",
            Self::OnTop => "While something is on top",
        }
    }
}
