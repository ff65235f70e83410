//! A made-up program whose counts and times grow with its age. Tests of golden screens and live tests both use it.

use tickscope_format::Snapshot;
use tickscope_format::ids::{NodeId, SiteId, ThreadId};
use tickscope_format::latency::{Histogram, Latencies, bucket_of, lower_edge};
use tickscope_format::snapshot::{
    CaptureInfo, ClockInfo, ClockSource, Cost, LIVE_SAMPLE_BYTES, Lifetime, Mode, Now, Process, Quantity,
    Site, Thread, ThreadState, WaitsIn,
};

use crate::fixture;

/// Start of the program: 2026-11-20 14:00:00 UTC.
pub const STARTED_UNIX_NS: u64 = 1_795_183_200_000_000_000;

const SITES: [(&str, &str, &str, u32); 15] = [
    ("orderbook_sim::engine::match", "run", "engine/src/run", 8),
    ("orderbook_sim::engine::match", "step", "engine/src/step", 30),
    ("orderbook_sim::book", "apply", "book/src/lib", 41),
    ("orderbook_sim::book", "insert", "book/src/lib", 97),
    ("orderbook_sim::book::tree", "rebalance", "book/src/tree", 212),
    ("orderbook_sim::alloc", "slab_get", "alloc/src/slab", 71),
    ("orderbook_sim::book", "cancel", "book/src/lib", 140),
    ("orderbook_sim::risk", "check", "risk/src/lib", 88),
    ("orderbook_sim::wire", "encode", "wire/src/en", 20),
    ("orderbook_sim::app::ingest", "run", "app/src/ingest", 14),
    ("orderbook_sim::wire", "decode", "wire/src/de", 17),
    ("orderbook_sim::wire", "checksum", "wire/src/crc", 9),
    ("orderbook_sim::queue", "push", "queue/src/spsc", 55),
    ("orderbook_sim", "main", "app/src/main", 5),
    ("orderbook_sim::stats", "publish", "app/src/stats", 12),
];

/// The rows of a matcher thread, as an average over the two matchers after 134 seconds: site, index of the parent in
/// this list, number of calls, and self time in milliseconds. The rows of the other threads have the same columns.
const MATCHER: [(u32, Option<usize>, u64, u64); 9] = [
    (0, None, 1, 1_560),
    (1, Some(0), 4_205_000, 5_700),
    (2, Some(1), 4_205_000, 17_100),
    (3, Some(2), 2_805_000, 11_450),
    (4, Some(3), 935_000, 20_650),
    (5, Some(3), 2_805_000, 3_415),
    (6, Some(2), 1_400_000, 8_250),
    (7, Some(1), 4_205_000, 23_000),
    (8, Some(1), 8_400_000, 9_500),
];
const INGEST: [(u32, Option<usize>, u64, u64); 4] = [
    (9, None, 1, 1_050),
    (10, Some(0), 8_410_000, 30_200),
    (11, Some(1), 8_410_000, 14_600),
    (12, Some(0), 8_410_000, 16_600),
];
const MAIN: [(u32, Option<usize>, u64, u64); 2] = [(13, None, 1, 20), (14, Some(0), 1_340, 4_270)];

/// Returns a snapshot of the program after it has run for `tenths` tenths of a second.
pub fn snapshot(tenths: u64) -> Snapshot {
    let age_ns = tenths * 100_000_000;
    let mut s = Snapshot {
        process: Process {
            name: "orderbook-sim".into(),
            pid: 41_873,
            started_unix_ns: STARTED_UNIX_NS,
            uptime_ns: age_ns,
            warnings: vec![],
            copies: vec![],
        },
        clock: ClockInfo {
            source: ClockSource::Monotonic,
            ticks_per_second: 1e9,
            reason: String::new(),
            errors: 0,
            epoch: 0,
        },
        capture: CaptureInfo {
            seq: tenths,
            tick: age_ns,
            unix_ns: STARTED_UNIX_NS + age_ns,
            interval_ns: 100_000_000,
            reset_epoch: 1,
            since_reset_ns: age_ns,
            viewers: 1,
            cost: Cost {
                lower_ns: 6.0,
                upper_ns: 19.0,
                publisher_cpu_ns: 1_000_000,
                publisher_share: 0.001,
            },
            // The default mode may time every call, and in this program it does.
            mode: Mode::USUAL,
            ..CaptureInfo::default()
        },
        sites: SITES
            .iter()
            .map(|&(module, name, file, line)| Site {
                name: name.into(),
                module: module.into(),
                file: format!("crates/{file}.rs"),
                line,
                group: String::new(),
            })
            .collect(),
        ..Snapshot::default()
    };
    // One of the two matchers does five eighths of the matching.
    grow(&mut s, "match-0", 41_877, &MATCHER, tenths * 5, 2, 4);
    grow(&mut s, "match-1", 41_878, &MATCHER, tenths * 3, 1, 4);
    grow(&mut s, "ingest", 41_876, &INGEST, tenths * 4, 1, 4);
    grow(&mut s, "main", 41_873, &MAIN, tenths * 4, 1, 4);
    s.measuring.histograms = true;
    s.latencies = latencies(&s);
    s.lifetime = Lifetime {
        calls: s.calls(),
        ticks: s.measured_ticks(),
    };
    s
}

/// Distribution of the durations of calls: the distance from the mean, in eighths of an octave, and the number of calls
/// per thousand at that distance. Most calls are shorter than the mean, and a few are much longer.
const SPREAD: [(i32, u64); 14] = [
    (-9, 4),
    (-7, 31),
    (-6, 72),
    (-5, 121),
    (-4, 170),
    (-3, 183),
    (-2, 147),
    (-1, 101),
    (0, 66),
    (2, 47),
    (5, 29),
    (9, 18),
    (15, 8),
    (22, 3),
];

/// Returns, for each row, how long its finished calls took. The maximum is known exactly only in every second row.
fn latencies(s: &Snapshot) -> Latencies {
    let mut out = Latencies::default();
    let totals = s.nodes.totals(&s.nodes.self_ticks);
    for (row, &total) in totals.iter().enumerate() {
        let calls = s.nodes.calls[row];
        // A thread's outermost scope has been called only once, and that call is still running.
        if calls < 2 {
            continue;
        }
        let mean = bucket_of(total / calls) as i32;
        let mut buckets: Vec<(u16, u64)> = SPREAD
            .iter()
            .map(|&(step, share)| ((mean + step).max(0) as u16, calls * share / 1_000))
            .filter(|&(_, count)| count > 0)
            .collect();
        buckets.dedup_by_key(|&mut (bucket, _)| bucket);
        if calls > 10_000 {
            buckets.push(((mean + 40) as u16, 1 + calls / 1_000_000));
        }
        let max_ticks = match buckets.last() {
            Some(&(highest, _)) if row % 2 == 0 => lower_edge(highest.into()),
            _ => 0,
        };
        out.push(row as u32, &Histogram { buckets, max_ticks });
    }
    out
}

fn grow(
    s: &mut Snapshot,
    name: &str,
    tid: u32,
    rows: &[(u32, Option<usize>, u64, u64)],
    parts: u64,
    open: usize,
    whole: u64,
) {
    let first_row = s.nodes.len() as u32;
    let mut ids: Vec<NodeId> = Vec::new();
    for &(site, parent, calls, self_ms) in rows {
        let grown = |n: u64| (u128::from(n) * u128::from(parts) / u128::from(whole * 1_340)) as u64;
        let calls = if calls == 1 { 1 } else { grown(calls) };
        ids.push(s.nodes.push(
            parent.map(|at| ids[at]),
            SiteId(site),
            calls,
            grown(self_ms * 1_000_000),
        ));
    }
    let open = ids
        .iter()
        .take(open)
        // Each frame begins one millisecond after its caller.
        .map(|&NodeId(row)| fixture::open(row, 1_000_000 * u64::from(row + 1 - first_row)))
        .collect();
    s.threads.push(Thread {
        name: name.into(),
        tid,
        state: ThreadState::Running,
        count: 1,
        cpu_ns: None,
        outside_ticks: s.capture.since_reset_ns / 5,
        first_row,
        rows: rows.len() as u32,
        open,
    });
    debug_assert_eq!(s.rows_of(ThreadId(s.threads.len() as u32 - 1)).len(), rows.len());
}

/// Returns the same program with allocations in all rows with an odd index: one allocation for every third call, each
/// of 48 bytes times the row's index.
pub fn allocating(tenths: u64) -> Snapshot {
    let mut s = snapshot(tenths);
    for row in (1..s.nodes.len() as u32).step_by(2) {
        let allocations = s.nodes.calls[row as usize] / 3;
        s.measures.push_row(Quantity::Allocations, row, allocations);
        let bytes = allocations * 48 * u64::from(row);
        s.measures.push_row(Quantity::AllocatedBytes, row, bytes);
        // A sixth of the bytes are still live. Live bytes are sampled, so rows that allocate little have none.
        if bytes > 6 * LIVE_SAMPLE_BYTES {
            s.measures.push_row(Quantity::LiveBytes, row, bytes / 6);
            let samples = bytes / 6 / LIVE_SAMPLE_BYTES;
            s.measures
                .push_row(Quantity::LiveVariance, row, samples * LIVE_SAMPLE_BYTES.pow(2));
        }
    }
    s.measures.push_outside(Quantity::Allocations, 2, 1_000);
    s
}

/// Returns the same program with waiting times: `check` spends most of its time waiting for a lock, `rebalance` is
/// ready to run but without a CPU for a tenth of its time, and `publish` only sleeps. At the moment of the snapshot,
/// `match-0` and `main` are waiting, `match-1` is running and `ingest` is ready.
pub fn waiting(tenths: u64) -> Snapshot {
    const PARTS: [(&str, Quantity, u64); 3] = [
        ("check", Quantity::Waiting, 80),
        ("rebalance", Quantity::Ready, 10),
        ("publish", Quantity::Waiting, 100),
    ];
    let mut s = snapshot(tenths);
    s.waits = true;
    for row in 0..s.nodes.len() as u32 {
        let name = &s.site_of(NodeId(row)).name;
        if let Some((_, quantity, percent)) = PARTS.into_iter().find(|(part, ..)| part == name) {
            let ticks = s.nodes.self_ticks[row as usize] * percent / 100;
            s.measures.push_row(quantity, row, ticks);
        }
    }
    let rows_of = |name: &str| -> Vec<u32> {
        let rows = 0..s.nodes.len() as u32;
        rows.filter(|&row| s.site_of(NodeId(row)).name == name).collect()
    };
    let locks = rows_of("check").into_iter().map(|row| (row, "futex", 9 * tenths));
    let reads = rows_of("check")
        .into_iter()
        .map(|row| (row, "read (pipe)", tenths));
    let sleeps = rows_of("publish")
        .into_iter()
        .map(|row| (row, "clock_nanosleep", 10 * tenths));
    let now = [
        Now::In("futex"),
        Now::Running,
        Now::Ready,
        Now::In("clock_nanosleep"),
    ];
    s.waits_in = WaitsIn::new(locks.chain(reads).chain(sleeps), (0..).zip(now));
    s
}
