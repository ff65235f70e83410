//! Adds up several snapshots of one run, as a snapshot.

use std::collections::HashMap;

use tickscope_format::ids::{NO_PARENT, NodeId, SiteId, ThreadId};
use tickscope_format::snapshot::{Nodes, Part, RowMap, Site, Sites, Snapshot, Thread, ThreadState, When};

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
    let mut adder = Adder::new(last, earlier);
    adder.add_threads(last, earlier);
    adder.add_rows(last)
}

/// The threads and sites of the sum, and where its parts go: the last one behind the others.
struct Adder<'a> {
    parts: Vec<Part<'a>>,
    threads: Vec<Thread>,
    /// For each thread: of which part and which of its threads it is made.
    made_of: Vec<Vec<(usize, ThreadId)>>,
    sites: Sites,
    known_sites: HashMap<&'a Site, u32>,
}

impl<'a> Adder<'a> {
    fn new(last: &'a Snapshot, earlier: &[&'a Snapshot]) -> Self {
        let mut known_sites = HashMap::new();
        for (index, site) in (0..).zip(&last.sites) {
            known_sites.entry(site).or_insert(index);
        }
        let nowhere = |snapshot: &Snapshot| RowMap {
            rows: vec![NO_PARENT; snapshot.nodes.len()],
            threads: vec![NO_PARENT; snapshot.threads.len()],
            sums: None,
        };
        let earlier = earlier.iter().map(|&snapshot| {
            let is_same_clock = snapshot.clock.epoch == last.clock.epoch;
            Part {
                snapshot,
                map: nowhere(snapshot),
                // A clock that broke in between has another rate.
                ratio: match is_same_clock {
                    true => 1.0,
                    false => last.clock.ticks_per_second / snapshot.clock.ticks_per_second,
                },
                when: match is_same_clock {
                    true => When::Before,
                    false => When::BeforeItsClock,
                },
            }
        });
        Self {
            parts: earlier.chain([Part::now(last, nowhere(last))]).collect(),
            threads: last.threads.iter().map(Thread::without_counts).collect(),
            made_of: Vec::new(),
            sites: last.sites.clone(),
            known_sites,
        }
    }

    fn add_threads(&mut self, last: &Snapshot, earlier: &[&Snapshot]) {
        let mut known: HashMap<(&str, u32), usize> = HashMap::new();
        let part_of_last = earlier.len();
        for (index, thread) in last.threads.iter().enumerate() {
            known.entry((&thread.name, thread.tid)).or_insert(index);
            self.made_of.push(vec![(part_of_last, ThreadId(index as u32))]);
        }
        for (part, snapshot) in earlier.iter().enumerate() {
            for (index, thread) in snapshot.threads.iter().enumerate() {
                let of = |tid| known.get(&(thread.name.as_str(), tid)).copied();
                let at = of(thread.tid).or_else(|| of(0)).unwrap_or(self.threads.len());
                if at == self.threads.len() {
                    known.insert((&thread.name, 0), at);
                    self.threads.push(Thread {
                        name: thread.name.clone(),
                        state: ThreadState::Finished,
                        count: thread.count,
                        ..Thread::default()
                    });
                    self.made_of.push(Vec::new());
                }
                self.made_of[at].push((part, ThreadId(index as u32)));
            }
        }
    }

    fn add_rows(mut self, last: &'a Snapshot) -> Snapshot {
        let snapshots: Vec<&'a Snapshot> = self.parts.iter().map(|part| part.snapshot).collect();
        let site_of: Vec<Vec<u32>> = snapshots.iter().map(|part| self.sites_of(part)).collect();
        let mut nodes = Nodes::default();
        nodes.reserve(last.nodes.len());
        let mut known: HashMap<(u32, u32), u32> = HashMap::with_capacity(last.nodes.len());
        for (index, (thread, made_of)) in (0..).zip(self.threads.iter_mut().zip(&self.made_of)) {
            thread.first_row = nodes.len() as u32;
            known.clear();
            for &(at, of) in made_of {
                let (is_last, part) = (at + 1 == snapshots.len(), &mut self.parts[at]);
                part.map.threads[of.index()] = index;
                let from = &part.snapshot.nodes;
                for row in part.snapshot.rows_of(of) {
                    let above = part.map.rows.get(from.parent[row] as usize).copied();
                    let key = (above.unwrap_or(NO_PARENT), site_of[at][from.site[row] as usize]);
                    part.map.rows[row] = match known.get(&key) {
                        // Rows of the last one stay apart, whatever they are.
                        Some(&to) if !is_last => to,
                        _ => {
                            let to = nodes.push(above.map(NodeId), SiteId(key.1), 0, 0).0;
                            known.entry(key).or_insert(to);
                            to
                        }
                    };
                }
            }
            thread.rows = nodes.len() as u32 - thread.first_row;
        }
        let mut out = Snapshot {
            threads: self.threads,
            sites: self.sites,
            nodes,
            window: true,
            ..last.facts()
        };
        out.gather(&self.parts);
        for part in self.parts.iter().filter(|part| part.when != When::Now) {
            let part = part.snapshot;
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

#[cfg(test)]
mod tests {
    use tickscope_format::latency::Histogram;
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
        let twice = sum(&[&later, &later]);
        later.capture.seq += 1;
        let window = less(&later, &earlier);
        assert!(window.measures.of(Quantity::Allocations).is_none());
        for derived in [both, twice, window] {
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
        assert_eq!(fixture::received(&sum), sum);
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
    fn rows_of_the_same_path_stay_apart_and_give_together() {
        let mut one = fixture::two_threads();
        // What `insert` called is a second `insert` of `worker`.
        (one.nodes.site[2], one.nodes.parent[2]) = (one.nodes.site[1], one.nodes.parent[1]);
        for (row, calls) in [(1, 400), (2, 100)] {
            let mut latency = Histogram::default();
            (0..calls).for_each(|call| latency.insert(1_000 + call));
            one.latencies.push(row, &latency);
        }
        assert_eq!(sum(&[&one]), one);
        let both = sum(&[&one, &one]);
        assert_eq!(both.nodes.calls[1..3], [900, 100]);
        // Of the earlier one, rows are one where the threads are not the same row by row.
        one.threads[0].rows = 4;
        one.threads[1].first_row = 4;
        one.threads[1].rows = 2;
        one.nodes.parent[3..6].copy_from_slice(&[0, NO_PARENT, 4]);
        one.nodes.site[3..6].copy_from_slice(&[2, 0, 1]);
        let taken = less(&both, &one);
        assert_eq!(taken.nodes.calls[1..3].iter().sum::<u64>(), 500);
        let count: u64 = (1..3).map(|row| taken.latencies.of(row).count()).sum();
        assert_eq!(count, 500);
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
    fn what_was_counted_before_a_clock_broke_is_in_ticks_of_the_last_one() {
        let mut one = fixture::two_threads();
        one.threads[0].outside_ticks = 100;
        one.measures.push_row(Quantity::Waiting, 1, 50);
        one.measures.push_row(Quantity::Allocations, 1, 7);
        one.measures.push_outside(Quantity::Ready, 0, 30);
        one.estimates = vec![fixture::estimate(1, 2, 400, 300)];
        let mut latency = Histogram::default();
        latency.insert(1_000);
        one.latencies.push(1, &latency);
        let mut last = one.clone();
        last.clock.epoch += 1;
        last.clock.ticks_per_second /= 4.0;
        let both = sum(&[&one, &last]);
        let of_row = |quantity| both.measures.of_row(quantity, 1);
        let ready = both
            .measures
            .of(Quantity::Ready)
            .map(|column| column.of_outside(0));
        assert_eq!((both.threads[0].outside_ticks, ready), (125, Some(38)));
        assert_eq!([Quantity::Waiting, Quantity::Allocations].map(of_row), [63, 14]);
        let estimate = both.estimates[0];
        assert_eq!((estimate.self_error, estimate.total_error), (412, 309));
        let latency = both.latencies.of(1);
        assert_eq!((latency.count(), latency.max_ticks), (2, 1_000));
        assert!(latency.buckets.len() == 2, "a quarter is two octaves below");
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
