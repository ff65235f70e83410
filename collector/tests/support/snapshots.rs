//! Functions that read values from snapshots, and checks that every snapshot must pass.

use std::collections::BTreeMap;

use tickscope_format::Snapshot;
use tickscope_format::ids::{NO_PARENT, NodeId, ThreadId};
use tickscope_format::snapshot::{Quantity, Tally, ThreadState};

/// Returns those closing snapshots that have to be added to `last` for the total, newest first. After an undo, an
/// epoch's counts continue in a later epoch, so its closing snapshot is left out. `closings` is keyed by epoch.
pub(crate) fn ends_that_count<'a>(
    closings: &'a BTreeMap<u64, Snapshot>,
    last: &Snapshot,
) -> impl Iterator<Item = &'a Snapshot> {
    let mut begin = last.capture.begin();
    closings.values().rev().filter(move |closing| {
        let counts = closing.capture.reset_epoch < begin;
        if counts {
            begin = closing.capture.begin();
        }
        counts
    })
}

pub(crate) fn threads_named<'a>(
    snapshot: &'a Snapshot,
    name: &'a str,
) -> impl Iterator<Item = ThreadId> + 'a {
    let named = move |(index, thread): (usize, &tickscope_format::snapshot::Thread)| {
        (thread.name == name).then_some(ThreadId(index as u32))
    };
    snapshot.threads.iter().enumerate().filter_map(named)
}

/// Returns a thread's tree as text. Each row is a line "name calls self total", indented by depth, with times in ticks.
pub(crate) fn tree(snapshot: &Snapshot, thread: &str) -> String {
    let totals = snapshot.nodes.totals(&snapshot.nodes.self_ticks);
    let mut text = String::new();
    for thread in threads_named(snapshot, thread) {
        for row in snapshot.rows_of(thread) {
            let depth = path_of(snapshot, row).len() - 1;
            let site = snapshot.site_of(NodeId(row as u32));
            text += &format!(
                "{}{} {} {} {}\n",
                "  ".repeat(depth),
                site.name,
                snapshot.nodes.calls[row],
                snapshot.nodes.self_ticks[row],
                totals[row],
            );
        }
    }
    text
}

/// Returns the names on the path from the outermost call of a thread down to a row.
pub(crate) fn path_of(snapshot: &Snapshot, row: usize) -> Vec<&str> {
    let mut path = Vec::new();
    let mut at = Some(NodeId(row as u32));
    while let Some(node) = at {
        path.push(snapshot.site_of(node).name.as_str());
        at = snapshot.nodes.parent_of(node);
    }
    path.reverse();
    path
}

/// Returns the number of calls for each site name, over all threads.
pub(crate) fn calls(snapshot: &Snapshot) -> BTreeMap<&str, u64> {
    let mut calls = BTreeMap::new();
    for row in 0..snapshot.nodes.len() {
        let name = snapshot.site_of(NodeId(row as u32)).name.as_str();
        *calls.entry(name).or_default() += snapshot.nodes.calls[row];
    }
    calls
}

/// Returns the number of calls of the site with this name, over all threads.
pub(crate) fn calls_of(snapshot: &Snapshot, site: &str) -> u64 {
    calls(snapshot).get(site).copied().unwrap_or(0)
}

/// Returns the sum of the counter or value with this name, over all threads.
pub(crate) fn sum_of(snapshot: &Snapshot, site: &str) -> u64 {
    let counts = snapshot.counts.iter();
    let of_site = counts.filter(|count| snapshot.site_of(count.node).name == site);
    of_site.map(|count| count.sum).sum()
}

/// Returns the rows of the site with this name, over all threads.
pub(crate) fn rows_named<'a>(snapshot: &'a Snapshot, site: &'a str) -> impl Iterator<Item = u32> + 'a {
    let rows = 0..snapshot.nodes.len() as u32;
    rows.filter(move |&row| snapshot.site_of(NodeId(row)).name == site)
}

/// Returns the self time of the site with this name in ticks, over all threads.
pub(crate) fn ticks_of(snapshot: &Snapshot, site: &str) -> u64 {
    rows_named(snapshot, site)
        .map(|row| snapshot.nodes.self_ticks[row as usize])
        .sum()
}

/// Returns the total of a quantity for the site with this name, over all threads.
pub(crate) fn measured(snapshot: &Snapshot, site: &str, quantity: Quantity) -> u64 {
    rows_named(snapshot, site)
        .map(|row| snapshot.measures.of_row(quantity, row))
        .sum()
}

/// Returns the names of a thread's open scopes, outermost first.
pub(crate) fn open_path(snapshot: &Snapshot, thread: ThreadId) -> Vec<&str> {
    snapshot.threads[thread.index()]
        .open
        .iter()
        .map(|frame| snapshot.site_of(frame.node).name.as_str())
        .collect()
}

/// Checks the properties that every snapshot must have, at any moment of the program.
pub(crate) fn check(snapshot: &Snapshot) {
    check_with_polls(snapshot);
    let nodes = &snapshot.nodes;
    let off_cpu = [Quantity::Waiting, Quantity::Ready].map(|quantity| {
        let column = snapshot.measures.of(quantity);
        column.map_or_else(|| vec![0; nodes.len()], |column| column.dense(nodes.len()))
    });
    for (index, thread) in snapshot.threads.iter().enumerate() {
        for row in snapshot.rows_of(ThreadId(index as u32)) {
            let off_cpu = off_cpu[0][row] + off_cpu[1][row];
            assert!(
                off_cpu <= nodes.self_ticks[row],
                "no more time off the CPU than there was"
            );
            // In addition, each thread may have finished one call that began before the reset, and one call may have
            // entered the histogram only after the reset.
            let finished = snapshot.latencies.of(row as u32).count();
            assert!(
                finished <= nodes.calls[row] + 2 * thread.count,
                "no call ends twice: {finished} of {} ended in {} of {} threads",
                nodes.calls[row],
                thread.name,
                thread.count
            );
        }
    }
}

/// Checks a snapshot and returns it.
pub(crate) fn checked(snapshot: Snapshot) -> Snapshot {
    check(&snapshot);
    snapshot
}

/// Checks a snapshot that may have polls of futures, so that a row can have more ends than calls. Every poll has an
/// end, but only the first poll counts as a call, and it may have been on another thread.
pub(crate) fn check_with_polls(snapshot: &Snapshot) {
    let nodes = &snapshot.nodes;
    let mut row_after_last = 0;
    for thread in &snapshot.threads {
        assert_eq!(thread.first_row, row_after_last, "rows of threads are contiguous");
        row_after_last += thread.rows;
    }
    assert_eq!(row_after_last as usize, nodes.len());

    // Collects the children of each row, so that the totals can be checked independently of the code under test.
    let self_nanos = snapshot.self_nanos();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for thread in &snapshot.threads {
        let rows = thread.first_row as usize..(thread.first_row + thread.rows) as usize;
        for row in rows.clone() {
            assert!((nodes.site[row] as usize) < snapshot.sites.len());
            if nodes.parent[row] == NO_PARENT {
                continue;
            }
            let parent = nodes.parent[row] as usize;
            assert!(
                rows.contains(&parent) && parent < row,
                "parents before children, in one thread"
            );
            children[parent].push(row);
        }
        let mut siblings = std::collections::BTreeSet::new();
        for row in rows {
            assert!(
                siblings.insert((nodes.parent[row], nodes.site[row])),
                "one row a place"
            );
        }
    }
    for (values, what) in [(&nodes.self_ticks, "ticks"), (&self_nanos, "ns")] {
        let totals = nodes.totals(values);
        for row in 0..nodes.len() {
            let below: u64 = children[row].iter().map(|&child| totals[child]).sum();
            assert_eq!(
                values[row] + below,
                totals[row],
                "self + children = total in {what}"
            );
        }
    }

    let tallies = snapshot.tallies();
    for count in &snapshot.counts {
        let row = count.node.index();
        assert_eq!(nodes.self_ticks[row], 0, "a counter has no time");
        assert!(children[row].is_empty(), "nothing is below a counter");
        let numbers = snapshot.latencies.of(count.node.0).count();
        match tallies[row] {
            Some(Tally::Value { range, .. }) => {
                assert_eq!(numbers, nodes.calls[row], "a number for each call");
                assert_eq!(range.is_some(), numbers > 0, "a smallest and a largest number");
            }
            Some(Tally::Gauge { level }) => {
                assert_eq!((count.sum, numbers), (0, 0), "levels do not add up");
                assert!(level.is_some(), "a gauge that is shown was set");
            }
            _ => assert_eq!(numbers, 0, "no latency"),
        }
        assert!(snapshot.estimate_of(count.node).is_none(), "nothing to estimate");
    }

    // No thread was busy for longer than the program has been running. The tolerance is 1 % for the error of the
    // clock's rate, plus 5 ms because the counts and the uptime are read at different times.
    let most_ns = snapshot.process.uptime_ns as f64 * 1.01 + 5e6;
    for (index, thread) in snapshot.threads.iter().enumerate() {
        let rows = snapshot.rows_of(ThreadId(index as u32));
        let ticks: u64 = rows.map(|row| nodes.self_ticks[row]).sum::<u64>() + thread.outside_ticks;
        let ns = snapshot.nanos(ticks) as f64;
        assert!(
            ns <= most_ns * thread.count as f64,
            "{}: {ns} ns in {most_ns} ns",
            thread.name
        );
        let mut at = None;
        let mut began = 0;
        for frame in &thread.open {
            assert_eq!(nodes.parent_of(frame.node), at, "the open path is a path");
            assert!(
                snapshot
                    .rows_of(ThreadId(index as u32))
                    .contains(&frame.node.index())
            );
            at = Some(frame.node);
            if frame.began_tick > 0 {
                assert!(frame.began_tick >= began, "outer frames began earlier");
                began = frame.began_tick;
            }
        }
        match thread.state {
            ThreadState::Running => assert!(!thread.open.is_empty()),
            ThreadState::Idle | ThreadState::Finished => assert!(thread.open.is_empty()),
            ThreadState::Paused | _ => {}
        }
    }
    assert!(snapshot.lifetime.calls >= snapshot.calls());
    assert!(snapshot.lifetime.ticks >= snapshot.measured_ticks());
    assert!(snapshot.clock.ticks_per_second > 0.0);
    assert!(snapshot.capture.seq > 0);
}

/// Checks the order of two snapshots of the same threads. The later one must have at least as many lifetime calls.
pub(crate) fn check_order(earlier: &Snapshot, later: &Snapshot) {
    assert!(later.capture.seq > earlier.capture.seq);
    assert!(later.capture.reset_epoch >= earlier.capture.reset_epoch);
    assert!(later.lifetime.calls >= earlier.lifetime.calls);
}
