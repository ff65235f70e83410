//! Table of perf's hottest functions, with their shares in tickscope's reports.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::report::Report;
use crate::seen::Seen;

/// Number of perf's hottest functions that are compared.
const HOTTEST: usize = 10;

/// Number of functions whose share may differ from perf's by more than the allowed difference (see [`POINTS`]).
const OFF_MAX: usize = 1;

/// Allowed difference between tickscope's share and perf's. If twice the stated error is larger, that is allowed instead.
const POINTS: f64 = 0.02;

/// Maximum ratio of the stated error to the binomial error that follows from the number of samples.
const ERROR_MAX: f64 = 2.0;

/// A function's share in a tickscope report, compared with its share of perf's samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Beside {
    share: f64,
    error: f64,
    is_shown: bool,
    is_near: bool,
    /// Whether the stated error is within its limit.
    is_sure: bool,
}

impl Beside {
    fn of(report: &Report, keys: &BTreeSet<String>, truth: f64) -> Self {
        let (share, error) = report.share(keys);
        let error_max = ERROR_MAX * report.binomial(share);
        let hottest = report.hottest();
        Self {
            share,
            error,
            is_shown: keys.iter().any(|key| hottest.contains(key.as_str())),
            // The stated error is capped at `error_max`, so that overstating it does not widen the tolerance.
            is_near: (share - truth).abs() <= POINTS.max(2.0 * error.min(error_max)),
            is_sure: error <= error_max,
        }
    }

    fn cell(&self) -> String {
        let mut said = format!("{:.1} ±{:.1}", 100.0 * self.share, 100.0 * self.error);
        let verdicts = [
            (!self.is_shown, " missing"),
            (!self.is_near, " off"),
            (!self.is_sure, " unsure"),
        ];
        for (_, word) in verdicts.into_iter().filter(|verdict| verdict.0) {
            said += word;
        }
        said
    }
}

/// Merges sets that have a key in common, because they belong to the same function. Sorts the result by number of
/// samples, most first.
fn united(samples: &BTreeMap<BTreeSet<String>, u64>) -> Vec<(BTreeSet<String>, u64)> {
    let mut all: Vec<(BTreeSet<String>, u64)> = Vec::new();
    for (keys, count) in samples {
        let (same, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(of, _)| !of.is_disjoint(keys));
        all = others;
        let mut one = (keys.clone(), *count);
        for (keys, count) in same {
            one.0.extend(keys);
            one.1 += count;
        }
        all.push(one);
    }
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all
}

/// A function in perf's samples.
struct Row {
    keys: BTreeSet<String>,
    /// Share of the samples from all perf runs together, from 0 to 1.
    truth: f64,
    /// Share in each perf run. It varies, because the machine's speed changes.
    of_runs: Vec<f64>,
    /// Comparison with each of tickscope's reports.
    beside: Vec<Beside>,
}

/// Returns the functions that are off in some reports but on in others, and their combined share of CPU time, averaged
/// over all reports.
fn off_by_chance(reports: &[Report]) -> (BTreeSet<String>, f64) {
    let all: BTreeSet<&String> = reports.iter().flat_map(|report| &report.off).collect();
    let differs = |key: &&&String| reports.iter().any(|report| !report.off.contains(**key));
    let differing: BTreeSet<String> = all.iter().filter(differs).map(|key| (*key).clone()).collect();
    let shares = reports.iter().map(|report| report.share(&differing).0);
    let share = shares.sum::<f64>() / reports.len().max(1) as f64;
    (differing, share)
}

/// Returns the number of reports with another hottest function than the first report. Counts a report only if, in that
/// report, its hottest function is ahead of the first report's by more than twice the stated error.
fn other_tops(reports: &[Report]) -> usize {
    let Some((first, ..)) = reports.first().and_then(Report::top) else {
        return 0;
    };
    let is_other = |report: &&Report| {
        report.top().is_some_and(|(top, share, error)| {
            let (of_first, _) = report.share(&BTreeSet::from([first.to_owned()]));
            top != first && share - of_first > 2.0 * error
        })
    };
    reports.iter().filter(is_other).count()
}

/// The functions with the most perf samples, hottest first.
pub(crate) struct Table {
    rows: Vec<Row>,
    /// Number of perf's samples.
    samples: u64,
}

impl Table {
    pub(crate) fn of(runs: &[Seen], reports: &[Report]) -> Self {
        let mut all = Seen::default();
        runs.iter().for_each(|run| all.add(run));
        let row = |(keys, _): (BTreeSet<String>, u64)| {
            let truth = all.share(&keys);
            let beside = reports.iter().map(|report| Beside::of(report, &keys, truth));
            Row {
                truth,
                of_runs: runs.iter().map(|run| run.share(&keys)).collect(),
                beside: beside.collect(),
                keys,
            }
        };
        Self {
            rows: united(&all.samples).into_iter().take(HOTTEST).map(row).collect(),
            samples: all.samples.values().sum(),
        }
    }

    /// Returns the number of functions for which `holds` is true in the given report.
    fn count(&self, report: usize, holds: impl Fn(&Beside) -> bool) -> usize {
        self.rows.iter().filter(|row| holds(&row.beside[report])).count()
    }

    /// Returns whether a report shows all of perf's hottest functions, with stated errors within the limit and nearly
    /// all shares correct.
    pub(crate) fn holds(&self, report: usize) -> bool {
        let is_wrong = |beside: &Beside| !beside.is_shown || !beside.is_sure;
        self.rows.len() == HOTTEST
            && self.count(report, is_wrong) == 0
            && self.count(report, |beside| !beside.is_near) <= OFF_MAX
    }

    pub(crate) fn markdown(&self, reports: &[Report]) -> String {
        let mut out = String::from("| function | perf |");
        for at in 1..=reports.len() {
            _ = write!(out, " run {at} |");
        }
        out += "\n|---|--:|";
        out += &"--:|".repeat(reports.len());
        for row in &self.rows {
            let is_ours = |key: &&String| reports.iter().any(|report| report.functions.contains_key(*key));
            let name = row.keys.iter().find(is_ours).or(row.keys.first());
            let low = row.of_runs.iter().copied().fold(f64::INFINITY, f64::min);
            let high = row.of_runs.iter().copied().fold(0.0, f64::max);
            let name = name.map_or("", String::as_str);
            let [truth, low, high] = [row.truth, low, high].map(|share| 100.0 * share);
            _ = write!(out, "\n| `{name}` | {truth:.1} ({low:.1} to {high:.1}) |");
            for beside in &row.beside {
                _ = write!(out, " {} |", beside.cell());
            }
        }
        out
    }

    pub(crate) fn summary(&self, name: &str, reports: &[Report]) -> String {
        let of_each = |holds: fn(&Beside) -> bool| -> Vec<usize> {
            (0..reports.len())
                .map(|report| self.count(report, holds))
                .collect()
        };
        let rows = self.rows.iter();
        let differences =
            rows.flat_map(|row| row.beside.iter().map(|beside| (beside.share - row.truth).abs()));
        let (off_by_chance, their_share) = off_by_chance(reports);
        format!(
            r#"{{"kind":"share-summary","case":"{name}","mode":"first run","functions":{},"near":{:?},"missing":{:?},"unsure":{:?},"largest_difference":{:.4},"off_by_chance":{:?},"their_share":{their_share:.4},"other_tops":{},"perf_samples":{},"samples":{:?},"holds":{}}}"#,
            self.rows.len(),
            of_each(|beside| beside.is_near),
            of_each(|beside| !beside.is_shown),
            of_each(|beside| !beside.is_sure),
            differences.fold(0.0, f64::max),
            off_by_chance.iter().collect::<Vec<_>>(),
            other_tops(reports),
            self.samples,
            reports.iter().map(|report| report.samples).collect::<Vec<_>>(),
            (0..reports.len()).all(|report| self.holds(report)),
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::report::Shown;

    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn reported(functions: &[(&str, f64, f64)]) -> Report {
        let shown =
            |&(name, cpu_ns, error_ns): &(&str, f64, f64)| (name.to_owned(), Shown { cpu_ns, error_ns });
        Report {
            functions: functions.iter().map(shown).collect(),
            all_ns: 100.0,
            samples: 2_500,
            off: BTreeSet::new(),
        }
    }

    #[test]
    fn a_function_is_near_by_points_or_by_an_error_that_is_no_excuse() {
        // With 2500 samples, the binomial error of a 50 % share is 1 percentage point.
        for (share, error, truth, near, sure) in [
            (50.0, 0.5, 51.9, true, true),
            (50.0, 0.5, 52.1, false, true),
            (50.0, 1.9, 53.7, true, true),
            (50.0, 9.0, 53.9, true, false),
            (50.0, 9.0, 54.1, false, false),
        ] {
            let report = reported(&[("a", share, error), ("b", 100.0 - share, 0.0)]);
            let beside = Beside::of(&report, &set(&["a"]), truth / 100.0);
            assert_eq!(beside.is_near, near, "{share} {error} {truth}");
            assert_eq!(beside.is_sure, sure, "{share} {error} {truth}");
        }
    }

    #[test]
    fn functions_that_are_off_in_some_runs_have_a_share() {
        let report = |off: &[&str], a: f64| Report {
            off: set(off),
            ..reported(&[("a", a, 1.0), ("b", 10.0, 1.0), ("c", 40.0, 0.5)])
        };
        let reports = [
            report(&["a", "b"], 3.0),
            report(&["b"], 41.5),
            report(&["b"], 5.0),
        ];
        let (differing, share) = off_by_chance(&reports);
        assert_eq!(differing, set(&["a"]));
        assert!((share - 0.165).abs() < 1e-9, "{share}");
        assert_eq!(other_tops(&reports), 0, "within twice the error");
        assert_eq!(other_tops(&[report(&[], 3.0), report(&[], 43.0)]), 1);
    }

    #[test]
    fn all_names_of_a_function_are_one() {
        let samples = [
            (set(&["a"]), 1),
            (set(&["b", "c"]), 2),
            (set(&["a", "c"]), 4),
            (set(&["d"]), 5),
        ];
        assert_eq!(
            united(&BTreeMap::from(samples)),
            [(set(&["a", "b", "c"]), 7), (set(&["d"]), 5)]
        );
    }

    #[test]
    fn a_run_holds_where_one_function_is_off_and_none_is_missing() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let run = |first: u64| {
            let counts = [first, 100 - first].into_iter().chain([20; 8]);
            let samples = names
                .iter()
                .zip(counts)
                .map(|(name, count)| (set(&[name]), count));
            Seen {
                samples: samples.collect(),
                without_user: 0,
            }
        };
        let runs = [run(62), run(60), run(64)];
        // Each perf run has 260 samples. The report has the average shares of these runs, except for the functions in
        // `others`.
        let report = |others: &[(&str, f64, f64)]| {
            let of = |&name: &&'static str| match name {
                "a" => (name, 62.0 / 2.6, 1.0),
                "b" => (name, 38.0 / 2.6, 1.0),
                _ => (name, 20.0 / 2.6, 1.0),
            };
            let known = names.iter().map(of);
            let all: Vec<_> = known
                .filter(|known| others.iter().all(|other| other.0 != known.0))
                .collect();
            reported(&[&all, others].concat())
        };
        let holds = |others: &[(&str, f64, f64)]| Table::of(&runs, &[report(others)]).holds(0);
        assert!(holds(&[]));
        assert!(holds(&[("a", 35.0, 1.0)]));
        assert!(!holds(&[("a", 35.0, 1.0), ("b", 8.0, 1.0)]));
        assert!(!holds(&[("j", 0.0, 1.0)]), "one is missing");
        assert!(!holds(&[("b", 38.0 / 2.6, 9.0)]), "an error");
        let missing = [report(&[("a", 0.0, 0.0)])];
        let table = Table::of(&runs, &missing);
        let text = table.markdown(&missing);
        assert_eq!(
            text.lines().nth(2),
            Some("| `a` | 23.8 (23.1 to 24.6) | 0.0 ±0.0 missing off |")
        );
        let summary = table.summary("case", &missing);
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(summary["near"], serde_json::json!([9]));
        assert_eq!(summary["missing"], serde_json::json!([1]));
        assert_eq!(
            (&summary["perf_samples"], &summary["holds"]),
            (&780.into(), &false.into())
        );
    }
}
