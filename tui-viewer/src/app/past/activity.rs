//! How much time each row took in each of the last [`BEATS`] seconds. Sparklines are drawn from these times.

use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::hotspots::{HotRow, hot};
use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;
use tickscope_format::latency::{Latencies, bucket_of, lower_edge};
use tickscope_programs::history::History;

use crate::app::keyhash::KeyMap;
use crate::app::past::moment::Moment;
use crate::app::row::RowId;
use crate::app::threads::ThreadChoice;

/// Number of past seconds that are kept.
pub(crate) const BEATS: usize = 30;

/// Minimum time in ns between two snapshots that counts as a full second. It is slightly less than a second, because
/// snapshots do not arrive at exact intervals.
pub(crate) const SHORTEST_NS: u64 = 950_000_000;

/// Maximum time in ns between two snapshots. If the pause is longer, the time that rows took during it counts as unknown.
pub(crate) const LONGEST_NS: u64 = 1_900_000_000;

/// Maximum number of rows with sparklines. With more rows, key presses would be delayed.
pub(crate) const ROWS_MAX: usize = 50_000;

/// Maximum number of nodes in a snapshot for which sparklines are rebuilt from the history. For larger snapshots, they
/// start out empty.
pub(crate) const REBUILT_NODES: usize = 2_000;

/// Value of an unknown second.
pub(crate) const UNKNOWN: u16 = u16::MAX;

/// Time that each row of the call tree and the hotspots took in each of the last seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activity {
    pub(crate) rows: KeyMap<RowId, Beats>,
    /// Index of the next second in `Beats::seconds`.
    pub(crate) next: usize,
    /// End of the last second.
    last: Option<Moment>,
}

#[derive(Clone, Debug)]
pub(crate) struct Beats {
    /// Total time of the row when the last second ended.
    pub(crate) total_ns: u64,
    /// For each second, 0 if the row took no time, [`UNKNOWN`], or 1 plus the index of the histogram bucket that its total
    /// time falls into. Buckets are an eighth of an octave wide, which is precise enough for a sparkline.
    pub(crate) seconds: [u16; BEATS],
}

impl Activity {
    /// Reads the activity in the seconds before a snapshot from the history. Returns `None` if that would take too long.
    pub(crate) fn until(history: &History, end: &Snapshot, scope: &ThreadChoice) -> Option<Self> {
        if end.nodes.len() > REBUILT_NODES {
            return None;
        }
        let end_ns = end.capture.unix_ns;
        let begin_ns = end_ns.saturating_sub((BEATS as u64 + 1) * 1_000_000_000);
        let mut activity = Self::default();
        let moments = history.times().filter(|at| (begin_ns..end_ns).contains(at));
        for at in moments {
            if let Some(mut snapshot) = activity.is_due(at).then(|| history.decode(at)).flatten() {
                // Only totals are needed. The histograms are dropped, because merging them would take most of the time.
                snapshot.latencies = Latencies::default();
                snapshot.estimates.clear();
                activity.note_all(&snapshot, scope);
            }
        }
        if activity.is_due(end_ns) {
            activity.note_all(end, scope);
        }
        Some(activity)
    }

    /// Whether it is time to add the next snapshot: a second has passed since the last one was added, the clock was set
    /// back, or no snapshot has been added yet.
    pub(crate) fn is_due(&self, unix_ns: u64) -> bool {
        let last_ns = self.last.map(|last| last.unix_ns);
        last_ns.is_none_or(|last_ns| unix_ns < last_ns || unix_ns - last_ns >= SHORTEST_NS)
    }

    /// Adds a snapshot whose call tree and hotspots are not built yet.
    pub(crate) fn note_all(&mut self, snapshot: &Snapshot, scope: &ThreadChoice) {
        let thread = scope.thread(snapshot);
        let tree = CallTree::build(snapshot, |id: ThreadId| {
            *scope == ThreadChoice::All || thread == Some(id)
        });
        let rows = if tree.rows.len() > ROWS_MAX {
            Vec::new()
        } else {
            hot(&tree)
        };
        self.note(snapshot, &tree, &rows);
    }

    /// Adds the totals of a snapshot.
    pub(crate) fn note(&mut self, snapshot: &Snapshot, tree: &CallTree, hot: &[HotRow]) {
        let now = Moment::from(snapshot);
        // Rows that are gone from the snapshot are kept too. If there are more than `ROWS_MAX`, all are dropped.
        if tree.rows.len() + hot.len() > ROWS_MAX || self.rows.len() > ROWS_MAX {
            *self = Self {
                last: Some(now),
                ..Self::default()
            };
            return;
        }
        let last = self.last.filter(|last| last.unix_ns < now.unix_ns);
        if last.is_none() {
            // This snapshot is the first, or the clock was set back.
            *self = Self::default();
        }
        let near = last.filter(|last| now.unix_ns - last.unix_ns <= LONGEST_NS);
        let since = near.and_then(|last| now.since(last));
        for beats in self.rows.values_mut() {
            beats.seconds[self.next] = if since.is_some() { 0 } else { UNKNOWN };
        }
        let paths = tree.rows.iter().map(|row| (RowId::Path(row.path), row.total_ns));
        let functions = hot.iter().map(|row| {
            let key = tree.functions.get(row.function).key;
            (RowId::Function(key), row.total_ns)
        });
        for (id, total_ns) in paths.chain(functions) {
            let beats = self.rows.entry(id).or_insert_with(|| Beats {
                // A row that was missing from earlier snapshots had not taken any time until then.
                total_ns: if last.is_none() { total_ns } else { 0 },
                seconds: [UNKNOWN; BEATS],
            });
            if let Some(since) = since {
                let before_ns = if since.from_zero { 0 } else { beats.total_ns };
                let a_second = total_ns.saturating_sub(before_ns) as f64 * 1e9 / since.ns as f64;
                beats.seconds[self.next] = match a_second.round() as u64 {
                    0 => 0,
                    ns => bucket_of(ns) as u16 + 1,
                };
            }
            beats.total_ns = total_ns;
        }
        if last.is_some() {
            self.next = (self.next + 1) % BEATS;
        }
        self.last = Some(now);
    }

    /// Returns the last seconds of a row as at most `steps` values from 0 to 1, oldest first; `None` for an unknown
    /// value. Returns `None` if no second of the row is known.
    pub(crate) fn steps(&self, id: RowId, steps: usize) -> Option<Vec<Option<f64>>> {
        let beats = self.rows.get(&id)?;
        let mut in_order = beats.seconds;
        in_order.rotate_left(self.next);
        let mean = |seconds: &[u16]| {
            let known = seconds.iter().filter(|&&second| second != UNKNOWN);
            let (count, sum) = known.fold((0u32, 0.0), |(count, sum), &second| {
                let ns = match second {
                    0 => 0,
                    bucket => lower_edge(usize::from(bucket) - 1),
                };
                (count + 1, sum + ns as f64)
            });
            (count > 0).then(|| sum / f64::from(count))
        };
        let means: Vec<Option<f64>> = in_order.chunks(BEATS.div_ceil(steps.max(1))).map(mean).collect();
        let most = means.iter().flatten().copied().fold(0.0, f64::max);
        let part = |mean: f64| if most > 0.0 { mean / most } else { 0.0 };
        means
            .iter()
            .any(Option::is_some)
            .then(|| means.iter().map(|mean| mean.map(part)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orderbook;

    fn steps(activity: &Activity, of: usize) -> Vec<f64> {
        let tree = CallTree::build(&orderbook::snapshot(10), |_| true);
        let id = RowId::Path(tree.rows[0].path);
        let steps = activity.steps(id, of).unwrap_or_default();
        steps.into_iter().map(|step| step.unwrap_or(-1.0)).collect()
    }

    #[test]
    fn seconds_of_steady_work_are_equal_also_over_a_reset() {
        let mut activity = Activity::default();
        for second in 1..=8u64 {
            let mut snapshot = orderbook::snapshot(second * 10);
            if second > 4 {
                // A reset half a second after the fourth second sets the counters to zero.
                let since = second * 10 - 45;
                let unix_ns = snapshot.capture.unix_ns;
                snapshot = orderbook::snapshot(since);
                snapshot.capture.unix_ns = unix_ns;
                snapshot.capture.reset_epoch = 2;
            }
            assert!(activity.is_due(snapshot.capture.unix_ns));
            activity.note_all(&snapshot, &ThreadChoice::All);
            assert!(!activity.is_due(snapshot.capture.unix_ns + 100_000_000));
        }
        let steps = steps(&activity, BEATS);
        assert_eq!(steps.len(), BEATS);
        assert!(steps[..BEATS - 7].iter().all(|&step| step == -1.0), "{steps:?}");
        assert!(steps[BEATS - 7..].iter().all(|&step| step > 0.85), "{steps:?}");
    }

    #[test]
    fn a_reset_that_is_taken_back_is_a_gap_and_no_mountain() {
        let mut activity = Activity::default();
        for second in 1..=12u64 {
            // The reset comes after the sixth second and is undone after the ninth.
            let (epoch, since) = match second {
                ..=6 => (1, 1_000 + second * 10),
                7..=9 => (2, (second - 6) * 10),
                _ => (3, 1_000 + second * 10),
            };
            let mut snapshot = orderbook::snapshot(since);
            snapshot.capture.unix_ns = second * 1_000_000_000;
            snapshot.capture.reset_epoch = epoch;
            snapshot.capture.withdraws = (epoch == 3).then_some(1);
            activity.note_all(&snapshot, &ThreadChoice::All);
        }
        let steps = steps(&activity, BEATS);
        let last = &steps[BEATS - 11..];
        assert_eq!(last.iter().filter(|&&step| step == -1.0).count(), 1, "{last:?}");
        assert_eq!(last[8], -1.0, "{last:?}");
        assert!(last.iter().all(|&step| step == -1.0 || step > 0.85), "{last:?}");
    }

    #[test]
    fn a_pause_leaves_a_gap_and_rest_is_nothing() {
        let mut activity = Activity::default();
        let mut note = |work: u64, second: u64| {
            let mut snapshot = orderbook::snapshot(work);
            snapshot.capture.unix_ns = second * 1_000_000_000;
            snapshot.capture.since_reset_ns = second * 1_000_000_000;
            activity.note_all(&snapshot, &ThreadChoice::All);
        };
        for (work, second) in [(10, 1), (20, 2), (20, 3), (40, 9), (50, 10)] {
            note(work, second);
        }
        let steps = steps(&activity, BEATS);
        assert_eq!(steps[BEATS - 4..], [1.0, 0.0, -1.0, 1.0]);
    }

    #[test]
    fn rows_that_come_and_go_do_not_pile_up() {
        let mut activity = Activity::default();
        for second in 1..=8u64 {
            let mut snapshot = orderbook::snapshot(second * 10);
            let first = snapshot.sites.len() as u32;
            let first_site = snapshot.sites[0].clone();
            for n in 0..10_000 {
                snapshot.sites.push(tickscope_format::snapshot::Site {
                    name: format!("job_{second}_{n}"),
                    ..first_site.clone()
                });
            }
            let rows = 0..10_000u32;
            for n in rows {
                let site = tickscope_format::ids::SiteId(first + n);
                snapshot.nodes.push(None, site, 1, 1);
            }
            let last = snapshot.threads.len() - 1;
            snapshot.threads[last].rows += 10_000;
            activity.note_all(&snapshot, &ThreadChoice::All);
            assert!(activity.rows.len() <= 2 * ROWS_MAX);
        }
        assert!(activity.rows.len() <= ROWS_MAX, "{}", activity.rows.len());
    }
}
