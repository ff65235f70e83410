//! Converts the snapshots of [`orderbook`](crate::orderbook) to modes other than exact.

use tickscope_format::Snapshot;
use tickscope_format::ids::NodeId;
use tickscope_format::latency::Latencies;
use tickscope_format::snapshot::{Cost, Estimate, Mode};

/// Calls that take less than this on average are short, and only some of them are timed.
const SHORT_NS: u64 = 6_000;

/// One in this many short calls is timed.
const ONE_IN: u64 = 256;

/// Converts an exact snapshot of the made-up program to another mode.
pub fn in_mode(mode: Mode, exact: Snapshot) -> Snapshot {
    let mut s = match mode {
        Mode::Adaptive => adaptive(exact),
        Mode::Sampled => sampled(exact),
        Mode::Off => off(exact),
        Mode::Exact | _ => exact,
    };
    s.capture.mode = mode;
    s
}

fn cost(s: &mut Snapshot, lower_ns: f64, upper_ns: f64) {
    s.capture.cost = Cost {
        lower_ns,
        upper_ns,
        ..s.capture.cost
    };
}

/// Turns the self times of short calls, and of the functions that make them, into estimates.
fn adaptive(mut s: Snapshot) -> Snapshot {
    cost(&mut s, 1.9, 5.4);
    let totals = s.nodes.totals(&s.nodes.self_ticks);
    let short = |row: usize| totals[row] < s.nodes.calls[row] * SHORT_NS;
    // In every second row, the error is so small that reports do not mark the row with `~`.
    let errors: Vec<u64> = (0..s.nodes.len())
        .map(|row| s.nodes.self_ticks[row] / if row.is_multiple_of(2) { 12 } else { 40 })
        .collect();
    for (row, &error) in errors.iter().enumerate() {
        let makes_short =
            (row..s.nodes.len()).any(|child| s.nodes.parent[child] == row as u32 && short(child));
        if short(row) || makes_short {
            s.estimates.push(Estimate {
                node: NodeId(row as u32),
                timed: s.nodes.calls[row] / if short(row) { ONE_IN } else { 1 },
                self_error: error,
                // Rows in which every call is timed have exact totals, because the time of a call includes all calls
                // below it.
                total_error: if short(row) { error } else { 0 },
            });
        }
    }
    s
}

/// Turns all times into estimates from samples. The durations of calls, and when they began, are then unknown.
fn sampled(mut s: Snapshot) -> Snapshot {
    cost(&mut s, 0.4, 1.1);
    s.measuring.sampling_hz = 987.0;
    s.measuring.samples = s.capture.since_reset_ns / 1_000_000;
    s.measuring.histograms = false;
    s.latencies = Latencies::default();
    let totals = s.nodes.totals(&s.nodes.self_ticks);
    // A sample stands for one millisecond, and the uncertainty of n samples is the square root of n.
    let error = |ns: u64| (ns / 1_000_000).isqrt() * 1_000_000;
    for (row, &total) in totals.iter().enumerate() {
        s.estimates.push(Estimate {
            node: NodeId(row as u32),
            timed: 0,
            self_error: error(s.nodes.self_ticks[row]),
            total_error: error(total),
        });
    }
    for frame in s.threads.iter_mut().flat_map(|thread| &mut thread.open) {
        frame.began_tick = 0;
    }
    s
}

/// Removes all measurements, and keeps only the threads.
fn off(mut s: Snapshot) -> Snapshot {
    cost(&mut s, 0.2, 0.7);
    s.nodes = tickscope_format::snapshot::Nodes::default();
    s.latencies = Latencies::default();
    s.measuring.histograms = false;
    for thread in &mut s.threads {
        (thread.first_row, thread.rows, thread.outside_ticks) = (0, 0, 0);
        thread.open.clear();
    }
    s
}
