//! The sums of one snapshot, by thread and function. The load between two snapshots is a difference of sums.

use tickscope_analysis::functions::Functions;
use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;

use std::borrow::Cow;

use crate::app::cpu_history::{key_of, key_once_ended};
use crate::app::keyhash::KeyMap;
use crate::app::timeline::slot::{Load, Slot};

/// Bound in ns on the difference of two clocks: one times a moment, the other a reset.
const CLOCKS_DIFFER_NS: u64 = 50_000_000;

/// Self time, and its part off the CPU, in ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    ticks: u64,
    off_ticks: u64,
}

/// Self times of a snapshot.
#[derive(Debug)]
pub(super) struct Sums {
    /// Unix time in ns of the snapshot.
    pub(super) unix_ns: u64,
    /// Process and reset epoch of the counters.
    counted_from: (u32, u64, u64),
    since_reset_ns: u64,
    ticks_per_second: f64,
    /// Key of each thread, and of the row in which it is once it has ended.
    threads: KeyMap<u64, u64>,
    /// Self time by the keys of thread and function.
    spent: KeyMap<(u64, u64), Spent>,
}

impl Spent {
    fn add(&mut self, other: Self) {
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.off_ticks = self.off_ticks.saturating_add(other.off_ticks);
    }
}

impl Sums {
    /// Returns the sums of a snapshot with these functions.
    pub(super) fn of(snapshot: &Snapshot, functions: &Functions) -> Self {
        let off = snapshot.measures.off_cpu_by_row(snapshot.nodes.len());
        let mut spent: KeyMap<(u64, u64), Spent> = KeyMap::default();
        let mut threads: KeyMap<u64, u64> = KeyMap::default();
        for (at, thread) in snapshot.threads.iter().enumerate() {
            let key = key_of(thread);
            threads.insert(key, key_once_ended(thread));
            for row in snapshot.rows_of(ThreadId(at as u32)) {
                let ticks = snapshot.nodes.self_ticks[row];
                let function = functions.of_site.get(snapshot.nodes.site[row] as usize);
                if let Some(function) = function.filter(|_| ticks > 0) {
                    let off_ticks = off[row].min(ticks);
                    let sum = spent.entry((key, functions.get(*function).key)).or_default();
                    sum.add(Spent { ticks, off_ticks });
                }
            }
        }
        Self {
            unix_ns: snapshot.capture.unix_ns,
            counted_from: (
                snapshot.process.pid,
                snapshot.process.started_unix_ns,
                snapshot.capture.reset_epoch,
            ),
            since_reset_ns: snapshot.capture.since_reset_ns,
            ticks_per_second: snapshot.clock.ticks_per_second,
            threads,
            spent,
        }
    }

    /// Returns the self times in the rows of a later moment. Threads that have ended since are in the common row of their name.
    fn in_rows_of(&self, later: &Self) -> Cow<'_, KeyMap<(u64, u64), Spent>> {
        let has_ended = |thread: &u64| !later.threads.contains_key(thread);
        if !self.threads.keys().any(has_ended) {
            return Cow::Borrowed(&self.spent);
        }
        let mut spent: KeyMap<(u64, u64), Spent> = KeyMap::default();
        for (&(thread, function), &part) in &self.spent {
            let row = match has_ended(&thread) {
                true => self.threads.get(&thread).copied().unwrap_or(thread),
                false => thread,
            };
            spent.entry((row, function)).or_default().add(part);
        }
        Cow::Owned(spent)
    }

    /// Returns the slot since an earlier moment; `None` where it is not known.
    pub(super) fn since(&self, earlier: &Self) -> Option<Slot> {
        let between_ns = self.unix_ns.checked_sub(earlier.unix_ns).filter(|&ns| ns > 0)?;
        let (same, ns) = if self.counted_from == earlier.counted_from {
            (true, between_ns)
        } else {
            // A reset lies between the moments, so only the time since it counts. An undone reset lies further back.
            let since_ns = self.since_reset_ns;
            let is_between = since_ns > 0 && since_ns <= between_ns.saturating_add(CLOCKS_DIFFER_NS);
            is_between.then_some((false, since_ns))?
        };
        let ticks = ns as f64 * self.ticks_per_second / 1e9;
        let mut slot = Slot::default();
        let before = earlier.in_rows_of(self);
        for (&(thread, function), now) in &self.spent {
            let then = before.get(&(thread, function)).filter(|_| same);
            let then = then.copied().unwrap_or_default();
            let all = now.ticks.saturating_sub(then.ticks);
            if all == 0 {
                continue;
            }
            let off = now.off_ticks.saturating_sub(then.off_ticks).min(all);
            let load = Load {
                working: (all - off) as f64 / ticks,
                waiting: off as f64 / ticks,
                function,
                most: (all - off) as f64 / ticks,
            };
            slot.threads.entry(thread).or_default().add(load);
            slot.functions.entry(function).or_default().add(load);
        }
        for &thread in slot.threads.keys() {
            let line = self.threads.get(&thread).copied().unwrap_or(thread);
            slot.by_line_once_ended.entry(line).or_default().push(thread);
        }
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::ids::SiteId;
    use tickscope_format::snapshot::{Site, Sites, Thread};

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Returns a moment with threads of one name, each with the seconds that it has worked; ended threads have the id 0.
    fn moment(second: u64, threads: &[(u32, f64)]) -> Sums {
        let site = Site {
            name: "work".into(),
            ..Site::default()
        };
        let mut s = Snapshot {
            sites: Sites::from([site]),
            ..Snapshot::default()
        };
        s.clock.ticks_per_second = SECOND as f64;
        s.capture.unix_ns = second * SECOND;
        s.capture.since_reset_ns = second * SECOND;
        for (first_row, &(tid, worked)) in (0..).zip(threads) {
            s.nodes.push(None, SiteId(0), 1, (worked * SECOND as f64) as u64);
            s.threads.push(Thread {
                name: "worker".into(),
                tid,
                first_row,
                rows: 1,
                ..Thread::default()
            });
        }
        let functions = Functions::of(&s);
        Sums::of(&s, &functions)
    }

    #[test]
    fn a_thread_that_ends_did_no_more_than_it_did_since() {
        let before = moment(100, &[(0, 30.0), (5, 90.0)]);
        let after = moment(101, &[(0, 120.5), (6, 0.25)]);
        let slot = after.since(&before).unwrap();
        let mut loads: Vec<f64> = slot.threads.values().map(|load| load.working).collect();
        loads.sort_by(f64::total_cmp);
        assert_eq!(loads, [0.25, 0.5]);
        let all: f64 = slot.functions.values().map(|load| load.working).sum();
        assert_eq!(all, 0.75);
    }

    /// The last moment of a recording has only ended threads. Their lines were empty except for the last column.
    #[test]
    fn what_a_thread_did_is_in_the_line_of_its_name_once_it_has_ended() {
        let slot =
            moment(100, &[(0, 30.25), (5, 90.5), (6, 0.125)]).since(&moment(99, &[(0, 30.0), (5, 90.0)]));
        let slot = slot.unwrap();
        let line = |tid| {
            key_of(&Thread {
                name: "worker".into(),
                tid,
                ..Thread::default()
            })
        };
        let worked = |shown: &[u32], tid| {
            slot.thread(line(tid), &shown.iter().map(|&tid| line(tid)).collect())
                .working
        };
        assert_eq!([0, 5, 6].map(|tid| worked(&[0, 5, 6], tid)), [0.25, 0.5, 0.125]);
        assert_eq!([0, 6].map(|tid| worked(&[0, 6], tid)), [0.75, 0.125]);
        assert_eq!(worked(&[0], 0), 0.875);
    }
}
