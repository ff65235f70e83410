//! The checks of a run: how often each was made, how often it failed, and whether its goal was reached.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The goals, each with its id from docs/design/reliability.md.
pub(crate) const KILLS: &str = "G1   kills without a snapshot: 0";
pub(crate) const CUTS: &str = "G5   dead by a ring cut or removed: 0";
pub(crate) const READS: &str = "G7   inconsistent reads: 0";
pub(crate) const RECORDS: &str = "G10  records whose epochs do not add up: 0";
/// Errors of all checks, including checks without a separate goal.
const ERRORS: &str = "G9   errors: 0";

/// Names of counts that have no goal. They show how much the results cover.
pub(crate) const MISSED_RECORDS: &str = "records missed";
pub(crate) const KEPT_BYTES: &str = "bytes of a viewer's past";

/// Memory does not settle in runs that are shorter than this, in minutes.
const LEAST_MINUTES: f64 = 5.0;

/// Maximum allowed growth of memory, in MiB.
const DRIFT_MOST: f64 = 1.0;

/// Maximum number of errors that are printed. All of them are counted.
const PRINTED: u64 = 20;

/// For each check, how often it was made and how often it failed.
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

    /// Counts an error, and prints it immediately.
    #[allow(clippy::print_stderr, reason = "a program that speaks to its user")]
    pub(crate) fn error(&self, what: impl Display) {
        self.count(ERRORS, 0, 1);
        if self.of(ERRORS)[1] <= PRINTED {
            eprintln!("error: {what:#}");
        }
    }

    /// Counts a check, and an error if the check failed. Returns the value of a check that succeeded.
    pub(crate) fn check<T>(&self, goal: &'static str, checked: anyhow::Result<T>) -> Option<T> {
        self.did(ERRORS, 1);
        self.count(goal, 1, u64::from(checked.is_err()));
        checked.inspect_err(|why| self.error(why)).ok()
    }
}

/// Results of a run.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) tally: &'a Tally,
    pub(crate) minutes: f64,
    /// Growth of the program and of each viewer that ran throughout, in MiB; `None` if the run was too short to measure it.
    pub(crate) memory: Vec<(&'static str, Option<f64>)>,
}

impl Run<'_> {
    /// Returns the lines of the table: the goal, the result, and whether the goal was reached; `None` if this is not known.
    fn rows(&self) -> Vec<(String, String, Option<bool>)> {
        let is_long = self.minutes >= LEAST_MINUTES;
        let figure = |goal: &str| {
            let [all, wrong] = self.tally.of(goal);
            // If a record was missed, the sum over all epochs is unknown.
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
        let drift = self.memory.iter().filter_map(|(_, net)| *net).fold(0.0, f64::max);
        let (minutes, [_, errors]) = (self.minutes, self.tally.of(ERRORS));
        let viewers = self.memory.len() - 1;
        write!(
            f,
            "\nG9: {minutes:.1} min, {viewers} viewers: {errors} errors; drift at most {drift:.2} MiB"
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
        assert!(text.lines().last().is_some_and(|line| {
            line.starts_with("G9: 1000.0 min, 1 viewers: 0 errors; drift at most 1.00 MiB")
        }));
        assert!(!run(&tally, 60.0, 1.01).holds_all(), "memory");
        assert!(run(&tally, 1.0, 1.01).holds_all(), "nothing settles in a minute");
        tally.count(RECORDS, 1, 1);
        assert!(!run(&tally, 60.0, 0.0).holds_all());
    }
}
