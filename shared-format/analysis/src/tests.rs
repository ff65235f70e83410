//! Properties that hold for any two snapshots.

mod aligned;
mod windows;

use std::collections::BTreeMap;

use proptest::prelude::*;
use tickscope_format::ids::{NodeId, SiteId, ThreadId};
use tickscope_format::latency::Latencies;
use tickscope_format::snapshot::{
    Extremes, Level, LineSample, Lines, Measures, Module, Nodes, Quantity, SampledIn, Snapshot, Tally,
    WaitsIn,
};
use tickscope_testkit::fixture::programs::{any_snapshot, queries, value_of};
use tickscope_testkit::fixture::{received, with_lifetime};

use crate::align::align;
use crate::call_tree::CallTree;
use crate::filter;
use crate::hotspots::hot;
use crate::measure::Measure;
use crate::merge::sum;
use crate::window::between;

/// Replaces the measures, wait samples and code samples of a snapshot with ones derived from its calls and ticks. After rows and
/// threads have been moved or merged, they must still equal what [`mirror`] and the functions below derive from the result.
fn mirrored(mut s: Snapshot) -> Snapshot {
    s.measures = mirror(&s);
    s.waits_in = mirrored_waits(&s);
    s.lines = mirrored_lines(&s);
    // A cost may be NaN, which is not equal to itself.
    s.capture.cost = Default::default();
    s
}

/// Returns wait samples, with as many in each row as the row has calls.
fn mirrored_waits(s: &Snapshot) -> WaitsIn {
    let rows = (0..)
        .zip(&s.nodes.calls)
        .map(|(row, &calls)| (row, "futex", calls));
    WaitsIn::new(rows, [])
}

/// Returns code samples, with as many in each row as the row has calls, and as many in each thread as it has ticks outside any
/// scope.
fn mirrored_lines(s: &Snapshot) -> Lines {
    let rows = (0..)
        .zip(&s.nodes.calls)
        .map(|(row, &calls)| (SampledIn::Row(row), calls));
    let outside = (0..)
        .zip(&s.threads)
        .map(|(index, thread)| (SampledIn::Thread(index), thread.outside_ticks));
    let sample = |(inside, samples)| LineSample {
        inside,
        module: 0,
        address: 9,
        samples,
        cpu_ns: samples,
    };
    let mut lines = Lines {
        modules: vec![Module::default()],
        ..Lines::default()
    };
    lines.set(
        rows.chain(outside)
            .filter(|&(_, samples)| samples > 0)
            .map(sample),
    );
    lines
}

fn mirror(s: &Snapshot) -> Measures {
    let mut measures = Measures::default();
    for (row, &calls) in (0..).zip(&s.nodes.calls) {
        measures.push_row(Quantity::Allocations, row, calls);
    }
    for (index, thread) in (0..).zip(&s.threads) {
        measures.push_outside(Quantity::Allocations, index, thread.outside_ticks);
    }
    measures
}

/// Reduces the counts so that any sum of them fits into 64 bits.
fn small(mut s: Snapshot) -> Snapshot {
    for ticks in &mut s.nodes.self_ticks {
        *ticks %= 1 << 40;
    }
    for count in &mut s.counts {
        count.sum %= 1 << 40;
    }
    with_lifetime(s)
}

fn outside(s: &Snapshot) -> u64 {
    s.threads.iter().map(|thread| thread.outside_ticks).sum()
}

/// Returns the calls, self time, total time and counter sum of each row, keyed by the row's path of functions.
fn by_path(s: &Snapshot) -> BTreeMap<u64, (u64, u64, u64, Option<u64>)> {
    let tree = CallTree::build(s, |_| true);
    let rows = tree.rows.iter();
    rows.map(|row| {
        (
            row.path.0,
            (
                row.calls,
                row.self_ticks,
                row.total_ticks,
                row.tally.map(Tally::sum),
            ),
        )
    })
    .collect()
}

/// Returns the calls and the self time in nanoseconds of each function, unless both are 0.
pub(crate) fn functions(snapshot: &Snapshot) -> BTreeMap<String, (u64, u64)> {
    let tree = CallTree::build(snapshot, |_| true);
    let mut functions = BTreeMap::new();
    for row in hot(&tree) {
        let name = tree.functions.get(row.function).full_name();
        let of: &mut (u64, u64) = functions.entry(name).or_default();
        *of = (of.0 + row.calls, of.1 + row.self_ns);
    }
    functions.retain(|_, of| *of != (0, 0));
    functions
}

/// Returns a snapshot of one thread with a value that recorded `numbers` and a gauge that was set to each of `levels` in turn.
fn given(numbers: &[u64], levels: &[i64]) -> Snapshot {
    let mut s = queries();
    let (value, histogram) = value_of(&numbers.iter().map(|&number| (number, 1)).collect::<Vec<_>>());
    let level = levels.last().map(|&last| Level {
        last,
        set_tick: levels.len() as u64,
        range: levels
            .iter()
            .map(|&level| Extremes::of(level))
            .reduce(Extremes::and)
            .unwrap(),
    });
    s.clear_tallies();
    s.latencies = Latencies::default();
    s.nodes = Nodes::default();
    for (site, calls) in [(2, numbers.len()), (4, levels.len())] {
        s.nodes.push(None, SiteId(site), calls as u64, 0);
    }
    s.push_tally(NodeId(0), value);
    s.latencies.push(0, &histogram);
    s.push_tally(NodeId(1), Tally::Gauge { level });
    s.threads.truncate(1);
    s.threads[0].rows = 2;
    s
}

proptest! {
    #[test]
    fn measures_go_with_calls_wherever_rows_and_threads_go(
        one in any_snapshot().prop_map(small),
        other in any_snapshot().prop_map(small),
        share in 0.0..1.0f64,
    ) {
        let (one, other) = (mirrored(one), mirrored(other));
        let (now, then) = align(&one, &other);
        let some = |thread: ThreadId| thread.0.is_multiple_of(2);
        for done in [
            between(&one, &other),
            sum(&[&other, &one, &one]),
            filter::of_threads(&one, some),
            filter::above(&one, Measure::Time, share),
            now,
            then,
        ] {
            prop_assert_eq!(&done.measures, &mirror(&done));
            let samples = |waits_in: &WaitsIn| -> Vec<(u32, u64)> {
                waits_in.samples().map(|(row, _, count)| (row, count)).collect()
            };
            prop_assert_eq!(samples(&done.waits_in), samples(&mirrored_waits(&done)));
            prop_assert_eq!(&done.lines.samples, &mirrored_lines(&done).samples);
            prop_assert_eq!(received(&done), done, "it is a sound snapshot");
        }
    }
}
