//! The table of keys.

use std::sync::LazyLock;

use crate::keys::action::{Action, Binding, Context, Hint, Section};
use crate::keys::decoder::Code;
use crate::keys::view::View;

use Code::{Char, Ctrl};
use Context::{Asking, Choosing, Help, Measuring, Start, Typing};
use View::{Flame, Function, Hot, Sites, Slow, Tasks, Threads, Timeline, Tree};

const NO_VIEWS: &[View] = &[];
const VIEWS: &[View] = &View::ALL;
/// Views whose rows have an order to choose: all but the time line.
const SORTED: &[View] = &{
    let mut sorted = [Tree; VIEWS.len() - 1];
    let (mut from, mut to) = (0, 0);
    while from < VIEWS.len() {
        if !matches!(VIEWS[from], Timeline) {
            sorted[to] = VIEWS[from];
            to += 1;
        }
        from += 1;
    }
    sorted
};
/// Views whose rows are functions or places.
const ROWS: &[View] = &[Tree, Hot, Function, Sites, Tasks, Slow];
pub(super) const TREE: &[View] = &[Tree];
/// Views whose rows open and close.
const FOLDING: &[View] = &[Tree, Sites];

/// All contexts beside the views.
pub(super) const EVERYWHERE: &[Context] = &[Typing, Help, Choosing, Measuring, Asking, Start];
const NOT_TYPING: &[Context] = &[Help, Choosing, Measuring, Asking, Start];
const LISTS: &[Context] = &[Help, Choosing, Measuring, Start];

/// Keys that show the views, from left to right.
static SHOW: [[(Code, Action); 1]; VIEWS.len()] = {
    let mut keys = [[(Char('1'), Action::Show(Tree))]; VIEWS.len()];
    let mut at = 1;
    while at < VIEWS.len() {
        keys[at] = [(Char(b"1234567890"[at] as char), Action::Show(VIEWS[at]))];
        at += 1;
    }
    keys
};

const fn line(
    section: Section,
    views: &'static [View],
    keys: &'static [(Code, Action)],
    help: &'static str,
) -> Binding {
    Binding {
        section,
        views,
        others: &[],
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

    const fn early(mut self, views: &'static [View]) -> Self {
        self.early = views;
        self
    }

    /// Lets the keys work in these contexts as well.
    const fn and(mut self, others: &'static [Context]) -> Self {
        self.others = others;
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
pub(crate) static KEYS: LazyLock<Vec<Binding>> = LazyLock::new(|| {
    let show = VIEWS.iter().zip(&SHOW).map(|(view, keys)| {
        let words = view.words();
        line(Section::Views, VIEWS, keys, words.help).note(words.note)
    });
    show.chain(OTHERS.iter().copied()).collect()
});

const OTHERS: &[Binding] = &[
    line(
        Section::Views,
        &[Tree, Hot, Function, Flame, Sites, Tasks, Slow],
        &[(Char('W'), Action::Watch)],
        "watch this function; again: the view",
    )
    .note(": tell its slow calls from typical ones, and show in the view Slow why they are slow")
    .left("why slow", 13),
    line(
        Section::Views,
        &[Tree, Hot, Function, Sites, Tasks, Slow],
        &[(Char('S'), Action::Source)],
        "source of this function; again: away",
    )
    .note(
        ": the view Function with its source, samples of its lines, and what it calls that is not measured; the program samples while \
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
        VIEWS,
        &[(Char('?'), Action::Help), (Code::F1, Action::Help)],
        "this help",
    )
    .and(NOT_TYPING)
    .right("keys", 0),
    line(
        Section::Views,
        VIEWS,
        &[(Code::Esc, Action::Back)],
        "one step back (never quits)",
    )
    .and(EVERYWHERE),
    line(
        Section::Views,
        VIEWS,
        &[(Char('q'), Action::Close)],
        "close what is on top, else quit",
    )
    .and(NOT_TYPING)
    .right("quit", 0),
    line(
        Section::Views,
        VIEWS,
        &[(Ctrl('c'), Action::Quit)],
        "quit from anywhere",
    )
    .and(EVERYWHERE),
    line(
        Section::Move,
        VIEWS,
        &[
            (Code::Up, Action::Up),
            (Code::Down, Action::Down),
            (Char('k'), Action::Up),
            (Char('j'), Action::Down),
        ],
        "one row",
    )
    .and(LISTS)
    .left("move", 8),
    line(
        Section::Move,
        VIEWS,
        &[
            (Code::PageUp, Action::PageUp),
            (Code::PageDown, Action::PageDown),
            (Ctrl('u'), Action::HalfUp),
            (Ctrl('d'), Action::HalfDown),
        ],
        "a page, half a page",
    )
    .and(LISTS),
    line(
        Section::Move,
        VIEWS,
        &[
            (Code::Home, Action::First),
            (Code::End, Action::Last),
            (Char('g'), Action::First),
            (Char('G'), Action::Last),
        ],
        "first, last",
    )
    .and(LISTS),
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
    .note("; up and down lead to who calls it and to the largest it calls")
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
    .note(", where they stand side by side"),
    line(
        Section::Tree,
        TREE,
        &[(Char('P'), Action::Second)],
        "below: flame graph, time line, none",
    )
    .note("; from 200 columns and 50 lines on the flame graph is there by itself"),
    line(
        Section::Tree,
        &[Tree, Flame],
        &[(Char('R'), Action::FlameColour)],
        "frames: colour by module, or own share",
    )
    .note("; where moments are compared, red is more than then and blue is less")
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
    .note(" (time inside the outermost one), or the members again"),
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
    .note(": shares, totals, bars and the order are of the next measure that the program has (waiting, allocations, ...)")
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
         mark: this window minus the one before it",
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
    .note(": from 10 s to an hour; of a recording all of it")
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
    .note("; of a crate or module all that is in it")
    .left("off/on", 2),
    line(
        Section::Program,
        FOLDING,
        &[(Char('-'), Action::ToggleCallees)],
        "switch what the row calls off, or on",
    )
    .note(": the functions that it calls itself, wherever they are called; their time is then their callers'")
    .left("callees", 13),
    line(
        Section::Program,
        VIEWS,
        &[(Char('d'), Action::Report)],
        "write a report of what is on screen",
    )
    .note(": its moment or window, threads and focus, as text and as HTML page; order and percents (of measured time) are its own")
    .right("report", 7),
    line(
        Section::Program,
        SORTED,
        &[(Char('s'), Action::Keep)],
        "keep this snapshot in a file",
    )
    .and(&[Measuring])
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
        VIEWS,
        &[(Char('T'), Action::Theme)],
        "next theme",
    )
    .and(NOT_TYPING),
    line(
        Section::Screen,
        VIEWS,
        &[(Char('M'), Action::Mouse)],
        "mouse: click, wheel; or select text",
    )
    .and(NOT_TYPING)
    .note(" (`--mouse` and `--no-mouse` say which at the start; by itself the terminal has it)"),
    line(
        Section::Screen,
        VIEWS,
        &[(Ctrl('l'), Action::Repaint)],
        "draw everything again",
    )
    .and(EVERYWHERE),
    line(
        Section::Screen,
        VIEWS,
        &[(Ctrl('z'), Action::Suspend)],
        "suspend",
    )
    .and(EVERYWHERE),
    line(
        Section::OnTop,
        NO_VIEWS,
        &[(Code::Enter, Action::Choose)],
        "at the start: open the program",
    )
    .and(&[Start])
    .left("open", 1),
    line(
        Section::OnTop,
        NO_VIEWS,
        &[(Code::Enter, Action::Choose)],
        "list of threads: show this one",
    )
    .and(&[Choosing])
    .left("show", 1),
    line(
        Section::OnTop,
        NO_VIEWS,
        &[(Code::Enter, Action::Choose)],
        "list of modes: measure this way",
    )
    .and(&[Measuring])
    .left("measure so", 1),
    line(
        Section::OnTop,
        NO_VIEWS,
        &[(Char('e'), Action::Down)],
        "list of modes: one row down",
    )
    .and(&[Measuring]),
    line(
        Section::OnTop,
        NO_VIEWS,
        &[(Char('/'), Action::Search)],
        "help: look something up",
    )
    .and(&[Help])
    .left("look up", 2),
    line(
        Section::OnTop,
        NO_VIEWS,
        &[(Char('n'), Action::NextMatch), (Char('N'), Action::PreviousMatch)],
        "help: next, previous line found",
    )
    .and(&[Help])
    .left("match", 1),
    line(
        Section::OnTop,
        NO_VIEWS,
        &[(Code::Enter, Action::Choose)],
        "search: keep it",
    )
    .and(&[Typing])
    .right("keep", 1),
    line(
        Section::OnTop,
        NO_VIEWS,
        &[(Code::Up, Action::PreviousMatch), (Code::Down, Action::NextMatch)],
        "search: previous, next match",
    )
    .and(&[Typing]),
    line(
        Section::OnTop,
        NO_VIEWS,
        &[(Char('y'), Action::Yes)],
        "question: yes",
    )
    .and(&[Asking])
    .right("yes", 1),
];
