//! What a program did in each of the intervals between its snapshots.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tickscope_analysis::functions::Functions;
use tickscope_format::Snapshot;
use tickscope_format::snapshot::{Quantity, Tally};

/// What a program did over time.
#[derive(Clone, Debug, Default)]
pub struct OverTime {
    pub(super) process: String,
    pub(super) pid: u32,
    /// When the first interval begins.
    pub(super) began_unix_ns: u64,
    pub(super) intervals: Vec<Interval>,
    /// By full name: what it had in each interval.
    pub(super) functions: BTreeMap<String, Vec<Part>>,
    /// Counters, values and gauges by full name; what they show in each interval.
    pub(super) counters: BTreeMap<String, Counter>,
}

/// The time between two snapshots. Times are nanoseconds since the first of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Interval {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    /// All self times together.
    pub(super) measured_ns: u64,
    /// CPU time of all threads, if it is known.
    pub(super) cpu_ns: Option<u64>,
    /// Time in which threads waited, and in which they had no CPU, if that is measured.
    pub(super) off_cpu_ns: Option<[u64; 2]>,
}

/// What a function did in an interval.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub(super) interval: usize,
    pub(super) self_ns: u64,
    pub(super) calls: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Counter {
    /// Whether it is a level, and not a sum per second.
    pub(super) is_level: bool,
    /// The interval, and the number in it.
    pub(super) values: Vec<(usize, f64)>,
}

impl Interval {
    pub(super) fn seconds(&self) -> f64 {
        (self.end_ns.saturating_sub(self.begin_ns)).max(1) as f64 / 1e9
    }
}

impl OverTime {
    /// Adds what happened in the next interval, between two moments of the wall clock.
    pub fn add(&mut self, begin_unix_ns: u64, end_unix_ns: u64, window: &Snapshot) {
        if self.intervals.is_empty() {
            self.process.clone_from(&window.process.name);
            self.pid = window.process.pid;
            self.began_unix_ns = begin_unix_ns;
        }
        let interval = self.intervals.len();
        let since = |unix_ns: u64| unix_ns.saturating_sub(self.began_unix_ns);
        let (begin_ns, end_ns) = (since(begin_unix_ns), since(end_unix_ns));
        let sum = |quantity| {
            let column = window.measures.of(quantity);
            let rows = column.iter().flat_map(|column| &column.rows);
            window.nanos(rows.map(|&(_, ticks)| ticks).fold(0, u64::saturating_add))
        };
        let cpu_ns: Vec<u64> = window.threads.iter().filter_map(|thread| thread.cpu_ns).collect();
        let self_ns = window.self_nanos();
        self.intervals.push(Interval {
            begin_ns,
            end_ns: end_ns.max(begin_ns + 1),
            measured_ns: self_ns.iter().copied().fold(0, u64::saturating_add),
            cpu_ns: (!cpu_ns.is_empty()).then(|| cpu_ns.iter().copied().fold(0, u64::saturating_add)),
            off_cpu_ns: window
                .waits
                .then(|| [sum(Quantity::Waiting), sum(Quantity::Ready)]),
        });
        let seconds = self.intervals[interval].seconds();
        let functions = Functions::of(window);
        let tallies = window.tallies();
        let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
        let mut counters: BTreeMap<usize, (bool, f64)> = BTreeMap::new();
        let rows = window.nodes.site.iter().zip(&window.nodes.calls).zip(&self_ns);
        for (((&site, &calls), &self_ns), tally) in rows.zip(&tallies) {
            let function = functions.of_site[site as usize].index();
            let (is_level, value) = match tally {
                None => {
                    let part = parts.entry(function).or_default();
                    part.interval = interval;
                    part.self_ns = part.self_ns.saturating_add(self_ns);
                    part.calls = part.calls.saturating_add(calls);
                    continue;
                }
                Some(Tally::Counter { sum } | Tally::Value { sum, .. }) => (false, *sum as f64 / seconds),
                Some(Tally::Gauge { level: Some(level) }) => (true, level.last as f64),
                Some(Tally::Gauge { level: None } | Tally::Nothing) => continue,
            };
            let entry = counters.entry(function).or_insert((is_level, 0.0));
            entry.1 = if is_level { value } else { entry.1 + value };
        }
        for (function, part) in parts {
            let name = functions.list[function].full_name();
            self.functions.entry(name).or_default().push(part);
        }
        for (function, (is_level, value)) in counters {
            let counter = self
                .counters
                .entry(functions.list[function].full_name())
                .or_default();
            counter.is_level = is_level;
            counter.values.push((interval, value));
        }
    }

    /// Returns so many functions: those with the most self time in all intervals together.
    pub(super) fn top(&self, count: usize) -> Vec<(&str, &[Part])> {
        let mut functions: Vec<(&str, &[Part])> = self
            .functions
            .iter()
            .map(|(name, parts)| (name.as_str(), &parts[..]))
            .collect();
        let all = |parts: &[Part]| parts.iter().map(|part| part.self_ns).fold(0, u64::saturating_add);
        functions.retain(|(_, parts)| all(parts) > 0);
        functions.sort_by_key(|&(name, parts)| (Reverse(all(parts)), name));
        functions.truncate(count);
        functions
    }
}

/// Returns what a function did in an interval.
pub(super) fn part_in(parts: &[Part], interval: usize) -> Part {
    let found = parts.binary_search_by_key(&interval, |part| part.interval);
    found.map_or_else(|_| Part::default(), |at| parts[at])
}
