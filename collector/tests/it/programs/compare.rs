//! Compares snapshots with the model.

use std::collections::{BTreeMap, BTreeSet};

use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::{CaptureKind, Extremes, Mode, Quantity, Tally, ThreadState};

use super::model::{Cell, Counted, Epoch, Futures, Model, Path, Standing, Who};
use crate::allocations::Allocated;
use crate::support::{ends_that_count, path_of};

/// Description of a difference, in words.
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

/// Returns the counts of one thread in a snapshot, by path.
fn shown(snapshot: &Snapshot, thread: usize) -> Counted {
    let mut counted: BTreeMap<Path, Cell> = BTreeMap::new();
    let outside = |quantity: Quantity| {
        let column = snapshot.measures.of(quantity);
        column.map_or(0, |column| column.of_outside(thread as u32))
    };
    let cell = Cell {
        ticks: snapshot.threads[thread].outside_ticks,
        ..measured(outside)
    };
    counted.insert(Path::new(), cell);
    let tallies = snapshot.tallies();
    for row in snapshot.rows_of(ThreadId(thread as u32)) {
        let latencies = snapshot.latencies.of(row as u32);
        let lasted = snapshot.async_latencies.of(row as u32);
        let mut cell = measured(|quantity| snapshot.measures.of_row(quantity, row as u32));
        cell.calls = snapshot.nodes.calls[row];
        cell.ticks = snapshot.nodes.self_ticks[row];
        cell.futures.lasted = lasted.buckets.into_iter().collect();
        let buckets = latencies.buckets.into_iter().collect();
        match tallies[row] {
            Some(Tally::Value { sum, range }) => {
                cell.sum = sum;
                cell.numbers = buckets;
                cell.extremes = range.map(exact);
            }
            Some(Tally::Gauge { level }) => {
                cell.standing.level = level.map(|level| (level.last, level.set_tick));
                cell.levels = level.map(|level| exact(level.range));
            }
            Some(tally) => cell.sum = tally.sum(),
            None => cell.ended = buckets,
        }
        counted.insert(path_of(snapshot, row).join("/"), cell);
    }
    Counted(counted)
}

/// Returns both ends of a range. They must be exact, because in these tests no reset comes in the middle of an event.
fn exact<T: Copy + std::fmt::Debug>(range: Extremes<T>) -> (T, T) {
    assert!(range.min_exact && range.max_exact, "{range:?}");
    (range.min, range.max)
}

/// Returns a cell with a path's measures: all but its calls and its time.
fn measured(of: impl Fn(Quantity) -> u64) -> Cell {
    let in_flight = of(Quantity::InFlight).cast_signed() - of(Quantity::EndedElsewhere).cast_signed();
    Cell {
        allocated: Allocated {
            blocks: of(Quantity::Allocations),
            bytes: of(Quantity::AllocatedBytes),
            freed_blocks: of(Quantity::Frees),
            freed_bytes: of(Quantity::FreedBytes),
        },
        futures: Futures {
            polls: of(Quantity::Polls),
            ended: of(Quantity::FutureEnds),
            cancelled: of(Quantity::FutureCancels),
            ticks: of(Quantity::FutureTime),
            ..Futures::default()
        },
        standing: Standing {
            in_flight,
            live: of(Quantity::LiveBytes),
            level: None,
        },
        sampled_small: of(Quantity::LiveVariance) > 0,
        ..Cell::default()
    }
}

/// Returns the current state of finished threads, by name and path. Leaves out live bytes if they include samples of
/// small blocks, which are sampled at random.
pub(crate) fn standing(snapshot: &Snapshot) -> BTreeMap<String, BTreeMap<Path, Standing>> {
    let threads = snapshot.threads.iter().enumerate();
    let finished = threads.filter(|(_, thread)| thread.state == ThreadState::Finished);
    finished
        .map(|(index, thread)| {
            let cells = shown(snapshot, index).0.into_iter();
            let standing = cells.map(|(path, cell)| {
                let live = if cell.sampled_small { 0 } else { cell.standing.live };
                (
                    path,
                    Standing {
                        live,
                        ..cell.standing
                    },
                )
            });
            let something = standing.filter(|(_, standing)| *standing != Standing::default());
            (thread.name.clone(), something.collect())
        })
        .collect()
}

/// Removes from the found cell what the model cannot predict: allocations and frees made by threads as they end, and
/// the random samples of small blocks.
fn without_unknown(found: &mut Cell, wanted: &Cell, who: &Who, path: &str) {
    if std::mem::take(&mut found.sampled_small) && found.standing.live > wanted.standing.live {
        found.standing.live = wanted.standing.live;
    }
    if matches!(who, Who::Finished(_)) {
        let (found, wanted) = (&mut found.allocated, wanted.allocated);
        found.freed_blocks = found.freed_blocks.min(wanted.freed_blocks);
        found.freed_bytes = found.freed_bytes.min(wanted.freed_bytes);
        if path.is_empty() {
            found.blocks = found.blocks.min(wanted.blocks);
            found.bytes = found.bytes.min(wanted.bytes);
        }
    }
}

/// Merges each burst into its parent. Adaptive mode only estimates the burst's time, but the sum of burst and parent is
/// exact.
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

/// Returns whether nothing was counted on a thread except that futures ended there.
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

/// Compares the mode and the rows of a snapshot with the model's epoch. `tids` maps thread ids to hands.
fn epoch(snapshot: &Snapshot, epoch: &Epoch, tids: &BTreeMap<u32, usize>) -> Result<(), Difference> {
    let mode = epoch.mode;
    same!(snapshot.capture.mode, mode, "mode");
    same!(snapshot.capture.withdraws, epoch.withdraws, "withdrawn epoch");
    let mut seen = BTreeSet::new();
    for (index, thread) in snapshot.threads.iter().enumerate() {
        let who = match (thread.state, tids.get(&thread.tid)) {
            (ThreadState::Finished, _) => Who::Finished(thread.name.clone()),
            (_, Some(&hand)) => Who::Hand(hand),
            // This is the thread that plays the programs. It drops the futures that a program leaves pending, and
            // nothing else is counted on it.
            _ if ends_futures_alone(snapshot, index) => continue,
            _ => return Err(format!("unknown thread {thread:?}")),
        };
        let mut found = shown(snapshot, index);
        let mut wanted = epoch.counted.get(&who).cloned().unwrap_or_default();
        if mode == Mode::Adaptive {
            without_bursts(&mut found);
            without_bursts(&mut wanted);
        }
        if mode == Mode::Sampled {
            let all: u64 = found.0.values().map(|cell| cell.ticks).sum();
            // Samples must not show more time than was spent.
            if all > epoch.spent * thread.count {
                return Err(format!("{who:?}: {all} ticks sampled in {}", epoch.spent));
            }
        }
        let paths: BTreeSet<Path> = found.0.keys().chain(wanted.0.keys()).cloned().collect();
        for path in paths {
            let of = |counted: &Counted| {
                let mut cell = counted.0.get(&path).cloned().unwrap_or_default();
                if mode == Mode::Sampled {
                    cell.ticks = 0;
                }
                if !epoch.histograms || !matches!(mode, Mode::Exact | Mode::Adaptive) {
                    cell.ended.clear();
                }
                cell
            };
            let (mut found, wanted) = (of(&found), of(&wanted));
            without_unknown(&mut found, &wanted, &who, &path);
            same!(found, wanted, "{who:?} at \"{path}\"");
        }
        same!(seen.insert(who.clone()), true, "{who:?} once");
    }
    for (who, counted) in &epoch.counted {
        let nothing = counted.0.values().all(|cell| *cell == Cell::default());
        if !seen.contains(who) && (!nothing || matches!(who, Who::Hand(_))) {
            return Err(format!("{who:?} is missing"));
        }
    }
    Ok(())
}

/// Compares a snapshot of the current epoch with the model. Counters that last as long as the process are compared
/// relative to `before`, a snapshot taken before the program began.
pub(crate) fn now(
    snapshot: &Snapshot,
    model: &Model,
    before: &Snapshot,
    tids: &BTreeMap<u32, usize>,
) -> Result<(), Difference> {
    let capture = &snapshot.capture;
    let (losses, known) = (&capture.losses, &before.capture.losses);
    same!(capture.reset_epoch, model.epoch, "reset epoch");
    same!(losses.dropped - known.dropped, model.dropped, "dropped");
    let unbalanced = losses.unbalanced - known.unbalanced;
    same!(unbalanced, model.unbalanced, "unbalanced");
    same!(snapshot.clock.errors, before.clock.errors, "clock errors");
    let calls = snapshot.lifetime.calls - before.lifetime.calls;
    same!(calls, model.calls, "calls of all epochs");
    epoch(snapshot, &model.shown(), tids)?;
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

/// Compares the snapshot that closed an epoch with that epoch in the model.
pub(crate) fn closing(
    snapshot: &Snapshot,
    closed: &Epoch,
    tids: &BTreeMap<u32, usize>,
) -> Result<(), Difference> {
    let number = snapshot.capture.reset_epoch;
    same!(snapshot.capture.kind, CaptureKind::Closing, "kind");
    epoch(snapshot, closed, tids).map_err(|difference| format!("closing of epoch {number}: {difference}"))
}

/// Checks that all epochs that were not undone add up exactly to the lifetime's ticks and calls.
pub(crate) fn sum(
    last: &Snapshot,
    closings: &BTreeMap<u64, Snapshot>,
    before: &Snapshot,
) -> Result<(), Difference> {
    let (mut calls, mut ticks) = (last.calls(), last.measured_ticks());
    for closing in ends_that_count(closings, last) {
        calls += closing.calls();
        ticks += closing.measured_ticks();
    }
    let (all, known) = (&last.lifetime, &before.lifetime);
    same!(calls, all.calls - known.calls, "calls of epochs");
    same!(ticks, all.ticks - known.ticks, "ticks of epochs");
    Ok(())
}
