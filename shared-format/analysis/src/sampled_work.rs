//! Estimates the CPU time of rows from clock readings and code samples combined.
//!
//! By the clock, a row's CPU time is its self time minus its waits. In adaptive mode, self times and waits are extrapolated from
//! the timed calls, and some waits are known only for the whole thread. Samples measure CPU time directly, but with the random
//! error of a count. So each row gets the mean of the two CPU times, weighted by the inverse of their variances. If the estimates
//! are independent, this weighting has the smallest error (Aitken, Proceedings of the Royal Society of Edinburgh 55, 1935,
//! 42-48). Self times are changed only if a thread was sampled outside any scope more often than it was there by the clock. Its
//! estimated times are then too long, and a part of them is moved out of all scopes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tickscope_format::ids::{NO_PARENT, NodeId, ThreadId};
use tickscope_format::snapshot::{Column, Measures, Quantity, Sampled, SampledIn, Snapshot, Thread};

use crate::clock_errors::{ClockErrors, errors_by_clock};

/// Minimum number of samples that a thread needs for its rows to be corrected. Fewer samples are too noisy.
const SAMPLES_LEAST: u64 = 20;

/// Factors that convert a thread's samples to ticks.
#[derive(Clone, Copy, Debug)]
struct OfThread {
    /// Ticks per nanosecond of sampled CPU time.
    scale: f64,
    /// Ticks per sample.
    of_sample: f64,
}

/// The samples of a snapshot, by row and thread, and what is known of its times by the clock.
pub(crate) struct Samples {
    by_clock: Vec<ClockErrors>,
    of_row: Vec<Sampled>,
    /// The samples of each thread outside any scope.
    outside: Vec<Sampled>,
    /// CPU time of each thread divided by the CPU time of its samples, but at least 1; also 1 if either time is unknown.
    missed: Vec<f64>,
    /// Conversion factors for each thread, or `None` if it has too few samples or its CPU time is unknown.
    of_thread: Vec<Option<OfThread>>,
}

impl Samples {
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let mut of_row = vec![Sampled::default(); snapshot.nodes.len()];
        let mut outside = vec![Sampled::default(); snapshot.threads.len()];
        for sample in &snapshot.lines.samples {
            let sum = match sample.inside {
                SampledIn::Row(row) => of_row.get_mut(row as usize),
                SampledIn::Thread(thread) => outside.get_mut(thread as usize),
                SampledIn::Measuring => None,
            };
            if let Some(sum) = sum {
                sum.add(sample.sampled());
            }
        }
        let ticks_of_ns = snapshot.clock.ticks_per_second / 1e9;
        let of_threads = (0..).zip(&snapshot.threads).map(|(number, thread)| {
            let mut all = outside[number as usize];
            let rows = snapshot.rows_of(ThreadId(number));
            of_row[rows].iter().for_each(|&sum| all.add(sum));
            let Some(cpu_ns) = thread.cpu_ns.filter(|_| all.cpu_ns > 0) else {
                return (1.0, None);
            };
            let missed = (cpu_ns as f64 / all.cpu_ns as f64).max(1.0);
            let scale = ticks_of_ns * missed;
            let of_thread = OfThread {
                scale,
                of_sample: scale * all.cpu_ns as f64 / all.samples as f64,
            };
            (missed, (all.samples >= SAMPLES_LEAST).then_some(of_thread))
        });
        let (missed, of_thread) = of_threads.unzip();
        Self {
            by_clock: errors_by_clock(snapshot),
            of_row,
            outside,
            missed,
            of_thread,
        }
    }

    /// Returns a thread's CPU time divided by the CPU time of its samples, for the thread that contains `inside`.
    pub(crate) fn missed(&self, snapshot: &Snapshot, inside: SampledIn) -> f64 {
        let thread = match inside {
            SampledIn::Row(row) => Some(thread_of(snapshot, row)),
            SampledIn::Thread(thread) => Some(thread as usize),
            SampledIn::Measuring => None,
        };
        let of_thread = thread.and_then(|thread| self.missed.get(thread));
        of_thread.copied().unwrap_or(1.0)
    }
}

/// Returns the index of the thread that has this row.
fn thread_of(snapshot: &Snapshot, row: u32) -> usize {
    let is_behind = |thread: &Thread| thread.first_row + thread.rows <= row;
    snapshot.threads.partition_point(is_behind)
}

impl OfThread {
    /// Returns the variance of a sampled CPU time, in squared ticks. One sample is added to the count, because code may have run
    /// even if no sample was taken in it.
    fn variance(self, sampled: Sampled) -> f64 {
        self.of_sample.powi(2) * (sampled.samples as f64 + 1.0)
    }

    /// Returns the mean of two CPU times in ticks, weighted by the inverse of their variances. `doubt` is the standard error of
    /// the time by the clock.
    fn mean(self, by_clock: u64, doubt: f64, sampled: Sampled) -> u64 {
        let by_samples = sampled.cpu_ns as f64 * self.scale;
        let share = doubt.powi(2) / (doubt.powi(2) + self.variance(sampled));
        (by_clock as f64 + share * (by_samples - by_clock as f64)).max(0.0) as u64
    }

    /// Returns the standard error of [`Self::mean`].
    fn error(self, doubt: f64, sampled: Sampled) -> f64 {
        let (doubt, variance) = (doubt.powi(2), self.variance(sampled));
        (doubt * variance / (doubt + variance)).sqrt()
    }
}

/// Time off the CPU that no clock has found, in a call outside of all others and in the calls inside it.
#[derive(Debug, Default)]
struct Doubtful {
    /// How much of it may have been spent outside any scope: twice the error of the call's total time.
    most: u64,
    ticks: u64,
    /// The rows, and how much of it they have.
    rows: Vec<(usize, u64)>,
}

/// Time that a thread spent outside any scope, although the clock found it in rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Outside {
    pub(crate) ticks: u64,
    /// Standard error of all the time that the thread worked outside any scope, in ticks.
    pub(crate) error: f64,
}

/// The times of a snapshot, corrected by samples.
pub(crate) struct Settled<'a> {
    /// The measures, with other times off the CPU.
    pub(crate) measures: Cow<'a, Measures>,
    /// Ticks of the self time of rows that were spent outside any scope.
    pub(crate) outside_of_rows: BTreeMap<u32, u64>,
    /// The sums of these ticks by thread.
    pub(crate) outside_of_threads: BTreeMap<u32, Outside>,
}

/// Returns the standard errors of CPU times, in ticks, for all rows with an estimated self time. The error of a row is the
/// smaller of the errors of its self time and of its samples.
pub(crate) fn work_errors(snapshot: &Snapshot, samples: &Samples) -> BTreeMap<NodeId, u64> {
    let estimates = snapshot.estimates.iter();
    let errors = estimates.map(|estimate| (estimate.node, estimate.self_error));
    let mut errors: BTreeMap<NodeId, u64> = errors.collect();
    if !snapshot.waits {
        return errors;
    }
    let nodes = &snapshot.nodes;
    // For each counted row, how many ticks of its samples were moved to sampled rows below it.
    let mut elsewhere = vec![0.0; nodes.len()];
    let sampled = snapshot.measures.of(Quantity::Sampled);
    for &(row, ticks) in sampled.iter().flat_map(|column| &column.rows) {
        // A row that groups other functions has no self time.
        let given = ticks.min(nodes.self_ticks[row as usize]);
        let above = std::iter::successors(nodes.parent_of(NodeId(row)), |&row| nodes.parent_of(row));
        if let Some(counted) = above.into_iter().find(|row| nodes.calls[row.index()] > 0) {
            elsewhere[counted.index()] += given as f64;
        }
    }
    for (number, of_thread) in (0..).zip(&samples.of_thread) {
        let Some(of_thread) = *of_thread else { continue };
        for row in snapshot.rows_of(ThreadId(number)) {
            // A sampled row already has its own error.
            let is_sampled = nodes.calls[row] == 0;
            if let Some(error) = errors.get_mut(&NodeId(row as u32)).filter(|_| !is_sampled) {
                let all = of_thread.variance(samples.of_row[row]);
                let own = all - of_thread.of_sample * elsewhere[row];
                let noise = own.max(of_thread.of_sample.powi(2)).sqrt();
                *error = noise.min(samples.by_clock[row].of_self) as u64;
            }
        }
    }
    errors
}

/// Returns how long a thread worked outside any scope, in ticks.
fn working_outside(snapshot: &Snapshot, measures: &Measures, thread: u32) -> u64 {
    let off = [Quantity::Waiting, Quantity::Ready].map(|off| measures.of_outside(off, thread));
    let all = snapshot.threads[thread as usize].outside_ticks;
    off.into_iter().fold(all, u64::saturating_sub)
}

impl Settled<'_> {
    /// Returns the standard error of `ticks`, the time of `row` that was spent outside any scope.
    pub(crate) fn error_of_moved(&self, snapshot: &Snapshot, row: u32, ticks: u64) -> f64 {
        let thread = thread_of(snapshot, row) as u32;
        let outside = self.outside_of_threads.get(&thread).copied().unwrap_or_default();
        outside.error * ticks as f64 / outside.ticks.max(1) as f64
    }

    /// Returns a function that computes the ticks spent on a CPU by a row, excluding its callees, or by a thread outside any
    /// scope.
    pub(crate) fn working(&self, snapshot: &Snapshot) -> impl Fn(SampledIn) -> u64 {
        let off_cpu = self.measures.off_cpu_by_row(snapshot.nodes.len());
        move |inside| match inside {
            SampledIn::Row(row) => {
                let moved = self.outside_of_rows.get(&row).copied().unwrap_or(0);
                let all = snapshot.nodes.self_ticks[row as usize];
                all.saturating_sub(off_cpu[row as usize]).saturating_sub(moved)
            }
            SampledIn::Thread(thread) => {
                let moved = self
                    .outside_of_threads
                    .get(&thread)
                    .map_or(0, |outside| outside.ticks);
                working_outside(snapshot, &self.measures, thread).saturating_add(moved)
            }
            SampledIn::Measuring => 0,
        }
    }
}

/// Returns how many of the doubtful ticks of each row were spent outside any scope, if these were `missing` in all.
fn taken(doubtful: &[Doubtful], missing: u64) -> BTreeMap<u32, u64> {
    let available = doubtful.iter().map(|of| of.ticks.min(of.most));
    let all = available.fold(0, u64::saturating_add).max(1);
    let part = (missing as f64 / all as f64).min(1.0);
    let taken = doubtful.iter().flat_map(|of| {
        let part = part * of.ticks.min(of.most) as f64 / of.ticks.max(1) as f64;
        let rows = of.rows.iter();
        rows.map(move |&(row, ticks)| (row as u32, ((ticks as f64 * part) as u64).min(ticks)))
    });
    taken.filter(|&(_, ticks)| ticks > 0).collect()
}

/// Returns the times of a snapshot, corrected by the samples. Self times are left as they are unless `moves` is true.
pub(crate) fn settled<'a>(snapshot: &'a Snapshot, samples: &Samples, moves: bool) -> Settled<'a> {
    let mut settled = Settled {
        measures: Cow::Borrowed(&snapshot.measures),
        outside_of_rows: BTreeMap::new(),
        outside_of_threads: BTreeMap::new(),
    };
    if !snapshot.waits || snapshot.lines.samples.is_empty() {
        return settled;
    }
    let rows = snapshot.nodes.len();
    let off = [Quantity::Waiting, Quantity::Ready];
    let [mut waiting, mut ready] = off.map(|off| snapshot.measures.dense(off, rows));
    let self_ticks = &snapshot.nodes.self_ticks;
    let mut unplaced_of: Vec<(u32, u64)> = Vec::new();
    for (number, of_thread) in (0..).zip(&samples.of_thread) {
        let unplaced = snapshot.measures.of_outside(Quantity::UnplacedWaiting, number);
        let mut left = unplaced;
        if let Some(of_thread) = *of_thread {
            let of_this = snapshot.rows_of(ThreadId(number));
            let by_clock =
                |row: usize| self_ticks[row].saturating_sub(waiting[row].saturating_add(ready[row]));
            let by_clock: Vec<u64> = of_this.clone().map(by_clock).collect();
            let whole = by_clock.iter().map(|&ticks| ticks as f64).sum::<f64>().max(1.0);
            let first_row = of_this.start;
            // For each row, the number of the outermost call around it.
            let mut around: Vec<usize> = Vec::with_capacity(of_this.len());
            let mut doubtful: Vec<Doubtful> = Vec::new();
            let mut doubt_outside = ClockErrors::default();
            for (row, by_clock) in of_this.zip(by_clock) {
                let unplaced_here = unplaced as f64 * by_clock as f64 / whole;
                let errors = samples.by_clock[row];
                match snapshot.nodes.parent[row] {
                    NO_PARENT => {
                        around.push(doubtful.len());
                        doubtful.push(Doubtful {
                            most: (2.0 * errors.of_total.hypot(errors.timing)) as u64,
                            ..Doubtful::default()
                        });
                        doubt_outside.of_total = doubt_outside.of_total.hypot(errors.of_total);
                        doubt_outside.timing += errors.timing;
                    }
                    parent => around.push(around[parent as usize - first_row]),
                }
                let doubt = errors.of_self.hypot(unplaced_here);
                if doubt <= 0.0 || snapshot.sum_of(NodeId(row as u32)).is_some() {
                    continue;
                }
                let working = of_thread.mean(by_clock, doubt, samples.of_row[row]);
                let working = working.min(self_ticks[row]);
                let more_off = by_clock.saturating_sub(working);
                let placed = more_off.min(left);
                left -= placed;
                waiting[row] += placed;
                ready[row] += more_off - placed;
                let outermost = &mut doubtful[around[row - first_row]];
                outermost.ticks = outermost.ticks.saturating_add(more_off - placed);
                outermost.rows.push((row, more_off - placed));
                let mut less_off = working.saturating_sub(by_clock);
                for off in [&mut ready[row], &mut waiting[row]] {
                    let taken = less_off.min(*off);
                    *off -= taken;
                    less_off -= taken;
                }
            }
            let sampled = samples.outside[number as usize];
            let by_clock = working_outside(snapshot, &snapshot.measures, number);
            let doubt_outside = doubt_outside.of_total.hypot(doubt_outside.timing);
            let working = of_thread.mean(by_clock, doubt_outside, sampled);
            if moves && working > by_clock {
                let moved = taken(&doubtful, working - by_clock);
                moved
                    .iter()
                    .for_each(|(&row, ticks)| ready[row as usize] -= ticks);
                let outside = Outside {
                    ticks: moved.values().fold(0, |sum, &ticks| sum.saturating_add(ticks)),
                    error: of_thread.error(doubt_outside, sampled),
                };
                settled.outside_of_threads.insert(number, outside);
                settled.outside_of_rows.extend(moved);
            }
        }
        unplaced_of.push((number, left));
    }
    unplaced_of.retain(|&(_, ticks)| ticks > 0);
    let mut out = snapshot.measures.clone();
    for (quantity, values) in [(Quantity::Waiting, waiting), (Quantity::Ready, ready)] {
        let outside = out
            .of(quantity)
            .map_or_else(Vec::new, |column| column.outside.clone());
        let rows = (0..).zip(values).filter(|&(_, ticks)| ticks > 0).collect();
        out.set(quantity, Column { rows, outside });
    }
    let unplaced = Column {
        rows: Vec::new(),
        outside: unplaced_of,
    };
    out.set(Quantity::UnplacedWaiting, unplaced);
    settled.measures = Cow::Owned(out);
    settled
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickscope_format::ids::SiteId;
    use tickscope_format::snapshot::{Estimate, Functions, LineSample, NO_MODULE};
    use tickscope_testkit::fixture::{
        self,
        programs::{any_snapshot, run},
    };

    use super::*;

    fn sample(row: u32, samples: u64) -> LineSample {
        LineSample {
            inside: SampledIn::Row(row),
            module: NO_MODULE,
            address: 0,
            samples,
            cpu_ns: samples * 10,
        }
    }

    /// Returns one estimate for each pair of a row and its self-time error.
    fn estimates(errors: &[(u32, u64)]) -> Vec<Estimate> {
        let estimate = |&(row, self_error)| fixture::estimate(row, 3, self_error, 0);
        errors.iter().map(estimate).collect()
    }

    /// Returns the corrected time off the CPU of each row, in ticks.
    fn off(snapshot: &Snapshot) -> Vec<u64> {
        let settled = settled(snapshot, &Samples::of(snapshot), true);
        settled.measures.off_cpu_by_row(snapshot.nodes.len())
    }

    #[test]
    fn samples_count_where_the_clock_is_in_doubt() {
        let mut s = run(&[
            (0, "certain", 1, 4_000),
            (0, "doubtful", 9, 9_000),
            (0, "more", 9, 3_000),
        ]);
        s.waits = true;
        s.threads[0].cpu_ns = Some(10_000);
        s.lines.set([sample(0, 300), sample(1, 500), sample(2, 200)]);
        s.measures.push_row(Quantity::Ready, 2, 2_000);
        assert_eq!(off(&s), [0, 0, 2_000], "all is timed");
        s.estimates = estimates(&[(1, 5_000), (2, 1_000)]);
        // According to the samples, row 1 has a CPU time of 5 µs, and row 2 one of 2 µs.
        let now = off(&s);
        assert_eq!(now[0], 0);
        assert!((3_900..=4_000).contains(&now[1]), "{now:?}");
        assert!((1_000..1_100).contains(&now[2]), "{now:?}");
        // Waits that are not attributed to any row go to rows that used less CPU time according to the samples than according to
        // the clock.
        s.measures.push_outside(Quantity::UnplacedWaiting, 0, 3_000);
        let with = settled(&s, &Samples::of(&s), true).measures;
        let got = with.of_row(Quantity::Waiting, 1);
        assert_eq!(got, 3_000 - with.of_row(Quantity::Waiting, 0));
        assert!(with.of(Quantity::UnplacedWaiting).is_none());
        s.lines.set([sample(1, 19)]);
        assert_eq!(off(&s), [0, 0, 2_000], "too few");
    }

    #[test]
    fn time_that_was_sampled_outside_is_taken_from_calls_whose_total_is_in_doubt() {
        let mut s = run(&[(0, "certain", 1, 1_000), (0, "doubtful", 9, 6_000)]);
        // As in a pool, a later thread has added a row below the first one.
        s.nodes.push(Some(NodeId(0)), SiteId(s.nodes.site[1]), 9, 3_000);
        s.threads[0].rows = 3;
        s.waits = true;
        s.threads[0].cpu_ns = Some(10_000);
        s.estimates = vec![
            fixture::estimate(1, 3, 5_000, 5_000),
            fixture::estimate(2, 3, 3_000, 3_000),
        ];
        let outside = |samples| LineSample {
            inside: SampledIn::Thread(0),
            ..sample(0, samples)
        };
        s.lines
            .set([sample(0, 100), sample(1, 450), sample(2, 200), outside(250)]);
        let samples = Samples::of(&s);
        let with = settled(&s, &samples, true);
        let moved = with.outside_of_rows[&1];
        assert!((1_300..=1_600).contains(&moved), "{moved}");
        assert_eq!(with.outside_of_rows.len(), 1);
        let outside = with.outside_of_threads[&0];
        assert_eq!(outside.ticks, moved);
        assert!((150.0..160.0).contains(&outside.error), "{outside:?}");
        let working = with.working(&s);
        let off = with.measures.off_cpu_by_row(3);
        assert_eq!(working(SampledIn::Thread(0)), moved);
        assert_eq!(working(SampledIn::Row(1)) + moved + off[1], 6_000);
        // The time of the whole call is known, so nothing is taken from its parts.
        assert_eq!(working(SampledIn::Row(2)) + off[2], 3_000);
        assert!(settled(&s, &samples, false).outside_of_rows.is_empty());
        // No more is taken than twice the error of the whole call.
        let mut surer = s.clone();
        surer.estimates[0].total_error = 500;
        let moved = settled(&surer, &Samples::of(&surer), true).outside_of_rows[&1];
        assert!((900..=1_000).contains(&moved), "{moved}");
    }

    /// The means of short calls may be too long by what it costs to time a call, which calibration finds too small.
    #[test]
    fn samples_count_more_than_the_means_of_many_untimed_calls() {
        let mut s = run(&[(0, "poll", 1_000, 90_000), (1, "pop", 1_000, 10_000)]);
        s.waits = true;
        s.threads[0].cpu_ns = Some(100_000);
        s.estimates = [0, 1].map(|row| fixture::estimate(row, 10, 100, 100)).into();
        s.functions = Some(Functions {
            call_ns: 15.0,
            ..Functions::default()
        });
        let outside = |samples| LineSample {
            inside: SampledIn::Thread(0),
            ..sample(0, samples)
        };
        s.lines.set([sample(0, 500), sample(1, 100), outside(400)]);
        let working = |s: &Snapshot| {
            let settled = settled(s, &Samples::of(s), true);
            let working = settled.working(s);
            [SampledIn::Row(0), SampledIn::Row(1), SampledIn::Thread(0)].map(&working)
        };
        // 990 calls of each were not timed, and timing a call may have taken 40 ns longer than it was found to take.
        let by_clock = Samples::of(&s).by_clock;
        let errors: Vec<f64> = by_clock.iter().map(|errors| errors.timing).collect();
        assert_eq!(errors, [79_200.0, 10_000.0], "no more than the time of the row");
        assert_eq!(working(&s), [50_041, 10_000, 39_959]);
        assert!(work_errors(&s, &Samples::of(&s)).into_values().eq([2_238, 1_004]));
        // If all calls were timed, the clock may be wrong by no more than the stated error.
        s.estimates.iter_mut().for_each(|estimate| estimate.timed = 1_000);
        assert_eq!(working(&s), [89_920, 10_000, 80]);
        // A cost that makes no sense changes no time to zero.
        s.estimates.iter_mut().for_each(|estimate| estimate.timed = 10);
        for cost in [f64::NAN, f64::INFINITY, -1.0] {
            s.functions.as_mut().unwrap().call_ns = cost;
            assert!(working(&s)[1] > 9_000, "{cost}");
        }
    }

    #[test]
    fn the_error_of_a_row_is_that_of_the_samples_it_has_kept() {
        let mut s = run(&[
            (0, "row", 9, 10_000),
            (1, "called", 0, 6_000),
            (1, "mixed", 5, 3_000),
        ]);
        s.waits = true;
        s.threads[0].cpu_ns = Some(19_000);
        s.lines.set([sample(0, 1_900)]);
        s.estimates = estimates(&[(0, 9_000), (1, 70), (2, 9_000)]);
        // One sample is worth 10 ticks.
        let errors = |s: &Snapshot| {
            work_errors(s, &Samples::of(s))
                .into_values()
                .collect::<Vec<u64>>()
        };
        assert_eq!(errors(&s), [436, 70, 10]);
        s.measures.push_row(Quantity::Sampled, 1, 6_000);
        s.measures.push_row(Quantity::Sampled, 2, 2_000);
        // 800 of the 1 900 samples in row 0 were in its callees.
        assert_eq!(errors(&s), [331, 70, 10]);
        s.threads[0].cpu_ns = None;
        assert_eq!(errors(&s), [9_000, 70, 9_000], "a thread without a CPU time");
    }

    proptest! {
        #[test]
        fn self_times_hold_what_is_off_the_cpu(
            mut whole in any_snapshot(),
            samples in prop::collection::vec((any::<prop::sample::Index>(), 1..90u64), 0..20),
        ) {
            let rows = whole.nodes.len();
            let samples = samples.into_iter().filter(|_| rows > 0);
            whole.lines.set(samples.map(|(row, samples)| sample(row.index(rows) as u32, samples)));
            let with = Snapshot {
                measures: settled(&whole, &Samples::of(&whole), true).measures.into_owned(),
                ..whole.clone()
            };
            prop_assert_eq!(&fixture::received(&with).nodes, &whole.nodes);
            let before = whole.measures.off_cpu_by_row(rows);
            let after = with.measures.off_cpu_by_row(rows);
            for row in 0..rows {
                prop_assert!(after[row] <= before[row].max(whole.nodes.self_ticks[row]));
            }
        }
    }
}
