//! The table of keys.

use crate::keys::action::{Action, Binding, Context, Hint, Section, View};
use crate::keys::decoder::Code;

use Code::{Char, Ctrl};
use Context::{
    Asking, Choosing, Flame, Function, Help, Hot, Measuring, Sites, Slow, Start, Tasks, Threads, Timeline,
    Tree, Typing,
};

pub(super) const EVERYWHERE: &[Context] = &[
    Tree, Hot, Function, Threads, Flame, Sites, Tasks, Slow, Timeline, Typing, Help, Choosing, Measuring,
    Asking, Start,
];
const NOT_TYPING: &[Context] = &[
    Tree, Hot, Function, Threads, Flame, Sites, Tasks, Slow, Timeline, Help, Choosing, Measuring, Asking,
    Start,
];
const VIEWS: &[Context] = &[Tree, Hot, Function, Threads, Flame, Sites, Tasks, Slow, Timeline];
/// Views whose rows have an order to choose.
const SORTED: &[Context] = &[Tree, Hot, Function, Threads, Flame, Sites, Tasks, Slow];
/// Views whose rows are functions or places.
const ROWS: &[Context] = &[Tree, Hot, Function, Sites, Tasks, Slow];
const LISTS: &[Context] = &[
    Tree, Hot, Function, Threads, Flame, Sites, Tasks, Slow, Timeline, Help, Choosing, Measuring, Start,
];
pub(super) const TREE: &[Context] = &[Tree];
/// Views whose rows open and close.
const FOLDING: &[Context] = &[Tree, Sites];

const fn line(
    section: Section,
    contexts: &'static [Context],
    keys: &'static [(Code, Action)],
    help: &'static str,
) -> Binding {
    Binding {
        section,
        contexts,
        keys,
        help,
        note: "",
        hint: None,
        early: &[],
    }
}

impl Binding {
    const fn note(mut self, text: &'static str) -> Self {
        self.note = text;
        self
    }

    const fn left(mut self, text: &'static str, rank: u8) -> Self {
        self.hint = Some(Hint {
            text,
            rank,
            right: false,
        });
        self
    }

    const fn early(mut self, contexts: &'static [Context]) -> Self {
        self.early = contexts;
        self
    }

    const fn right(mut self, text: &'static str, rank: u8) -> Self {
        self.hint = Some(Hint {
            text,
            rank,
            right: true,
        });
        self
    }
}

/// All keys.
pub(crate) const KEYS: &[Binding] = &[
    line(
        Section::Views,
        VIEWS,
        &[(Char('1'), Action::Show(View::Tree))],
        "tree: each function below its caller",
    ),
    line(
        Section::Views,
        VIEWS,
        &[(Char('2'), Action::Show(View::Hot))],
        "hot: functions by self time",
    ),
    line(
        Section::Views,
        VIEWS,
        &[(Char('3'), Action::Show(View::Function))],
        "function: its callers and callees",
    ),
    line(
        Section::Views,
        VIEWS,
        &[(Char('4'), Action::Show(View::Threads))],
        "threads: CPU share, current function",
    )
    .note(" of each"),
    line(
        Section::Views,
        VIEWS,
        &[(Char('5'), Action::Show(View::Flame))],
        "flame: the tree as a flame graph",
    ),
    line(
        Section::Views,
        VIEWS,
        &[(Char('6'), Action::Show(View::Sites))],
        "sites: places in the source, on or off",
    ),
    line(
        Section::Views,
        VIEWS,
        &[(Char('7'), Action::Show(View::Tasks))],
        "tasks: async calls that are in flight",
    ),
    line(
        Section::Views,
        VIEWS,
        &[(Char('8'), Action::Show(View::Slow))],
        "slow: why slow calls are slow",
    ),
    line(
        Section::Views,
        VIEWS,
        &[(Char('9'), Action::Show(View::Timeline))],
        "timeline: what happened when",
    ),
    line(
        Section::Views,
        &[Tree, Hot, Function, Flame, Sites, Tasks, Slow],
        &[(Char('W'), Action::Watch)],
        "watch this function; again: the view",
    )
    .note(": tell its slow calls from typical calls, and show in the view Slow why they are slow")
    .left("why slow", 13),
    line(
        Section::Views,
        &[Tree, Hot, Function, Sites, Tasks, Slow],
        &[(Char('S'), Action::Source)],
        "source of this function; again: close",
    )
    .note(
        ": the view Function with its source, samples of its lines, and its callees that are not measured; the program samples while \
        the source is shown",
    )
    .left("source", 14),
    line(
        Section::Tree,
        &[Function],
        &[(Char('J'), Action::SourceDown), (Char('K'), Action::SourceUp)],
        "in Function: source down, up",
    ),
    line(
        Section::Views,
        VIEWS,
        &[
            (Code::Tab, Action::NextView),
            (Code::BackTab, Action::PreviousView),
        ],
        "next, previous view",
    ),
    line(
        Section::Views,
        NOT_TYPING,
        &[(Char('?'), Action::Help), (Code::F1, Action::Help)],
        "this help",
    )
    .right("keys", 0),
    line(
        Section::Views,
        EVERYWHERE,
        &[(Code::Esc, Action::Back)],
        "one step back (never quits)",
    ),
    line(
        Section::Views,
        NOT_TYPING,
        &[(Char('q'), Action::Close)],
        "close what is on top, else quit",
    )
    .right("quit", 0),
    line(
        Section::Views,
        EVERYWHERE,
        &[(Ctrl('c'), Action::Quit)],
        "quit from anywhere",
    ),
    line(
        Section::Move,
        LISTS,
        &[
            (Code::Up, Action::Up),
            (Code::Down, Action::Down),
            (Char('k'), Action::Up),
            (Char('j'), Action::Down),
        ],
        "one row",
    )
    .left("move", 8),
    line(
        Section::Move,
        LISTS,
        &[
            (Code::PageUp, Action::PageUp),
            (Code::PageDown, Action::PageDown),
            (Ctrl('u'), Action::HalfUp),
            (Ctrl('d'), Action::HalfDown),
        ],
        "a page, half a page",
    ),
    line(
        Section::Move,
        LISTS,
        &[
            (Code::Home, Action::First),
            (Code::End, Action::Last),
            (Char('g'), Action::First),
            (Char('G'), Action::Last),
        ],
        "first, last",
    ),
    line(
        Section::Move,
        VIEWS,
        &[(Char('z'), Action::Centre)],
        "put the row mid-screen",
    ),
    line(
        Section::Tree,
        FOLDING,
        &[
            (Code::Left, Action::Shut),
            (Code::Right, Action::Open),
            (Char('h'), Action::Shut),
            (Char('l'), Action::Open),
        ],
        "close, then parent; open, then child",
    )
    .left("fold", 5),
    line(Section::Tree, TREE, &[(Char(' '), Action::Fold)], "open or close"),
    line(
        Section::Tree,
        &[Flame],
        &[
            (Code::Left, Action::PreviousSibling),
            (Code::Right, Action::NextSibling),
            (Char('h'), Action::PreviousSibling),
            (Char('l'), Action::NextSibling),
        ],
        "in Flame: the frame beside it",
    )
    .note("; up and down go to its caller and to its largest callee")
    .left("beside", 6),
    line(
        Section::Tree,
        &[Function],
        &[
            (Code::Left, Action::ToCallers),
            (Code::Right, Action::ToCallees),
            (Char('h'), Action::ToCallers),
            (Char('l'), Action::ToCallees),
        ],
        "in Function: callers, callees",
    )
    .note(", if they are side by side"),
    line(
        Section::Tree,
        TREE,
        &[(Char('P'), Action::Second)],
        "below: flame graph, time line, none",
    )
    .note("; from 200 columns and 50 lines on the flame graph is shown by default"),
    line(
        Section::Tree,
        &[Tree, Flame],
        &[(Char('R'), Action::FlameColour)],
        "frames: colour by module, or own share",
    )
    .note("; in comparisons red is more than before, blue is less")
    .left("colour", 5),
    line(
        Section::Tree,
        VIEWS,
        &[(Code::Enter, Action::Enter)],
        "callers and callees, or this thread",
    )
    .left("open", 4),
    line(
        Section::Tree,
        &[Tree, Hot, Flame],
        &[
            (Char('f'), Action::FocusFunction),
            (Char('F'), Action::FocusSubtree),
        ],
        "only this function; only this subtree",
    )
    .note(" (the function wherever it is called)")
    .left("focus", 13),
    line(
        Section::Tree,
        TREE,
        &[(Char('i'), Action::Invert)],
        "from the bottom up: who called it",
    )
    .left("invert", 14),
    line(
        Section::Tree,
        TREE,
        &[(Char('c'), Action::FoldRecursion)],
        "recursion in one row",
    ),
    line(
        Section::Tree,
        &[Tree, Hot, Function, Flame],
        &[(Char('&'), Action::Groups)],
        "groups in place of their members",
    )
    .note(" (time inside the outermost member), or the members again"),
    line(
        Section::Tree,
        TREE,
        &[(Char('#'), Action::OtherPlace)],
        "next place of the same function",
    ),
    line(
        Section::Tree,
        FOLDING,
        &[(Char('E'), Action::OpenAll), (Char('C'), Action::CloseAll)],
        "open, close all below",
    ),
    line(
        Section::Tree,
        TREE,
        &[(Char('H'), Action::HotPath)],
        "open and go down the hottest path",
    )
    .left("hot path", 14),
    line(
        Section::Tree,
        FOLDING,
        &[
            (Char('K'), Action::PreviousSibling),
            (Char('J'), Action::NextSibling),
        ],
        "previous, next sibling",
    ),
    line(
        Section::Tree,
        &[Hot, Function, Flame],
        &[(Char('t'), Action::ToTree)],
        "show where it is in the tree",
    )
    .left("in tree", 5),
    line(
        Section::Tree,
        &[Slow],
        &[(Char('J'), Action::NextCall), (Char('K'), Action::PreviousCall)],
        "in Slow: next, previous slow call",
    )
    .left("call", 5),
    line(
        Section::Tree,
        &[Slow],
        &[
            (Char('+'), Action::Closer),
            (Char('-'), Action::Further),
            (Char('0'), Action::WholeCall),
        ],
        "in Slow: zoom in, out; the whole call",
    )
    .left("zoom", 6),
    line(
        Section::Tree,
        &[Slow],
        &[
            (Code::Left, Action::PartEarlier),
            (Code::Right, Action::PartLater),
            (Char('h'), Action::PartEarlier),
            (Char('l'), Action::PartLater),
        ],
        "in Slow: earlier, later in the call",
    ),
    line(
        Section::Tree,
        &[Slow],
        &[(Char('E'), Action::ExportCall)],
        "in Slow: write the call for other tools",
    )
    .note(" (a file each for Perfetto, the Firefox Profiler and speedscope)")
    .left("export", 13),
    line(
        Section::Tree,
        &[Slow],
        &[(Char(' '), Action::NextWatch)],
        "in Slow: the next watched function",
    )
    .left("next watch", 9),
    line(
        Section::Program,
        &[Slow],
        &[(Char('X'), Action::Unwatch)],
        "in Slow: stop watching this function",
    )
    .left("stop watching", 10),
    line(
        Section::Find,
        VIEWS,
        &[(Char('/'), Action::Search)],
        "search as you type",
    )
    .left("find", 3),
    line(
        Section::Find,
        VIEWS,
        &[(Char('n'), Action::NextMatch), (Char('N'), Action::PreviousMatch)],
        "next, previous match",
    )
    .left("match", 1),
    line(
        Section::Find,
        VIEWS,
        &[(Char('\\'), Action::MatchesOnly)],
        "matches only, or everything",
    )
    .left("only", 2),
    line(
        Section::Columns,
        SORTED,
        &[
            (Char('<'), Action::SortLeft),
            (Char('>'), Action::SortRight),
            (Char('I'), Action::Reverse),
        ],
        "sort by column left, right; reverse",
    )
    .left("sort", 7),
    line(
        Section::Columns,
        VIEWS,
        &[(Char('%'), Action::Percent)],
        "percent of measured, wall, or parent",
    )
    .left("base", 14),
    line(
        Section::Columns,
        VIEWS,
        &[(Char('v'), Action::Measure)],
        "by time, what is counted, or calls",
    )
    .note(": shares, totals, bars and the order use the next measure that the program has (waiting, allocations, ...)")
    .left("measure", 8),
    line(
        Section::Columns,
        VIEWS,
        &[(Char('b'), Action::PerCall)],
        "all numbers per call of this row",
    )
    .note(": per frame, per request; again: totals")
    .left("/call", 10),
    line(
        Section::Columns,
        VIEWS,
        &[(Char('U'), Action::Units)],
        "nanoseconds, or ticks of the clock",
    ),
    line(
        Section::Time,
        VIEWS,
        &[(Char('w'), Action::Window)],
        "reset, last second, last 10 s, mark",
    )
    .note("; `window` above the columns says how long it really is")
    .left("window", 5),
    line(
        Section::Time,
        VIEWS,
        &[(Char(','), Action::Earlier), (Char('.'), Action::Later)],
        "one snapshot back, forth",
    )
    .left("past", 9),
    line(
        Section::Time,
        VIEWS,
        &[(Char('('), Action::FarEarlier), (Char(')'), Action::FarLater)],
        "5 s back, forth",
    )
    .left("5 s back", 12)
    // In these views users ask about earlier work of a thread.
    .early(&[Threads, Timeline]),
    line(
        Section::Time,
        VIEWS,
        &[(Char('{'), Action::Oldest), (Char('}'), Action::Newest)],
        "the oldest, the newest snapshot",
    ),
    line(
        Section::Time,
        VIEWS,
        &[(Char('L'), Action::Live)],
        "follow the program again",
    )
    .left("live", 1),
    line(
        Section::Time,
        VIEWS,
        &[(Char('m'), Action::Mark), (Char('\''), Action::Compare)],
        "mark; compare: with it, or 10 s before",
    )
    .note(
        ": each number now minus the number then; percentages differ in points. In a window, pressed again or without a \
         mark: this window minus the window before it",
    )
    .left("mark", 10),
    line(
        Section::Time,
        &[Timeline],
        &[
            (Code::Left, Action::SlotEarlier),
            (Code::Right, Action::SlotLater),
            (Char('h'), Action::SlotEarlier),
            (Char('l'), Action::SlotLater),
        ],
        "in Timeline: a column earlier, later",
    )
    .left("cursor", 4),
    line(
        Section::Time,
        &[Timeline],
        &[
            (Char('<'), Action::RangeEarlier),
            (Char('>'), Action::RangeLater),
            (Code::ShiftLeft, Action::RangeEarlier),
            (Code::ShiftRight, Action::RangeLater),
        ],
        "in Timeline: choose a stretch of time",
    )
    .note(" (or drag with the mouse): all other views show it, until Esc")
    .left("range", 2),
    line(
        Section::Time,
        &[Timeline],
        &[
            (Char('+'), Action::Closer),
            (Char('-'), Action::Further),
            (Char('0'), Action::WholeCall),
        ],
        "in Timeline: zoom in, out; as usual",
    )
    .note(": from 10 s to an hour; a recording as a whole")
    .left("zoom", 6),
    line(
        Section::Time,
        &[Timeline],
        &[(Char('f'), Action::Lanes)],
        "in Timeline: functions, or threads",
    )
    .left("functions", 3),
    line(
        Section::Program,
        VIEWS,
        &[(Char('a'), Action::Scope)],
        "one thread, or all threads",
    )
    .left("thread", 12),
    line(
        Section::Program,
        VIEWS,
        &[(Char('p'), Action::Freeze)],
        "freeze the screen; the program runs on",
    )
    .left("freeze", 9),
    line(
        Section::Program,
        VIEWS,
        &[(Char('r'), Action::Reset)],
        "count from zero, at once",
    )
    .right("reset", 8),
    line(
        Section::Program,
        VIEWS,
        &[(Char('u'), Action::Undo)],
        "take the reset back",
    )
    .right("undo reset", 2),
    line(
        Section::Program,
        VIEWS,
        &[(Char('e'), Action::Modes)],
        "list of modes: how to measure",
    )
    .note(" (exact, adaptive, sampled, off); another mode counts from zero, and `u` does not take that back")
    .left("mode", 11),
    line(
        Section::Program,
        &[Sites],
        &[(Char(' '), Action::ToggleSite)],
        "in Sites: switch it off, or on again",
    )
    .note("; for a crate or module, all functions in it")
    .left("off/on", 2),
    line(
        Section::Program,
        FOLDING,
        &[(Char('-'), Action::ToggleCallees)],
        "switch callees of the row off, or on",
    )
    .note(": the functions that it calls directly, wherever they are called; their time then counts in their callers")
    .left("callees", 13),
    line(
        Section::Program,
        VIEWS,
        &[(Char('d'), Action::Report)],
        "write a report of what is on screen",
    )
    .note(": its moment or window, threads and focus, as text and as HTML page, in the report's order, with percents of measured time")
    .right("report", 7),
    line(
        Section::Program,
        &[Tree, Hot, Function, Threads, Flame, Sites, Tasks, Slow, Measuring],
        &[(Char('s'), Action::Keep)],
        "keep this snapshot in a file",
    )
    .right("keep", 12),
    line(
        Section::Program,
        VIEWS,
        &[(Char('['), Action::Slower), (Char(']'), Action::Faster)],
        "slower, faster: 2 to 20 times a second",
    ),
    line(
        Section::Screen,
        VIEWS,
        &[(Char('y'), Action::Copy)],
        "copy the full name",
    ),
    line(
        Section::Screen,
        ROWS,
        &[(Char('o'), Action::Edit)],
        "open the source in $VISUAL or $EDITOR",
    ),
    line(
        Section::Screen,
        NOT_TYPING,
        &[(Char('T'), Action::Theme)],
        "next theme",
    ),
    line(
        Section::Screen,
        NOT_TYPING,
        &[(Char('M'), Action::Mouse)],
        "mouse: click, wheel; or select text",
    )
    .note(" (`--mouse` and `--no-mouse` choose at the start; by default the terminal has the mouse)"),
    line(
        Section::Screen,
        EVERYWHERE,
        &[(Ctrl('l'), Action::Repaint)],
        "draw everything again",
    ),
    line(
        Section::Screen,
        EVERYWHERE,
        &[(Ctrl('z'), Action::Suspend)],
        "suspend",
    ),
    line(
        Section::OnTop,
        &[Start],
        &[(Code::Enter, Action::Choose)],
        "at the start: open the program",
    )
    .left("open", 1),
    line(
        Section::OnTop,
        &[Choosing],
        &[(Code::Enter, Action::Choose)],
        "list of threads: show this one",
    )
    .left("show", 1),
    line(
        Section::OnTop,
        &[Measuring],
        &[(Code::Enter, Action::Choose)],
        "list of modes: measure this way",
    )
    .left("use mode", 1),
    line(
        Section::OnTop,
        &[Measuring],
        &[(Char('e'), Action::Down)],
        "list of modes: one row down",
    ),
    line(
        Section::OnTop,
        &[Help],
        &[(Char('/'), Action::Search)],
        "help: look something up",
    )
    .left("look up", 2),
    line(
        Section::OnTop,
        &[Help],
        &[(Char('n'), Action::NextMatch), (Char('N'), Action::PreviousMatch)],
        "help: next, previous line found",
    )
    .left("match", 1),
    line(
        Section::OnTop,
        &[Typing],
        &[(Code::Enter, Action::Choose)],
        "search: keep it",
    )
    .right("keep", 1),
    line(
        Section::OnTop,
        &[Typing],
        &[(Code::Up, Action::PreviousMatch), (Code::Down, Action::NextMatch)],
        "search: previous, next match",
    ),
    line(
        Section::OnTop,
        &[Asking],
        &[(Char('y'), Action::Yes)],
        "question: yes",
    )
    .right("yes", 1),
];
