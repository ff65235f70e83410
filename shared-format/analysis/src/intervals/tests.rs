use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::CaptureKind::{Closing, Periodic};
use tickscope_format::snapshot::{CaptureKind, Site, Thread, ThreadState};
use tickscope_testkit::fixture::open;

use super::*;

const MS: u64 = 1_000_000;

/// Returns a snapshot of a program with two threads, a tick of one nanosecond and a record every 100 ms. In the first thread,
/// `main` calls `write`, which calls `read`; both are in the group `io`. The second thread sleeps in a call of `read` that is
/// still open.
fn program(ms: u64, epoch: u64, kind: CaptureKind) -> Snapshot {
    let mut s = Snapshot::default();
    s.process.pid = 7;
    s.capture.tick = ms * MS;
    s.capture.unix_ns = ms * MS;
    s.capture.interval_ns = 100 * MS;
    s.capture.reset_epoch = epoch;
    s.capture.kind = kind;
    for (name, group) in [("main", ""), ("read", "io"), ("write", "io")] {
        s.sites.push(Site {
            name: name.into(),
            module: "app".into(),
            group: group.into(),
            ..Site::default()
        });
    }
    let main = s.nodes.push(None, SiteId(0), 1, 0);
    let write = s.nodes.push(Some(main), SiteId(2), 0, 0);
    s.nodes.push(Some(write), SiteId(1), 0, 0);
    let sleeps = s.nodes.push(None, SiteId(1), 0, 0);
    for (name, tid, first_row, rows) in [("main", 7, 0, 3), ("reader", 8, 3, 1)] {
        s.threads.push(Thread {
            name: name.into(),
            tid,
            state: ThreadState::Running,
            count: 1,
            first_row,
            rows,
            ..Thread::default()
        });
    }
    s.threads[1].open.push(open(sleeps.0, 1));
    s
}

/// Sets the calls and self times of `write` and the `read` that it calls, and the self time of the sleeping thread's `read`.
fn with(mut s: Snapshot, calls: [u64; 2], self_ms: [u64; 2], asleep_ms: u64) -> Snapshot {
    for at in 0..2 {
        s.nodes.calls[1 + at] = calls[at];
        s.nodes.self_ticks[1 + at] = self_ms[at] * MS;
    }
    s.nodes.self_ticks[3] = asleep_ms * MS;
    s
}

/// Returns a periodic record with these counts (see [`with`]).
fn at(ms: u64, epoch: u64, calls: [u64; 2], self_ms: [u64; 2], asleep_ms: u64) -> Snapshot {
    with(program(ms, epoch, Periodic), calls, self_ms, asleep_ms)
}

fn all_groups() -> Intervals {
    Intervals::new(Duration::from_secs(1), Choice::default())
}

/// Returns each line as a tuple: the thread id, the name of the group or function, the number of calls, and the milliseconds
/// spent inside it.
fn told(interval: &Interval) -> Vec<(u32, &str, u64, u64)> {
    let lines = interval.lines.iter();
    lines
        .map(|line| {
            let (Subject::Group(name) | Subject::Function(name)) = &line.subject;
            (line.tid, name.as_str(), line.calls, line.inside_ns / MS)
        })
        .collect()
}

#[test]
fn a_call_open_through_three_intervals_fills_each() {
    let mut intervals = all_groups();
    // The first snapshot only starts the first interval; it does not complete one.
    assert_eq!(intervals.take(&program(500, 0, Periodic)), None);
    for second in 1..4u64 {
        let before = second - 1;
        let half = at(
            second * 1000,
            0,
            [3 * before + 1, 3 * before],
            [90 * before, 10 * before],
            second * 1000 - 500,
        );
        assert_eq!(intervals.take(&half), None, "half of it");
        let whole = at(
            second * 1000 + 500,
            0,
            [3 * second, 3 * second],
            [90 * second, 10 * second],
            second * 1000,
        );
        let interval = intervals.take(&whole).unwrap();
        let got = (interval.ns, interval.unix_ns);
        assert_eq!(got, (1000 * MS, (second * 1000 + 500) * MS));
        // Time in a `read` that `write` calls is counted only once. The second thread's call began before the interval, so its
        // time is included but it is not counted as a call.
        assert_eq!(told(&interval), [(7, "io", 6, 100), (8, "io", 0, 1000)]);
    }
}

#[test]
fn from_the_start_the_first_snapshot_counts() {
    let mut intervals = Intervals::from_start(Duration::from_secs(1), Choice::default());
    let mut first = at(5_300, 0, [2, 1], [20, 10], 300);
    first.capture.since_reset_ns = 300 * MS;
    assert!(!intervals.has_begun() && intervals.take(&first).is_none());
    assert!(intervals.has_begun());
    let interval = intervals.finish().unwrap();
    let got = (interval.ns, told(&interval));
    assert_eq!(got, (300 * MS, vec![(7, "io", 3, 30), (8, "io", 0, 300)]));
}

#[test]
fn nothing_is_an_interval_without_lines() {
    let mut intervals = all_groups();
    intervals.take(&program(0, 0, Periodic));
    let interval = intervals.take(&program(1010, 0, Periodic)).unwrap();
    let got = (interval.ns, interval.lines.len(), interval.any_met);
    assert_eq!(got, (1010 * MS, 0, true));
    assert_eq!(intervals.finish(), None, "no time has passed since");
    let mut plain = program(0, 0, Periodic);
    for site in &mut plain.sites {
        site.group.clear();
    }
    let mut intervals = all_groups();
    intervals.take(&plain);
    plain.capture.tick = 950 * MS;
    let interval = intervals.take(&plain).unwrap();
    assert!(!interval.any_met, "and it is near enough to its end");
}

#[test]
fn resets_are_not_seen() {
    let mut intervals = all_groups();
    intervals.take(&at(0, 0, [9, 9], [50, 50], 900));
    let closing = with(program(300, 0, Closing), [10, 9], [60, 50], 1200);
    assert_eq!(intervals.take(&closing), None);
    let after = at(1000, 1, [1, 1], [5, 5], 700);
    let interval = intervals.take(&after).unwrap();
    assert_eq!(told(&interval), [(7, "io", 3, 20), (8, "io", 0, 1000)]);
    // The snapshot before this reset was not seen, so the interval contains everything counted since the reset.
    let interval = intervals.take(&at(2000, 5, [1, 0], [1, 0], 10)).unwrap();
    assert_eq!(told(&interval), [(7, "io", 1, 1), (8, "io", 0, 10)]);
}

#[test]
fn what_was_counted_is_unknown_where_a_reset_that_was_not_seen_is_undone() {
    let mut intervals = all_groups();
    intervals.take(&at(500, 1, [1, 0], [3, 0], 200));
    let mut undone = at(1500, 2, [12, 9], [66, 50], 1900);
    undone.capture.withdraws = Some(0);
    let interval = intervals.take(&undone).unwrap();
    assert_eq!(interval.lines, []);
}

#[test]
fn functions_are_followed_by_pattern_and_ended_threads_by_name() {
    let choice = Choice {
        groups: vec!["none".into()],
        functions: vec![Pattern::new("read").unwrap()],
    };
    let mut intervals = Intervals::new(Duration::from_secs(1), choice.clone());
    intervals.take(&at(0, 0, [0, 0], [0, 0], 100));
    let mut later = at(1000, 0, [4, 5], [50, 30], 400);
    later.threads[1].tid = 0;
    later.threads[1].open.clear();
    assert!(choice.is_met(&later));
    let interval = intervals.take(&later).unwrap();
    assert_eq!(
        told(&interval),
        [(7, "app::read", 5, 30), (8, "app::read", 0, 300)],
        "it is the only one that has ended"
    );
    // Two more threads with this name have ended, so the row's new counts can no longer be attributed to one thread id.
    later.capture.tick += 1_000 * MS;
    later.nodes.self_ticks[3] += 20 * MS;
    later.threads[1].count = 3;
    let interval = intervals.take(&later).unwrap();
    assert_eq!(told(&interval), [(0, "app::read", 0, 20)]);
}

#[test]
fn a_clock_that_broke_ends_the_interval() {
    let mut intervals = all_groups();
    intervals.take(&program(0, 0, Periodic));
    intervals.take(&with(program(400, 0, Closing), [1, 0], [20, 0], 400));
    let mut other = at(90_000, 1, [1, 0], [30, 0], 600);
    other.clock.epoch = 1;
    other.capture.since_reset_ns = 600 * MS;
    let interval = intervals.take(&other).unwrap();
    assert_eq!((interval.ns, told(&interval)[0]), (400 * MS, (7, "io", 1, 20)));
    other.capture.tick += 400 * MS;
    let interval = intervals.take(&other).unwrap();
    assert_eq!((interval.ns, told(&interval)[0]), (1000 * MS, (7, "io", 1, 30)));
}
