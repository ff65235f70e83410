//! Snapshots for the tests of renderings: a program as people have it, hostile names, deep and random trees.

use proptest::prelude::*;

use tickscope_format::fixture;
use tickscope_format::ids::{NodeId, SiteId, ThreadId};
use tickscope_format::latency::{Histogram, bucket_of};
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{
    Count, Estimate, Lifetime, Mode, NodeErrors, Nodes, OpenFrame, Rule, Site, Sites, Snapshot, Thread,
    ThreadState,
};

/// What `fixture` says of process, clock and capture, with nothing measured.
pub(crate) fn empty() -> Snapshot {
    Snapshot {
        threads: vec![],
        sites: Sites::default(),
        nodes: Nodes::default(),
        errors: vec![],
        lifetime: Lifetime::default(),
        ..fixture::recursion()
    }
}

/// A thread whose rows are given as (depth, site, calls, self ticks) in the order of a walk.
fn add_thread(s: &mut Snapshot, name: &str, state: ThreadState, rows: &[(usize, u32, u64, u64)]) -> ThreadId {
    let first_row = s.nodes.len() as u32;
    let mut path: Vec<NodeId> = Vec::new();
    for &(depth, site, calls, self_ticks) in rows {
        path.truncate(depth);
        let id = s
            .nodes
            .push(path.last().copied(), SiteId(site), calls, self_ticks);
        path.push(id);
    }
    let id = s.threads.len() as u32;
    let finished = state == ThreadState::Finished;
    s.threads.push(Thread {
        name: name.into(),
        tid: if finished { 0 } else { s.process.pid + 1 + id },
        state,
        count: 1,
        cpu_ns: (!finished).then_some(1_000_000),
        outside_ticks: 2_500,
        first_row,
        rows: rows.len() as u32,
        open: vec![],
    });
    s.lifetime = Lifetime {
        calls: s.calls(),
        ticks: s.measured_ticks(),
    };
    ThreadId(id)
}

fn add_site(s: &mut Snapshot, module: &str, name: &str, file: &str, line: u32) {
    s.sites.push(Site {
        name: name.into(),
        module: module.into(),
        file: file.into(),
        line,
        group: String::new(),
    });
}

/// An order book simulation, 134 s after its reset: two matchers, an ingester, main, and finished helpers.
pub(crate) fn order_sim() -> Snapshot {
    const MS: u64 = 2_500_000;
    let mut s = empty();
    s.process.name = "orderbook-sim".into();
    s.process.uptime_ns = 7_511_000_000_000;
    s.capture.tick = 334_000 * MS;
    s.capture.since_reset_ns = 134_000_000_000;
    s.capture.cost.publisher_share = 0.0012;
    let sites = [
        ("orderbook_sim::engine::match", "run", "engine/src/run.rs", 8),
        ("orderbook_sim::engine::match", "step", "engine/src/step.rs", 30),
        ("orderbook_sim::book", "apply", "book/src/lib.rs", 41),
        ("orderbook_sim::book", "insert", "book/src/lib.rs", 97),
        ("orderbook_sim::book::tree", "rebalance", "book/src/tree.rs", 212),
        ("orderbook_sim::alloc", "slab_get", "alloc/src/slab.rs", 71),
        ("orderbook_sim::book", "cancel", "book/src/lib.rs", 140),
        ("orderbook_sim::risk", "check", "risk/src/lib.rs", 88),
        ("orderbook_sim::wire", "encode", "wire/src/en.rs", 20),
        ("orderbook_sim::ingest", "run", "app/src/ingest.rs", 14),
        ("orderbook_sim::wire", "decode", "wire/src/de.rs", 17),
        ("orderbook_sim::wire", "checksum", "wire/src/crc.rs", 9),
        ("orderbook_sim::queue", "push", "queue/src/spsc.rs", 55),
        ("orderbook_sim", "main", "app/src/main.rs", 5),
        ("orderbook_sim::stats", "publish", "app/src/stats.rs", 12),
    ];
    for (module, name, file, line) in sites {
        add_site(&mut s, module, name, file, line);
    }
    for (name, percent) in [("match-0", 62), ("match-1", 38)] {
        let part = |whole: u64| whole * percent / 100;
        let ms = |ms: u64| part(ms) * MS;
        let rows = [
            (0, 0, 1, ms(3_120)),
            (1, 1, part(8_410_000), ms(11_400)),
            (2, 2, part(8_410_000), ms(34_200)),
            (3, 3, part(5_610_000), ms(22_900)),
            (4, 4, part(1_870_000), ms(41_300)),
            (4, 5, part(5_610_000), ms(6_830)),
            (3, 6, part(2_800_000), ms(16_500)),
            (2, 7, part(8_410_000), ms(46_000)),
            (2, 8, part(16_800_000), ms(19_000)),
        ];
        let id = add_thread(&mut s, name, ThreadState::Running, &rows);
        let thread = &mut s.threads[id.index()];
        let frame = |row: u32, began_tick: u64| OpenFrame {
            node: NodeId(thread.first_row + row),
            began_tick,
        };
        thread.open = vec![
            frame(0, 334_000 * MS - ms(215_000)),
            frame(1, 334_000 * MS - 40_000),
            frame(2, 334_000 * MS - 30_100),
            frame(3, 334_000 * MS - 12_345),
        ];
    }
    let rows = [
        (0, 9, 1, 1_050 * MS),
        (1, 10, 8_410_000, 30_200 * MS),
        (2, 11, 8_410_000, 14_600 * MS),
        (1, 12, 8_410_000, 16_600 * MS),
    ];
    let _ = add_thread(&mut s, "ingest", ThreadState::Idle, &rows);
    let rows = [(0, 13, 1, 20 * MS), (1, 14, 1_340, 4_270 * MS)];
    let id = add_thread(&mut s, "main", ThreadState::Paused, &rows);
    s.threads[id.index()].tid = s.process.pid;
    s.threads[id.index()].open = vec![OpenFrame {
        node: NodeId(22),
        began_tick: 334_000 * MS - 134_000 * MS,
    }];
    let id = add_thread(&mut s, "helper", ThreadState::Finished, &[(0, 14, 12, 5 * MS)]);
    s.threads[id.index()].count = 17;
    s
}

/// The same with histograms: every tenth call took half as long as the others, one in fifty six times. Of rows
/// with an odd number the longest call is not known exactly.
pub(crate) fn order_sim_with_latencies() -> Snapshot {
    let mut s = order_sim();
    s.measuring.histograms = true;
    let totals = s.nodes.totals(&s.nodes.self_ticks);
    for (row, (&calls, &total)) in s.nodes.calls.iter().zip(&totals).enumerate() {
        if calls < 100 {
            continue;
        }
        let mean = total / calls;
        let bucket = |ticks: u64| bucket_of(ticks) as u16;
        let (short, long) = (calls / 10, calls / 50);
        let histogram = Histogram {
            buckets: vec![
                (bucket(mean / 2), short),
                (bucket(mean), calls - short - long),
                (bucket(mean * 6), long),
            ],
            max_ticks: if row % 2 == 0 { mean * 6 } else { 0 },
        };
        s.latencies.push(row as u32, &histogram);
    }
    s
}

/// The same in adaptive mode: one of 64 calls of the short leaves was timed, the time of the others comes from their
/// parents. Measuring is dear on this machine.
pub(crate) fn order_sim_adaptive() -> Snapshot {
    let mut s = order_sim_with_latencies();
    s.capture.mode = Mode::Adaptive;
    s.capture.cost.upper_ns = 400.0;
    for row in 0..s.nodes.len() {
        let is_leaf = !s.nodes.parent.contains(&(row as u32));
        let (calls, ticks) = (s.nodes.calls[row], s.nodes.self_ticks[row]);
        if is_leaf && calls > 1_000_000 {
            let estimate = |row: u32, timed: u64, total_error: u64| Estimate {
                node: NodeId(row),
                timed,
                self_error: ticks / 100,
                total_error,
            };
            let parent = s.nodes.parent[row];
            s.estimates
                .push(estimate(parent, s.nodes.calls[parent as usize], 0));
            s.estimates.push(estimate(row as u32, calls / 64, ticks / 100));
        }
    }
    s.estimates.sort_by_key(|estimate| estimate.node);
    s.estimates.dedup_by_key(|estimate| estimate.node);
    s
}

/// The same in sampled mode, with two sites switched off.
pub(crate) fn order_sim_sampled() -> Snapshot {
    let mut s = order_sim();
    s.capture.mode = Mode::Sampled;
    s.measuring.sampling_hz = 996.4;
    s.measuring.samples = 133_518;
    let totals = s.nodes.totals(&s.nodes.self_ticks);
    let error = |ticks: u64| (ticks as f64 * 2_500_000.0).sqrt() as u64;
    s.estimates = (0..s.nodes.len())
        .map(|row| Estimate {
            node: NodeId(row as u32),
            timed: 0,
            self_error: error(s.nodes.self_ticks[row]),
            total_error: error(totals[row]),
        })
        .collect();
    switch_off(&mut s, "wire::*");
    s
}

/// Puts a rule in force.
pub(crate) fn switch_off(s: &mut Snapshot, pattern: &str) {
    let chosen = Pattern::new(pattern).unwrap();
    s.measuring.rules.push(Rule {
        pattern: pattern.into(),
        off: true,
    });
    let sites = (0..).zip(&s.sites);
    s.measuring.off_sites = sites
        .filter(|(_, site)| chosen.matches(site))
        .map(|(index, _)| SiteId(index))
        .collect();
}

/// The same in mode off.
pub(crate) fn off() -> Snapshot {
    let mut s = empty();
    s.capture.mode = Mode::Off;
    s
}

/// Names that lie, two functions that look the same, errors, losses and warnings.
pub(crate) fn hostile() -> Snapshot {
    let mut s = empty();
    s.process.name = "evil\u{1b}[2J\nname".into();
    s.process.warnings = vec![
        "TICKSCOPE_MODE=\"fast\" is none of exact; exact holds".into(),
        "two\nlines".into(),
    ];
    s.clock.errors = 3;
    s.clock.reason = "the kernel's clocksource is »hpet«".into();
    s.capture.dropped = 12;
    s.capture.unbalanced = 4;
    let far = "/home/me/.cargo/registry/src/some-registry-0123/serde-1.0/src/lib.rs";
    add_site(&mut s, "one::book", "insert", "one/src/book.rs", 1);
    add_site(&mut s, "two::book", "insert", "two/src/book.rs", 1);
    add_site(&mut s, "app", "line\nbreak", "src/\u{202e}sr.main", 7);
    add_site(&mut s, "app", "größe", far, 70);
    add_site(&mut s, "app", &format!("{}end", "long_".repeat(40)), "", 0);
    let rows = [
        (0, 0, 1, 1_000),
        (1, 1, 2, 500),
        (1, 2, 2, 500),
        (2, 3, 0, 0),
        (1, 4, 5, 40),
    ];
    let id = add_thread(&mut s, "wor\u{202e}ker", ThreadState::Running, &rows);
    s.threads[id.index()].open = vec![OpenFrame {
        node: NodeId(0),
        began_tick: u64::MAX,
    }];
    let error = |row, count| NodeErrors {
        node: NodeId(row),
        count,
    };
    s.errors = vec![error(0, 1), error(4, 2)];
    s
}

/// Names with all that a format may stumble over, each at a row of its own that took 1 000 ticks and more.
pub(crate) fn stumbling() -> Snapshot {
    let mut s = empty();
    s.process.name = "a \"b\";\tc\n<script>".into();
    let long = "wide 漢字 ".repeat(900);
    let names = [
        "\"quoted\" and 'single'",
        "semi;colon, comma",
        "two\nlines\r\n",
        "tab\there",
        "<script>alert(1)</script>",
        "漢字 größe 👩\u{200d}🚀",
        "(3) looks like a number",
        "round 12",
        "fn=(1) calls=3 4",
        "",
        long.as_str(),
    ];
    for (line, name) in (1..).zip(names) {
        add_site(&mut s, "app", name, "src/\"odd\"\nfile;.rs", line);
    }
    // A module that is empty, a file that is, and one function calling itself through another.
    add_site(&mut s, "", "", "", 0);
    let rows: Vec<_> = (0..names.len() as u32 + 1)
        .map(|site| (site as usize % 4, site, u64::from(site), 1_000 + u64::from(site)))
        .chain([(1, 3, 2, 500), (2, 0, 2, 250), (3, 3, 9, 125)])
        .collect();
    let _ = add_thread(&mut s, "wor;ker\n1", ThreadState::Running, &rows);
    let _ = add_thread(&mut s, "wor;ker\n1", ThreadState::Finished, &rows);
    s
}

/// One function calling itself `depth` deep.
pub(crate) fn deep(depth: usize) -> Snapshot {
    let mut s = empty();
    add_site(&mut s, "app", "dive", "src/main.rs", 3);
    let rows: Vec<_> = (0..depth).map(|depth| (depth, 0, 1, 2_500)).collect();
    let _ = add_thread(&mut s, "diver", ThreadState::Idle, &rows);
    s
}

/// The order book with some of its functions in groups, one below another of its group, and one group with a bad name.
pub(crate) fn order_sim_in_groups() -> Snapshot {
    let mut s = order_sim();
    for site in &mut s.sites {
        site.group = match site.name.as_str() {
            "insert" | "rebalance" | "cancel" | "apply" => "book",
            "encode" | "decode" => "wire",
            "publish" => "<b>,\"\u{202e}\n",
            _ => "",
        }
        .into();
    }
    s
}

/// Any snapshot whose columns keep their promises: parents first, threads contiguous, open paths downward.
pub(crate) fn any_snapshot() -> impl Strategy<Value = Snapshot> {
    let site = ("[ab\n\u{202e}ö]{0,3}(::[xy])?", "[fgµ<>: ]{1,4}");
    let row = (0usize..12, 0u32..8, 0u64..1_000, any_ticks());
    let thread = (
        "[a-c\u{7}]{0,2}",
        0u8..4,
        prop::collection::vec(row, 0..24),
        any::<bool>(),
    );
    (
        prop::collection::vec(site, 8),
        prop::collection::vec(thread, 0..5),
        prop::sample::select(vec![1e9, 2.5e9, 24e6, 3.187_654e9, 1e6]),
        any::<f64>(),
        prop::collection::vec((any::<prop::sample::Index>(), 1u64..9), 0..3),
        prop::collection::vec(prop::option::weighted(0.3, any_ticks()), 1..30),
    )
        .prop_map(|(sites, threads, ticks_per_second, cost, errors, sums)| {
            let mut s = empty();
            s.clock.ticks_per_second = ticks_per_second;
            s.capture.cost.lower_ns = cost;
            for (module, name) in sites {
                add_site(&mut s, &module, &name, "src/a.rs", 1);
            }
            for (name, state, mut rows, open) in threads {
                mend_depths(&mut rows);
                let state = [
                    ThreadState::Running,
                    ThreadState::Idle,
                    ThreadState::Paused,
                    ThreadState::Finished,
                ][usize::from(state)];
                let id = add_thread(&mut s, &name, state, &rows);
                if open && !rows.is_empty() {
                    let node = NodeId(s.threads[id.index()].first_row);
                    s.threads[id.index()].open = vec![OpenFrame { node, began_tick: 1 }];
                }
            }
            if !s.nodes.is_empty() {
                s.errors = errors
                    .into_iter()
                    .map(|(at, count)| NodeErrors {
                        node: NodeId(at.index(s.nodes.len()) as u32),
                        count,
                    })
                    .collect();
            }
            make_counters(&mut s, &sums);
            s
        })
}

/// Makes counters of rows, in turn where there is a sum, that have nothing below them and are not open.
fn make_counters(s: &mut Snapshot, sums: &[Option<u64>]) {
    for (row, &sum) in (0..s.nodes.len() as u32).zip(sums.iter().cycle()) {
        let node = NodeId(row);
        let mut open = s.threads.iter().flat_map(|thread| &thread.open);
        if let Some(sum) = sum
            && !s.nodes.parent.contains(&row)
            && !open.any(|frame| frame.node == node)
        {
            s.nodes.self_ticks[node.index()] = 0;
            s.counts.push(Count { node, sum });
        }
    }
    s.lifetime.ticks = s.measured_ticks();
}

/// The same program counting what it looks up and what it decodes.
pub(crate) fn order_sim_counting() -> Snapshot {
    let mut s = empty();
    s.process.name = "orderbook-sim".into();
    let sites = [
        ("orderbook_sim::ingest", "run", "app/src/ingest.rs", 14),
        ("orderbook_sim::wire", "decode", "wire/src/de.rs", 17),
        ("orderbook_sim::wire", "bytes", "wire/src/de.rs", 19),
        ("orderbook_sim::cache", "hit", "cache/src/lib.rs", 40),
        ("orderbook_sim::cache", "miss", "cache/src/lib.rs", 44),
    ];
    for (module, name, file, line) in sites {
        add_site(&mut s, module, name, file, line);
    }
    for (name, times) in [("ingest-0", 3), ("ingest-1", 1)] {
        let rows = [
            (0, 0, 1, 2_500_000 * times),
            (1, 1, 10_000 * times, 7_500_000 * times),
            (2, 2, 10_000 * times, 0),
            (2, 3, 9_000 * times, 0),
            (2, 4, 1_000 * times, 0),
        ];
        let id = add_thread(&mut s, name, ThreadState::Running, &rows);
        let first = s.threads[id.index()].first_row;
        for (row, sum) in [(2, 1_234_567), (3, 9_000), (4, 1_000)] {
            s.counts.push(Count {
                node: NodeId(first + row),
                sum: sum * times,
            });
        }
    }
    s
}

/// Zero, and every magnitude up to some hours of the slowest clock.
fn any_ticks() -> impl Strategy<Value = u64> {
    (any::<u64>(), 30u32..65).prop_map(|(n, shift)| n.checked_shr(shift).unwrap_or(0))
}

/// No row stands more than one level below the row before it.
fn mend_depths(rows: &mut [(usize, u32, u64, u64)]) {
    let mut deepest = 0;
    for row in rows {
        row.0 = row.0.min(deepest);
        deepest = row.0 + 1;
    }
}

/// Four threads with about this many rows together, most of them with a histogram, of a fiftieth as many functions.
pub(crate) fn large(rows: usize) -> Snapshot {
    let mut s = empty();
    s.measuring.histograms = true;
    // Few enough that many call themselves.
    let functions = (rows as u32 / 50).clamp(1, 1_000);
    for function in 0..functions {
        let module = format!("large::part_{}", function / 40);
        add_site(
            &mut s,
            &module,
            &format!("function_{function}"),
            "src/part.rs",
            function,
        );
    }
    // A fixed sequence (Knuth's MMIX): the same snapshot every time.
    let mut state = 1u64;
    let mut next = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for thread in 0..4 {
        let mut deepest = 0;
        let walk: Vec<_> = (0..rows / 4)
            .map(|_| {
                let depth = deepest.min(next(14) as usize);
                deepest = depth + 1;
                (
                    depth,
                    next(functions.into()) as u32,
                    1 + next(100_000),
                    next(1 << 30),
                )
            })
            .collect();
        let _ = add_thread(&mut s, &format!("worker-{thread}"), ThreadState::Running, &walk);
    }
    for row in 0..s.nodes.len() as u32 {
        let mut histogram = Histogram::default();
        for _ in 0..next(12) {
            histogram.insert(1 << (4 + next(20)));
        }
        s.latencies.push(row, &histogram);
    }
    s
}
