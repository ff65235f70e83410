//! CPU times of the threads in recent snapshots, from which the viewer computes how busy each thread was between them.

use std::collections::VecDeque;
use std::rc::Rc;

use tickscope_analysis::spent::key_of;
use tickscope_format::Snapshot;
use tickscope_format::snapshot::saturating_sum;

use crate::app::keyhash::KeyMap;
use crate::app::past::moment::{Moment, Since};

/// Number of intervals that are always remembered, however many threads there are.
const LEAST: usize = 20;

/// Maximum number of threads remembered per snapshot.
const THREADS_MAX: usize = 1_000;

/// Maximum number of snapshots remembered, reached only with few threads.
const MOMENTS_MAX: usize = 600;

/// CPU times at one snapshot.
#[derive(Debug)]
struct CpuTimes {
    at: Moment,
    seq: u64,
    calls: u64,
    cpu_ns: KeyMap<u64, u64>,
}

/// Load of the whole process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Load {
    /// Average number of CPUs that the process kept busy; `None` if the system does not report CPU times.
    pub(crate) cpus: Option<f64>,
    /// Calls begun per second.
    pub(crate) calls_per_second: f64,
}

/// Time in ns over which the load is averaged.
const LOAD_NS: u64 = 1_000_000_000;

/// CPU times in recent snapshots, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct CpuHistory {
    moments: VecDeque<Rc<CpuTimes>>,
    /// Total number of thread CPU times in `moments`.
    entries: usize,
}

impl CpuTimes {
    fn of(snapshot: &Snapshot) -> Self {
        let known = snapshot.threads.iter().filter(|thread| thread.tid != 0);
        Self {
            at: Moment::from(snapshot),
            seq: snapshot.capture.seq,
            calls: saturating_sum(snapshot.nodes.calls.iter().copied()),
            cpu_ns: known
                .filter_map(|thread| Some((key_of(thread), thread.cpu_ns?)))
                .take(THREADS_MAX)
                .collect(),
        }
    }

    /// Returns the fraction of the time since `earlier` that a thread spent on a CPU; `None` if it is unknown.
    fn busy_since(&self, earlier: &Self, key: u64) -> Option<f64> {
        let since = self.at.since(earlier.at)?;
        let before = match since.from_zero {
            true => 0,
            false => *earlier.cpu_ns.get(&key)?,
        };
        let cpu_ns = self.cpu_ns.get(&key)?.checked_sub(before)?;
        Some((cpu_ns as f64 / since.ns as f64).min(1.0))
    }
}

impl CpuHistory {
    /// Remembers a snapshot, and forgets the oldest ones if the limits are exceeded.
    pub(crate) fn note(&mut self, snapshot: &Snapshot) {
        let moment = CpuTimes::of(snapshot);
        let last = self.moments.back();
        if last.is_some_and(|last| last.at.run != moment.at.run) {
            *self = Self::default();
        } else if last.is_some_and(|last| last.seq >= moment.seq) {
            return;
        }
        self.entries += moment.cpu_ns.len();
        self.moments.push_back(Rc::new(moment));
        let most = THREADS_MAX * (LEAST + 1);
        while self.moments.len() > LEAST + 1
            && (self.moments.len() > MOMENTS_MAX || self.entries > most)
            && let Some(oldest) = self.moments.pop_front()
        {
            self.entries -= oldest.cpu_ns.len();
        }
    }

    /// Returns the history as it was at a snapshot; empty if that snapshot is not remembered.
    pub(crate) fn until(&self, snapshot: &Snapshot) -> Self {
        let at = Moment::from(snapshot);
        let is_it = |moment: &Rc<CpuTimes>| moment.seq == snapshot.capture.seq && moment.at.run == at.run;
        let Some(last) = self.moments.iter().rposition(is_it) else {
            return Self::default();
        };
        let range = self.moments.range(last.saturating_sub(LEAST)..=last);
        let moments: VecDeque<_> = range.cloned().collect();
        let entries = moments.iter().map(|moment| moment.cpu_ns.len()).sum();
        Self { moments, entries }
    }

    /// Returns the fraction of the last interval that a thread spent on a CPU; `None` if it is unknown.
    pub(crate) fn busy(&self, key: u64) -> Option<f64> {
        let last = self.moments.len().checked_sub(1)?;
        self.moments[last].busy_since(self.moments.get(last.checked_sub(1)?)?, key)
    }

    /// Returns the load over the last second, or over the shorter time since a reset or the first snapshot.
    pub(crate) fn load(&self) -> Option<Load> {
        let last = self.moments.back()?;
        // The load is measured from the newest moment that is at least a second older than the last one. If there is none,
        // it is measured from the oldest moment since the reset.
        let mut from = None;
        for moment in self.moments.iter().rev().skip(1) {
            match last.at.since(moment.at) {
                Some(Since { ns, from_zero: false }) => from = Some((moment, ns)),
                Some(_) | None => break,
            }
            if from.is_some_and(|(_, ns)| ns >= LOAD_NS) {
                break;
            }
        }
        let (from, ns) = from?;
        let seconds = ns as f64 / 1e9;
        let threads = last.cpu_ns.iter();
        let used = threads.filter_map(|(key, now)| now.checked_sub(*from.cpu_ns.get(key).unwrap_or(&0)));
        let cpu_ns = saturating_sum(used);
        Some(Load {
            cpus: (!last.cpu_ns.is_empty()).then_some(cpu_ns as f64 / 1e9 / seconds),
            calls_per_second: last.calls.saturating_sub(from.calls) as f64 / seconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::Thread;

    use super::*;
    use crate::orderbook::snapshot;

    /// Returns a snapshot of the made-up program in which the first thread has used `cpu_ms` of CPU time.
    fn used(tenths: u64, cpu_ms: u64) -> Snapshot {
        let mut s = snapshot(tenths);
        s.threads[0].cpu_ns = Some(cpu_ms * 1_000_000);
        s
    }

    fn heard(snapshots: &[Snapshot]) -> CpuHistory {
        let mut cpu_history = CpuHistory::default();
        for snapshot in snapshots {
            cpu_history.note(snapshot);
        }
        cpu_history
    }

    #[test]
    fn cpu_time_over_the_time_between_two_snapshots() {
        let all = [used(10, 400), used(11, 490), used(12, 490), used(14, 690)];
        let cpu_history = heard(&all);
        let key = key_of(&all[0].threads[0]);
        assert_eq!(cpu_history.busy(key), Some(1.0));
        assert_eq!(cpu_history.until(&all[1]).busy(key), Some(0.9), "as it was then");
        assert_eq!(
            cpu_history.until(&all[0]).busy(key),
            None,
            "nothing to compare with"
        );
        assert_eq!(
            cpu_history.until(&used(13, 0)).busy(key),
            None,
            "nobody saw that moment"
        );
        assert_eq!(
            cpu_history.busy(key_of(&all[0].threads[1])),
            None,
            "the system did not tell"
        );
    }

    #[test]
    fn the_load_is_that_of_the_last_second() {
        let all: Vec<Snapshot> = (10..=30).map(|tenths| used(tenths, 50 * tenths)).collect();
        let calls = |s: &Snapshot| s.nodes.calls.iter().sum::<u64>() as f64;
        let load = heard(&all).load().expect("there is more than one moment");
        assert_eq!(load.cpus, Some(0.5));
        assert_eq!(load.calls_per_second, calls(&all[20]) - calls(&all[10]));
        assert_eq!(heard(&all[..1]).load(), None, "nothing to compare with");
        let mut reset = used(31, 3);
        reset.capture.reset_epoch = 2;
        assert_eq!(heard(&[all[0].clone(), reset]).load(), None, "counted anew");
    }

    #[test]
    fn a_reset_between_two_snapshots_counts_from_there() {
        let mut after = used(11, 30);
        after.capture.reset_epoch = 2;
        after.capture.since_reset_ns = 60_000_000;
        let key = key_of(&after.threads[0]);
        assert_eq!(heard(&[used(10, 400), after]).busy(key), Some(0.5));
        let mut undone = used(11, 430);
        undone.capture.reset_epoch = 3;
        undone.capture.withdraws = Some(1);
        let mut between = used(10, 30);
        between.capture.reset_epoch = 2;
        assert_eq!(heard(&[between, undone.clone()]).busy(key), None);
        assert_eq!(
            heard(&[used(10, 400), undone]).busy(key),
            Some(0.3),
            "as if there had been no reset"
        );
    }

    #[test]
    fn another_run_begins_anew_and_threads_without_end_take_no_end_of_memory() {
        let mut other = used(3, 50);
        other.process.pid = 7;
        assert_eq!(heard(&[used(10, 400), other]).moments.len(), 1);

        let mut cpu_history = CpuHistory::default();
        for tenths in 1..100 {
            let mut s = used(tenths, tenths);
            let one = s.threads[0].clone();
            s.threads = (1..3_000).map(|tid| Thread { tid, ..one.clone() }).collect();
            cpu_history.note(&s);
        }
        assert_eq!((cpu_history.moments.len(), cpu_history.entries), (21, 21_000));
        for tenths in 100..2_000 {
            cpu_history.note(&used(tenths, tenths));
        }
        assert_eq!(cpu_history.moments.len(), MOMENTS_MAX);
    }
}
