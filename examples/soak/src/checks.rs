//! The checks of a run: how often each was made, how often it failed, and what that says of its goal.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The goals, each with its id in the figures of reliability.
pub(crate) const KILLS: &str = "G1   kills without a snapshot: 0";
pub(crate) const CUTS: &str = "G5   dead by a ring cut or removed: 0";
pub(crate) const READS: &str = "G7   inconsistent reads: 0";
pub(crate) const RECORDS: &str = "G10  records whose epochs do not add up: 0";
/// Of all checks, also of those that have no goal of their own.
const ERRORS: &str = "G9   errors: 0";

/// What is no goal, but says how much is known.
pub(crate) const MISSED_RECORDS: &str = "records missed";
pub(crate) const KEPT_BYTES: &str = "bytes of a viewer's past";

/// In runs shorter than this, in minutes, nothing settles.
const LEAST_MINUTES: f64 = 5.0;

/// The largest allowed growth of memory, in MiB.
const DRIFT_MOST: f64 = 1.0;

/// The number of errors that are printed; all are counted.
const PRINTED: u64 = 20;

/// How often things were done, and how often that was wrong.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<BTreeMap<&'static str, [u64; 2]>>);

impl Tally {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    pub(crate) fn all(&self) -> MutexGuard<'_, BTreeMap<&'static str, [u64; 2]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn of(&self, what: &str) -> [u64; 2] {
        self.all().get(what).copied().unwrap_or_default()
    }

    pub(crate) fn count(&self, what: &'static str, times: u64, wrong: u64) {
        let mut all = self.all();
        let [done, failed] = all.entry(what).or_default();
        (*done, *failed) = (*done + times, *failed + wrong);
    }

    pub(crate) fn did(&self, what: &'static str, times: u64) {
        self.count(what, times, 0);
    }

    /// Counts an error, and prints it at once.
    #[allow(clippy::print_stderr, reason = "a program that speaks to its user")]
    pub(crate) fn error(&self, what: impl Display) {
        self.count(ERRORS, 0, 1);
        if self.of(ERRORS)[1] <= PRINTED {
            eprintln!("error: {what:#}");
        }
    }

    /// Counts a check, and its error if there is one. Returns what is right.
    pub(crate) fn check<T>(&self, goal: &'static str, checked: anyhow::Result<T>) -> Option<T> {
        self.did(ERRORS, 1);
        self.count(goal, 1, u64::from(checked.is_err()));
        checked.inspect_err(|why| self.error(why)).ok()
    }
}

/// What a run has reached.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) tally: &'a Tally,
    pub(crate) minutes: f64,
    /// The growth in MiB of the program and of each viewer that stayed, where there was time to measure it.
    pub(crate) memory: Vec<(&'static str, Option<f64>)>,
}

impl Run<'_> {
    /// Returns the lines of the table: goal, what was reached, and whether that is what was wanted, if enough is known.
    fn rows(&self) -> Vec<(String, String, Option<bool>)> {
        // Nothing settles in a short run.
        let is_long = self.minutes >= LEAST_MINUTES;
        let figure = |goal: &str| {
            let [all, wrong] = self.tally.of(goal);
            // Where a record was missed, nothing is known of what the epochs add up to.
            let is_known = all > 0 && (goal != RECORDS || self.tally.of(MISSED_RECORDS)[0] == 0);
            let verdict = (is_known || wrong > 0).then_some(wrong == 0);
            (goal.to_owned(), format!("{wrong} of {all}"), verdict)
        };
        let mut rows: Vec<_> = [KILLS, CUTS, READS, RECORDS, ERRORS].map(figure).into();
        for &(whose, grown) in &self.memory {
            let goal = format!("G9   memory of {whose}: at most +{DRIFT_MOST} MiB");
            let reached = grown.map_or("?".to_owned(), |net| format!("{net:+.2} MiB"));
            let verdict = grown.filter(|_| is_long).map(|net| net <= DRIFT_MOST);
            rows.push((goal, reached, verdict));
        }
        rows
    }

    /// Returns whether no goal was missed.
    pub(crate) fn holds_all(&self) -> bool {
        self.rows().iter().all(|(.., verdict)| *verdict != Some(false))
    }
}

impl Display for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<43} {:<26} verdict", "id   goal", "reached")?;
        for (goal, reached, verdict) in self.rows() {
            let verdict = verdict.map_or("open", |holds| if holds { "reached" } else { "MISSED" });
            writeln!(f, "{goal:<43} {reached:<26} {verdict}")?;
        }
        f.write_str("\nmemory: RssAnon, since half of the run; of viewers less the past that they keep\n")?;
        for (what, [times, _]) in self.tally.all().iter().filter(|(what, _)| !what.starts_with('G')) {
            writeln!(f, "{what}: {times}")?;
        }
        let viewers = self.memory.iter().skip(1).filter_map(|(_, net)| *net);
        let program = self.memory.first().and_then(|(_, net)| *net).unwrap_or(0.0);
        write!(
            f,
            "\nG9: {:.1} min, {} viewers: {} errors; drift {program:.2} MiB, viewers {:.2}",
            self.minutes,
            self.memory.len().saturating_sub(1),
            self.tally.of(ERRORS)[1],
            viewers.fold(0.0, f64::max),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(tally: &Tally, minutes: f64, drift: f64) -> Run<'_> {
        let memory = ["the program", "a viewer"].map(|whose| (whose, Some(drift)));
        Run {
            tally,
            minutes,
            memory: memory.into(),
        }
    }

    #[test]
    fn a_missed_goal_is_told_and_the_table_fits_80_columns() {
        let tally = Tally::new();
        tally.did(READS, 100_000_000);
        tally.did(RECORDS, 1_000_000);
        tally.did("epochs", 100_000);
        let good = run(&tally, 1000.0, 1.0);
        assert!(good.holds_all());
        let text = good.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(
            text.contains("0 of 0                     open"),
            "nothing was killed: {text}"
        );
        assert!(
            text.lines()
                .last()
                .is_some_and(|line| line.starts_with("G9: 1000.0 min, 1 viewers: 0 errors; drift 1.00 MiB"))
        );
        assert!(!run(&tally, 60.0, 1.01).holds_all(), "memory");
        assert!(run(&tally, 1.0, 1.01).holds_all(), "nothing settles in a minute");
        tally.count(RECORDS, 1, 1);
        assert!(!run(&tally, 60.0, 0.0).holds_all());
    }
}
