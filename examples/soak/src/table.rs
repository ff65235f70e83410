//! What a run has reached.

use std::fmt;
use std::sync::PoisonError;

use crate::memory::LEAST_MINUTES;
use crate::soak::{Figure, Tally};

/// The largest allowed growth of memory, in MiB.
const DRIFT_MOST: f64 = 1.0;

/// How a figure compares to its goal, where it does not reach it; open where there is too little data to tell.
const MISSED: &str = "MISSED";
const OPEN: &str = "open";

/// What the table is made from.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) tally: &'a Tally,
    pub(crate) minutes: f64,
    pub(crate) hz: u64,
    /// The growth of the program, if there was time to measure it.
    pub(crate) program: Option<f64>,
    /// The growth of each viewer that stayed.
    pub(crate) viewers: Vec<Option<f64>>,
}

impl Run<'_> {
    /// Returns the lines of the figures: id, goal, what was reached, and how both compare.
    fn rows(&self) -> Vec<(&'static str, &'static str, String, &'static str)> {
        let (tally, minutes) = (self.tally, self.minutes);
        let row = |id, goal, reached, holds, tried| {
            let verdict = if tried { "reached" } else { OPEN };
            (id, goal, reached, if holds { verdict } else { MISSED })
        };
        let none = |id, goal, figure: &Figure| {
            let (all, wrong) = (figure.all.get(), figure.wrong.get());
            // Where a record was missed, nothing is known of what the epochs add up to.
            let known = id != "G10" || tally.missed.get() == 0;
            row(
                id,
                goal,
                format!("{wrong} of {all}"),
                wrong == 0,
                all > 0 && known,
            )
        };
        // Nothing settles in a short run.
        let long = minutes >= LEAST_MINUTES;
        let memory = |goal, grown: Option<f64>| {
            let reached = grown.map_or("?".to_owned(), |net| format!("{net:+.2} MiB"));
            let holds = !long || grown.is_none_or(|net| net <= DRIFT_MOST);
            row("G9", goal, reached, holds, long && grown.is_some())
        };
        let (off, live, errors) = (tally.live.wrong.get(), tally.live.all.get(), tally.errors.get());
        let [live_of, errors_in] = [
            format!("{off} of {live}"),
            format!("{errors} in {minutes:.1} min"),
        ];
        let holds = 20 * off <= live || !long;
        let mut rows = vec![
            none("G1", "kills without a snapshot: 0", &tally.kills),
            none("G5", "dead by a ring cut or removed: 0", &tally.cuts),
            none("G7", "inconsistent reads: 0", &tally.reads),
            none("G8", "requests done twice or not at all: 0", &tally.requests),
            none("G10", "records whose epochs do not add up: 0", &tally.records),
            row("G10", "live bytes off, at most 1 of 20", live_of, holds, live > 0),
            row("G9", "errors: 0", errors_in, errors == 0, long),
            memory("memory of the program: at most +1 MiB", self.program),
        ];
        let viewers = self.viewers.iter();
        rows.extend(viewers.map(|&drift| memory("memory of a viewer: at most +1 MiB", drift)));
        rows
    }

    /// Returns whether no goal was missed.
    pub(crate) fn holds_all(&self) -> bool {
        self.rows().iter().all(|(.., verdict)| *verdict != MISSED)
    }
}

impl fmt::Display for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<4} {:<38} {:<28} verdict", "id", "goal", "reached")?;
        for (id, goal, reached, verdict) in self.rows() {
            writeln!(f, "{id:<4} {goal:<38} {reached:<28} {verdict}")?;
        }
        let (tally, minutes, hz) = (self.tally, self.minutes, self.hz);
        writeln!(
            f,
            "\nmemory: RssAnon, once half of the run is over; of viewers less"
        )?;
        writeln!(f, "the hour of the past that they keep")?;
        for (what, times) in tally.done.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            writeln!(f, "{what}: {times}")?;
        }
        writeln!(
            f,
            "not here: G2, G6 (models), G3, G4 (fuzzing), G11 (bench harm)\n"
        )?;
        let (errors, viewers) = (tally.errors.get(), self.viewers.len());
        let grown = self.program.unwrap_or(0.0);
        let worst = self.viewers.iter().flatten().copied().fold(0.0, f64::max);
        write!(
            f,
            "G9: {minutes:.1} min at {hz} Hz, {viewers} viewers: {errors} errors; "
        )?;
        write!(f, "drift {grown:.2} MiB, viewers {worst:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(tally: &Tally, minutes: f64, drift: f64) -> Run<'_> {
        Run {
            tally,
            minutes,
            hz: 50,
            program: Some(drift),
            viewers: vec![Some(drift)],
        }
    }

    #[test]
    fn a_missed_goal_is_told_and_the_table_fits_80_columns() {
        let tally = Tally::default();
        tally.reads.all.add(100_000_000);
        tally.requests.all.add(100_000_000);
        tally.records.all.add(1_000_000);
        tally.did("epochs", 100_000);
        let good = run(&tally, 1000.0, 1.0);
        assert!(good.holds_all());
        let text = good.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(
            text.contains("0 of 0                       open"),
            "nothing was killed: {text}"
        );
        assert!(
            text.lines()
                .last()
                .is_some_and(|line| line.starts_with("G9: 1000.0 min at 50 Hz"))
        );
        assert!(!run(&tally, 60.0, 1.01).holds_all(), "memory");
        assert!(run(&tally, 1.0, 1.01).holds_all(), "nothing settles in a minute");
        tally.records.wrong.add(1);
        assert!(!run(&tally, 60.0, 0.0).holds_all());
    }
}
