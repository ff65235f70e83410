//! Appends the rows of a thread to a snapshot.

use tickscope_format::Snapshot;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::{
    Estimate, LineSample, NodeErrors, OpenFrame, Quantity, SampledIn, Tally, Thread, Timing,
};

use crate::enabled::capture::baseline::Baseline;
use crate::enabled::capture::estimate;
use crate::enabled::capture::row::{Epoch, Row};
use crate::enabled::capture::shares;
use crate::enabled::platform::waiting_call::Call;
use crate::enabled::record::live_blocks::Sampled;
use crate::enabled::record::site::SiteKind;

/// A thread's tree, apart from its counters.
#[derive(Clone, Copy)]
pub(crate) struct ThreadTree<'a> {
    pub(crate) rows: &'a [Row],
    /// The open calls, outermost first: the row, and the tick at which the call began.
    pub(crate) open: &'a [(u32, u64)],
    /// Live blocks of each row, by ascending row index.
    pub(crate) live: &'a [(u32, Sampled)],
    /// Program counter samples in each row, by ascending row index.
    pub(crate) sampled: &'a [(u32, LineSample)],
}

/// Appends the rows of a thread that have something to show. The system calls in which the thread was found waiting are
/// appended to `waits_in`, each with its row.
pub(crate) fn append(
    snapshot: &mut Snapshot,
    waits_in: &mut Vec<(u32, Call, u64)>,
    thread: Thread,
    tree: ThreadTree<'_>,
    baseline: &mut Baseline,
    epoch: &Epoch,
) {
    let ThreadTree {
        rows,
        open,
        live,
        sampled,
    } = tree;
    let estimated = match epoch.mode.traits().timing {
        Timing::SomeCalls => {
            let mut estimated = estimate::adaptive(rows, baseline, epoch);
            shares::with_samples(rows, baseline, epoch, &mut estimated);
            estimated
        }
        Timing::Samples => estimate::sampled(rows, baseline, epoch),
        Timing::EveryCall | Timing::Never => Vec::new(),
    };
    let mut shown: Vec<bool> = (0..rows.len()).map(|index| !baseline.is_bare(index)).collect();
    // A block that was sampled after the rows were read belongs to the next capture.
    let live = &live[..live.partition_point(|&(index, _)| (index as usize) < rows.len())];
    let live_of = |index: usize| {
        let at = live.binary_search_by_key(&(index as u32), |&(index, _)| index);
        at.map_or_else(|_| Sampled::default(), |at| live[at].1)
    };
    // A sample taken after the rows were read also belongs to the next capture.
    let sampled = &sampled[..sampled.partition_point(|&(index, _)| (index as usize) < rows.len())];
    for &index in open
        .iter()
        .map(|(index, _)| index)
        .chain(live.iter().map(|(index, _)| index))
        .chain(sampled.iter().map(|(index, _)| index))
    {
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
        let (row, counts) = (rows[index], baseline.shown(index));
        let estimate = estimated.get(index).filter(|_| !row.kind.is_counter());
        let ticks = estimate.map_or(counts.ticks, |estimate| estimate.ticks);
        // The root is not a row and has no entry in `ids`, so its children have no parent.
        let parent = ids[row.parent as usize];
        let id = snapshot.nodes.push(parent, row.site, counts.calls, ticks);
        ids[index] = Some(id);
        if let Some(tally) = tally(baseline, index, row.kind, counts.sum) {
            snapshot.push_tally(id, tally);
        }
        let off_cpu = estimate.map(|estimate| estimate.off_cpu);
        for (quantity, value) in quantities(baseline, index, ticks, off_cpu, live_of(index)) {
            snapshot.measures.push_row(quantity, id.0, value);
        }
        let found = baseline.waits_in.shown(index as u32);
        waits_in.extend(found.map(|(call, samples)| (id.0, call, samples)));
        if epoch.histograms || row.kind == SiteKind::Value {
            baseline.histograms.append(index, &mut snapshot.latencies, id.0);
        }
        baseline
            .async_histograms
            .append(index, &mut snapshot.async_latencies, id.0);
        if let Some(estimate) = estimate
            && (estimate.timed < counts.calls || estimate.self_error > 0.0)
        {
            snapshot.estimates.push(Estimate {
                node: id,
                timed: estimate.timed,
                self_error: estimate.self_error as u64,
                total_error: estimate.total_error as u64,
            });
        }
        if row.errors > 0 {
            snapshot.errors.push(NodeErrors {
                node: id,
                count: row.errors,
            });
        }
    }
    let frame =
        |&(index, began_tick): &(u32, u64)| ids[index as usize].map(|node| OpenFrame { node, began_tick });
    let charged_outside = baseline.shown(0).ticks;
    let outside_ticks = estimated.first().map_or(charged_outside, |root| root.ticks);
    let thread_number = snapshot.threads.len() as u32;
    let off_cpu = estimated.first().map(|root| root.off_cpu);
    for (quantity, value) in quantities(baseline, 0, outside_ticks, off_cpu, live_of(0)) {
        snapshot.measures.push_outside(quantity, thread_number, value);
    }
    snapshot
        .lines
        .samples
        .extend(sampled.iter().map(|&(index, sample)| {
            let row = ids[index as usize].map(|id| SampledIn::Row(id.0));
            let inside = row.unwrap_or(SampledIn::Thread(thread_number));
            LineSample { inside, ..sample }
        }));
    snapshot.threads.push(Thread {
        outside_ticks,
        first_row,
        rows: snapshot.nodes.len() as u32 - first_row,
        open: open.iter().filter_map(frame).collect(),
        ..thread
    });
    // These ticks were charged to the root, but belong to untimed calls in rows.
    baseline.hand(charged_outside - outside_ticks);
    baseline.add_lifetime(&mut snapshot.lifetime);
}

/// Returns what a counter, value or gauge has tallied; `None` for a scope.
fn tally(baseline: &Baseline, index: usize, kind: SiteKind, sum: u64) -> Option<Tally> {
    Some(match kind {
        SiteKind::Scope => return None,
        SiteKind::Counter => Tally::Counter { sum },
        SiteKind::Value => Tally::Value {
            sum,
            range: baseline.ranges.value(index, baseline.histograms.shown(index)),
        },
        SiteKind::Gauge => Tally::Gauge {
            level: baseline.ranges.level(index),
        },
    })
}

/// Returns the quantities of a node, with its off-CPU time limited to its self time. The off-CPU time may be longer
/// than that if it is an estimate, or if a capture in the middle of an event saw only one of the two change.
fn quantities(
    baseline: &Baseline,
    index: usize,
    ticks: u64,
    off_cpu: Option<[u64; 2]>,
    live: Sampled,
) -> impl Iterator<Item = (Quantity, u64)> {
    let mut measured = baseline.measured(index);
    let [waiting, ready] = off_cpu.unwrap_or_else(|| measured.off_cpu());
    let waiting = waiting.min(ticks);
    measured.set(Quantity::Waiting, waiting);
    measured.set(Quantity::Ready, ready.min(ticks - waiting));
    measured.set(Quantity::LiveBytes, live.bytes());
    measured.set(Quantity::LiveVariance, live.variance());
    Quantity::ALL.into_iter().zip(measured.0)
}
