//! What one snapshot has counted, by thread and function: what happened between two of them is a difference of sums.

use tickscope_analysis::functions::Functions;
use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::Quantity;

use crate::app::cpu_history::key_of;
use crate::app::keyhash::KeyMap;
use crate::app::timeline::slot::{Load, Slot};

/// Two clocks tell how long ago a moment and a reset were; they differ by less.
const CLOCKS_DIFFER_NS: u64 = 50_000_000;

/// Self time, and how much of it was off the CPU, in ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    ticks: u64,
    off_ticks: u64,
}

/// Self times of a snapshot.
#[derive(Debug)]
pub(super) struct Sums {
    /// When it was captured.
    pub(super) unix_ns: u64,
    /// Which process counted, and since which reset.
    counted_from: (u32, u64, u64),
    since_reset_ns: u64,
    ticks_per_second: f64,
    /// By the keys of thread and function.
    spent: KeyMap<(u64, u64), Spent>,
}

impl Sums {
    /// The sums of a snapshot, whose functions these are.
    pub(super) fn of(snapshot: &Snapshot, functions: &Functions) -> Self {
        let mut off = vec![0u64; snapshot.nodes.len()];
        for quantity in [Quantity::Waiting, Quantity::Ready] {
            for &(row, ticks) in snapshot
                .measures
                .of(quantity)
                .map_or(&[][..], |column| &column.rows)
            {
                if let Some(sum) = off.get_mut(row as usize) {
                    *sum = sum.saturating_add(ticks);
                }
            }
        }
        let mut spent: KeyMap<(u64, u64), Spent> = KeyMap::default();
        for (at, thread) in snapshot.threads.iter().enumerate() {
            let key = key_of(thread);
            for row in snapshot.rows_of(ThreadId(at as u32)) {
                let ticks = snapshot.nodes.self_ticks[row];
                let function = functions.of_site.get(snapshot.nodes.site[row] as usize);
                if let Some(function) = function.filter(|_| ticks > 0) {
                    let sum = spent.entry((key, functions.get(*function).key)).or_default();
                    sum.ticks = sum.ticks.saturating_add(ticks);
                    sum.off_ticks = sum.off_ticks.saturating_add(off[row].min(ticks));
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
            spent,
        }
    }

    /// What happened since an earlier moment; none where nothing is known of it.
    pub(super) fn since(&self, earlier: &Self) -> Option<Slot> {
        let between_ns = self.unix_ns.checked_sub(earlier.unix_ns).filter(|&ns| ns > 0)?;
        let (same, ns) = if self.counted_from == earlier.counted_from {
            (true, between_ns)
        } else {
            // A reset lies between them: what is since then. One that was taken back lies further back.
            let since_ns = self.since_reset_ns;
            let is_between = since_ns > 0 && since_ns <= between_ns.saturating_add(CLOCKS_DIFFER_NS);
            is_between.then_some((false, since_ns))?
        };
        let ticks = ns as f64 * self.ticks_per_second / 1e9;
        let mut slot = Slot::default();
        for (&(thread, function), now) in &self.spent {
            let then = earlier.spent.get(&(thread, function)).filter(|_| same);
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
        Some(slot)
    }
}
