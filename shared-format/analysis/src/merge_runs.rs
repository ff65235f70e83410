//! Adds up many runs, from any hosts, into one snapshot.

use std::collections::{BTreeMap, BTreeSet};

use tickscope_format::snapshot::{
    CaptureInfo, CaptureKind, ClockInfo, Lines, Measuring, Process, SAME_RATE, Snapshot, Tasks, Thread,
    ThreadState,
};

use crate::merge::{add_facts, bounds, sum_with};

/// Number of rows to collect before they are added to the sum. They are added in batches, because each addition has to go through
/// all rows of the sum.
const ROWS_AT_ONCE: usize = 200_000;

/// Clock epochs of the sum, and of runs whose clock ticks at a different rate.
const OUR_CLOCK: u32 = 1;
const OTHER_CLOCK: u32 = 0;

/// Sum of the runs added so far. Only one snapshot with all paths, and the runs that have yet to be added to it, are kept in
/// memory.
#[derive(Debug, Default)]
pub struct MergedRuns {
    sum: Option<Snapshot>,
    waiting: Vec<Snapshot>,
    runs: u64,
    programs: BTreeSet<String>,
    modes: BTreeSet<&'static str>,
    /// Number of threads by thread name.
    threads: BTreeMap<String, u64>,
    other_rates: u64,
    gauges: bool,
    /// Number of runs that have slow calls, lines or tasks. These cannot be added up across runs.
    beside: u64,
}

impl MergedRuns {
    /// Adds a run. Its threads are added to the threads of the same name, even if those are from other processes.
    pub fn add(&mut self, run: Snapshot) {
        self.runs += 1;
        self.programs.insert(run.process.name.clone());
        self.modes.insert(run.capture.mode.as_str());
        self.gauges |= !run.gauge_rows.is_empty();
        let is_beside =
            !run.watches.is_empty() || run.lines != Lines::default() || run.tasks != Tasks::default();
        self.beside += u64::from(is_beside);
        for thread in &run.threads {
            let count = self.threads.entry(thread.name.clone()).or_default();
            *count = count.saturating_add(thread.count);
        }
        let sum = self.sum.get_or_insert_with(|| nothing_of(&run));
        let ratio = sum.clock.ticks_per_second / run.clock.ticks_per_second;
        self.other_rates += u64::from((ratio - 1.0).abs() >= SAME_RATE);
        add_facts(sum, &run, ratio);
        let share = &mut sum.capture.cost.publisher_share;
        *share = share.max(run.capture.cost.publisher_share);
        sum.process.started_unix_ns = sum.process.started_unix_ns.min(run.process.started_unix_ns);
        sum.capture.unix_ns = sum.capture.unix_ns.max(run.capture.unix_ns);
        self.waiting.push(plain(run, ratio));
        let rows: usize = self.waiting.iter().map(|run| run.nodes.len()).sum();
        if rows >= ROWS_AT_ONCE {
            self.add_waiting();
        }
    }

    /// Returns the sum, with notes on data that was left out and on differences between the runs. Returns `None` if no run was
    /// added.
    pub fn finish(mut self) -> Option<(Snapshot, Vec<String>)> {
        self.add_waiting();
        let mut sum = self.sum?;
        let programs: Vec<&str> = self.programs.iter().map(String::as_str).collect();
        sum.process.name = match programs[..] {
            [one] => one.to_owned(),
            _ => format!("{} programs", programs.len()),
        };
        for thread in &mut sum.threads {
            thread.count = self.threads.get(&thread.name).copied().unwrap_or(1).max(1);
        }
        let mut said = Vec::new();
        if programs.len() > 1 {
            said.push(format!(
                "functions with equal names in {} programs are added up",
                programs.len()
            ));
        }
        if self.modes.len() > 1 {
            let modes: Vec<&str> = self.modes.into_iter().collect();
            said.push(format!(
                "measured in several modes ({}): some runs have estimated times, or no times",
                modes.join(", ")
            ));
        }
        if self.other_rates > 0 {
            said.push(format!(
                "clocks of {} of {} runs have another rate: their latencies are wrong by at most one bucket (12.5 %)",
                self.other_rates, self.runs
            ));
        }
        if self.gauges {
            said.push("levels of gauges do not add up: each level is from one run".into());
        }
        if self.beside > 0 {
            said.push(format!(
                "slow calls, lines and tasks of {} of {} runs are left out: they do not add up",
                self.beside, self.runs
            ));
        }
        Some((sum, said))
    }

    fn add_waiting(&mut self) {
        let Some(before) = self.sum.take() else { return };
        let parts: Vec<&Snapshot> = self.waiting.iter().chain([&before]).collect();
        // Threads are matched by name alone, because a process that has ended in one run may be alive in another.
        let sum = sum_with(&parts, |known, thread| known.finished(&thread.name));
        self.sum = Some(sum);
        self.waiting.clear();
    }
}

/// Returns a sum without rows that has the clock, the mode and the sites of `run`, the first run.
fn nothing_of(run: &Snapshot) -> Snapshot {
    Snapshot {
        process: Process {
            started_unix_ns: run.process.started_unix_ns,
            ..Process::default()
        },
        clock: ClockInfo {
            errors: 0,
            epoch: OUR_CLOCK,
            ..run.clock.clone()
        },
        capture: CaptureInfo {
            mode: run.capture.mode,
            kind: CaptureKind::Final,
            cost: bounds(run.capture.cost),
            seq: 1,
            ..CaptureInfo::default()
        },
        measuring: Measuring {
            sampling_hz: run.measuring.sampling_hz,
            ..Measuring::default()
        },
        // With the sites of the first run in the sum, a single comparison is enough to see that another run of the same program
        // has the same sites.
        sites: run.sites.clone(),
        ..Snapshot::default()
    }
}

/// Removes from a run what the sum cannot contain: the state of its threads, and data that cannot be added up across runs.
fn plain(run: Snapshot, ratio: f64) -> Snapshot {
    let threads = run.threads.into_iter().map(|thread| Thread {
        tid: 0,
        state: ThreadState::Finished,
        open: Vec::new(),
        ..thread
    });
    Snapshot {
        clock: ClockInfo {
            epoch: if ratio == 1.0 { OUR_CLOCK } else { OTHER_CLOCK },
            ..run.clock
        },
        threads: threads.collect(),
        measuring: Measuring {
            samples: run.measuring.samples,
            off_sites: run.measuring.off_sites,
            ..Measuring::default()
        },
        tasks: Tasks::default(),
        watches: Vec::new(),
        lines: Lines::default(),
        ..run
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickscope_format::ids::SiteId;
    use tickscope_format::latency::Latencies;
    use tickscope_testkit::fixture;
    use tickscope_testkit::fixture::programs::{any_snapshot, order_sim_with_latencies, queries};

    use super::*;
    use crate::tests::functions;

    fn merged(runs: &[Snapshot]) -> (Snapshot, Vec<String>) {
        let mut all = MergedRuns::default();
        runs.iter().for_each(|run| all.add(run.clone()));
        all.finish().unwrap()
    }

    proptest! {
        /// Whatever runs are added up, the calls and times of each function are the sums over all runs, and the result is a valid
        /// snapshot.
        #[test]
        fn each_function_has_what_it_had_in_all_runs(mut runs in prop::collection::vec(any_snapshot(), 1..5), at_once in 1usize..4) {
            for run in &mut runs {
                run.nodes.self_ticks.iter_mut().for_each(|ticks| *ticks %= 1 << 40);
                run.nodes.calls.iter_mut().for_each(|calls| *calls %= 1 << 40);
                // A tick is a nanosecond, so times are not rounded and their sums are exact.
                run.clock.ticks_per_second = 1e9;
            }
            let mut wanted: BTreeMap<String, (u64, u64)> = BTreeMap::new();
            for run in &runs {
                for (name, (calls, ns)) in functions(run) {
                    let of = wanted.entry(name).or_default();
                    *of = (of.0 + calls, of.1 + ns);
                }
            }
            let mut all = MergedRuns::default();
            for (index, run) in runs.iter().enumerate() {
                all.add(run.clone());
                if index % at_once == 0 {
                    all.add_waiting();
                }
            }
            let (sum, _) = all.finish().unwrap();
            prop_assert_eq!(functions(&sum), wanted);
            prop_assert_eq!(fixture::received(&sum), sum);
        }
    }

    #[test]
    fn threads_of_a_name_are_one_and_of_one_run_alone_nothing_is_left() {
        let run = fixture::slow_frames();
        let mut other = run.clone();
        other.threads.iter_mut().for_each(|thread| thread.tid += 1000);
        let (sum, said) = merged(&[run.clone(), other]);
        let names: BTreeSet<&str> = run.threads.iter().map(|thread| thread.name.as_str()).collect();
        assert_eq!(sum.threads.len(), names.len());
        let counts = |snapshot: &Snapshot| snapshot.threads.iter().map(|thread| thread.count).sum::<u64>();
        assert_eq!(counts(&sum), 2 * counts(&run));
        assert_eq!(sum.calls(), 2 * run.calls());
        assert_eq!(sum.capture.since_reset_ns, 2 * run.capture.since_reset_ns);
        assert!(sum.watches.is_empty() && !sum.window);
        let got = (sum.process.name, sum.capture.kind);
        assert_eq!(got, (run.process.name, CaptureKind::Final));
        let due = ["slow calls, lines and tasks of 2 of 2 runs are left out: they do not add up"];
        assert_eq!(said, due);
    }

    #[test]
    fn each_thread_is_counted_where_its_rows_are() {
        let of = |names: [&str; 2]| {
            let mut run = fixture::two_threads();
            for (thread, name) in run.threads.iter_mut().zip(names) {
                (thread.name, thread.count) = (name.into(), 2);
            }
            run
        };
        let (sum, _) = merged(&[of(["io", "w (ended)"]), of(["io", "w (99)"])]);
        let count = |name| {
            sum.threads
                .iter()
                .find(|thread| thread.name == name)
                .unwrap()
                .count
        };
        assert_eq!(["io", "w (99)", "w (ended)"].map(count), [4, 2, 2]);
    }

    #[test]
    fn what_was_off_in_any_run_is_known_of_the_sum() {
        let mut run = fixture::over_budget();
        let mut other = fixture::two_threads();
        other.was_off = vec![SiteId(0)];
        let names = |snapshot: &Snapshot| -> BTreeSet<String> {
            let sites = snapshot.counted_in_part();
            sites.map(|site| snapshot.sites[site.index()].path()).collect()
        };
        let wanted = &names(&run) | &names(&other);
        assert_eq!(names(&merged(&[run.clone(), other.clone()]).0), wanted);
        run.measuring.off_sites.clear();
        assert_eq!(names(&merged(&[run, other.clone()]).0), names(&other));
    }

    #[test]
    fn clocks_of_other_rates_are_brought_together() {
        let run = order_sim_with_latencies();
        let mut slower = run.clone();
        slower.clock.ticks_per_second /= 4.0;
        slower.nodes.self_ticks.iter_mut().for_each(|ticks| *ticks /= 4);
        let mut latencies = Latencies::default();
        for &row in &run.latencies.row {
            let mut histogram = run.latencies.of(row);
            // A tick of this clock is four times as long, so durations are 16 buckets (two octaves) lower.
            histogram.buckets.iter_mut().for_each(|(bucket, _)| *bucket -= 16);
            histogram.max_ticks /= 4;
            latencies.push(row, &histogram);
        }
        slower.latencies = latencies;
        let (sum, said) = merged(&[run.clone(), slower]);
        let share = sum.measured_ticks() as f64 / (2 * run.measured_ticks()) as f64;
        assert!((share - 1.0).abs() < 1e-6, "{share}");
        let calls = |snapshot: &Snapshot| -> u64 {
            let rows = snapshot.latencies.row.iter();
            rows.map(|&row| snapshot.latencies.of(row).count()).sum()
        };
        assert_eq!(calls(&sum), 2 * calls(&run));
        assert!(
            said[0].starts_with("clocks of 1 of 2 runs have another rate"),
            "{said:?}"
        );
        let (sum, said) = merged(&[queries(), run]);
        assert_eq!(sum.process.name, "2 programs");
        assert_eq!(said.len(), 2, "{said:?}");
    }
}
