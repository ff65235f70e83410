//! Reads the calls of futures that are in flight, as a tree in which each future is below the future that awaits it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tickscope_format::ids::NO_PARENT;
use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::{TaskPath, Tasks};

use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::record::in_flight::{self, CallId, Seen};
use crate::enabled::record::site::Site;
use crate::enabled::runtime::config;

/// At most 1/`SHARE` of the time is spent reading: if very many calls are in flight, periodic captures reuse the last result.
const SHARE: u32 = 50;

/// Maximum depth of a chain of futures that await one another. A future beyond this depth begins a new tree.
const DEPTH_MAX: usize = 1_000;

/// Reads the table of calls in flight each time that a snapshot is captured.
///
/// If the last reading took long, this holds its result, and the earliest time of the next reading.
#[derive(Debug, Default)]
pub(crate) struct TaskReader(Option<(Tasks, Instant)>);

/// The tree of calls while it is built.
#[derive(Default)]
struct Paths {
    tasks: Tasks,
    known: HashMap<(u32, usize), u32>,
    /// For each path, in ticks: a histogram of the ages of its calls, the age of the oldest call, and the age of the oldest
    /// innermost call that is not being polled.
    ages: Vec<(Histogram, [u64; 2])>,
}

impl TaskReader {
    /// Returns the calls in flight at tick `now`. If reading takes long, the result may come from an earlier reading.
    pub(crate) fn read(&mut self, sites: &mut SiteIds, now: u64) -> Tasks {
        let begin = Instant::now();
        match &self.0 {
            Some((known, again)) if begin < *again => known.clone(),
            _ => {
                let tasks = read(sites, now);
                let took = begin.elapsed();
                let is_long = took > Duration::from_millis(1);
                self.0 = is_long.then(|| (tasks.clone(), begin + took * SHARE));
                tasks
            }
        }
    }
}

fn read(sites: &mut SiteIds, now: u64) -> Tasks {
    let mut paths = Paths::default();
    paths.tasks.beyond = in_flight::beyond();
    let last = in_flight::last_slot();
    if last == 0 {
        return paths.tasks;
    }
    let calls: Vec<Option<(CallId, Seen)>> = (0..=last).map(in_flight::seen).collect();
    let call_of = |id: CallId| {
        calls
            .get(id as u32 as usize)
            .copied()
            .flatten()
            .filter(|&(own, _)| own == id)
    };
    let mut path_of = vec![NO_PARENT; calls.len()];
    let mut awaits = vec![false; calls.len()];
    let mut above: Vec<(u32, Seen)> = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let Some((_, seen)) = *call else { continue };
        // Walks up to an awaiting call whose path is known, and back down to add the paths below it.
        let mut parent = NO_PARENT;
        let mut at = (index as u32, seen);
        above.clear();
        while above.len() < DEPTH_MAX {
            if path_of[at.0 as usize] != NO_PARENT {
                parent = path_of[at.0 as usize];
                break;
            }
            above.push(at);
            let Some((id, awaiting)) = call_of(at.1.awaited_by) else {
                break;
            };
            at = (id as u32, awaiting);
        }
        for &(slot, seen) in above.iter().rev() {
            parent = paths.below(parent, seen.site, sites);
            path_of[slot as usize] = parent;
        }
        if let Some((id, _)) = call_of(seen.awaited_by) {
            awaits[id as u32 as usize] = true;
        }
    }
    for (index, call) in calls.iter().enumerate() {
        if let Some((_, seen)) = call {
            paths.count(path_of[index], seen, !awaits[index], now);
        }
    }
    paths.finish()
}

impl Paths {
    /// Returns the path of `site` below the path `parent`.
    fn below(&mut self, parent: u32, site: &'static Site, sites: &mut SiteIds) -> u32 {
        let paths = &mut self.tasks.paths;
        let key = (parent, std::ptr::from_ref(site).addr());
        *self.known.entry(key).or_insert_with(|| {
            paths.push(TaskPath {
                parent,
                site: sites.id(site),
                names_await: site.names_await,
                in_flight: 0,
                polled: 0,
                innermost: 0,
                oldest_ns: 0,
                innermost_oldest_ns: 0,
            });
            self.ages.push((Histogram::default(), [0; 2]));
            paths.len() as u32 - 1
        })
    }

    fn count(&mut self, at: u32, seen: &Seen, is_innermost: bool, now: u64) {
        let at = at as usize;
        let path = &mut self.tasks.paths[at];
        let age = now.saturating_sub(seen.began);
        path.in_flight += 1;
        path.polled += u64::from(seen.is_polled);
        let (ages, [oldest, oldest_innermost]) = &mut self.ages[at];
        *oldest = age.max(*oldest);
        if is_innermost && !seen.is_polled {
            path.innermost += 1;
            *oldest_innermost = age.max(*oldest_innermost);
        }
        ages.insert(age);
    }

    fn finish(mut self) -> Tasks {
        let ns_per_tick = 1e9 / config::ticks_per_second();
        for ((path, (ages, oldest)), index) in self.tasks.paths.iter_mut().zip(&self.ages).zip(0..) {
            self.tasks.ages.push(index, ages);
            [path.oldest_ns, path.innermost_oldest_ns] =
                oldest.map(|ticks| (ticks as f64 * ns_per_tick) as u64);
        }
        self.tasks
    }
}
