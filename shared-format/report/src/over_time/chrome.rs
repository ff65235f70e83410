//! What a program did over time as counter events of the Trace Event Format: each has its numbers from its time on. Times are
//! microseconds since the first snapshot.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::intervals::{Interval, OverTime, Part, part_in};
use crate::trace_events::{self, Event};

#[derive(Serialize)]
#[serde(untagged)]
enum Number<'a> {
    Value(f64),
    Name(&'a str),
}

pub(super) fn write(over_time: &OverTime, top: &[(&str, &[Part])], out: &mut impl Write) -> io::Result<()> {
    let pid = over_time.pid;
    let event = |name, ph, ns: u64, args| Event {
        name,
        cat: if ph == "M" { "__metadata" } else { "interval" },
        ph,
        ts: ns as f64 / 1e3,
        dur: None,
        pid,
        tid: pid,
        s: None,
        args,
    };
    let process = [("name", Number::Name(&over_time.process))].into();
    let mut events = vec![event("process_name", "M", 0, process)];
    let mut counts = |interval: usize, ns: u64| {
        for (name, args) in numbers(over_time, top, interval) {
            let args = args.into_iter().map(|(name, value)| (name, Number::Value(value)));
            events.push(event(name, "C", ns, args.collect()));
        }
    };
    for (at, interval) in over_time.intervals.iter().enumerate() {
        counts(at, interval.begin_ns);
    }
    // The last interval has an end as well.
    if let Some(last) = over_time.intervals.last() {
        counts(over_time.intervals.len() - 1, last.end_ns);
    }
    let about = [("began_unix_ns", over_time.began_unix_ns.to_string())];
    trace_events::write(&events, "ms", about, out)
}

/// The tracks: the name of each, and its numbers in an interval.
fn numbers<'a>(
    over_time: &'a OverTime,
    top: &[(&'a str, &[Part])],
    at: usize,
) -> Vec<(&'a str, BTreeMap<&'a str, f64>)> {
    let interval: &Interval = &over_time.intervals[at];
    let seconds = interval.seconds();
    let share = |ns: u64| 100.0 * ns as f64 / interval.measured_ns.max(1) as f64;
    let of_top = || top.iter().map(|&(name, parts)| (name, part_in(parts, at)));
    let mut shares: BTreeMap<&str, f64> = of_top().map(|(name, part)| (name, share(part.self_ns))).collect();
    let all: f64 = shares.values().sum();
    if interval.measured_ns > 0 {
        shares.insert("(other functions)", (100.0 - all).max(0.0));
    }
    let calls = of_top().map(|(name, part)| (name, part.calls as f64 / seconds));
    let mut tracks = vec![("self time, %", shares), ("calls per second", calls.collect())];
    if let Some(cpu_ns) = interval.cpu_ns {
        let cores = cpu_ns as f64 / 1e9 / seconds;
        tracks.push(("CPUs in use", [("CPUs", cores)].into()));
    }
    if let Some([waiting, ready]) = interval.off_cpu_ns {
        let threads = |ns: u64| ns as f64 / 1e9 / seconds;
        let args = [("waiting", threads(waiting)), ("without a CPU", threads(ready))];
        tracks.push(("threads in scopes off the CPU", args.into()));
    }
    for (name, counter) in &over_time.counters {
        let found = counter.values.binary_search_by_key(&at, |value| value.0);
        let value = found.map(|found| counter.values[found].1);
        // A level stays; a sum of nothing is 0.
        if !(counter.is_level && value.is_err()) {
            let what = if counter.is_level { "level" } else { "per second" };
            tracks.push((name, [(what, value.unwrap_or(0.0))].into()));
        }
    }
    tracks
}
