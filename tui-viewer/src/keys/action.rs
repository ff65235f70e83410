//! The actions of keys, the contexts that can have the keyboard focus, and the row type of the key binding table.

use crate::keys::decoder::{Code, key_name};
use crate::keys::view::View;

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// Show this view.
    Show(View),
    /// Go one column to the left in the timeline.
    SlotEarlier,
    /// Go one column to the right in the timeline.
    SlotLater,
    /// Select a range of the timeline, or extend it by a column to the left.
    RangeEarlier,
    /// Switch the rows of the timeline between threads and functions.
    RangeLater,
    /// Switch the lines of the timeline between threads and functions.
    Lanes,
    /// Show the view to the right.
    NextView,
    /// Show the view to the left.
    PreviousView,
    /// Show or hide the list of keys.
    Help,
    /// Go one step back, but never quit.
    Back,
    /// Close the overlay, or quit if there is none.
    Close,
    /// Quit, in any context.
    Quit,
    /// Draw everything again.
    Repaint,
    /// Suspend the viewer, as Ctrl-Z does with any program.
    Suspend,
    Up,
    Down,
    PageUp,
    PageDown,
    HalfUp,
    HalfDown,
    First,
    Last,
    /// Expand the row. If it is already expanded, go to its first child.
    Open,
    /// Collapse the row. If it is already collapsed, go to its parent.
    Shut,
    /// Expand or collapse the row.
    Fold,
    /// Expand all rows below.
    OpenAll,
    /// Collapse all rows below.
    CloseAll,
    /// Expand the rows along the hottest path, and go to its end.
    HotPath,
    /// Go to the sibling above.
    PreviousSibling,
    /// Go to the callers on the left, staying on the same line.
    ToCallers,
    /// Go to the callees on the right, staying on the same line.
    ToCallees,
    /// Go to the sibling below.
    NextSibling,
    /// Open the selected row: a function together with its callers and callees, or one thread by itself.
    Centre,
    /// Open the selected row: a function with its callers, or a thread alone.
    Enter,
    /// Choose the selected row of a list.
    Choose,
    /// Show the function in the tree, at the row where it is heaviest.
    ToTree,
    /// Show only the calls of this function, from all callers. Pressed again, show all calls.
    FocusFunction,
    /// Show only the calls below this row. Pressed again, show all calls.
    FocusSubtree,
    /// Switch the tree between top-down and bottom-up.
    Invert,
    /// Switch between one row for all levels of a recursion and one row per level.
    FoldRecursion,
    /// Switch between showing groups and showing their members.
    Groups,
    /// Go to the next row in the tree that shows the same function.
    OtherPlace,
    /// Start a search.
    Search,
    /// Go to the next match.
    NextMatch,
    /// Go to the previous match.
    PreviousMatch,
    /// Switch between showing only matches (with the rows above them) and showing all rows.
    MatchesOnly,
    /// Sort by the column to the left.
    SortLeft,
    /// Sort by the column to the right.
    SortRight,
    /// Reverse the order.
    Reverse,
    /// Change what 100 % means.
    Percent,
    /// Switch between numbers per call of the selected row and totals.
    PerCall,
    /// Show nanoseconds or ticks.
    Units,
    /// Switch to the next measure, which determines shares, totals and the sort order.
    Measure,
    /// Switch to the next window: since the reset, the last second, the last 10 s, or since the mark.
    Window,
    /// Go to the previous snapshot.
    Earlier,
    /// Go to the next snapshot.
    Later,
    /// Go some seconds back.
    FarEarlier,
    /// Go some seconds forward.
    FarLater,
    /// Go to the oldest snapshot.
    Oldest,
    /// Go to the newest snapshot, and stay there.
    Newest,
    /// Follow the program again.
    Live,
    /// Remember this moment.
    Mark,
    /// Show differences from the mark or from a saved snapshot.
    Compare,
    /// Switch between one thread and all threads.
    Scope,
    /// Freeze the screen, or follow the program again.
    Freeze,
    /// Reset all counts to zero.
    Reset,
    /// Undo the reset.
    Undo,
    /// List the modes of measuring.
    Modes,
    /// Answer yes to a question.
    Yes,
    /// Switch a site off, or back on.
    ToggleSite,
    /// Switch off the functions that this row calls, or switch them back on.
    ToggleCallees,
    /// Watch the row's function. If it is already being watched, show why its slow calls are slow.
    Watch,
    /// Stop watching the function shown on the screen.
    Unwatch,
    /// Show or hide the function's source, with the number of samples in each line.
    Source,
    /// Scroll down in the source.
    SourceDown,
    /// Scroll up in the source.
    SourceUp,
    /// Show the next watched function.
    NextWatch,
    /// Select the next slow call.
    NextCall,
    /// Select the previous slow call.
    PreviousCall,
    /// Write the slow call to files for other tools.
    ExportCall,
    /// Zoom in on a part of the slow call.
    Closer,
    /// Zoom out.
    Further,
    /// Move to an earlier part of the slow call.
    PartEarlier,
    /// Move to a later part of the slow call.
    PartLater,
    /// Show the whole slow call.
    WholeCall,
    /// Write a report of what is on the screen to files.
    Report,
    /// Save the snapshot on the screen to a file.
    Keep,
    /// Copy the full name to the clipboard.
    Copy,
    /// Open the source in an editor.
    Edit,
    /// Ask the program to publish less often.
    Slower,
    /// Switch to the next secondary view below the tree, or to none.
    Faster,
    /// Change what the colours of the flame graph stand for.
    Second,
    /// Change the meaning of the flame graph's colours.
    FlameColour,
    /// Switch to the next theme.
    Theme,
    /// Capture the mouse, or leave it to the terminal.
    Mouse,
}

/// The part of the screen that has the keyboard focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Context {
    In(View),
    /// The search line.
    Typing,
    /// The list of keys.
    Help,
    /// The list of threads.
    Choosing,
    /// The list of measuring modes.
    Measuring,
    /// The prompt that asks for confirmation of a reset or a change of mode.
    Asking,
    /// The list of programs, while there is no data yet.
    Start,
}

/// Sections of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Views,
    /// Moving the cursor.
    Move,
    /// Moving within one view, such as expanding and collapsing rows.
    Tree,
    Find,
    /// Sorting and shares.
    Columns,
    /// Moments and ranges of time.
    Time,
    /// Requests to the program, and files with its data.
    Program,
    /// The screen itself.
    Screen,
    /// Lists and prompts shown on top of a view.
    OnTop,
}

/// A hint in the footer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    /// Text of one or two words.
    pub(crate) text: &'static str,
    /// Rank of the hint. If the footer is too narrow, hints with a higher rank are dropped first.
    pub(crate) rank: u8,
    /// Whether the hint is placed at the right end of the footer.
    pub(crate) right: bool,
}

/// Maximum number of keys in a binding.
pub(crate) const KEYS_MOST: usize = 4;

/// A line of the help: the keys for one purpose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    /// Section of the help.
    pub(crate) section: Section,
    /// Views in which the keys work.
    pub(crate) views: &'static [View],
    /// Other contexts in which the keys work, such as lists and prompts.
    pub(crate) others: &'static [Context],
    /// Keys and their actions. Only the first `count` are used.
    pub(crate) keys: [(Code, Action); KEYS_MOST],
    pub(crate) count: usize,
    pub(crate) help: &'static str,
    /// Text that is appended to `help` in the documentation, but not on the screen, which has no room for it.
    pub(crate) note: &'static str,
    /// Hint for the footer, if any.
    pub(crate) hint: Option<Hint>,
    /// Views in which the hint's rank is [`EARLY`].
    pub(crate) early: &'static [View],
}

/// Rank of a hint in the views listed in [`Binding::early`].
const EARLY: u8 = 3;

impl Binding {
    pub(crate) fn works_in(&self, context: Context) -> bool {
        let in_view = matches!(context, Context::In(view) if self.views.contains(&view));
        in_view || self.others.contains(&context)
    }

    pub(crate) fn keys(&self) -> &[(Code, Action)] {
        &self.keys[..self.count]
    }

    /// Returns the names of all keys of this binding, such as `↑ ↓ k j`.
    pub(crate) fn keys_text(&self, ascii: bool) -> String {
        let names: Vec<String> = self.keys().iter().map(|&(key, _)| key_name(key, ascii)).collect();
        names.join(" ")
    }

    /// Returns the hint for the footer while `context` has the keyboard focus.
    pub(crate) fn hint_in(&self, context: Context) -> Option<Hint> {
        let hint = self.hint?;
        let is_early = matches!(context, Context::In(view) if self.early.contains(&view));
        let rank = if is_early { EARLY } else { hint.rank };
        Some(Hint { rank, ..hint })
    }

    /// Returns the keys to show in the hint, such as `↑↓`: the first two if their actions differ, otherwise only the
    /// first.
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
