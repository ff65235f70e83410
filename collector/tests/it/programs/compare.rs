//! A snapshot against what the model says.

use std::collections::{BTreeMap, BTreeSet};

use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::{CaptureKind, Mode, Quantity, ThreadState};

use super::model::{Cell, Closed, Counted, Model, Path, Who};
use crate::support::path_of;

/// What differs, in words.
pub(crate) type Difference = String;

macro_rules! same {
    ($found:expr, $wanted:expr, $($what:tt)*) => {{
        let (found, wanted) = (&$found, &$wanted);
        if found != wanted {
            return Err(format!("{}: found {found:?}, wanted {wanted:?}", format!($($what)*)));
        }
    }};
}
pub(crate) use same;

/// Counters of the process when a program began: what is shown is more than that by what the program did.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub(crate) calls: u64,
    pub(crate) ticks: u64,
    pub(crate) dropped: u64,
    pub(crate) unbalanced: u64,
    pub(crate) errors: u64,
}

/// What a thread of a snapshot shows, by path.
fn shown(snapshot: &Snapshot, thread: usize) -> Counted {
    let mut counted: BTreeMap<Path, Cell> = BTreeMap::new();
    counted.entry(Path::new()).or_default().ticks = snapshot.threads[thread].outside_ticks;
    let sums = snapshot.sums();
    for row in snapshot.rows_of(ThreadId(thread as u32)) {
        let latencies = snapshot.latencies.of(row as u32);
        let cell = Cell {
            calls: snapshot.nodes.calls[row],
            ticks: snapshot.nodes.self_ticks[row],
            sum: sums[row].unwrap_or(0),
            ended: latencies.buckets.into_iter().collect(),
        };
        counted.insert(path_of(snapshot, row).join("/"), cell);
    }
    Counted(counted)
}

/// In adaptive mode bursts are not timed each: what they took is estimated, and right together with what they stand in.
fn without_bursts(counted: &mut Counted) {
    let bursts: Vec<Path> = counted
        .0
        .keys()
        .filter(|path| path.ends_with("burst"))
        .cloned()
        .collect();
    for path in bursts {
        let above = path
            .strip_suffix("burst")
            .unwrap_or_default()
            .trim_end_matches('/')
            .to_string();
        let burst = counted.0.entry(path).or_default();
        let ticks = std::mem::take(&mut burst.ticks);
        burst.ended.clear();
        counted.0.entry(above).or_default().ticks += ticks;
    }
}

/// Whether nothing but ends of futures was counted in a thread.
fn ends_futures_alone(snapshot: &Snapshot, thread: usize) -> bool {
    let is_end = |row: usize| {
        let of_futures = |quantity: Quantity| {
            let column = snapshot.measures.of(quantity);
            column.is_some_and(|column| column.of_row(row as u32) > 0)
        };
        let levels = [
            Quantity::FutureCancels,
            Quantity::InFlight,
            Quantity::EndedElsewhere,
        ];
        snapshot.nodes.calls[row] == 0 && levels.into_iter().any(of_futures)
    };
    snapshot.rows_of(ThreadId(thread as u32)).all(is_end)
}

/// The rows of a snapshot against what every thread has counted. `tids` are those of the hands; `spent` is how much time
/// samples can have found.
fn rows(
    snapshot: &Snapshot,
    mode: Mode,
    histograms: bool,
    counted: &BTreeMap<Who, Counted>,
    tids: &BTreeMap<u32, usize>,
    spent: u64,
) -> Result<(), Difference> {
    let mut seen = BTreeSet::new();
    for (index, thread) in snapshot.threads.iter().enumerate() {
        let who = match (thread.state, tids.get(&thread.tid)) {
            (ThreadState::Finished, _) => Who::Finished(thread.name.clone()),
            (_, Some(&hand)) => Who::Hand(hand),
            // Futures that a program leaves pending are dropped by the thread that plays it, and end there.
            _ if ends_futures_alone(snapshot, index) => continue,
            _ => return Err(format!("nobody knows thread {thread:?}")),
        };
        let mut found = shown(snapshot, index);
        let mut wanted = counted.get(&who).cloned().unwrap_or_default();
        if mode == Mode::Adaptive {
            without_bursts(&mut found);
            without_bursts(&mut wanted);
        }
        if mode == Mode::Sampled {
            let all: u64 = found.0.values().map(|cell| cell.ticks).sum();
            if all > spent * thread.count {
                return Err(format!("{who:?}: {all} ticks sampled in {spent}"));
            }
        }
        let paths: BTreeSet<Path> = found.0.keys().chain(wanted.0.keys()).cloned().collect();
        for path in paths {
            let of = |counted: &Counted| {
                let mut cell = counted.0.get(&path).cloned().unwrap_or_default();
                if mode == Mode::Sampled {
                    cell.ticks = 0;
                }
                if !histograms || !matches!(mode, Mode::Exact | Mode::Adaptive) {
                    cell.ended.clear();
                }
                cell
            };
            same!(of(&found), of(&wanted), "{who:?} at \"{path}\"");
        }
        same!(seen.insert(who.clone()), true, "{who:?} once");
    }
    for (who, counted) in counted {
        let nothing = counted.0.values().all(|cell| *cell == Cell::default());
        if !seen.contains(who) && (!nothing || matches!(who, Who::Hand(_))) {
            return Err(format!("{who:?} is missing"));
        }
    }
    Ok(())
}

/// A snapshot of now.
pub(crate) fn now(
    snapshot: &Snapshot,
    model: &Model,
    base: &Base,
    tids: &BTreeMap<u32, usize>,
) -> Result<(), Difference> {
    let capture = &snapshot.capture;
    same!(capture.mode, model.mode, "mode");
    same!(capture.reset_epoch, model.epoch, "reset epoch");
    same!(capture.withdraws, model.withdraws, "withdrawn epoch");
    same!(capture.losses.dropped - base.dropped, model.dropped, "dropped");
    same!(
        capture.losses.unbalanced - base.unbalanced,
        model.unbalanced,
        "unbalanced"
    );
    same!(snapshot.clock.errors - base.errors, 0, "clock errors");
    same!(
        snapshot.lifetime.calls - base.calls,
        model.calls,
        "calls of all epochs"
    );
    rows(
        snapshot,
        model.mode,
        model.histograms,
        &model.counted(),
        tids,
        model.spent,
    )?;
    for (index, thread) in snapshot.threads.iter().enumerate() {
        let Some(life) = tids.get(&thread.tid).and_then(|&hand| model.hands[hand].as_ref()) else {
            continue;
        };
        let path = thread
            .open
            .last()
            .map(|frame| path_of(snapshot, frame.node.index()).join("/"));
        same!(
            path.unwrap_or_default(),
            life.at(),
            "open calls of thread {index}"
        );
        same!(thread.open.len(), life.open.len(), "depth of thread {index}");
        same!(
            thread.state == ThreadState::Paused,
            life.is_paused(),
            "pause of thread {index}"
        );
        for (shown, frame) in thread.open.iter().zip(&life.open) {
            same!(
                shown.began_tick,
                frame.began.unwrap_or(0),
                "beginning of {}",
                frame.path
            );
        }
    }
    Ok(())
}

/// The snapshot that closed an epoch.
pub(crate) fn closing(
    snapshot: &Snapshot,
    closed: &Closed,
    tids: &BTreeMap<u32, usize>,
) -> Result<(), Difference> {
    let epoch = snapshot.capture.reset_epoch;
    let why = |difference: Difference| format!("closing of epoch {epoch}: {difference}");
    same!(snapshot.capture.kind, CaptureKind::Closing, "kind");
    same!(snapshot.capture.mode, closed.mode, "mode of epoch {epoch}");
    same!(
        snapshot.capture.withdraws,
        closed.withdraws,
        "withdrawn by epoch {epoch}"
    );
    rows(
        snapshot,
        closed.mode,
        closed.histograms,
        &closed.counted,
        tids,
        closed.spent,
    )
    .map_err(why)
}

/// The epochs that count add up to the lifetime, to the tick and the call.
pub(crate) fn sum(
    last: &Snapshot,
    closings: &BTreeMap<u64, Snapshot>,
    base: &Base,
) -> Result<(), Difference> {
    let withdrawn: BTreeSet<u64> = closings
        .values()
        .chain([last])
        .filter_map(|snapshot| snapshot.capture.withdraws)
        .collect();
    let counted = closings.iter().filter(|(epoch, _)| !withdrawn.contains(epoch));
    let (mut calls, mut ticks) = (last.calls(), last.measured_ticks());
    for (_, closing) in counted {
        calls += closing.calls();
        ticks += closing.measured_ticks();
    }
    same!(calls, last.lifetime.calls - base.calls, "calls of epochs");
    same!(ticks, last.lifetime.ticks - base.ticks, "ticks of epochs");
    Ok(())
}
