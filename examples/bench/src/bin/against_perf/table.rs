//! Our hottest functions beside perf's.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::report::Report;
use crate::seen::Seen;

/// How many functions of perf's are compared.
pub(crate) const HOTTEST: usize = 10;

/// How many of them may be further off than they may be.
const OFF_MAX: usize = 1;

/// Shares may differ by this much, or by twice their stated error.
const POINTS: f64 = 0.02;

/// A stated error may be this many times the binomial one of the samples.
const ERROR_MAX: f64 = 2.0;

/// How a function of a report stands beside perf's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Beside {
    share: f64,
    error: f64,
    is_shown: bool,
    is_near: bool,
    /// Whether the stated error is no larger than it may be.
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
            // A stated error that is too large excuses nothing.
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
        verdicts
            .iter()
            .filter(|verdict| verdict.0)
            .for_each(|verdict| said += verdict.1);
        said
    }
}

/// Makes one of sets that have a name in common.
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

/// The functions of perf's that have most samples, with their shares, and how each report stands beside them.
pub(crate) struct Table(pub(crate) Vec<(BTreeSet<String>, f64, Vec<Beside>)>);

impl Table {
    pub(crate) fn of(seen: &Seen, reports: &[Report]) -> Self {
        let all: u64 = seen.samples.values().sum();
        let hottest = united(&seen.samples).into_iter().take(HOTTEST);
        let row = |(keys, count): (BTreeSet<String>, u64)| {
            let truth = count as f64 / all.max(1) as f64;
            let beside = reports
                .iter()
                .map(|report| Beside::of(report, &keys, truth))
                .collect();
            (keys, truth, beside)
        };
        Self(hottest.map(row).collect())
    }

    /// Returns in how many functions of a report this holds.
    fn count(&self, report: usize, holds: impl Fn(&Beside) -> bool) -> usize {
        self.0.iter().filter(|row| holds(&row.2[report])).count()
    }

    pub(crate) fn holds(&self, report: usize) -> bool {
        let is_wrong = |beside: &Beside| !beside.is_shown || !beside.is_sure;
        self.count(report, is_wrong) == 0 && self.count(report, |beside| !beside.is_near) <= OFF_MAX
    }

    pub(crate) fn markdown(&self, reports: &[Report]) -> String {
        let mut out = String::from("| function | perf |");
        for at in 1..=reports.len() {
            _ = write!(out, " run {at} |");
        }
        out += "\n|---|--:|";
        out += &"--:|".repeat(reports.len());
        for (keys, truth, beside) in &self.0 {
            let is_ours = |key: &&String| reports.iter().any(|report| report.functions.contains_key(*key));
            let name = keys.iter().find(is_ours).or(keys.first());
            _ = write!(
                out,
                "\n| `{}` | {:.1} |",
                name.map_or("", String::as_str),
                100.0 * truth
            );
            for beside in beside {
                _ = write!(out, " {} |", beside.cell());
            }
        }
        out
    }

    pub(crate) fn summary(&self, name: &str, seen: &Seen, reports: &[Report]) -> String {
        let of_each = |holds: fn(&Beside) -> bool| -> Vec<usize> {
            (0..reports.len())
                .map(|report| self.count(report, holds))
                .collect()
        };
        let differences = self
            .0
            .iter()
            .flat_map(|(_, truth, all)| all.iter().map(move |of| (of.share - truth).abs()));
        format!(
            r#"{{"kind":"share-summary","case":"{name}","mode":"first run","functions":{},"near":{:?},"missing":{:?},"unsure":{:?},"largest_difference":{:.4},"perf_samples":{},"samples":{:?},"holds":{}}}"#,
            self.0.len(),
            of_each(|beside| beside.is_near),
            of_each(|beside| !beside.is_shown),
            of_each(|beside| !beside.is_sure),
            differences.fold(0.0, f64::max),
            seen.samples.values().sum::<u64>(),
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
        }
    }

    #[test]
    fn a_function_is_near_by_points_or_by_an_error_that_is_no_excuse() {
        // The binomial error of half is 1 %.
        for (share, error, truth, near, sure) in [
            (50.0, 0.5, 51.9, true, true),
            (50.0, 0.5, 52.1, false, true),
            (50.0, 1.9, 53.7, true, true),
            (50.0, 9.0, 53.9, true, false),
            (50.0, 9.0, 54.1, false, false),
        ] {
            let report = reported(&[("a", share, error), ("b", 100.0 - share, 0.0)]);
            let beside = Beside::of(&report, &set(&["a"]), truth / 100.0);
            assert_eq!(
                (beside.is_near, beside.is_sure),
                (near, sure),
                "{share} {error} {truth}"
            );
        }
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
        let seen = |samples: &[(&str, u64)]| Seen {
            samples: samples
                .iter()
                .map(|&(name, count)| (set(&[name]), count))
                .collect(),
            without_user: 0,
        };
        let truth = seen(&[("a", 50), ("b", 30), ("c", 20)]);
        let holds = |report: Report| Table::of(&truth, &[report]).holds(0);
        assert!(holds(reported(&[
            ("a", 50.0, 1.0),
            ("b", 30.0, 1.0),
            ("c", 20.0, 1.0)
        ])));
        assert!(holds(reported(&[
            ("a", 50.0, 1.0),
            ("b", 30.0, 1.0),
            ("c", 15.0, 1.0)
        ])));
        assert!(!holds(reported(&[
            ("a", 55.0, 1.0),
            ("b", 30.0, 1.0),
            ("c", 15.0, 1.0)
        ])));
        assert!(
            !holds(reported(&[("a", 50.0, 1.0), ("b", 30.0, 1.0)])),
            "one is missing"
        );
        assert!(
            !holds(reported(&[("a", 50.0, 9.0), ("b", 30.0, 1.0), ("c", 20.0, 1.0)])),
            "an error"
        );
        let table = Table::of(&truth, &[reported(&[("a", 50.0, 1.0), ("b", 30.0, 1.0)])]);
        let text = table.markdown(&[reported(&[("a", 50.0, 1.0)])]);
        assert_eq!(
            text.lines().last().unwrap(),
            "| `c` | 20.0 | 0.0 ±0.0 missing off |"
        );
    }
}
