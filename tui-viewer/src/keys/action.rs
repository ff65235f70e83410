//! The actions of keys, the contexts that may have the keyboard, and the lines of the table that assigns keys to
//! actions.

use crate::keys::decoder::{Code, key_name};
use crate::keys::view::View;

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// Show this view.
    Show(View),
    /// Go one column of the timeline to the left.
    SlotEarlier,
    /// Go one column of the timeline to the right.
    SlotLater,
    /// Select a range of the timeline, or extend it by a column to the left.
    RangeEarlier,
    /// Select a range of the timeline, or extend it by a column to the right.
    RangeLater,
    /// Switch the lines of the timeline between threads and functions.
    Lanes,
    /// Show the view to the right.
    NextView,
    /// Show the view to the left.
    PreviousView,
    /// Show the list of keys, or hide it.
    Help,
    /// Go one step back; never quits.
    Back,
    /// Close the overlay; quit if there is none.
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
    /// Open the row; if it is open, go to its first child.
    Open,
    /// Close the row; if it is closed, go to its parent.
    Shut,
    /// Open or close the row.
    Fold,
    /// Open all rows below.
    OpenAll,
    /// Close all rows below.
    CloseAll,
    /// Open the rows along the hottest path, and go down to its end.
    HotPath,
    /// Go to the sibling above.
    PreviousSibling,
    /// Go to the callers on the left, in the same line.
    ToCallers,
    /// Go to the callees on the right, in the same line.
    ToCallees,
    /// Go to the sibling below.
    NextSibling,
    /// Scroll until the selected row is in the middle.
    Centre,
    /// Open the selected row: a function with its callers, or a thread alone.
    Enter,
    /// Choose the selected row of a list.
    Choose,
    /// Show the function in the tree, at its heaviest row.
    ToTree,
    /// Show only the calls of this function, on all paths; again: show all calls.
    FocusFunction,
    /// Show only the calls below this row; again: show all calls.
    FocusSubtree,
    /// Switch the tree between top-down and bottom-up.
    Invert,
    /// Show recursive calls in one row, or each in a row.
    FoldRecursion,
    /// Show groups instead of their members, or the members.
    Groups,
    /// Go to the next row of the same function.
    OtherPlace,
    /// Start a search.
    Search,
    /// Go to the next match.
    NextMatch,
    /// Go to the previous match.
    PreviousMatch,
    /// Show only matches and the rows above them, or all rows.
    MatchesOnly,
    /// Sort by the column to the left.
    SortLeft,
    /// Sort by the column to the right.
    SortRight,
    /// Reverse the order.
    Reverse,
    /// Change what 100 % means.
    Percent,
    /// Show every number per call of this row, or show totals.
    PerCall,
    /// Show nanoseconds or ticks.
    Units,
    /// Change the measure of shares, totals and the order.
    Measure,
    /// Show numbers since the reset, or of the last seconds only.
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
    /// Show differences from the mark or from a kept snapshot.
    Compare,
    /// Show one thread, or all threads.
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
    /// Switch a site off, or on again.
    ToggleSite,
    /// Switch the functions that the row calls off, or on again.
    ToggleCallees,
    /// Watch the function of the row; if it is watched, show why its slow calls are slow.
    Watch,
    /// Stop watching the function on the screen.
    Unwatch,
    /// Show the function's source with the samples of each line, or hide it.
    Source,
    /// Scroll down in the source.
    SourceDown,
    /// Scroll up in the source.
    SourceUp,
    /// Show the next watched function.
    NextWatch,
    /// Choose the next of the slowest calls.
    NextCall,
    /// Choose the previous of the slowest calls.
    PreviousCall,
    /// Write the slow call for other tools.
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
    /// Write the report of the screen to files.
    Report,
    /// Keep the snapshot on screen in a file.
    Keep,
    /// Copy the full name to the clipboard.
    Copy,
    /// Open the source in an editor.
    Edit,
    /// Ask the program to publish less often.
    Slower,
    /// Ask the program to publish more often.
    Faster,
    /// Show another second view below the tree, or none.
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
    /// The search line.
    Typing,
    /// The list of keys.
    Help,
    /// The list of threads.
    Choosing,
    /// The list of modes of measuring.
    Measuring,
    /// The question before a reset or a change of mode.
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
    /// Opening and closing.
    Tree,
    Find,
    /// Sorting and shares.
    Columns,
    /// Moments and ranges of time.
    Time,
    /// Requests to the program, and files with its snapshots.
    Program,
    /// The screen itself.
    Screen,
    /// Lists and questions over a view.
    OnTop,
}

/// A hint in the footer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    /// Text of one or two words.
    pub(crate) text: &'static str,
    /// Rank: if the footer is too narrow, hints with a higher rank are left out first.
    pub(crate) rank: u8,
    /// Whether the hint is at the right end of the footer.
    pub(crate) right: bool,
}

/// Largest number of keys in a binding.
pub(crate) const KEYS_MOST: usize = 4;

/// A line of the help: keys for one purpose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    /// Section of the help.
    pub(crate) section: Section,
    /// Views in which the keys work.
    pub(crate) views: &'static [View],
    /// Other contexts in which the keys work, such as lists.
    pub(crate) others: &'static [Context],
    /// Keys and their actions. Only the first `count` are used.
    pub(crate) keys: [(Code, Action); KEYS_MOST],
    pub(crate) count: usize,
    pub(crate) help: &'static str,
    /// Addition to `help` in the documentation only; the screen has no space for it.
    pub(crate) note: &'static str,
    /// Hint in the footer, if there is one.
    pub(crate) hint: Option<Hint>,
    /// Views in which the hint has the rank [`EARLY`].
    pub(crate) early: &'static [View],
}

/// Rank of a hint in the views of [`Binding::early`].
const EARLY: u8 = 3;

impl Binding {
    pub(crate) fn works_in(&self, context: Context) -> bool {
        let in_view = matches!(context, Context::In(view) if self.views.contains(&view));
        in_view || self.others.contains(&context)
    }

    pub(crate) fn keys(&self) -> &[(Code, Action)] {
        &self.keys[..self.count]
    }

    /// Returns the names of all keys, such as `↑ ↓ k j`.
    pub(crate) fn keys_text(&self, ascii: bool) -> String {
        let names: Vec<String> = self.keys().iter().map(|&(key, _)| key_name(key, ascii)).collect();
        names.join(" ")
    }

    /// Returns the hint in the footer while `context` has the keyboard.
    pub(crate) fn hint_in(&self, context: Context) -> Option<Hint> {
        let hint = self.hint?;
        let is_early = matches!(context, Context::In(view) if self.early.contains(&view));
        let rank = if is_early { EARLY } else { hint.rank };
        Some(Hint { rank, ..hint })
    }

    /// Returns the keys of the hint, such as `↑↓`: the first two if their actions differ, else only the first.
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
