//! The target `derive`: makes snapshots as varied as a decoder allows, and runs operations on one or two of them.

use tickscope_format::Snapshot;
use tickscope_format::codec;
use tickscope_format::ids::{NO_PARENT, NodeId, SiteId};
use tickscope_format::latency::{Histogram, Packed};
use tickscope_format::snapshot::{
    CaptureKind, CauseKind, CauseSum, ClockSource, Estimate, Exemplar, Extremes, Level, LineSample, Mode,
    Module, NO_MODULE, NodeErrors, Note, Now, OpenFrame, PathSums, Quantity, Rule, SampledIn, Site, Tally,
    TaskPath, Thread, ThreadState, Trace, TraceGap, WaitsIn, Watch, WatchState, WatchedPath,
};

use super::follow::follow;
use super::input::Input;

/// Makes two snapshots from the input and runs an operation on them.
pub(crate) fn run(input: &[u8]) {
    let mut input = Input(input);
    let which = usize::from(input.byte());
    let one = snapshot(&mut input);
    let other = match input.byte() {
        0..=63 => snapshot(&mut input),
        _ => later(&one, &mut input),
    };
    let pair = [one, other].map(|snapshot| {
        let mut payload = Vec::new();
        codec::encode(&snapshot, &mut payload).ok()?;
        codec::decode(&payload).ok()
    });
    if let [Some(one), Some(other)] = pair {
        follow(&one, &other, which);
    }
}

/// Returns a snapshot of arbitrary shape. Decoders accept most of these snapshots.
pub(crate) fn snapshot(input: &mut Input) -> Snapshot {
    let mut s = Snapshot::default();
    s.process.name = input.text();
    s.process.pid = input.number() as u32;
    s.process.started_unix_ns = input.number();
    s.process.uptime_ns = input.number();
    s.process.warnings = (0..input.below(3)).map(|_| input.text()).collect();
    s.clock.source = [
        ClockSource::Tsc,
        ClockSource::TscOrdered,
        ClockSource::Monotonic,
        ClockSource::Custom,
    ][input.below(4)];
    s.clock.ticks_per_second = input.float();
    s.clock.errors = input.number();
    let capture = &mut s.capture;
    capture.mode = Mode::ALL[input.below(4)];
    capture.kind = [CaptureKind::Periodic, CaptureKind::Closing, CaptureKind::Final][input.below(3)];
    for number in [
        &mut capture.seq,
        &mut capture.tick,
        &mut capture.unix_ns,
        &mut capture.interval_ns,
        &mut capture.since_reset_ns,
        &mut capture.pruned,
        &mut capture.losses.dropped,
        &mut capture.losses.unbalanced,
        &mut capture.cost.publisher_cpu_ns,
    ] {
        *number = input.number();
    }
    capture.reset_epoch = u64::from(input.byte() / 128);
    capture.cost.lower_ns = input.float();
    capture.cost.upper_ns = input.float();
    capture.cost.publisher_share = input.float();
    (s.lifetime.calls, s.lifetime.ticks) = (input.number(), input.number());
    s.measuring.histograms = input.byte() & 1 != 0;
    s.measuring.sampling_hz = input.float();
    s.measuring.samples = input.number();
    s.measuring.rules = (0..input.below(3))
        .map(|_| Rule {
            pattern: input.text(),
            off: input.byte() & 1 != 0,
        })
        .collect();
    s.window = input.byte() > 200;
    for _ in 0..1 + input.below(5) {
        let group = match input.byte() > 128 {
            true => input.text(),
            false => String::new(),
        };
        let line = input.number() as u32;
        s.sites.push(Site {
            name: input.text(),
            module: input.text(),
            file: input.text(),
            line,
            group,
        });
    }
    if input.byte() > 200 {
        s.measuring
            .off_sites
            .push(SiteId(input.below(s.sites.len()) as u32));
    }
    for _ in 0..input.below(4) {
        thread(&mut s, input);
    }
    facts_of_rows(&mut s, input);
    if !input.is_empty() {
        measures(&mut s, input);
        calls_of_futures(&mut s, input);
    }
    for _ in 0..input.below(3) {
        let watch = watch(s.sites.len(), input);
        s.watches.push(watch);
    }
    lines(&mut s, input);
    s
}

/// Adds samples of the program counter.
fn lines(s: &mut Snapshot, input: &mut Input) {
    s.lines.modules = vec![Module::default(); input.below(3)];
    for _ in 0..input.below(4) {
        let (rows, threads) = (s.nodes.len(), s.threads.len());
        let place = input.below(rows + threads + 1);
        let inside = match place {
            row if row < rows => SampledIn::Row(row as u32),
            thread if thread < rows + threads => SampledIn::Thread((thread - rows) as u32),
            _ => SampledIn::Measuring,
        };
        let module = input.below(s.lines.modules.len() + 1) as u32;
        s.lines.samples.push(LineSample {
            inside,
            module: if module == 0 { NO_MODULE } else { module - 1 },
            address: input.number(),
            samples: input.number(),
            cpu_ns: input.number(),
        });
    }
    s.lines.samples.sort_unstable();
    s.lines.samples.dedup_by_key(|sample| sample.place());
}

/// Adds measures to rows and threads. Most of them are consistent, but some are not.
fn measures(s: &mut Snapshot, input: &mut Input) {
    s.waits = input.byte() & 1 != 0;
    for _ in 0..input.below(5) {
        let quantity = Quantity::ALL[input.below(Quantity::ALL.len())];
        // The new column keeps the old values and adds a few.
        let mut column = s.measures.of(quantity).cloned().unwrap_or_default();
        for (values, length) in [
            (&mut column.rows, s.nodes.len()),
            (&mut column.outside, s.threads.len()),
        ] {
            let every = 1 + input.below(4);
            let more = (0..length as u32).step_by(every);
            let more: Vec<(u32, u64)> = more.map(|index| (index, input.number())).collect();
            if input.byte() < 200 {
                values.extend(more.into_iter().filter(|&(_, value)| value > 0));
                values.sort_by_key(|&(index, _)| index);
                values.dedup_by_key(|(index, _)| *index);
            } else {
                // Makes the column invalid: rows out of order, rows that do not exist, and zeros.
                values.extend(more);
                values.push((input.number() as u32, 0));
            }
        }
        s.measures.set(quantity, column);
    }
}

/// Returns a watch, most of whose parts are consistent.
fn watch(sites: usize, input: &mut Input) -> Watch {
    let count = input.below(6) as u32;
    let paths = (0..count)
        .map(|index| WatchedPath {
            parent: match input.byte() {
                byte if byte < 250 && index > 0 => input.below(index as usize) as u32,
                250.. => index,
                _ => NO_PARENT,
            },
            site: SiteId(input.below(sites) as u32),
            typical: path_sums(input),
            slow: path_sums(input),
        })
        .collect();
    // Index of a path; if the watch has no paths, index 0 is invalid.
    let path = |input: &mut Input| input.below(count as usize + 1).saturating_sub(1) as u32;
    let kind = |input: &mut Input| CauseKind::ALL[input.below(CauseKind::ALL.len())];
    Watch {
        function: input.text(),
        number: input.number(),
        state: [
            WatchState::Watching,
            WatchState::NoTail,
            WatchState::Learning(input.number()),
            WatchState::NoFunction,
        ][input.below(4)],
        threshold_ticks: input.number(),
        paths,
        causes: (0..input.below(4))
            .map(|_| CauseSum {
                path: path(input),
                kind: kind(input),
                calls: input.number(),
                excess_ticks: input.number(),
                path_calls: input.number(),
            })
            .collect(),
        exemplars: (0..input.below(3))
            .map(|_| Exemplar {
                number: input.number(),
                is_longest: input.byte() & 1 != 0,
                began_unix_ns: input.number(),
                ticks: input.number(),
                thread: input.text(),
                cause: (input.byte() > 50).then(|| (path(input), kind(input))),
                trace: (input.byte() > 50).then(|| trace(path, input)),
                ..Exemplar::default()
            })
            .collect(),
        ..Watch::default()
    }
}

fn path_sums(input: &mut Input) -> PathSums {
    let ticks = input.number();
    let part = |part: u8| (u128::from(ticks) * u128::from(part) / 510) as u64;
    PathSums {
        calls: input.number(),
        ticks,
        waiting: part(input.byte()),
        ready: part(input.byte()),
        allocations: input.number(),
        allocated_bytes: input.number(),
    }
}

fn trace(path: impl Fn(&mut Input) -> u32, input: &mut Input) -> Trace {
    let mut trace = Trace::default();
    let steps = input.below(12);
    for step in 0..steps {
        trace.path.push(path(input));
        let ticks = input.number();
        trace.ticks.push(ticks);
        trace.then.push(input.below(4) as u8);
        if input.byte() > 200 {
            trace.off_cpu.push((step as u32, ticks / 2, ticks / 3));
        }
        if input.byte() > 200 {
            trace.keys = vec![input.text()];
            trace.notes.push(Note {
                step: step as u32,
                key: 0,
                value: input.text(),
            });
        }
    }
    trace.gap = (input.byte() > 200).then(|| TraceGap {
        step: input.below(steps + 1) as u32,
        steps: input.number(),
        ticks: input.number(),
    });
    trace
}

/// Adds futures in flight, on paths whose parents mostly precede them, and wall times of rows.
fn calls_of_futures(s: &mut Snapshot, input: &mut Input) {
    for index in 0..input.below(6) as u32 {
        let parent = match input.byte() {
            0..=99 => NO_PARENT,
            100..=239 if index > 0 => input.below(index as usize) as u32,
            // The parent is the path itself, a later path, or a missing path.
            _ => index + input.below(3) as u32,
        };
        let in_flight = input.number();
        let part = |part: u8| (u128::from(in_flight) * u128::from(part) / 200) as u64;
        s.tasks.paths.push(TaskPath {
            parent,
            site: SiteId(input.below(s.sites.len() + usize::from(parent > index)) as u32),
            names_await: input.byte() & 1 != 0,
            in_flight,
            polled: part(input.byte()),
            innermost: part(input.byte()),
            oldest_ns: input.number(),
            innermost_oldest_ns: input.number(),
        });
        if input.byte() > 100 {
            let ages = histogram(input);
            s.tasks.ages.push(index, &ages);
        }
    }
    s.tasks.beyond = input.number();
    for row in 0..s.nodes.len() as u32 {
        if input.byte() > 150 {
            let wall = histogram(input);
            s.async_latencies.push(row, &wall);
        }
    }
}

fn histogram(input: &mut Input) -> Histogram {
    let mut histogram = Histogram {
        buckets: Vec::new(),
        max_ticks: input.number(),
    };
    let mut bucket = input.below(512) as u16;
    for _ in 0..1 + input.below(3) {
        histogram.buckets.push((bucket, input.number().max(1)));
        bucket += 1 + input.below(20) as u16;
        if bucket > 511 {
            break;
        }
    }
    histogram
}

fn thread(s: &mut Snapshot, input: &mut Input) {
    let first = s.nodes.len() as u32;
    let rows = input.below(12) as u32;
    for row in first..first + rows {
        let up = input.below((row - first + 1) as usize) as u32;
        let parent = (up > 0).then(|| NodeId(row - up));
        let site = SiteId(input.below(s.sites.len()) as u32);
        s.nodes.push(parent, site, input.number(), input.number());
    }
    let states = [
        ThreadState::Running,
        ThreadState::Idle,
        ThreadState::Paused,
        ThreadState::Finished,
    ];
    let open = match rows {
        0 => 0,
        _ => input.below(4),
    };
    let thread = Thread {
        name: input.text(),
        tid: input.number() as u32,
        state: states[input.below(4)],
        count: input.number(),
        cpu_ns: (input.byte() > 100).then(|| input.number()),
        outside_ticks: input.number(),
        first_row: first,
        rows,
        open: (0..open)
            .map(|_| OpenFrame {
                node: NodeId(first + input.below(rows as usize) as u32),
                began_tick: input.number(),
            })
            .collect(),
    };
    s.threads.push(thread);
}

fn facts_of_rows(s: &mut Snapshot, input: &mut Input) {
    for row in 0..s.nodes.len() as u32 {
        let node = NodeId(row);
        match input.byte() {
            0..=19 => s.errors.push(NodeErrors {
                node,
                count: input.number(),
            }),
            20..=59 => s.estimates.push(Estimate {
                node,
                timed: input.number(),
                self_error: input.number(),
                total_error: input.number(),
            }),
            60..=99 => {
                let histogram = histogram(input);
                s.latencies.push_packed(row, &Packed::from(&histogram));
            }
            100..=129 => {
                s.nodes.self_ticks[row as usize] = 0;
                let tally = tally(input);
                s.push_tally(node, tally);
                if tally.is_value() && input.byte() > 100 {
                    let buckets = vec![(input.below(512) as u16, input.number().max(1))];
                    s.latencies.push(
                        row,
                        &Histogram {
                            buckets,
                            max_ticks: 0,
                        },
                    );
                }
            }
            130..=149 => {
                let quantity = Quantity::ALL[input.below(Quantity::ALL.len())];
                s.measures.push_row(quantity, row, input.number());
            }
            150..=169 => {
                let call = ["futex", "read", ""][input.below(3)];
                let samples = s.waits_in.samples().chain([(row, call, input.number())]);
                s.waits_in = WaitsIn::new(samples, s.waits_in.now());
            }
            170..=179 => {
                let now = [Now::Running, Now::Ready, Now::In("poll")][input.below(3)];
                let thread = input.below(s.threads.len() + 1) as u32;
                let all = s.waits_in.now().chain([(thread, now)]);
                s.waits_in = WaitsIn::new(s.waits_in.samples(), all);
            }
            _ => {}
        }
    }
}

/// Returns a tally for a row that has no time.
fn tally(input: &mut Input) -> Tally {
    let kind = input.byte() % 3;
    let (one, other) = (input.number(), input.number());
    let exact = input.byte();
    let flags = (exact & 1 != 0, exact & 2 != 0);
    let (min_exact, max_exact) = flags;
    match kind {
        0 => Tally::Counter { sum: one },
        1 => Tally::Value {
            sum: input.number(),
            range: (exact & 4 != 0).then(|| Extremes {
                min: one.min(other),
                max: one.max(other),
                min_exact,
                max_exact,
            }),
        },
        _ => Tally::Gauge {
            level: (exact & 4 != 0).then(|| Level {
                last: input.number() as i64,
                set_tick: input.number(),
                range: Extremes {
                    min: (one as i64).min(other as i64),
                    max: (one as i64).max(other as i64),
                    min_exact,
                    max_exact,
                },
            }),
        },
    }
}

/// Returns a later snapshot of the same program, which may be honest or hostile.
fn later(one: &Snapshot, input: &mut Input) -> Snapshot {
    let mut s = one.clone();
    s.capture.tick = s.capture.tick.wrapping_add(input.number());
    s.capture.unix_ns = s.capture.unix_ns.wrapping_add(input.number());
    s.capture.since_reset_ns = s.capture.since_reset_ns.wrapping_add(input.number());
    s.capture.seq = s.capture.seq.wrapping_add(1);
    for _ in 0..input.below(8) {
        let rows = s.nodes.len();
        match input.byte() % 8 {
            5 => measures(&mut s, input),
            6 => s.tasks = Default::default(),
            7 => calls_of_futures(&mut s, input),
            0 if rows > 0 => s.nodes.calls[input.below(rows)] = input.number(),
            1 if rows > 0 => s.nodes.self_ticks[input.below(rows)] = input.number(),
            2 => s.clock.ticks_per_second = input.float(),
            3 => s.latencies = Default::default(),
            _ => thread(&mut s, input),
        }
    }
    s
}
