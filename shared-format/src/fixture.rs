//! Hand-made snapshots for the tests of all crates, which get them from `tickscope-testkit`.

#[path = "fixture/programs.rs"]
pub mod programs;

use tickscope_format::codec;
use tickscope_format::ids::{NO_PARENT, NodeId, SiteId};
use tickscope_format::latency::{Histogram, bucket_of};
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::{
    CaptureInfo, CaptureKind, CauseKind, CauseSum, ClockInfo, ClockSource, Cost, Estimate, Exemplar,
    Functions, Lifetime, LineSample, Lines, LinesState, LostCalls, Module, NO_MODULE, NodeErrors, Note, Now,
    OpenFrame, Over, OverBudget, PathSums, Process, Quantity, Sampled, SampledIn, SeenCost, Site, Snapshot,
    TaskPath, Then, Thread, ThreadState, Trace, WaitsIn, Watch, WatchState, WatchedPath,
};

/// Returns a site in `src/main.rs`.
pub fn site(module: &str, name: &str, line: u32) -> Site {
    Site {
        name: name.into(),
        module: module.into(),
        file: "src/main.rs".into(),
        line,
        group: String::new(),
    }
}

/// Fills in the lifetime totals of a snapshot that was never reset.
pub fn with_lifetime(mut s: Snapshot) -> Snapshot {
    s.lifetime = Lifetime {
        calls: s.calls(),
        ticks: s.measured_ticks(),
    };
    s
}

/// Creates an estimate for a row.
pub fn estimate(row: u32, timed: u64, self_error: u64, total_error: u64) -> Estimate {
    Estimate {
        node: NodeId(row),
        timed,
        self_error,
        total_error,
    }
}

/// Returns a histogram of `count` calls that took `ticks` ticks each.
pub fn calls_of(ticks: u64, count: u64) -> Histogram {
    Histogram {
        buckets: vec![(bucket_of(ticks) as u16, count)],
        max_ticks: ticks,
    }
}

/// Encodes a snapshot and decodes it again, as a reader does.
///
/// # Panics
///
/// If a reader refuses the snapshot.
pub fn received(snapshot: &Snapshot) -> Snapshot {
    codec::decode(&payload(snapshot)).unwrap()
}

/// Encodes a snapshot as the fine ring or a recording stores it.
pub fn payload(snapshot: &Snapshot) -> Vec<u8> {
    let mut payload = Vec::new();
    codec::encode(snapshot, &mut payload).unwrap();
    payload
}

/// Encodes a snapshot as the coarse ring stores it.
pub fn small_payload(snapshot: &Snapshot) -> Vec<u8> {
    let mut payload = Vec::new();
    codec::encode_small(snapshot, &mut payload).unwrap();
    payload
}

/// Returns the stamp of a periodic record.
pub fn stamp_at(tick: u64, unix_ns: u64) -> Stamp {
    Stamp {
        kind: CaptureKind::Periodic,
        tick,
        unix_ns,
    }
}

/// Returns the stamp of a periodic record, with `number` as both its tick and its time.
pub fn stamp(number: u64) -> Stamp {
    stamp_at(number, number)
}

/// Returns an open call of a row.
pub fn open(row: u32, began_tick: u64) -> OpenFrame {
    OpenFrame {
        node: NodeId(row),
        began_tick,
    }
}

fn base() -> Snapshot {
    Snapshot {
        process: Process {
            name: "order-book".into(),
            pid: 41873,
            started_unix_ns: 1_763_000_000_000_000_000,
            uptime_ns: 134_000_000_000,
            warnings: vec![],
            copies: vec![],
        },
        clock: ClockInfo {
            source: ClockSource::Tsc,
            ticks_per_second: 2.5e9,
            reason: "invariant, kernel clocksource tsc".into(),
            errors: 0,
            epoch: 0,
        },
        capture: CaptureInfo {
            seq: 7,
            tick: 10_000_000,
            unix_ns: 1_763_000_134_000_000_000,
            interval_ns: 100_000_000,
            reset_epoch: 1,
            since_reset_ns: 4_000_000,
            cost: Cost {
                lower_ns: 6.0,
                upper_ns: 19.0,
                publisher_cpu_ns: 1_000_000,
                publisher_share: 0.001,
            },
            ..CaptureInfo::default()
        },
        ..Snapshot::default()
    }
}

/// [`two_threads`] with instrumented functions. Two of them are off because of the budget; the first was already over
/// the budget in an earlier run.
pub fn over_budget() -> Snapshot {
    let mut s = two_threads();
    s.measuring.off_sites = vec![SiteId(1), SiteId(2)];
    let over = |site, cost_share, learned| OverBudget {
        site: SiteId(site),
        mean_ns: 85.4,
        cost_share,
        learned,
    };
    s.functions = Some(Functions {
        known: 40,
        on: 38,
        returned: 502,
        budget: 0.05,
        cost_share: 0.031,
        call_ns: 31.5,
        over_budget: vec![over(1, 0.121, true), over(2, 0.042, false)],
        ..Functions::default()
    });
    s
}

/// [`two_threads`] with waiting time in rows 1 and 5, and ready time in row 2.
pub fn waiting() -> Snapshot {
    let mut s = two_threads();
    s.waits = true;
    s.measures.push_row(Quantity::Waiting, 1, 1_500_000);
    s.measures.push_row(Quantity::Waiting, 5, 400_000);
    s.measures.push_row(Quantity::Ready, 2, 250_000);
    s.measures.push_outside(Quantity::Waiting, 0, 300);
    s.waits_in = WaitsIn::new(
        [
            (1, "futex", 71),
            (1, "fsync", 20),
            (1, "read", 9),
            (5, "futex", 12),
        ],
        [(0, Now::In("futex")), (1, Now::Ready), (2, Now::Running)],
    );
    s
}

/// [`two_threads`] with allocations in rows 1, 2 and 5, and with some in the second thread outside any scope.
pub fn allocating() -> Snapshot {
    let mut s = two_threads();
    for (row, allocations) in [(1, 3), (2, 40), (5, 7)] {
        s.measures.push_row(Quantity::Allocations, row, allocations);
        s.measures
            .push_row(Quantity::AllocatedBytes, row, 100 * allocations);
    }
    s.measures.push_outside(Quantity::Allocations, 1, 11);
    s
}

/// Returns a service with two threads. Its handlers run queries, which wait in an await named `db.lock` or in an
/// unnamed one. Waiting inside a query also blocks the executor thread.
pub fn serving() -> Snapshot {
    let mut s = base();
    s.waits = true;
    s.sites = vec![
        site("shop::server", "handler", 10),
        site("shop::db", "query", 20),
        site("shop::db", "db.lock", 24),
        site("shop::server", "parse", 40),
    ]
    .into();
    let ms = 2_500_000;
    for (name, calls) in [("tokio-0", 60), ("tokio-1", 40)] {
        let first_row = s.nodes.len() as u32;
        let handler = s.nodes.push(None, SiteId(0), calls, calls * ms / 50);
        let parse = s.nodes.push(Some(handler), SiteId(3), calls, calls * ms / 100);
        let query = s.nodes.push(Some(parse), SiteId(1), calls, calls * ms / 4);
        let locks = calls - 1;
        let lock = s.nodes.push(Some(query), SiteId(2), locks, calls * ms / 500);
        // Twenty calls are in flight: 15 in one thread, 5 in the other.
        let ended = if name == "tokio-0" { calls - 15 } else { calls - 5 };
        for (node, calls, cancelled, wall_ms, polls) in [
            (handler, calls, 2, 22, 3),
            (query, calls, 1, 20, 3),
            (lock, locks, 1, 15, 2),
        ] {
            let elapsed = ended * wall_ms * ms;
            for (quantity, value) in [
                (Quantity::Polls, calls * polls),
                (Quantity::FutureEnds, ended - cancelled),
                (Quantity::FutureCancels, cancelled),
                (Quantity::FutureTime, elapsed),
                (Quantity::InFlight, calls - ended),
            ] {
                s.measures.push_row(quantity, node.0, value);
            }
            let mut latency = Histogram::default();
            for call in 0..ended {
                latency.insert(wall_ms * ms / 2 + call * wall_ms * ms / ended);
            }
            s.async_latencies.push(node.0, &latency);
            let mut latency = Histogram::default();
            (0..calls * polls).for_each(|poll| latency.insert(20_000 + poll));
            s.latencies.push(node.0, &latency);
        }
        s.measures.push_row(Quantity::Waiting, query.0, calls * ms / 8);
        s.measures
            .push_row(Quantity::ScheduledTime, handler.0, calls * ms / 20);
        s.measures.push_row(Quantity::ScheduledPolls, handler.0, calls);
        s.threads.push(Thread {
            name: name.into(),
            tid: 41_877 + first_row,
            state: ThreadState::Idle,
            count: 1,
            cpu_ns: Some(40_000_000),
            outside_ticks: 500,
            first_row,
            rows: 4,
            open: Vec::new(),
        });
    }
    let path = |parent, site, in_flight, innermost, oldest_ms: u64| TaskPath {
        parent,
        site: SiteId(site),
        names_await: site == 2,
        in_flight,
        polled: u64::from(site == 0),
        innermost,
        oldest_ns: oldest_ms * 1_000_000,
        innermost_oldest_ns: if innermost > 0 { oldest_ms * 1_000_000 } else { 0 },
    };
    s.tasks.paths = vec![
        path(NO_PARENT, 0, 20, 0, 2_100),
        path(0, 1, 20, 2, 2_000),
        path(1, 2, 18, 18, 1_900),
    ];
    for (at, path) in s.tasks.paths.iter().enumerate() {
        let mut ages = Histogram::default();
        (1..=path.in_flight).for_each(|call| ages.insert(call * path.oldest_ns * 5 / 2 / path.in_flight));
        s.tasks.ages.push(at as u32, &ages);
    }
    with_lifetime(s)
}

/// Returns a program with two worker threads, which have identical trees and open calls, and a main thread that has
/// ended.
pub fn two_threads() -> Snapshot {
    let mut s = base();
    s.sites = vec![
        site("order_book", "worker", 10),
        site("order_book::book", "insert", 20),
        site("order_book::book", "Tree::rebalance", 30),
        site("order_book", "main", 5),
    ]
    .into();
    for name in ["match-0", "match-1"] {
        let first_row = s.nodes.len() as u32;
        let worker = s.nodes.push(None, SiteId(0), 1, 1_000_001);
        let insert = s.nodes.push(Some(worker), SiteId(1), 400, 2_000_003);
        let _ = s.nodes.push(Some(insert), SiteId(2), 100, 3_000_002);
        s.threads.push(Thread {
            name: name.into(),
            tid: 41_877 + first_row,
            state: ThreadState::Running,
            count: 1,
            cpu_ns: Some(2_000_000),
            outside_ticks: 500,
            first_row,
            rows: 3,
            open: vec![open(worker.0, 1_000_000), open(insert.0, 9_000_000)],
        });
    }
    let first_row = s.nodes.len() as u32;
    let main = s.nodes.push(None, SiteId(3), 2, 250_000);
    s.errors.push(NodeErrors { node: main, count: 2 });
    s.clock.errors = 2;
    s.threads.push(Thread {
        name: "main".into(),
        count: 1,
        state: ThreadState::Finished,
        first_row,
        rows: 1,
        ..Thread::default()
    });
    with_lifetime(s)
}

/// Returns a program that draws frames. Of 6000 frames, 30 are slow: 20 of them call `lookup` 600 times instead of 6
/// times, 8 wait in `flush`, and 2 wait for a CPU. Two of the slow frames are recorded in full.
pub fn slow_frames() -> Snapshot {
    let us = |us: u64| us * 2_500;
    let mut s = base();
    s.waits = true;
    s.sites = vec![
        site("game", "draw_frame", 10),
        site("game::scene", "parse", 20),
        site("game::scene", "lookup", 30),
        site("game::disk", "flush", 40),
    ]
    .into();
    let frame = s.nodes.push(None, SiteId(0), 6_000, 6_000 * us(20));
    let _ = s.nodes.push(Some(frame), SiteId(1), 6_000, 6_000 * us(400));
    let _ = s.nodes.push(Some(frame), SiteId(2), 53_820, 53_820 * us(5));
    let _ = s
        .nodes
        .push(Some(frame), SiteId(3), 6_000, 6_000 * us(60) + 8 * us(8_000));
    s.threads.push(Thread {
        name: "main".into(),
        tid: 41_873,
        state: ThreadState::Running,
        count: 1,
        rows: 4,
        ..Thread::default()
    });
    let (typical, slow) = (5_970, 30);
    let sums = |calls: u64, ticks: u64, waiting: u64, ready: u64| PathSums {
        calls,
        ticks,
        waiting,
        ready,
        ..PathSums::default()
    };
    let path = |parent: u32, site: u32, typical, slow| WatchedPath {
        parent,
        site: SiteId(site),
        typical,
        slow,
    };
    let mut trace = Trace::default();
    trace.push(0, us(7), Then::Enter);
    trace.push(1, us(401), Then::Exit);
    for _ in 0..600 {
        trace.push(0, us(1) / 50, Then::Enter);
        trace.push(2, us(5), Then::Exit);
    }
    trace.push(0, us(4), Then::Enter);
    trace.push(3, us(58), Then::Exit);
    trace.push(0, us(2), Then::Exit);
    trace.keys = vec!["frame".into()];
    trace.notes.push(Note {
        step: 1,
        key: 0,
        value: "4711".into(),
    });
    let exemplar = |number: u64, ticks: u64, cause, trace| Exemplar {
        number,
        is_longest: true,
        began_unix_ns: 1_763_000_100_000_000_000 + number * 3_141_592_653,
        ticks,
        thread: "main".into(),
        tid: 41_873,
        cause: Some(cause),
        trace,
    };
    let mut waiting = Trace::default();
    waiting.push(0, us(7), Then::Enter);
    waiting.push(1, us(403), Then::Exit);
    waiting.push(0, us(4), Then::Enter);
    waiting.push(3, us(8_060), Then::Exit);
    waiting.push(0, us(2), Then::Exit);
    waiting.off_cpu = vec![(3, us(8_001), 0)];
    let length = |trace: &Trace| trace.ticks.iter().sum::<u64>();
    let cause = |path: u32, kind, calls: u64, excess_ticks: u64, path_calls: u64| CauseSum {
        path,
        kind,
        calls,
        excess_ticks,
        path_calls,
    };
    s.watches = vec![Watch {
        function: "draw_frame".into(),
        over: Over::Tail,
        number: 1,
        began_unix_ns: 1_763_000_090_000_000_000,
        state: WatchState::Watching,
        threshold_ticks: us(1_900),
        lost: LostCalls::default(),
        paths: vec![
            path(
                NO_PARENT,
                0,
                sums(typical, typical * us(20), 0, 0),
                sums(slow, slow * us(20) + 2 * us(5_000), 0, 2 * us(5_000)),
            ),
            path(
                0,
                1,
                sums(typical, typical * us(400), 0, 0),
                sums(slow, slow * us(400), 0, 0),
            ),
            path(
                0,
                2,
                sums(typical * 6, typical * 6 * us(5), 0, 0),
                sums(20 * 600 + 10 * 6, (20 * 600 + 10 * 6) * us(5), 0, 0),
            ),
            path(
                0,
                3,
                sums(typical, typical * us(60), 0, 0),
                sums(slow, slow * us(60) + 8 * us(8_000), 8 * us(8_000), 0),
            ),
        ],
        causes: vec![
            cause(2, CauseKind::Calls, 20, 20 * us(2_970), 20 * 600),
            cause(3, CauseKind::Waiting, 8, 8 * us(8_000), 8),
            cause(0, CauseKind::Ready, 2, 2 * us(5_000), 2),
        ],
        exemplars: vec![
            exemplar(7, length(&waiting), (3, CauseKind::Waiting), Some(waiting)),
            exemplar(3, length(&trace), (2, CauseKind::Calls), Some(trace)),
        ],
    }];
    with_lifetime(s)
}

/// Returns the program of [`slow_frames`] with samples of the program counter: in several lines of one function, in
/// functions that it calls, outside any scope and in the collector.
pub fn sampled() -> Snapshot {
    let mut s = slow_frames();
    let module = |path: &str| Module {
        path: path.into(),
        build_id: vec![0xab, 0xcd],
    };
    let sample = |inside, module, address, samples| LineSample {
        inside,
        module,
        address,
        samples,
        cpu_ns: samples * 4_000_000,
    };
    s.lines = Lines {
        state: LinesState::On(27),
        asked_hz: 1_000,
        modules: vec![
            module("/home/x/target/release/game"),
            module("/usr/lib/libc.so.6"),
        ],
        lost: Sampled {
            samples: 3,
            cpu_ns: 12_000_000,
        },
        ..Lines::default()
    };
    // Typical values for a CPU on which clock reads wait for earlier loads.
    s.drains_ns = Some(231.5);
    s.seen_cost = Some(SeenCost {
        looks: 40,
        ns: 80_000_000.0,
    });
    // For each `n` from 1 to 14, address `n` has `n` samples.
    let first_row = |site| {
        let row = s.nodes.site.iter().position(|&of| of == site);
        SampledIn::Row(row.unwrap_or(0) as u32)
    };
    let (first, second, third) = (first_row(0), first_row(1), first_row(2));
    s.lines
        .set((1..=14).map(|line| sample(first, 0, line, line)).chain([
            sample(first, 0, 20, 5),
            sample(first, 0, 30, 20),
            sample(second, 0, 40, 19),
            sample(third, NO_MODULE, 9, 1),
            sample(SampledIn::Measuring, 0, 50, 1),
            sample(SampledIn::Thread(0), 1, 60, 100),
        ]));
    s
}

/// Returns a tree with three nested calls of `fib`.
pub fn recursion() -> Snapshot {
    let mut s = base();
    s.sites = vec![site("app", "fib", 3), site("app", "main", 9)].into();
    let main = s.nodes.push(None, SiteId(1), 1, 50);
    let mut parent: NodeId = main;
    for calls in [1, 2, 4] {
        parent = s.nodes.push(Some(parent), SiteId(0), calls, 200);
    }
    s.threads.push(Thread {
        name: "main".into(),
        tid: 7,
        count: 1,
        rows: 4,
        ..Thread::default()
    });
    with_lifetime(s)
}

/// Returns a tree in which `even` and `odd` call each other, `even` calls a leaf, and `main` also calls `odd`.
pub fn mutual_recursion() -> Snapshot {
    let mut s = recursion();
    s.sites[0].name = "even".into();
    for name in ["odd", "leaf"] {
        let mut site = s.sites[0].clone();
        site.name = name.into();
        s.sites.push(site);
    }
    s.nodes = Default::default();
    let main = s.nodes.push(None, SiteId(1), 1, 10);
    let even = s.nodes.push(Some(main), SiteId(0), 2, 100);
    let odd = s.nodes.push(Some(even), SiteId(2), 3, 50);
    let inner = s.nodes.push(Some(odd), SiteId(0), 4, 30);
    let _ = s.nodes.push(Some(inner), SiteId(3), 5, 7);
    let deeper = s.nodes.push(Some(inner), SiteId(2), 6, 3);
    let _ = s.nodes.push(Some(deeper), SiteId(3), 1, 1);
    let _ = s.nodes.push(Some(main), SiteId(2), 1, 20);
    s.threads[0].rows = 8;
    s
}
