//! Lines of the help, and the words and marks that it explains below the keys.

use tickscope_format::snapshot::Mode;
use tickscope_report::tally;

use crate::app::threads::RunState;
use crate::keys::view::View;
use crate::text::glyphs::Glyphs;

/// A line of the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HelpLine {
    /// A heading.
    Title(&'static str),
    /// Keys and their effect.
    Keys(String, &'static str),
    /// A word or a mark on the screen and its meaning.
    Word(String, &'static str),
    /// An empty line.
    Gap,
}

/// Width in cells of the longest word that is explained.
pub(crate) const WORD_CELLS: usize = 11;

/// A heading, and words with their meanings. If a meaning takes two lines, the word of the second line is empty.
type Part = (&'static str, &'static [(&'static str, &'static str)]);

const HEADER: Part = (
    "Words in the first line",
    &[
        ("LIVE", "the screen follows the program"),
        ("FROZEN", "the screen is paused, the program runs"),
        ("PAST", "an older snapshot is on the screen"),
        ("STALE", "alive, but no snapshot for 2 s or more"),
        ("EXITED", "ended; these are its last numbers"),
        ("CRASHED", "ended without a last record"),
        ("KEPT", "a snapshot from a file"),
        ("PIPED", "from another host, through a pipe"),
        ("SILENT", "a pipe through which no data comes"),
        ("CLOSED", "a pipe that has ended"),
        ("RECORDED", "a recording, at its newest moment"),
        ("WAITING", "no program is here yet"),
        ("BROKEN", "its file cannot be read"),
        ("Hz", "snapshots a second of the program"),
        ("exact", Mode::Exact.traits().summary),
        ("adaptive", Mode::Adaptive.traits().summary),
        ("sampled", Mode::Sampled.traits().summary),
        ("off", Mode::Off.traits().summary),
        ("since reset", "how long the counters have counted"),
        ("threads", "live threads, or the chosen threads"),
        ("CPU", "of the process: 100 % is one CPU"),
        ("calls/s", "calls that began in the last second"),
        ("cost", "what measuring takes: at least to at most"),
        ("dropped", "calls over a limit, in no separate row"),
        ("unbalanced", "scopes leaked, or ended out of order"),
        ("pruned", "rows that were summed up in (pruned)"),
        ("lapped", "repeated reads: the writer was faster"),
        ("clock", "clock errors: gaps that are not charged"),
    ],
);

const TIMES: Part = (
    "Words about time",
    &[
        ("time", "always a thread's wall-clock time:"),
        ("", "waits inside a scope count too"),
        ("measured", "time in scopes, of the threads shown"),
        ("wall time", "time of threads in scopes and outside of"),
        ("", "them, waiting included"),
        ("window", "numbers of the last seconds only"),
        ("mark", "a moment to compare with or count from"),
        ("vs", "compared: every number is now minus then"),
        ("before", "the same time just before the window (')"),
        ("new gone", "there only now, or only then"),
        ("per call", "every number divided by a row's calls"),
        ("ticks", "of the program's clock, not seconds"),
        ("by", "shares, totals, order of another measure"),
        ("calls took", "how long single calls took"),
        ("p50 p99.9", "half, 999 of 1000 took no longer"),
        ("chart", "latency: how many calls took how long,"),
        ("", "from the shortest to the longest; a step"),
        ("", "right is longer by a factor (log axis)"),
    ],
);

const ROWS: Part = (
    "Words in rows",
    &[
        ("(self)", "a function's time without its callees"),
        ("(outside)", "time outside of any scope"),
        ("[group]", "a group in place of its members (key &)"),
        ("(pruned)", "rows summed up: there were too many"),
        ("on", "site that is measured, and was called"),
        ("off", "site that is switched off by a rule"),
        ("not since", "site with no call since the reset,"),
        ("not in", "or in the window"),
        ("%TOP TOP", "bottom-up: calls without a caller"),
        ("AVG change", "AVG %: a call is slower or faster by"),
    ],
);

/// Tasks that cannot be done with a key, and the shell commands for them.
const SHELL: Part = (
    "In a shell, for the same program",
    &[
        ("a pattern", "tickscope off 'alloc::*', tickscope on"),
        ("a threshold", "tickscope watch handle --over 5ms"),
        ("other forms", "tickscope report -f FORM -o FILE"),
        ("a moment", "tickscope report --at 14:02:11"),
        ("a trigger", "tickscope trigger 'p99(handle) > 50ms'"),
    ],
);

/// Returns all parts, in the order of the help.
pub(super) fn parts(ascii: bool) -> Vec<Vec<HelpLine>> {
    vec![
        columns(),
        marks(ascii),
        states(),
        part(&HEADER),
        part(&TIMES),
        part(&ROWS),
        part(&SHELL),
    ]
}

fn word(word: &str, meaning: &'static str) -> HelpLine {
    HelpLine::Word(word.to_string(), meaning)
}

fn part((title, words): &Part) -> Vec<HelpLine> {
    let lines = words.iter().map(|(name, meaning)| word(name, meaning));
    std::iter::once(HelpLine::Title(title)).chain(lines).collect()
}

fn columns() -> Vec<HelpLine> {
    let mut lines = vec![HelpLine::Title("Words above columns")];
    for column in View::ALL.iter().flat_map(|view| view.kind().all_columns()) {
        let title = match column.title {
            "" => "bar",
            title => title,
        };
        let line = word(title, column.help);
        // Several tables share some columns, but each column is explained only once.
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn states() -> Vec<HelpLine> {
    let mut lines = vec![HelpLine::Title("States of a thread")];
    for run_state in RunState::ALL {
        let [name, meaning, _] = run_state.words();
        lines.push(word(name, meaning));
        if run_state == RunState::Waiting {
            lines.push(word("", "(below 10 % of one in the last interval)"));
        }
    }
    lines
}

fn marks(ascii: bool) -> Vec<HelpLine> {
    let glyphs = Glyphs::of(ascii);
    let both = |one: &str, other: &str| format!("{one} {other}");
    let fills = if ascii { ". :" } else { "░ ▒" };
    let full = glyphs.eighths.last().copied().unwrap_or_default();
    let [off_in_bars, off_in_frames] = glyphs.off_cpu;
    let bars = both(full, off_in_bars);
    let lines = [
        (glyphs.running.to_string(), "open now: a thread is in this call"),
        (glyphs.waits.to_string(), "open now, and all its threads wait"),
        (bars, "bar: on the CPU; off it (WAIT + READY)"),
        (
            glyphs.doubtful.to_string(),
            "mean under 3x what measuring may cost",
        ),
        (glyphs.sum.to_string(), "sum of a counter or value: no time"),
        (tally::LEVEL.to_string(), "level of a gauge: no time"),
        ("~".to_string(), "a rough estimate: +-5% or more"),
        (glyphs.at_most.to_string(), "at most"),
        (tally::at_least(ascii).to_string(), "the smallest number or level"),
        (
            glyphs.give_or_take.to_string(),
            "the truth is nearer, 2 times in 3",
        ),
        ("-".to_string(), "not known"),
        (glyphs.again.to_string(), "recursion in one row; calls back"),
        (
            both(glyphs.falls, glyphs.rises),
            "sorted, largest or smallest first;",
        ),
        (String::new(), "in differences: faster, slower"),
        (
            both(glyphs.open, glyphs.closed),
            "open; closed, +n rows are hidden",
        ),
        (glyphs.cut.to_string(), "left out: not enough room"),
        (fills.to_string(), "fills of the frames in Flame"),
        (off_in_frames.to_string(), "the part of a frame off the CPU"),
        ("!".to_string(), "an alarm: look at this number"),
        (">".to_string(), "the selected row"),
    ];
    let mut out = vec![HelpLine::Title("More marks")];
    out.extend(lines.map(|(mark, meaning)| HelpLine::Word(mark, meaning)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::cells::width;
    use crate::ui::view::invariants::statuses;

    fn has(name: &str) -> bool {
        let lines = parts(false).concat();
        lines
            .iter()
            .any(|line| matches!(line, HelpLine::Word(word, _) if word == name))
    }

    #[test]
    fn every_column_of_every_view_is_explained() {
        let lines = super::columns();
        let all = View::ALL.map(|view| view.kind().all_columns()).concat();
        for view in View::ALL {
            for width in 20..300 {
                let places = view.kind().columns(width).into_iter();
                let mut columns = places.map(|place| place.column);
                assert!(columns.all(|column| all.contains(&column)), "{view:?} {width}");
            }
        }
        for column in all {
            assert!(!column.help.is_empty(), "{column:?}");
            let says = |line: &&HelpLine| matches!(line, HelpLine::Word(_, text) if *text == column.help);
            assert_eq!(lines.iter().filter(says).count(), 1, "{column:?}");
        }
    }

    #[test]
    fn every_state_is_explained() {
        for state in statuses() {
            assert!(has(state.word()), "{}", state.word());
        }
        for run_state in RunState::ALL {
            assert!(has(run_state.word()), "{run_state:?}");
        }
        for word in ["cost", "dropped", "calls/s", "(outside)", "chart"] {
            assert!(has(word), "{word}");
        }
    }

    #[test]
    fn no_word_is_cut() {
        for ascii in [false, true] {
            for line in parts(ascii).concat() {
                if let HelpLine::Word(word, meaning) = line {
                    assert!(width(&word) <= WORD_CELLS, "{word}");
                    // Besides its text, a line has two cells before the word and two after it. The frame and its
                    // margins take four more.
                    let cells = WORD_CELLS + width(meaning) + 4;
                    assert!(cells <= 60 - 4, "{meaning}: {cells}");
                    assert!(!ascii || word.is_ascii() && meaning.is_ascii(), "{word}");
                }
            }
        }
    }
}
