//! Appends the rows of a thread to a snapshot.

use tickscope_format::Snapshot;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::{Count, Estimate, NodeErrors, OpenFrame, Quantity, Thread, Timing};

use crate::enabled::capture::baseline::{Baseline, Counts};
use crate::enabled::capture::estimate::{self, Estimated};
use crate::enabled::capture::row::{Epoch, Row};

/// Appends the rows of a thread that have something to show. Returns the ticks that were charged outside of all rows
/// but belong to calls that were not timed.
pub(crate) fn append(
    snapshot: &mut Snapshot,
    thread: Thread,
    rows: &[Row],
    baseline: &Baseline,
    open: &[(u32, u64)],
    epoch: &Epoch,
) -> u64 {
    let estimated = match epoch.mode.traits().timing {
        Timing::SomeCalls => estimate::adaptive(rows, baseline, epoch),
        Timing::Samples => estimate::sampled(rows, baseline, epoch.period_ticks),
        Timing::EveryCall | Timing::Never => Vec::new(),
    };
    let mut shown: Vec<bool> = (0..rows.len()).map(|index| !baseline.is_bare(index)).collect();
    for &(index, _) in open {
        shown[index as usize] = true;
    }
    for index in (1..rows.len()).rev() {
        if shown[index] {
            shown[rows[index].parent as usize] = true;
        }
    }
    let first_row = snapshot.nodes.len() as u32;
    snapshot
        .nodes
        .reserve(shown.iter().filter(|&&shown| shown).count());
    let mut ids: Vec<Option<NodeId>> = vec![None; rows.len()];
    for index in 1..rows.len() {
        if !shown[index] {
            continue;
        }
        let Row {
            parent,
            site,
            errors,
            is_counter,
        } = rows[index];
        let Counts {
            calls,
            mut ticks,
            sum,
            ..
        } = baseline.shown(index);
        let estimate = estimated.get(index).filter(|_| !is_counter);
        if let Some(estimate) = estimate {
            ticks = estimate.ticks;
        }
        // The root is not a row, so its children have no parent.
        let parent = if parent == 0 { None } else { ids[parent as usize] };
        let id = snapshot.nodes.push(parent, site, calls, ticks);
        ids[index] = Some(id);
        if is_counter {
            snapshot.counts.push(Count { node: id, sum });
        }
        let off_cpu = estimate.map(|estimate| estimate.off_cpu);
        for (quantity, value) in quantities(baseline, index, ticks, off_cpu) {
            snapshot.measures.push_row(quantity, id.0, value);
        }
        if epoch.histograms {
            baseline.histograms.append(index, &mut snapshot.latencies, id.0);
        }
        baseline
            .async_histograms
            .append(index, &mut snapshot.async_latencies, id.0);
        if let Some(&Estimated {
            timed,
            self_error,
            total_error,
            ..
        }) = estimate
            && (timed < calls || self_error > 0.0)
        {
            snapshot.estimates.push(Estimate {
                node: id,
                timed,
                self_error: self_error as u64,
                total_error: total_error as u64,
            });
        }
        if errors > 0 {
            snapshot.errors.push(NodeErrors {
                node: id,
                count: errors,
            });
        }
    }
    let frame =
        |&(index, began_tick): &(u32, u64)| ids[index as usize].map(|node| OpenFrame { node, began_tick });
    let charged_outside = baseline.shown(0).ticks;
    let outside_ticks = estimated.first().map_or(charged_outside, |root| root.ticks);
    let thread_number = snapshot.threads.len() as u32;
    let off_cpu = estimated.first().map(|root| root.off_cpu);
    for (quantity, value) in quantities(baseline, 0, outside_ticks, off_cpu) {
        snapshot.measures.push_outside(quantity, thread_number, value);
    }
    snapshot.threads.push(Thread {
        outside_ticks,
        first_row,
        rows: snapshot.nodes.len() as u32 - first_row,
        open: open.iter().filter_map(frame).collect(),
        ..thread
    });
    charged_outside - outside_ticks
}

/// Returns what a node shows of each quantity. Its time off the CPU, which may be an estimate, is no more than its self
/// ticks: a reset or a capture in the middle of an event may have seen one of both only.
fn quantities(
    baseline: &Baseline,
    index: usize,
    ticks: u64,
    off_cpu: Option<[u64; 2]>,
) -> impl Iterator<Item = (Quantity, u64)> {
    let mut measured = baseline.measured(index);
    let [waiting, ready] = off_cpu.unwrap_or_else(|| measured.off_cpu());
    let waiting = waiting.min(ticks);
    measured.0[Quantity::Waiting.code() as usize] = waiting;
    measured.0[Quantity::Ready.code() as usize] = ready.min(ticks - waiting);
    Quantity::ALL.into_iter().zip(measured.0)
}
