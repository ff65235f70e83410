//! Reports that compare two builds: as text, as Markdown for pull requests, as JSON, and as an HTML page.

#[cfg(feature = "json")]
pub mod brief;
mod doubts;
mod flame;
#[cfg(feature = "json")]
pub mod json;
mod lengths;
pub mod markdown;
mod numbers;
pub mod page;
mod rows;
pub mod text;

#[cfg(test)]
pub(crate) mod tests;

use std::fmt;

use tickscope_analysis::compare::diff::{Change, Diff, Quantity};
use tickscope_analysis::compare::gate::{Failure, Judged, LEVEL, Verdict};
use tickscope_analysis::measure::{Dimension, Measure};
use tickscope_format::snapshot::{Mode, Snapshot};

use self::numbers::Numbers;
use crate::escape::visible;
use crate::glyphs::Glyphs;
use crate::label::labels;
use crate::{number, tally, text_of};

pub use self::doubts::doubts;

/// Maximum number of failures named in the sentence about a gate.
const NAMED: usize = 3;

/// Maximum number of runs named in the heading of one side (before or after).
const RUNS_NAMED: usize = 6;

/// Maximum width of the run names in a heading, in cells. The first name is never cut.
const NAMES_WIDTH: usize = 60;

/// Name of the row for the whole program.
const WHOLE: &str = "(all)";

/// Which tables a report shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tables {
    /// Both tables.
    #[default]
    Both,
    /// Only the table by function.
    Functions,
    /// Only the table by path.
    Paths,
}

/// What a report says about one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Target as the user typed it.
    pub target: String,
    /// Name of the program.
    pub program: String,
    /// Mode in which the run was measured.
    pub mode: Mode,
    /// Measured time of the run, in nanoseconds.
    pub length_ns: u64,
    /// The part of a recording that was compared, in words; `None` for all of it.
    pub part: Option<String>,
}

/// A comparison with its verdicts, and how a report shows it.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// Changes by function and by path.
    pub diff: &'a Diff,
    /// The same comparison in terms of other measures, for the JSON form.
    pub measures: &'a [Diff],
    /// The runs before the change, and the runs after it.
    pub runs: (&'a [Run], &'a [Run]),
    /// Name of the scope if numbers are per call of a scope; `None` if they are per run.
    pub per: Option<&'a str>,
    /// Verdicts of the gates.
    pub verdicts: &'a [Verdict],
    /// Reasons why the runs may not be comparable, one sentence each.
    pub doubts: &'a [String],
    /// Tables to show.
    pub tables: Tables,
    /// A row whose calls are unchanged is shown only if a time has changed by at least this share of the whole program's time.
    pub min_share: f64,
    /// Whether the text is ASCII only.
    pub ascii: bool,
    /// Width of the text in cells. If it is too small, latencies get a separate table.
    pub width: usize,
}

/// A part of a sentence. Names are escaped differently from other words.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Words(String),
    Name(String),
}

impl Run {
    /// Describes a run for the report.
    pub fn of(target: &str, snapshot: &Snapshot) -> Self {
        Self {
            target: target.into(),
            program: snapshot.process.name.clone(),
            mode: snapshot.capture.mode,
            length_ns: snapshot.capture.since_reset_ns,
            part: None,
        }
    }
}

impl Comparison<'_> {
    /// Returns the text that `write` appends.
    fn written(&self, write: fn(&mut String, &Comparison<'_>) -> fmt::Result) -> String {
        text_of(|out| write(out, self))
    }

    /// Returns the comparison with UTF-8 output enabled, for forms that are not shown in a terminal.
    fn in_utf8(&self) -> Self {
        Self {
            ascii: false,
            ..*self
        }
    }

    fn numbers(&self) -> Numbers {
        self.numbers_of(self.diff.measure)
    }

    fn numbers_of(&self, measure: Measure) -> Numbers {
        Numbers {
            ascii: self.ascii,
            dimension: measure.dimension(),
        }
    }

    /// Returns the names of functions as they are shown, before any form escapes them.
    fn labels(&self) -> Vec<String> {
        labels(&self.diff.functions, self.ascii)
    }

    /// Returns the minimum change of a time, in nanoseconds, at which a row is shown although its calls are unchanged.
    fn least_ns(&self) -> f64 {
        self.diff.measured_ns() * self.min_share
    }

    /// Returns the title, which says what is compared.
    fn title(&self) -> String {
        let runs = |count: usize| match count {
            1 => "1 run".to_string(),
            many => format!("{many} runs"),
        };
        let (before, after) = self.diff.runs();
        let medians = if before + after > 2 { ", medians" } else { "" };
        let per = match self.per {
            Some(name) => format!(", per call of {}", visible(name, self.ascii)),
            None => String::new(),
        };
        let by = if self.diff.measure == Measure::Time {
            String::new()
        } else {
            format!(", by {}", self.diff.measure.name())
        };
        format!("{} before, {} after{medians}{per}{by}", runs(before), runs(after))
    }

    /// Returns the names of the runs on one side, with their programs and modes. If only parts of recordings are compared, also
    /// returns which part, or how long the parts are.
    fn side(&self, runs: &[Run]) -> String {
        let mut text: Vec<String> = Vec::new();
        let mut cells = 0;
        for run in runs.iter().take(RUNS_NAMED) {
            let name = visible(&run.target, self.ascii).into_owned();
            cells += name.chars().count() + 1;
            if !text.is_empty() && cells > NAMES_WIDTH {
                break;
            }
            text.push(name);
        }
        if runs.len() > text.len() {
            text.push(format!("and {} more", runs.len() - text.len()));
        }
        let mut of: Vec<String> = runs
            .iter()
            .map(|run| format!("{}, {}", visible(&run.program, self.ascii), run.mode.as_str()))
            .collect();
        of.dedup();
        of.truncate(NAMED);
        let part = match runs {
            [Run { part: Some(part), .. }] => format!(", {}", visible(part, self.ascii)),
            [Run { part: Some(_), .. }, ..] => format!(", {} of each", lengths(runs)),
            _ => String::new(),
        };
        format!("{} ({}){part}", text.join(" "), of.join("; "))
    }

    /// Returns the quantities that a row shows. Each is shown with its value before, its value after, and the change. Latencies
    /// are included if any function has latencies on both sides.
    fn columns(&self, change: &Change) -> Vec<Quantity> {
        let mut columns = change.columns().to_vec();
        if self.diff.has_latencies() {
            columns.extend(Quantity::LATENCIES);
        }
        columns
    }

    /// Returns, for each function id, whether a gate failed for that function.
    fn failing(&self) -> Vec<bool> {
        let mut failing = vec![false; self.diff.by_function.len()];
        for failure in self.verdicts.iter().flat_map(|verdict| &verdict.failures) {
            if let Judged::Function(id) = failure.of {
                failing[id.index()] = true;
            }
        }
        failing
    }

    /// Returns the remark that follows a row's name: its numbers are per run, or its times cannot be compared. Returns `None` if
    /// there is nothing to remark.
    fn remark(&self, change: &Change) -> Option<String> {
        let scope = || visible(self.per.unwrap_or_default(), self.ascii);
        match (change.calls_per_run, change.around_scope) {
            (_, true) => Some(format!("(around {})", scope())),
            (true, false) => Some("(per run)".into()),
            (false, false) => None,
        }
    }

    /// Explains what the sums of counters and the remark "around" mean, if any row has them.
    fn about_remarks(&self) -> Option<String> {
        let scope = visible(self.per.unwrap_or_default(), self.ascii);
        let counters = self.diff.by_function.iter().any(|change| change.is_counter);
        let sums = counters.then(|| {
            let sum = Glyphs::of(self.ascii).sum;
            let of = tally::missing(self.diff.measure);
            format!("{sum} is the sum that a counter has added up in its calls; it has no {of}")
        });
        let around = self.diff.whole.around_scope.then(|| {
            format!(
                "(around {scope}), (all): their times have what passes outside of {scope} as well, and do not compare \
                 between runs of different length"
            )
        });
        let about: Vec<String> = sums.into_iter().chain(around).collect();
        (!about.is_empty()).then(|| about.join(". "))
    }

    fn is_failed(&self) -> bool {
        self.verdicts.iter().any(|verdict| !verdict.is_passed())
    }

    /// Returns the sentence about a gate's verdict, with the reason for it.
    fn sentence(&self, verdict: &Verdict, labels: &[String]) -> Vec<Piece> {
        let numbers = self.numbers_of(verdict.condition.measure);
        let of_times = verdict.condition.measure.dimension() == Dimension::Time;
        let judged = verdict.judged;
        if verdict.is_passed() {
            let how = if of_times {
                let (before, after) = self.diff.runs();
                format!(
                    "none is slower by more than that (rank test, {before} and {after} runs, level {}%)",
                    LEVEL * 100.0
                )
            } else if verdict.condition.what == Quantity::Calls {
                "none is called more often than that".into()
            } else {
                format!("none has more {} than that", verdict.condition.measure.name())
            };
            return vec![Piece::Words(format!("{judged} judged, {how}"))];
        }
        let mut pieces = Vec::new();
        for (index, failure) in verdict.failures.iter().take(NAMED).enumerate() {
            let comma = if index > 0 { "; " } else { "" };
            pieces.push(Piece::Words(comma.into()));
            pieces.push(self.name_of(failure, labels));
            pieces.push(Piece::Words(numbers.failure(verdict.condition.what, failure)));
        }
        let more = verdict.failures.len().saturating_sub(NAMED);
        if more > 0 {
            pieces.push(Piece::Words(format!("; and {more} more of {judged} judged")));
        }
        if let Some(why) = self.why_not_the_whole(verdict) {
            pieces.push(Piece::Words(why));
        }
        if verdict.inexact > 0 {
            pieces.push(Piece::Words(format!(
                " (in {} of them the runs of a side do not agree)",
                number::count(verdict.inexact as u64)
            )));
        }
        pieces
    }

    /// Returns why no gate failed for the whole program, although its time has grown by more than the condition allows.
    fn why_not_the_whole(&self, verdict: &Verdict) -> Option<String> {
        let condition = &verdict.condition;
        let whole = &self.diff.whole;
        let grown = condition.is_exceeded(whole.before.total_ns, whole.after.total_ns);
        let is_failure = |failure: &Failure| failure.of == Judged::Whole;
        if condition.what != Quantity::Total
            || condition.measure != self.diff.measure
            || condition.function.is_some()
            || !grown
            || verdict.failures.iter().any(is_failure)
        {
            return None;
        }
        let change = self.numbers().change(whole, Quantity::Total);
        let why = match verdict.whole.and_then(|whole| whole.chance) {
            Some(chance) => format!("not significant, p = {}", numbers::three_digits(chance)),
            None => "not judged: it includes what is outside of the scope".into(),
        };
        Some(format!("; {WHOLE} {change} is {why}"))
    }

    fn name_of(&self, failure: &Failure, labels: &[String]) -> Piece {
        match failure.of {
            Judged::Whole => Piece::Words(WHOLE.into()),
            Judged::Function(id) => Piece::Name(labels[id.index()].clone()),
        }
    }

    /// Returns the remarks above the tables: the verdicts of the gates, doubts, and a hint. Each comes with the word that
    /// introduces it, such as "note".
    fn remarks(&self, labels: &[String]) -> Vec<(&'static str, Vec<Piece>)> {
        let verdicts = self.verdicts.iter().map(|verdict| {
            let word = if verdict.is_passed() { "passed" } else { "FAILED" };
            let mut pieces = vec![Piece::Name(verdict.condition.to_string())];
            pieces.push(Piece::Words(": ".into()));
            pieces.extend(self.sentence(verdict, labels));
            (word, pieces)
        });
        let words = |word, text| (word, vec![Piece::Words(text)]);
        let doubts = self.doubts.iter().map(|doubt| words("note", doubt.clone()));
        let hint = self.about_lengths().map(|hint| words("hint", hint));
        verdicts.chain(doubts).chain(hint).collect()
    }

    /// Returns one line for each failed gate, for logs.
    pub fn failures(&self) -> Vec<String> {
        let labels = self.labels();
        let failed = self.verdicts.iter().filter(|verdict| !verdict.is_passed());
        failed
            .map(|verdict| {
                let pieces = self.sentence(verdict, &labels);
                let condition = verdict.condition.to_string();
                format!("{} failed: {}", visible(&condition, self.ascii), plain(&pieces))
            })
            .collect()
    }
}

/// Returns the lengths of the runs, such as `10.0s` or `9.90s to 10.1s`.
fn lengths(runs: &[Run]) -> String {
    let of = |ns: Option<u64>| number::duration(ns.unwrap_or_default());
    let least = of(runs.iter().map(|run| run.length_ns).min());
    let most = of(runs.iter().map(|run| run.length_ns).max());
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}

fn plain(pieces: &[Piece]) -> String {
    let texts = pieces.iter().map(|piece| match piece {
        Piece::Words(text) | Piece::Name(text) => text.as_str(),
    });
    texts.collect()
}
