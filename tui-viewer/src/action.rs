//! What keys do: one table, from which dispatch, footer, help and the README's list are made.

use crate::keyboard::Code;

/// Everything a key can mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// The call tree.
    ShowTree,
    /// The hotspots.
    ShowHot,
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
    /// To the sibling below.
    NextSibling,
    /// Put the row in the middle of the screen.
    Centre,
    /// Take what is selected.
    Choose,
    /// Show a function at its heaviest place in the tree.
    ToTree,
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
    /// Times without what measuring costs, or raw.
    Compensate,
    /// One thread, or all.
    Scope,
    /// The screen stands still, or follows again.
    Freeze,
    /// Count from zero.
    Reset,
    /// Take the reset back.
    Undo,
    /// The next way to measure.
    NextMode,
    /// Yes to a question.
    Yes,
    /// Write the report of what is on screen.
    Report,
    /// Keep the snapshot on screen.
    Keep,
    /// Copy the full name.
    Copy,
    /// A slower rate.
    Slower,
    /// A faster rate.
    Faster,
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
    /// A search is being typed.
    Typing,
    /// The list of keys.
    Help,
    /// The list of threads.
    Threads,
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
pub(crate) struct Line {
    /// Its part of the help.
    pub(crate) section: Section,
    /// Where the keys work.
    pub(crate) contexts: &'static [Context],
    /// The keys.
    pub(crate) keys: &'static [(Code, Action)],
    /// What they do.
    pub(crate) help: &'static str,
    /// What the README adds to that: it has the room.
    pub(crate) note: &'static str,
    /// How they stand in the footer, if they do.
    pub(crate) hint: Option<Hint>,
}

use Code::{Char, Ctrl};
use Context::{Asking, Help, Hot, Start, Threads, Tree, Typing};

const EVERYWHERE: &[Context] = &[Tree, Hot, Typing, Help, Threads, Asking, Start];
const NOT_TYPING: &[Context] = &[Tree, Hot, Help, Threads, Asking, Start];
const VIEWS: &[Context] = &[Tree, Hot];
const LISTS: &[Context] = &[Tree, Hot, Help, Threads, Start];
const TREE: &[Context] = &[Tree];

const fn line(
    section: Section,
    contexts: &'static [Context],
    keys: &'static [(Code, Action)],
    help: &'static str,
) -> Line {
    Line {
        section,
        contexts,
        keys,
        help,
        note: "",
        hint: None,
    }
}

impl Line {
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

    const fn right(mut self, text: &'static str, rank: u8) -> Self {
        self.hint = Some(Hint {
            text,
            rank,
            right: true,
        });
        self
    }
}

/// Every key there is.
pub(crate) const KEYS: &[Line] = &[
    line(
        Section::Views,
        VIEWS,
        &[(Char('1'), Action::ShowTree)],
        "tree: where inside what",
    ),
    line(
        Section::Views,
        VIEWS,
        &[(Char('2'), Action::ShowHot)],
        "hot: which function costs most itself",
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
    .right("help", 1),
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
    .left("move", 5),
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
        TREE,
        &[
            (Code::Left, Action::Shut),
            (Code::Right, Action::Open),
            (Char('h'), Action::Shut),
            (Char('l'), Action::Open),
        ],
        "close, then parent; open, then child",
    )
    .left("fold", 4),
    line(
        Section::Tree,
        TREE,
        &[(Char(' '), Action::Fold), (Code::Enter, Action::Fold)],
        "open or close",
    ),
    line(
        Section::Tree,
        TREE,
        &[(Char('E'), Action::OpenAll), (Char('C'), Action::CloseAll)],
        "open, close all below",
    ),
    line(
        Section::Tree,
        TREE,
        &[(Char('H'), Action::HotPath)],
        "open and go down the hottest path",
    )
    .left("hot path", 7),
    line(
        Section::Tree,
        TREE,
        &[
            (Char('K'), Action::PreviousSibling),
            (Char('J'), Action::NextSibling),
        ],
        "previous, next sibling",
    ),
    line(
        Section::Tree,
        &[Hot],
        &[(Char('t'), Action::ToTree), (Code::Enter, Action::ToTree)],
        "in Hot: show where it is in the tree",
    )
    .left("in tree", 4),
    line(
        Section::Find,
        VIEWS,
        &[(Char('/'), Action::Search)],
        "search as you type",
    )
    .left("search", 3),
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
        VIEWS,
        &[
            (Char('<'), Action::SortLeft),
            (Char('>'), Action::SortRight),
            (Char('I'), Action::Reverse),
        ],
        "sort by the column to the left, right; reverse",
    )
    .left("sort", 6),
    line(
        Section::Columns,
        VIEWS,
        &[(Char('%'), Action::Percent)],
        "percent of measured, wall time, or parent",
    )
    .left("base", 9),
    line(
        Section::Columns,
        VIEWS,
        &[(Char('x'), Action::Compensate)],
        "times without the cost of measuring, or raw",
    )
    .note(": its lower bound is taken off, so the cost of measuring is at least that"),
    line(
        Section::Program,
        VIEWS,
        &[(Char('a'), Action::Scope)],
        "one thread, or all threads",
    )
    .left("thread", 8),
    line(
        Section::Program,
        VIEWS,
        &[(Char('p'), Action::Freeze)],
        "freeze the screen; the program runs on",
    )
    .left("freeze", 5),
    line(
        Section::Program,
        VIEWS,
        &[(Char('r'), Action::Reset)],
        "count from zero, at once",
    )
    .right("reset", 4),
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
        &[(Char('e'), Action::NextMode)],
        "measure exact, adaptive, sampled, or off",
    )
    .note("; counts from zero, and `u` does not take that back")
    .left("mode", 10),
    line(
        Section::Program,
        VIEWS,
        &[(Char('d'), Action::Report)],
        "write a report of the moment on screen",
    )
    .note(", for the threads shown; its order and its percents (of measured time) are its own")
    .right("report", 5),
    line(
        Section::Program,
        VIEWS,
        &[(Char('s'), Action::Keep)],
        "keep this snapshot in a file",
    )
    .right("keep", 6),
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
        NOT_TYPING,
        &[(Char('T'), Action::Theme)],
        "next theme",
    ),
    line(
        Section::Screen,
        NOT_TYPING,
        &[(Char('M'), Action::Mouse)],
        "mouse on: click, wheel; off: select text",
    ),
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
        "open the selected program (in the list at the start)",
    )
    .left("open", 1),
    line(
        Section::OnTop,
        &[Threads],
        &[(Code::Enter, Action::Choose)],
        "show the selected thread (in the list of threads)",
    )
    .left("show", 1),
    line(
        Section::OnTop,
        &[Typing],
        &[(Code::Enter, Action::Choose)],
        "keep the search (while typing)",
    )
    .right("keep", 1),
    line(
        Section::OnTop,
        &[Typing],
        &[(Code::Up, Action::PreviousMatch), (Code::Down, Action::NextMatch)],
        "previous, next match (while typing)",
    ),
    line(
        Section::OnTop,
        &[Asking],
        &[(Char('y'), Action::Yes)],
        "yes (when asked before a reset or another mode)",
    )
    .right("yes", 1),
];

/// What a key means to whoever has the keyboard.
pub(crate) fn lookup(context: Context, key: Code) -> Option<Action> {
    lines(context)
        .flat_map(|line| line.keys)
        .find(|(code, _)| *code == key)
        .map(|&(_, action)| action)
}

/// The lines of the table that work there.
pub(crate) fn lines(context: Context) -> impl Iterator<Item = &'static Line> {
    KEYS.iter().filter(move |line| line.contexts.contains(&context))
}

/// A key as it is written.
pub(crate) fn key_name(key: Code, ascii: bool) -> String {
    let name = match key {
        Char(' ') => "Space",
        Char(c) => return c.to_string(),
        Ctrl(c) => return format!("Ctrl-{c}"),
        Code::Enter => "Enter",
        Code::Esc => "Esc",
        Code::Backspace => "Backspace",
        Code::Delete => "Delete",
        Code::Tab => "Tab",
        Code::BackTab => "Shift-Tab",
        Code::Up if !ascii => "↑",
        Code::Down if !ascii => "↓",
        Code::Left if !ascii => "←",
        Code::Right if !ascii => "→",
        Code::Up => "Up",
        Code::Down => "Dn",
        Code::Left => "Lt",
        Code::Right => "Rt",
        Code::Home => "Home",
        Code::End => "End",
        Code::PageUp => "PgUp",
        Code::PageDown => "PgDn",
        Code::F1 => "F1",
        Code::Press(..) | Code::WheelUp | Code::WheelDown | Code::Nothing | Code::Other => "",
    };
    name.to_string()
}

// === impl Line ===

impl Line {
    /// All of its keys: `↑ ↓ k j`.
    pub(crate) fn keys_text(&self, ascii: bool) -> String {
        let names: Vec<String> = self.keys.iter().map(|&(key, _)| key_name(key, ascii)).collect();
        names.join(" ")
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

// === impl Section ===

impl Section {
    /// All of them, in the order of the help.
    pub(crate) const ALL: [Self; 8] = [
        Self::Views,
        Self::Move,
        Self::Tree,
        Self::Find,
        Self::Columns,
        Self::Program,
        Self::Screen,
        Self::OnTop,
    ];

    /// Its heading.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Views => "Views",
            Self::Move => "Move",
            Self::Tree => "Tree",
            Self::Find => "Find",
            Self::Columns => "Columns",
            Self::Program => "Program",
            Self::Screen => "Screen",
            Self::OnTop => "Lists and questions",
        }
    }
}

/// The key table in Markdown, for the README.
pub fn markdown() -> String {
    let mut out = String::from("| keys | what they do |\n| --- | --- |\n");
    for section in Section::ALL {
        for line in KEYS.iter().filter(|line| line.section == section) {
            let keys: Vec<String> = line
                .keys
                .iter()
                .map(|&(key, _)| format!("`{}`", key_name(key, false).replace('|', "\\|")))
                .collect();
            // On the screen the heading above them says it.
            let place = if line.contexts == TREE { " (in Tree)" } else { "" };
            out.push_str(&format!(
                "| {} | {}{}{place} |\n",
                keys.join(" "),
                line.help,
                line.note
            ));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_key_stands_twice_in_one_context() {
        for &context in EVERYWHERE {
            let mut seen = HashSet::new();
            for (key, _) in lines(context).flat_map(|line| line.keys) {
                assert!(seen.insert(key), "{key:?} twice in {context:?}");
                assert_ne!(key_name(*key, false), "");
            }
        }
    }

    #[test]
    fn every_line_says_what_it_does() {
        for line in KEYS {
            assert!(!line.help.is_empty() && !line.keys.is_empty() && !line.contexts.is_empty());
            assert!(line.help.is_ascii(), "{}", line.help);
            let marked = markdown();
            assert!(marked.contains(line.help), "{} is in no list", line.help);
        }
    }

    #[test]
    fn quitting_and_going_back_work_everywhere() {
        for &context in EVERYWHERE {
            assert_eq!(lookup(context, Ctrl('c')), Some(Action::Quit));
            assert_eq!(lookup(context, Code::Esc), Some(Action::Back));
        }
        assert_eq!(lookup(Typing, Char('q')), None, "q is a letter there");
    }

    #[test]
    fn hints_are_short() {
        for line in KEYS.iter().filter(|line| line.hint.is_some()) {
            assert!(line.hint_keys(false).chars().count() <= 5, "{}", line.help);
        }
    }
}
