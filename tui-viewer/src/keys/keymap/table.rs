//! The table of keys.

use std::sync::LazyLock;

use crate::keys::action::{Action, Binding, Context, Hint, KEYS_MOST, Section};
use crate::keys::decoder::Code;
use crate::keys::view::View;

use Code::{Char, Ctrl};
use Context::{Asking, Choosing, Help, Measuring, Start, Typing};
use View::{Flame, Function, Hot, Sites, Slow, Tasks, Threads, Timeline, Tree};

const VIEWS: &[View] = &View::ALL;
/// Views whose rows can be sorted: all but the timeline.
const SORTED: &[View] = match VIEWS {
    [sorted @ .., Timeline] => sorted,
    // Unreachable, because the timeline is the last view.
    _ => &[],
};
/// Views whose rows are functions or sites.
const ROWS: &[View] = &[Tree, Hot, Function, Sites, Tasks, Slow];
pub(super) const TREE: &[View] = &[Tree];
/// Views whose rows can be expanded and collapsed.
const FOLDING: &[View] = &[Tree, Sites];

/// All contexts except the views.
pub(super) const EVERYWHERE: &[Context] = &[Typing, Help, Choosing, Measuring, Asking, Start];
const NOT_TYPING: &[Context] = &[Help, Choosing, Measuring, Asking, Start];
const LISTS: &[Context] = &[Help, Choosing, Measuring, Start];

/// Returns a binding, without keys yet, that works in these views.
const fn within(views: &'static [View], help: &'static str) -> Binding {
    Binding {
        section: Section::Views,
        views,
        others: &[],
        keys: [(Code::Esc, Action::Back); KEYS_MOST],
        count: 0,
        help,
        note: "",
        hint: None,
        early: &[],
    }
}

/// Returns a binding, without keys yet, that works in all views.
const fn all(help: &'static str) -> Binding {
    within(VIEWS, help)
}

/// Returns a binding, without keys yet, that works while one of these contexts has the keyboard focus.
const fn top(others: &'static [Context], help: &'static str) -> Binding {
    within(&[], help).and(others)
}

impl Binding {
    const fn key(mut self, key: Code, action: Action) -> Self {
        self.keys[self.count] = (key, action);
        self.count += 1;
        self
    }

    const fn hint(mut self, text: &'static str, rank: u8, right: bool) -> Self {
        self.hint = Some(Hint { text, rank, right });
        self
    }

    const fn note(mut self, text: &'static str) -> Self {
        self.note = text;
        self
    }

    const fn left(self, text: &'static str, rank: u8) -> Self {
        self.hint(text, rank, false)
    }

    const fn early(mut self, views: &'static [View]) -> Self {
        self.early = views;
        self
    }

    /// Makes the binding work in these contexts as well.
    const fn and(mut self, others: &'static [Context]) -> Self {
        self.others = others;
        self
    }

    const fn right(self, text: &'static str, rank: u8) -> Self {
        self.hint(text, rank, true)
    }
}

pub(crate) static KEYS: LazyLock<Vec<Binding>> = LazyLock::new(|| {
    let show = VIEWS.iter().zip("1234567890".chars()).map(|(&view, digit)| {
        let words = view.words();
        all(words.help)
            .key(Char(digit), Action::Show(view))
            .note(words.note)
    });
    let others = GROUPS
        .iter()
        .flat_map(|&(section, lines)| lines.iter().map(move |&line| Binding { section, ..line }));
    show.chain(others).collect()
});

/// All keys except those that switch to a view, grouped by the sections of the help.
const GROUPS: &[(Section, &[Binding])] = &[
    (
        Section::Views,
        &[
            within(
                &[Tree, Hot, Function, Flame, Sites, Tasks, Slow],
                "watch this function; again: the view",
            )
            .key(Char('W'), Action::Watch)
            .note(": tell its slow calls from typical calls, and show in the view Slow why they are slow")
            .left("why slow", 13),
            within(
                &[Tree, Hot, Function, Sites, Tasks, Slow],
                "source of this function; again: close",
            )
            .key(Char('S'), Action::Source)
            .note(
                ": the view Function with its source, samples of its lines, and its callees that are not measured; the program samples while \
        the source is shown",
            )
            .left("source", 14),
        ],
    ),
    (
        Section::Tree,
        &[within(&[Function], "in Function: source down, up")
            .key(Char('J'), Action::SourceDown)
            .key(Char('K'), Action::SourceUp)],
    ),
    (
        Section::Views,
        &[
            all("next, previous view")
                .key(Code::Tab, Action::NextView)
                .key(Code::BackTab, Action::PreviousView),
            all("this help")
                .key(Char('?'), Action::Help)
                .key(Code::F1, Action::Help)
                .and(NOT_TYPING)
                .right("keys", 0),
            all("one step back (never quits)")
                .key(Code::Esc, Action::Back)
                .and(EVERYWHERE),
            all("close what is on top, else quit")
                .key(Char('q'), Action::Close)
                .and(NOT_TYPING)
                .right("quit", 0),
            all("quit from anywhere")
                .key(Ctrl('c'), Action::Quit)
                .and(EVERYWHERE),
        ],
    ),
    (
        Section::Move,
        &[
            all("one row")
                .key(Code::Up, Action::Up)
                .key(Code::Down, Action::Down)
                .key(Char('k'), Action::Up)
                .key(Char('j'), Action::Down)
                .and(LISTS)
                .left("move", 8),
            all("a page, half a page")
                .key(Code::PageUp, Action::PageUp)
                .key(Code::PageDown, Action::PageDown)
                .key(Ctrl('u'), Action::HalfUp)
                .key(Ctrl('d'), Action::HalfDown)
                .and(LISTS),
            all("first, last")
                .key(Code::Home, Action::First)
                .key(Code::End, Action::Last)
                .key(Char('g'), Action::First)
                .key(Char('G'), Action::Last)
                .and(LISTS),
            all("put the row mid-screen").key(Char('z'), Action::Centre),
        ],
    ),
    (
        Section::Tree,
        &[
            within(FOLDING, "close, then parent; open, then child")
                .key(Code::Left, Action::Shut)
                .key(Code::Right, Action::Open)
                .key(Char('h'), Action::Shut)
                .key(Char('l'), Action::Open)
                .left("fold", 5),
            within(TREE, "open or close").key(Char(' '), Action::Fold),
            within(&[Flame], "in Flame: the frame beside it")
                .key(Code::Left, Action::PreviousSibling)
                .key(Code::Right, Action::NextSibling)
                .key(Char('h'), Action::PreviousSibling)
                .key(Char('l'), Action::NextSibling)
                .note("; up and down go to its caller and to its largest callee")
                .left("beside", 6),
            within(&[Function], "in Function: callers, callees")
                .key(Code::Left, Action::ToCallers)
                .key(Code::Right, Action::ToCallees)
                .key(Char('h'), Action::ToCallers)
                .key(Char('l'), Action::ToCallees)
                .note(", if they are side by side"),
            within(TREE, "below: flame graph, time line, none")
                .key(Char('P'), Action::Second)
                .note("; from 200 columns and 50 lines on the flame graph is shown by default"),
            within(&[Tree, Flame], "frames: colour by module, or own share")
                .key(Char('R'), Action::FlameColour)
                .note("; in comparisons red is more than before, blue is less")
                .left("colour", 5),
            all("callers and callees, or this thread")
                .key(Code::Enter, Action::Enter)
                .left("open", 4),
            within(&[Tree, Hot, Flame], "only this function; only this subtree")
                .key(Char('f'), Action::FocusFunction)
                .key(Char('F'), Action::FocusSubtree)
                .note(" (the function wherever it is called)")
                .left("focus", 13),
            within(TREE, "from the bottom up: who called it")
                .key(Char('i'), Action::Invert)
                .left("invert", 14),
            within(TREE, "recursion in one row").key(Char('c'), Action::FoldRecursion),
            within(&[Tree, Hot, Function, Flame], "groups in place of their members")
                .key(Char('&'), Action::Groups)
                .note(" (time inside the outermost member), or the members again"),
            within(TREE, "next place of the same function").key(Char('#'), Action::OtherPlace),
            within(FOLDING, "open, close all below")
                .key(Char('E'), Action::OpenAll)
                .key(Char('C'), Action::CloseAll),
            within(TREE, "open and go down the hottest path")
                .key(Char('H'), Action::HotPath)
                .left("hot path", 14),
            within(FOLDING, "previous, next sibling")
                .key(Char('K'), Action::PreviousSibling)
                .key(Char('J'), Action::NextSibling),
            within(&[Hot, Function, Flame], "show where it is in the tree")
                .key(Char('t'), Action::ToTree)
                .left("in tree", 5),
            within(&[Slow], "in Slow: next, previous slow call")
                .key(Char('J'), Action::NextCall)
                .key(Char('K'), Action::PreviousCall)
                .left("call", 5),
            within(&[Slow], "in Slow: zoom in, out; the whole call")
                .key(Char('+'), Action::Closer)
                .key(Char('-'), Action::Further)
                .key(Char('0'), Action::WholeCall)
                .left("zoom", 6),
            within(&[Slow], "in Slow: earlier, later in the call")
                .key(Code::Left, Action::PartEarlier)
                .key(Code::Right, Action::PartLater)
                .key(Char('h'), Action::PartEarlier)
                .key(Char('l'), Action::PartLater),
            within(&[Slow], "in Slow: write the call for other tools")
                .key(Char('E'), Action::ExportCall)
                .note(" (a file each for Perfetto, the Firefox Profiler and speedscope)")
                .left("export", 13),
            within(&[Slow], "in Slow: the next watched function")
                .key(Char(' '), Action::NextWatch)
                .left("next watch", 9),
        ],
    ),
    (
        Section::Program,
        &[within(&[Slow], "in Slow: stop watching this function")
            .key(Char('X'), Action::Unwatch)
            .left("stop watching", 10)],
    ),
    (
        Section::Find,
        &[
            all("search as you type")
                .key(Char('/'), Action::Search)
                .left("find", 3),
            all("next, previous match")
                .key(Char('n'), Action::NextMatch)
                .key(Char('N'), Action::PreviousMatch)
                .left("match", 1),
            all("matches only, or everything")
                .key(Char('\\'), Action::MatchesOnly)
                .left("only", 2),
        ],
    ),
    (
        Section::Columns,
        &[
            within(SORTED, "sort by column left, right; reverse")
                .key(Char('<'), Action::SortLeft)
                .key(Char('>'), Action::SortRight)
                .key(Char('I'), Action::Reverse)
                .left("sort", 7),
            all("percent of measured, wall, or parent")
                .key(Char('%'), Action::Percent)
                .left("base", 14),
            all("by time, what is counted, or calls")
                .key(Char('v'), Action::Measure)
                .note(
                    ": shares, totals, bars and the order use the next measure that the program has (waiting, allocations, ...)",
                )
                .left("measure", 8),
            all("all numbers per call of this row")
                .key(Char('b'), Action::PerCall)
                .note(": per frame, per request; again: totals")
                .left("/call", 10),
            all("nanoseconds, or ticks of the clock").key(Char('U'), Action::Units),
        ],
    ),
    (
        Section::Time,
        &[
            all("reset, last second, last 10 s, mark")
                .key(Char('w'), Action::Window)
                .note("; `window` above the columns says how long it really is")
                .left("window", 5),
            all("one snapshot back, forth")
                .key(Char(','), Action::Earlier)
                .key(Char('.'), Action::Later)
                .left("past", 9),
            all("5 s back, forth")
                .key(Char('('), Action::FarEarlier)
                .key(Char(')'), Action::FarLater)
                .left("5 s back", 12)
                // In these views, users often want to know what a thread did earlier, so the hint matters more here.
                .early(&[Threads, Timeline]),
            all("the oldest, the newest snapshot")
                .key(Char('{'), Action::Oldest)
                .key(Char('}'), Action::Newest),
            all("follow the program again")
                .key(Char('L'), Action::Live)
                .left("live", 1),
            all("mark; compare: with it, or 10 s before")
                .key(Char('m'), Action::Mark)
                .key(Char('\''), Action::Compare)
                .note(
                    ": each number now minus the number then; percentages differ in points. In a window, pressed again or without a \
         mark: this window minus the window before it",
                )
                .left("mark", 10),
            within(&[Timeline], "in Timeline: a column earlier, later")
                .key(Code::Left, Action::SlotEarlier)
                .key(Code::Right, Action::SlotLater)
                .key(Char('h'), Action::SlotEarlier)
                .key(Char('l'), Action::SlotLater)
                .left("cursor", 4),
            within(&[Timeline], "in Timeline: choose a stretch of time")
                .key(Char('<'), Action::RangeEarlier)
                .key(Char('>'), Action::RangeLater)
                .key(Code::ShiftLeft, Action::RangeEarlier)
                .key(Code::ShiftRight, Action::RangeLater)
                .note(" (or drag with the mouse): all other views show it, until Esc")
                .left("range", 2),
            within(&[Timeline], "in Timeline: zoom in, out; as usual")
                .key(Char('+'), Action::Closer)
                .key(Char('-'), Action::Further)
                .key(Char('0'), Action::WholeCall)
                .note(": from 10 s to an hour; a recording as a whole")
                .left("zoom", 6),
            within(&[Timeline], "in Timeline: functions, or threads")
                .key(Char('f'), Action::Lanes)
                .left("functions", 3),
        ],
    ),
    (
        Section::Program,
        &[
            all("one thread, or all threads")
                .key(Char('a'), Action::Scope)
                .left("thread", 12),
            all("freeze the screen; the program runs on")
                .key(Char('p'), Action::Freeze)
                .left("freeze", 9),
            all("count from zero, at once")
                .key(Char('r'), Action::Reset)
                .right("reset", 8),
            all("take the reset back")
                .key(Char('u'), Action::Undo)
                .right("undo reset", 2),
            all("list of modes: how to measure")
                .key(Char('e'), Action::Modes)
                .note(
                    " (exact, adaptive, sampled, off); another mode counts from zero, and `u` does not \
                 take that back",
                )
                .left("mode", 11),
            within(&[Sites], "in Sites: switch it off, or on again")
                .key(Char(' '), Action::ToggleSite)
                .note("; for a crate or module, all functions in it")
                .left("off/on", 2),
            within(FOLDING, "switch callees of the row off, or on")
                .key(Char('-'), Action::ToggleCallees)
                .note(
                    ": the functions that it calls directly, wherever they are called; their time then counts in their callers",
                )
                .left("callees", 13),
            all("write a report of what is on screen")
                .key(Char('d'), Action::Report)
                .note(
                    ": its moment or window, threads and focus, as text and as HTML page, in the report's order, with percents of measured time",
                )
                .right("report", 7),
            within(SORTED, "keep this snapshot in a file")
                .key(Char('s'), Action::Keep)
                .and(&[Measuring])
                .right("keep", 12),
            all("slower, faster: 2 to 20 times a second")
                .key(Char('['), Action::Slower)
                .key(Char(']'), Action::Faster),
        ],
    ),
    (
        Section::Screen,
        &[
            all("copy the full name").key(Char('y'), Action::Copy),
            within(ROWS, "open the source in $VISUAL or $EDITOR").key(Char('o'), Action::Edit),
            all("next theme").key(Char('T'), Action::Theme).and(NOT_TYPING),
            all("mouse: click, wheel; or select text")
                .key(Char('M'), Action::Mouse)
                .and(NOT_TYPING)
                .note(" (`--mouse` and `--no-mouse` choose at the start; by default the terminal has the mouse)"),
            all("draw everything again")
                .key(Ctrl('l'), Action::Repaint)
                .and(EVERYWHERE),
            all("suspend").key(Ctrl('z'), Action::Suspend).and(EVERYWHERE),
        ],
    ),
    (
        Section::OnTop,
        &[
            top(&[Start], "at the start: open the program")
                .key(Code::Enter, Action::Choose)
                .left("open", 1),
            top(&[Choosing], "list of threads: show this one")
                .key(Code::Enter, Action::Choose)
                .left("show", 1),
            top(&[Measuring], "list of modes: measure this way")
                .key(Code::Enter, Action::Choose)
                .left("use mode", 1),
            top(&[Measuring], "list of modes: one row down").key(Char('e'), Action::Down),
            top(&[Help], "help: look something up")
                .key(Char('/'), Action::Search)
                .left("look up", 2),
            top(&[Help], "help: next, previous line found")
                .key(Char('n'), Action::NextMatch)
                .key(Char('N'), Action::PreviousMatch)
                .left("match", 1),
            top(&[Typing], "search: keep it")
                .key(Code::Enter, Action::Choose)
                .right("keep", 1),
            top(&[Typing], "search: previous, next match")
                .key(Code::Up, Action::PreviousMatch)
                .key(Code::Down, Action::NextMatch),
            top(&[Asking], "question: yes")
                .key(Char('y'), Action::Yes)
                .right("yes", 1),
        ],
    ),
];
