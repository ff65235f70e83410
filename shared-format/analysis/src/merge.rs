//! Adds up several snapshots of one run, as a snapshot.

use std::collections::{BTreeMap, HashMap};

use tickscope_format::ids::{NO_PARENT, NodeId, SiteId, ThreadId};
use tickscope_format::latency::{Histogram, Latencies};
use tickscope_format::snapshot::{
    Estimate, Lines, Measures, NodeErrors, Nodes, OpenFrame, Site, Sites, Snapshot, Tally, Thread,
    ThreadState, WaitsIn,
};

/// Adds up snapshots of one run, the oldest first. State, open scopes and facts are the last one's, and its
/// `since_reset_ns` is the time that all of them counted for.
///
/// Rows are matched by thread (name and id) and path of sites. Threads that the last one does not show any more go to
/// the finished ones of their name.
pub fn sum(parts: &[&Snapshot]) -> Snapshot {
    let Some((last, earlier)) = parts.split_last() else {
        return Snapshot::default();
    };
    if earlier.is_empty() {
        return (*last).clone();
    }
    let mut adder = Adder::new(last);
    adder.add_threads(last, earlier);
    adder.add_rows(last, earlier)
}

/// The threads and sites of the sum.
struct Adder<'a> {
    threads: Vec<Thread>,
    /// For each thread: of which part and which of its threads it is made.
    made_of: Vec<Vec<(usize, ThreadId)>>,
    sites: Sites,
    known_sites: HashMap<&'a Site, u32>,
}

/// What the rows of a sum hold beside the tree.
#[derive(Default)]
struct Beside {
    errors: BTreeMap<u32, u64>,
    tallies: BTreeMap<u32, Tally>,
    estimates: BTreeMap<u32, (u64, f64, f64)>,
    latencies: BTreeMap<u32, Histogram>,
    async_latencies: BTreeMap<u32, Histogram>,
    measures: Measures,
    waits_in: WaitsIn,
    lines: Lines,
}

impl<'a> Adder<'a> {
    fn new(last: &'a Snapshot) -> Self {
        let mut known_sites = HashMap::new();
        for (index, site) in (0..).zip(&last.sites) {
            known_sites.entry(site).or_insert(index);
        }
        Self {
            threads: last.threads.clone(),
            made_of: Vec::new(),
            sites: last.sites.clone(),
            known_sites,
        }
    }

    fn add_threads(&mut self, last: &Snapshot, earlier: &[&Snapshot]) {
        let mut known: HashMap<(String, u32), usize> = HashMap::new();
        let part_of_last = earlier.len();
        for (index, thread) in last.threads.iter().enumerate() {
            known.entry((thread.name.clone(), thread.tid)).or_insert(index);
            self.made_of.push(vec![(part_of_last, ThreadId(index as u32))]);
        }
        for (part, snapshot) in earlier.iter().enumerate() {
            for (index, thread) in snapshot.threads.iter().enumerate() {
                let of = |tid| known.get(&(thread.name.clone(), tid)).copied();
                let at = of(thread.tid).or_else(|| of(0)).unwrap_or(self.threads.len());
                if at == self.threads.len() {
                    known.insert((thread.name.clone(), 0), at);
                    self.threads.push(Thread {
                        name: thread.name.clone(),
                        state: ThreadState::Finished,
                        count: thread.count,
                        ..Thread::default()
                    });
                    self.made_of.push(Vec::new());
                }
                let to = &mut self.threads[at];
                to.outside_ticks = to.outside_ticks.saturating_add(thread.outside_ticks);
                to.cpu_ns = match (to.cpu_ns, thread.cpu_ns) {
                    (Some(one), Some(other)) => Some(one.saturating_add(other)),
                    (one, other) => one.or(other),
                };
                self.made_of[at].push((part, ThreadId(index as u32)));
            }
        }
    }

    fn add_rows(mut self, last: &'a Snapshot, earlier: &[&'a Snapshot]) -> Snapshot {
        let parts: Vec<&Snapshot> = earlier.iter().chain([&last]).copied().collect();
        let site_of: Vec<Vec<u32>> = parts.iter().map(|part| self.sites_of(part)).collect();
        let mut nodes = Nodes::default();
        nodes.reserve(last.nodes.len());
        let mut row_of: Vec<Vec<u32>> = parts
            .iter()
            .map(|part| vec![NO_PARENT; part.nodes.len()])
            .collect();
        for (thread, made_of) in self.threads.iter_mut().zip(&self.made_of) {
            thread.first_row = nodes.len() as u32;
            let mut known: HashMap<(u32, u32), u32> = HashMap::new();
            for &(part, of) in made_of {
                let from = &parts[part].nodes;
                for row in parts[part].rows_of(of) {
                    let parent = match from.parent[row] {
                        NO_PARENT => NO_PARENT,
                        above => row_of[part][above as usize],
                    };
                    let site = site_of[part][from.site[row] as usize];
                    let to = match known.get(&(parent, site)) {
                        // Rows of the last one stay apart, whatever they are.
                        Some(&to) if part < earlier.len() => to,
                        _ => {
                            let above = (parent != NO_PARENT).then_some(NodeId(parent));
                            let to = nodes.push(above, SiteId(site), 0, 0).0;
                            *known.entry((parent, site)).or_insert(to)
                        }
                    };
                    row_of[part][row] = to;
                    let to = to as usize;
                    let ticks = ticks_of(parts[part], last, from.self_ticks[row]);
                    nodes.calls[to] = nodes.calls[to].saturating_add(from.calls[row]);
                    nodes.self_ticks[to] = nodes.self_ticks[to].saturating_add(ticks);
                }
            }
            thread.rows = nodes.len() as u32 - thread.first_row;
            let moved = |frame: &OpenFrame| OpenFrame {
                node: NodeId(row_of[earlier.len()][frame.node.index()]),
                ..*frame
            };
            thread.open = thread.open.iter().map(moved).collect();
        }
        let mut beside = Beside::default();
        let mut thread_of: Vec<Vec<u32>> = parts.iter().map(|part| vec![0; part.threads.len()]).collect();
        for (thread, made_of) in (0..).zip(&self.made_of) {
            for &(part, of) in made_of {
                thread_of[part][of.index()] = thread;
            }
        }
        for ((part, rows), threads) in parts.iter().zip(&row_of).zip(&thread_of) {
            beside.add(part, last, rows, threads);
        }
        let mut out = beside.put_into(Snapshot {
            threads: self.threads,
            sites: self.sites,
            nodes,
            window: true,
            ..last.clone()
        });
        for part in earlier {
            let since = &mut out.capture.since_reset_ns;
            *since = since.saturating_add(part.capture.since_reset_ns);
            let samples = &mut out.measuring.samples;
            *samples = samples.saturating_add(part.measuring.samples);
            if let (Some(seen), Some(more)) = (&mut out.seen_cost, part.seen_cost) {
                seen.add(more);
            }
        }
        hold(&mut out);
        out
    }

    /// Where the sites of a part stand among those of the sum.
    fn sites_of(&mut self, part: &'a Snapshot) -> Vec<u32> {
        let places = part.sites.iter().map(|site| {
            *self.known_sites.entry(site).or_insert_with(|| {
                self.sites.push(site.clone());
                self.sites.len() as u32 - 1
            })
        });
        places.collect()
    }
}

/// Keeps what readers add up within what a decoder lets through, where hostile parts together are beyond it: what comes
/// last is less then.
pub(crate) fn hold(sum: &mut Snapshot) {
    let longest_ns = (u64::MAX / 4) as f64 * 0.999;
    let most_ticks = (longest_ns * sum.clock.ticks_per_second / 1e9) as u64;
    let threads = &mut sum.threads;
    hold_each(&mut threads.iter_mut().map(|thread| &mut thread.count), u64::MAX);
    hold_each(
        &mut threads.iter_mut().map(|thread| &mut thread.outside_ticks),
        most_ticks,
    );
    hold_each(&mut sum.nodes.calls.iter_mut(), u64::MAX);
    hold_each(&mut sum.nodes.self_ticks.iter_mut(), most_ticks);
    sum.measures.hold(u64::MAX);
    sum.waits_in.hold(u64::MAX);
    hold_each(&mut sum.errors.iter_mut().map(|error| &mut error.count), u64::MAX);
}

fn hold_each(numbers: &mut dyn Iterator<Item = &mut u64>, mut room: u64) {
    for number in numbers {
        *number = (*number).min(room);
        room -= *number;
    }
}

impl Beside {
    fn add(&mut self, part: &Snapshot, last: &Snapshot, row_of: &[u32], thread_of: &[u32]) {
        let mut measures = part.measures.with_times(|ticks| ticks_of(part, last, ticks));
        if !std::ptr::eq(part, last) {
            measures = measures.without_levels();
        }
        self.measures.add_at(&measures, row_of, thread_of);
        let waits_in = part.waits_in.moved(row_of, thread_of);
        // The last one, which comes last, says what threads do now.
        self.waits_in = waits_in.plus(&self.waits_in);
        self.lines = part.lines.moved(row_of, thread_of).plus(&self.lines);
        for error in &part.errors {
            let count = self.errors.entry(row_of[error.node.index()]).or_default();
            *count = count.saturating_add(error.count);
        }
        // Ticks of another clock do not compare: what it has set was set before.
        let is_same_clock = part.clock.epoch == last.clock.epoch;
        for (&row, tally) in row_of.iter().zip(part.tallies()) {
            let Some(tally) = tally else { continue };
            let tally = if is_same_clock {
                tally
            } else {
                tally.set_before_all()
            };
            let all = self.tallies.entry(row).or_insert(Tally::Nothing);
            *all = all.and(tally);
        }
        let square = |error: u64| error as f64 * error as f64;
        for estimate in &part.estimates {
            // Errors of independent times add up by their squares.
            let of = self.estimates.entry(row_of[estimate.node.index()]).or_default();
            of.0 = of.0.saturating_add(estimate.timed);
            of.1 += square(estimate.self_error);
            of.2 += square(estimate.total_error);
        }
        for (sums, latencies) in [
            (&mut self.latencies, &part.latencies),
            (&mut self.async_latencies, &part.async_latencies),
        ] {
            for &row in &latencies.row {
                let all = sums.entry(row_of[row as usize]).or_default();
                all.add(&latencies.of(row));
            }
        }
    }

    fn put_into(self, mut out: Snapshot) -> Snapshot {
        let errors = self.errors.into_iter().map(|(row, count)| NodeErrors {
            node: NodeId(row),
            count,
        });
        out.errors = errors.collect();
        out.clear_tallies();
        for (row, tally) in self.tallies {
            out.push_tally(NodeId(row), tally);
        }
        let estimates = self
            .estimates
            .into_iter()
            .map(|(row, (timed, own, total))| Estimate {
                node: NodeId(row),
                timed,
                self_error: own.sqrt().round() as u64,
                total_error: total.sqrt().round() as u64,
            });
        out.estimates = estimates.collect();
        out.measures = self.measures;
        out.waits_in = self.waits_in;
        out.lines = self.lines;
        for (latencies, sums) in [
            (&mut out.latencies, self.latencies),
            (&mut out.async_latencies, self.async_latencies),
        ] {
            *latencies = Latencies::default();
            for (row, histogram) in sums {
                latencies.push(row, &histogram);
            }
        }
        out
    }
}

/// Ticks of a part in ticks of the last one: a clock that broke in between has another rate.
fn ticks_of(part: &Snapshot, last: &Snapshot, ticks: u64) -> u64 {
    if part.clock.epoch == last.clock.epoch {
        return ticks;
    }
    let rate = last.clock.ticks_per_second / part.clock.ticks_per_second;
    (ticks as f64 * rate).round() as u64
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::{Extremes, Quantity};
    use tickscope_testkit::fixture;

    use super::*;
    use crate::window::less;

    #[test]
    fn a_level_is_that_of_the_last_moment_in_sums_and_windows() {
        let with = |live: u64| {
            let mut one = fixture::allocating();
            one.measures.push_row(Quantity::LiveBytes, 2, live);
            one.measures.push_row(Quantity::LiveVariance, 2, live * live);
            one.measures.push_outside(Quantity::LiveBytes, 0, live + 1);
            one
        };
        let (earlier, mut later) = (with(700), with(500));
        let both = sum(&[&earlier, &later]);
        assert_eq!(both.measures.of(Quantity::Allocations).unwrap().of_row(2), 80);
        later.capture.seq += 1;
        let window = less(&later, &earlier);
        assert!(window.measures.of(Quantity::Allocations).is_none());
        for derived in [both, window] {
            let live = derived.measures.of(Quantity::LiveBytes).unwrap();
            let rows: Vec<u64> = live.rows.iter().map(|&(_, value)| value).collect();
            let outside: Vec<u64> = live.outside.iter().map(|&(_, value)| value).collect();
            assert_eq!((rows, outside), (vec![500], vec![501]));
            let variance = derived.measures.of(Quantity::LiveVariance).unwrap();
            assert_eq!(variance.rows[0].1, 500 * 500);
        }
    }

    #[test]
    fn nothing_is_lost_and_rows_of_the_same_path_are_one() {
        let one = fixture::two_threads();
        let other = fixture::recursion();
        let sum = sum(&[&other, &one, &one]);
        assert_eq!(sum.calls(), other.calls() + 2 * one.calls());
        assert_eq!(
            sum.measured_ticks(),
            other.measured_ticks() + 2 * one.measured_ticks()
        );
        assert_eq!(sum.capture.since_reset_ns, 12_000_000);
        assert_eq!(sum.sites.len(), 6);
        assert_eq!(sum.threads.len(), 3, "main is one thread in both");
        assert_eq!(sum.nodes.len(), one.nodes.len() + other.nodes.len());
        assert_eq!(sum.errors[0].count, 4);
        let mut payload = Vec::new();
        tickscope_format::codec::encode(&sum, &mut payload).unwrap();
        assert_eq!(tickscope_format::codec::decode(&payload).unwrap(), sum);
    }

    #[test]
    fn what_was_added_can_be_taken_away_again() {
        let one = fixture::two_threads();
        let both = sum(&[&one, &one]);
        let less = less(&both, &one);
        assert_eq!(less.nodes, one.nodes);
        assert_eq!(less.capture.since_reset_ns, one.capture.since_reset_ns);
        assert_eq!(less.threads, one.threads);
        assert_eq!(sum(&[&one]), one);
    }

    #[test]
    fn sums_of_counters_add_up() {
        let one = tickscope_testkit::fixture::programs::order_sim_counting();
        let both = sum(&[&one, &one]);
        let sums = |s: &Snapshot| s.counts.iter().map(|count| count.sum).collect::<Vec<_>>();
        assert!(!one.counts.is_empty());
        assert_eq!(
            sums(&both),
            sums(&one).iter().map(|sum| 2 * sum).collect::<Vec<_>>()
        );
        assert_eq!(less(&both, &one).counts, one.counts);
    }

    #[test]
    fn values_have_the_numbers_of_both_and_gauges_the_level_set_last() {
        let earlier = tickscope_testkit::fixture::programs::queries();
        let mut later = earlier.clone();
        later.value_rows[0].range = Some(Extremes::of(95_000));
        let level = later.gauge_rows[0].level.as_mut().unwrap();
        (level.last, level.set_tick) = (7, 9_000);
        level.range = Extremes::of(7);
        let both = sum(&[&earlier, &later]);
        let node = earlier.value_rows[0].node;
        let row = both.value_rows[0];
        assert_eq!(row.range.map(|range| (range.min, range.max)), Some((0, 95_000)));
        let count = |s: &Snapshot| s.latencies.of(node.0).count();
        assert_eq!(count(&both), 2 * count(&earlier));
        let level = both.gauge_rows[0].level.unwrap();
        assert_eq!((level.last, level.range.min, level.range.max), (7, 0, 100));
        // A clock that began anew.
        later.clock.epoch += 1;
        later.gauge_rows[0].level.as_mut().unwrap().set_tick = 3;
        let level = sum(&[&earlier, &later]).gauge_rows[0].level.unwrap();
        assert_eq!((level.last, level.set_tick), (7, 3));
    }

    #[test]
    fn who_has_ended_goes_to_the_finished_ones() {
        let now = fixture::two_threads();
        let mut then = now.clone();
        then.threads[0].name = "gone".into();
        let both = sum(&[&then, &now]);
        let gone = both.threads.last().unwrap();
        assert_eq!((gone.name.as_str(), gone.tid, gone.rows), ("gone", 0, 3));
        assert_eq!(gone.state, ThreadState::Finished);
        assert_eq!(both.calls(), 2 * now.calls());
    }
}
