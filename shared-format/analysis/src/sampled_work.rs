//! The CPU time of rows, by the clock and by samples of the code together.
//!
//! A row's CPU time is its self time less its waits. In adaptive mode both are extrapolated from the calls that were timed, and
//! some waits are known of a thread alone. Samples count CPU time itself, with the noise of counts. So each row has the mean of
//! both, weighted by the inverse of their variances, as is best for independent estimates (Aitken, Proceedings of the Royal
//! Society of Edinburgh 55, 1935, 42-48). What is moved is time off the CPU: self times stay as they are.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tickscope_format::ids::{NodeId, ThreadId};
use tickscope_format::snapshot::{Column, Quantity, Sampled, SampledIn, Snapshot};

/// Fewer samples of a thread say nothing.
const SAMPLES_LEAST: u64 = 20;

/// Returns the snapshot with times off the CPU that agree with its samples.
pub(crate) fn settled(snapshot: &Snapshot) -> Cow<'_, Snapshot> {
    if !snapshot.waits || snapshot.lines.samples.is_empty() {
        return Cow::Borrowed(snapshot);
    }
    let rows = snapshot.nodes.len();
    let mut sampled = vec![Sampled::default(); rows];
    let mut outside = vec![Sampled::default(); snapshot.threads.len()];
    for sample in &snapshot.lines.samples {
        let sum = match sample.inside {
            SampledIn::Row(row) => sampled.get_mut(row as usize),
            SampledIn::Thread(thread) => outside.get_mut(thread as usize),
            SampledIn::Measuring => None,
        };
        if let Some(sum) = sum {
            sum.add(sample.sampled());
        }
    }
    let dense = |quantity| {
        let column = snapshot.measures.of(quantity);
        column.map_or_else(|| vec![0; rows], |column| column.dense(rows))
    };
    let [mut waiting, mut ready] = [Quantity::Waiting, Quantity::Ready].map(dense);
    let errors: BTreeMap<NodeId, u64> = snapshot
        .estimates
        .iter()
        .map(|estimate| (estimate.node, estimate.self_error))
        .collect();
    let ticks_of_ns = snapshot.clock.ticks_per_second / 1e9;
    let mut unplaced_of: Vec<(u32, u64)> = Vec::new();
    for (number, thread) in (0..).zip(&snapshot.threads) {
        let unplaced = snapshot
            .measures
            .of(Quantity::UnplacedWaiting)
            .map_or(0, |column| column.of_outside(number));
        let mut left = unplaced;
        let of_thread = snapshot.rows_of(ThreadId(number));
        let mut all = outside[number as usize];
        sampled[of_thread.clone()].iter().for_each(|&sum| all.add(sum));
        if let Some(cpu_ns) = thread
            .cpu_ns
            .filter(|_| all.samples >= SAMPLES_LEAST && all.cpu_ns > 0)
        {
            let scale = ticks_of_ns * (cpu_ns as f64 / all.cpu_ns as f64).max(1.0);
            let of_sample = scale * all.cpu_ns as f64 / all.samples as f64;
            let self_ticks = &snapshot.nodes.self_ticks;
            let by_clock: Vec<u64> = of_thread
                .clone()
                .map(|row| self_ticks[row].saturating_sub(waiting[row].saturating_add(ready[row])))
                .collect();
            let whole = by_clock.iter().map(|&ticks| ticks as f64).sum::<f64>().max(1.0);
            for (row, by_clock) in of_thread.zip(by_clock) {
                let node = NodeId(row as u32);
                let error = errors.get(&node).map_or(0.0, |&error| error as f64);
                let doubt = error.hypot(unplaced as f64 * by_clock as f64 / whole).powi(2);
                if doubt <= 0.0 || snapshot.sum_of(node).is_some() {
                    continue;
                }
                let noise = of_sample.powi(2) * (sampled[row].samples + 1) as f64;
                let by_samples = sampled[row].cpu_ns as f64 * scale;
                let share = doubt / (doubt + noise);
                let settled = by_clock as f64 + share * (by_samples - by_clock as f64);
                let settled = (settled.max(0.0) as u64).min(self_ticks[row]);
                let more_off = by_clock.saturating_sub(settled);
                let placed = more_off.min(left);
                left -= placed;
                waiting[row] += placed;
                ready[row] += more_off - placed;
                let mut less_off = settled.saturating_sub(by_clock);
                for off in [&mut ready[row], &mut waiting[row]] {
                    let taken = less_off.min(*off);
                    *off -= taken;
                    less_off -= taken;
                }
            }
        }
        unplaced_of.push((number, left));
    }
    let mut out = snapshot.clone();
    for (quantity, values) in [(Quantity::Waiting, waiting), (Quantity::Ready, ready)] {
        let outside = out
            .measures
            .of(quantity)
            .map_or_else(Vec::new, |column| column.outside.clone());
        let rows = (0..).zip(values).filter(|&(_, ticks)| ticks > 0).collect();
        out.measures.set(quantity, Column { rows, outside });
    }
    let rows = out
        .measures
        .of(Quantity::UnplacedWaiting)
        .map_or_else(Vec::new, |column| column.rows.clone());
    unplaced_of.retain(|&(_, ticks)| ticks > 0);
    out.measures.set(
        Quantity::UnplacedWaiting,
        Column {
            rows,
            outside: unplaced_of,
        },
    );
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickscope_format::codec;
    use tickscope_format::snapshot::{Estimate, LineSample, NO_MODULE};
    use tickscope_testkit::fixture::programs::{any_snapshot, run};

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

    /// Time off the CPU of each row.
    fn off(snapshot: &Snapshot) -> Vec<u64> {
        settled(snapshot).measures.off_cpu_by_row(snapshot.nodes.len())
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
        s.estimates = [(1, 5_000), (2, 1_000)]
            .map(|(row, self_error)| Estimate {
                node: NodeId(row),
                timed: 3,
                self_error,
                total_error: 0,
            })
            .to_vec();
        // By samples they have 5 us and 2 us.
        let now = off(&s);
        assert_eq!(now[0], 0);
        assert!(
            (3_900..=4_000).contains(&now[1]) && (1_000..1_100).contains(&now[2]),
            "{now:?}"
        );
        // Waits that no row has go to those that have less CPU time than the clock says.
        s.measures.push_outside(Quantity::UnplacedWaiting, 0, 3_000);
        let with = settled(&s);
        assert_eq!(
            with.measures.of_row(Quantity::Waiting, 1),
            3_000 - with.measures.of_row(Quantity::Waiting, 0)
        );
        assert!(with.measures.of(Quantity::UnplacedWaiting).is_none());
        s.lines.set([sample(1, 19)]);
        assert_eq!(off(&s), [0, 0, 2_000], "too few");
    }

    proptest! {
        #[test]
        fn self_times_hold_what_is_off_the_cpu(
            mut whole in any_snapshot(),
            samples in prop::collection::vec((any::<prop::sample::Index>(), 1..90u64), 0..20),
        ) {
            let rows = whole.nodes.len();
            prop_assume!(rows > 0);
            whole.lines.set(samples.into_iter().map(|(row, samples)| sample(row.index(rows) as u32, samples)));
            let with = settled(&whole);
            let mut bytes = Vec::new();
            codec::encode(&with, &mut bytes).unwrap();
            prop_assert!(codec::decode(&bytes).is_ok());
            prop_assert_eq!(&with.nodes, &whole.nodes);
            let before = whole.measures.off_cpu_by_row(rows);
            let after = with.measures.off_cpu_by_row(rows);
            for row in 0..rows {
                prop_assert!(after[row] <= before[row].max(whole.nodes.self_ticks[row]));
            }
        }
    }
}
