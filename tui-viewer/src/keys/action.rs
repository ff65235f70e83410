//! What keys can mean, who may have the keyboard, and a line of the table that brings both together.

use crate::keys::decoder::{Code, key_name};

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
    /// Which calls of futures are in flight, and what they wait for.
    Tasks,
    /// Why slow calls of watched functions are slow.
    Slow,
    /// What threads and functions did when.
    Timeline,
}

/// Everything a key can mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// The view.
    Show(View),
    /// A column of the time line to the left.
    SlotEarlier,
    /// A column of the time line to the right.
    SlotLater,
    /// Choose a stretch of time, a column to the left.
    RangeEarlier,
    /// Choose a stretch of time, a column to the right.
    RangeLater,
    /// Threads or functions, a line each.
    Lanes,
    /// The view to the right.
    NextView,
    /// The view to the left.
    PreviousView,
    /// The list of keys, and away with it.
    Help,
    /// One step back; never quits.
    Back,
    /// Away with what is on top; else quit.
    Close,
    /// Quit, wherever this is.
    Quit,
    /// Draw everything again.
    Repaint,
    /// Stop like any program of the shell.
    Suspend,
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
    /// Half a page up.
    HalfUp,
    /// Half a page down.
    HalfDown,
    /// The first row.
    First,
    /// The last row.
    Last,
    /// Open, then to the first child.
    Open,
    /// Close, then to the parent.
    Shut,
    /// Open or close.
    Fold,
    /// Open all below.
    OpenAll,
    /// Close all below.
    CloseAll,
    /// Open and go down the hottest path.
    HotPath,
    /// To the sibling above.
    PreviousSibling,
    /// To the callers beside, at the same height.
    ToCallers,
    /// To the callees beside, at the same height.
    ToCallees,
    /// To the sibling below.
    NextSibling,
    /// Put the row in the middle of the screen.
    Centre,
    /// Open what is selected: a function with its callers, or a thread alone.
    Enter,
    /// Take what is selected.
    Choose,
    /// Show a function at its heaviest place in the tree.
    ToTree,
    /// Only this function, wherever it is called, or everything again.
    FocusFunction,
    /// Only what is below this row, or everything again.
    FocusSubtree,
    /// From the bottom up, or from the top down.
    Invert,
    /// Recursion in one row, or call by call.
    FoldRecursion,
    /// Groups in place of their members, or the members.
    Groups,
    /// To the next place of the same function.
    OtherPlace,
    /// Start a search.
    Search,
    /// The match after this one.
    NextMatch,
    /// The match before this one.
    PreviousMatch,
    /// Only matches and what leads to them, or everything.
    MatchesOnly,
    /// Sort by the column to the left.
    SortLeft,
    /// Sort by the column to the right.
    SortRight,
    /// Turn the order round.
    Reverse,
    /// What percents are of.
    Percent,
    /// Every number per call of this row, or as it is.
    PerCall,
    /// Nanoseconds or ticks.
    Units,
    /// What shares, totals and the order are of.
    Measure,
    /// Since the reset, or what happened of late.
    Window,
    /// The snapshot before the one on screen.
    Earlier,
    /// The snapshot after the one on screen.
    Later,
    /// Some seconds before the snapshot on screen.
    FarEarlier,
    /// Some seconds after it.
    FarLater,
    /// The oldest snapshot there is.
    Oldest,
    /// The newest snapshot, standing still.
    Newest,
    /// Follow the program again.
    Live,
    /// Remember this moment.
    Mark,
    /// Show differences to the mark or to a kept snapshot.
    Compare,
    /// One thread, or all.
    Scope,
    /// The screen stands still, or follows again.
    Freeze,
    /// Count from zero.
    Reset,
    /// Take the reset back.
    Undo,
    /// The list of ways to measure.
    Modes,
    /// Yes to a question.
    Yes,
    /// Switch a place in the source off, or on again.
    ToggleSite,
    /// Switch the functions off that the row calls, or on again.
    ToggleCallees,
    /// Watch the function of the row, or show why its slow calls are slow.
    Watch,
    /// Watch the function on the screen no longer.
    Unwatch,
    /// The source of the function with samples of its lines, or away with it.
    Source,
    /// Further down in the source.
    SourceDown,
    /// Further up in it.
    SourceUp,
    /// The next watched function.
    NextWatch,
    /// The next one of the slowest calls.
    NextCall,
    /// The one before.
    PreviousCall,
    /// Write the call for other tools.
    ExportCall,
    /// Closer to a part of the call.
    Closer,
    /// Further from it.
    Further,
    /// An earlier part of the call.
    PartEarlier,
    /// A later part of it.
    PartLater,
    /// The whole call.
    WholeCall,
    /// Write the report of what is on screen.
    Report,
    /// Keep the snapshot on screen.
    Keep,
    /// Copy the full name.
    Copy,
    /// Open the source in an editor.
    Edit,
    /// A slower rate.
    Slower,
    /// A faster rate.
    Faster,
    /// The next second view below the tree, or none.
    Second,
    /// What the colours of the flame graph say.
    FlameColour,
    /// The next theme.
    Theme,
    /// The mouse is ours, or the terminal's.
    Mouse,
}

/// Who has the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Context {
    /// The call tree.
    Tree,
    /// The hotspots.
    Hot,
    /// One function.
    Function,
    /// The threads.
    Threads,
    /// The flame graph.
    Flame,
    /// The places in the source.
    Sites,
    /// The calls of futures.
    Tasks,
    /// Why slow calls are slow.
    Slow,
    /// The view Timeline.
    Timeline,
    /// A search is being typed.
    Typing,
    /// The list of keys.
    Help,
    /// The list of threads to choose from.
    Choosing,
    /// The list of ways to measure.
    Measuring,
    /// The question before a reset or another mode.
    Asking,
    /// No data yet: the list of programs.
    Start,
}

/// Part of the help that a line stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// Which screen.
    Views,
    /// Up and down.
    Move,
    /// Opening and closing.
    Tree,
    /// Searching.
    Find,
    /// Sorting and shares.
    Columns,
    /// Which moment, and which stretch of time.
    Time,
    /// What is asked of the program, and what is kept of it.
    Program,
    /// The screen itself.
    Screen,
    /// Lists and questions on top of a view.
    OnTop,
}

/// A hint in the footer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    /// One or two words.
    pub(crate) text: &'static str,
    /// The lower, the longer it stays when the line gets short.
    pub(crate) rank: u8,
    /// At the right end of the line.
    pub(crate) right: bool,
}

/// A line of the help: keys that belong together.
#[derive(Debug)]
pub(crate) struct Binding {
    /// Its part of the help.
    pub(crate) section: Section,
    /// Where the keys work.
    pub(crate) contexts: &'static [Context],
    /// The keys.
    pub(crate) keys: &'static [(Code, Action)],
    /// What they do.
    pub(crate) help: &'static str,
    /// What the book adds to that: it has the room.
    pub(crate) note: &'static str,
    /// How they stand in the footer, if they do.
    pub(crate) hint: Option<Hint>,
    /// Where that hint comes before most others.
    pub(crate) early: &'static [Context],
}

/// The rank of a hint where it comes early.
const EARLY: u8 = 3;

impl Binding {
    /// All of its keys: `↑ ↓ k j`.
    pub(crate) fn keys_text(&self, ascii: bool) -> String {
        let names: Vec<String> = self.keys.iter().map(|&(key, _)| key_name(key, ascii)).collect();
        names.join(" ")
    }

    /// How they stand in the footer of a context.
    pub(crate) fn hint_in(&self, context: Context) -> Option<Hint> {
        let hint = self.hint?;
        let is_early = self.early.contains(&context);
        let rank = if is_early { EARLY } else { hint.rank };
        Some(Hint { rank, ..hint })
    }

    /// Its first keys, close together: `↑↓`; two only where the second means something else.
    pub(crate) fn hint_keys(&self, ascii: bool) -> String {
        let two = self.keys.len() > 1 && self.keys[0].1 != self.keys[1].1;
        let first: Vec<String> = self
            .keys
            .iter()
            .take(1 + usize::from(two))
            .map(|&(key, _)| key_name(key, ascii))
            .collect();
        let short = first.iter().all(|name| name.chars().count() == 1);
        first.join(if short { "" } else { "/" })
    }
}

impl Section {
    /// All of them, in the order of the help.
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

    /// Its heading.
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
