//! What a run has reached: a line now and then, and a table at the end.

use std::fmt;

use crate::memory::{Drift, LEAST_MINUTES, SETTLED};
use crate::tally::Tally;

/// The largest allowed growth of memory, in MiB.
const DRIFT_MOST: f64 = 1.0;

/// How a figure compares to its goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Reached,
    Missed,
    /// There is too little data to tell.
    Open,
}

/// One figure.
#[derive(Debug, PartialEq)]
struct Row {
    id: &'static str,
    goal: &'static str,
    reached: String,
    verdict: Verdict,
}

/// What the table is made from.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) tally: &'a Tally,
    pub(crate) minutes: f64,
    pub(crate) hz: u64,
    /// The growth of the program, if there was time to measure it.
    pub(crate) program: Option<Drift>,
    /// The growth of each viewer that stayed.
    pub(crate) viewers: Vec<Option<Drift>>,
}

impl Verdict {
    fn of(holds: bool, tried: bool) -> Self {
        match (holds, tried) {
            (false, _) => Self::Missed,
            (true, true) => Self::Reached,
            (true, false) => Self::Open,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Reached => "reached",
            Self::Missed => "MISSED",
            Self::Open => "open",
        })
    }
}

impl Run<'_> {
    fn rows(&self) -> Vec<Row> {
        let tally = self.tally;
        let row = |id, goal, reached, holds, tried| Row {
            id,
            goal,
            reached,
            verdict: Verdict::of(holds, tried),
        };
        let (lost, kills) = (tally.lost.get(), tally.kills.get());
        let (cuts, dead) = (
            tally.cuts.get(),
            tally.cut_dead.get() + tally.cut_dead_viewers.get(),
        );
        let (reads, wrong) = (tally.reads.get(), tally.inconsistent.get());
        let (answered, not_once) = (tally.answered.get(), tally.not_once.get());
        let (records, off, missed) = (tally.records.get(), tally.off.get(), tally.missed.get());
        let (live, live_off) = (tally.live.get(), tally.live_off.get());
        let mut rows = vec![
            row(
                "G1",
                "kills without a snapshot: 0",
                format!("{lost} of {kills}"),
                lost == 0,
                kills > 0,
            ),
            row(
                "G5",
                "dead by a ring cut or removed: 0",
                format!("{dead} of {cuts}"),
                dead == 0,
                cuts > 0,
            ),
            row(
                "G7",
                "inconsistent snapshots: 0",
                format!("{wrong} of {reads} reads"),
                wrong == 0,
                reads > 0,
            ),
            row(
                "G8",
                "programs that did a request twice: 0",
                format!("{not_once}; {answered} answered"),
                not_once == 0,
                answered > 0,
            ),
            row(
                "G10",
                "live bytes off, at most 1 of 20",
                format!("{live_off} of {live} records"),
                20 * live_off <= live || self.minutes < LEAST_MINUTES,
                live > 0,
            ),
            row(
                "G9",
                "errors: 0",
                format!("{} in {:.1} min", tally.errors(), self.minutes),
                tally.errors() == 0,
                self.minutes >= LEAST_MINUTES,
            ),
            row(
                "G9",
                "memory of the program: at most +1 MiB",
                drift_text(self.program),
                self.holds(self.program),
                self.settles(self.program),
            ),
        ];
        rows.extend(self.viewers.iter().map(|&drift| {
            row(
                "G9",
                "memory of a viewer: at most +1 MiB",
                drift_text(drift),
                self.holds(drift),
                self.settles(drift),
            )
        }));
        rows.push(row(
            "G10",
            "records whose epochs do not add up: 0",
            format!("{off} of {records}, {} epochs", tally.epochs.get()),
            off == 0,
            records > 0 && missed == 0,
        ));
        rows
    }

    fn settles(&self, drift: Option<Drift>) -> bool {
        self.minutes >= LEAST_MINUTES && drift.is_some()
    }

    fn holds(&self, drift: Option<Drift>) -> bool {
        !self.settles(drift) || drift.is_some_and(|drift| drift.net <= DRIFT_MOST)
    }

    /// Returns whether no goal was missed.
    pub(crate) fn holds_all(&self) -> bool {
        self.rows().iter().all(|row| row.verdict != Verdict::Missed)
    }

    /// Prints the growth of the viewers including the past that they keep.
    fn with_past(&self) -> String {
        let viewers = self.viewers.iter().flatten();
        viewers.map(|drift| format!(" {:.2}", drift.gross)).collect()
    }

    fn worst(&self) -> f64 {
        let viewers = self.viewers.iter().flatten();
        viewers.map(|drift| drift.net).fold(0.0, f64::max)
    }
}

impl fmt::Display for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tally = self.tally;
        writeln!(f, "{:<4} {:<38} {:<28} verdict", "id", "goal", "reached")?;
        for row in self.rows() {
            writeln!(
                f,
                "{:<4} {:<38} {:<28} {}",
                row.id, row.goal, row.reached, row.verdict
            )?;
        }
        writeln!(
            f,
            "\nmemory: RssAnon, from {:.1} min on (half of the run: settled); of viewers less\n\
             the hour of the past that they keep; with it they grew by (MiB):{}",
            SETTLED * self.minutes,
            self.with_past(),
        )?;
        writeln!(
            f,
            "records {:.1} a second, {} overtaken reads tried again, {} records missed",
            tally.records.get() as f64 / (60.0 * self.minutes),
            tally.lapped.get(),
            tally.missed.get(),
        )?;
        writeln!(
            f,
            "commands {} and {} killed, viewers killed {}, bursts of keys {}, files {}",
            tally.commands.get(),
            tally.commands_killed.get(),
            tally.viewers_killed.get(),
            tally.keys.get(),
            tally.files.get(),
        )?;
        writeln!(
            f,
            "requests without an answer, their asker or program killed: {}",
            tally.unanswered.get()
        )?;
        writeln!(
            f,
            "not here: G2, G6 (models), G3, G4 (fuzzing), G11 (overhead --harm)\n"
        )?;
        let program = self.program.map_or(0.0, |drift| drift.net);
        write!(
            f,
            "G9: {:.1} min at {} Hz, {} viewers: {} errors; drift {program:.2} MiB, viewers {:.2}",
            self.minutes,
            self.hz,
            self.viewers.len(),
            tally.errors(),
            self.worst(),
        )
    }
}

fn drift_text(drift: Option<Drift>) -> String {
    drift.map_or("?".to_owned(), |drift| {
        format!("{:+.2} MiB, {:+.1} KiB/min", drift.net, drift.kib_a_minute)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(tally: &Tally, minutes: f64, drift: f64) -> Run<'_> {
        let drift = Some(Drift {
            gross: 2.0 * drift,
            net: drift,
            kib_a_minute: -1234.5,
        });
        Run {
            tally,
            minutes,
            hz: 50,
            program: drift,
            viewers: vec![drift],
        }
    }

    #[test]
    fn a_missed_goal_is_told_and_the_table_fits_80_columns() {
        let tally = Tally::default();
        tally.reads.add(100_000_000);
        tally.answered.add(100_000_000);
        tally.records.add(1_000_000);
        tally.epochs.add(100_000);
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
        tally.off.add(1);
        assert!(!run(&tally, 60.0, 0.0).holds_all());
    }
}
