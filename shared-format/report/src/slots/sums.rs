//! Counts of one record, by thread and function. The activity in a slot is a difference of sums.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use tickscope_analysis::functions::Functions;
use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::Sites;

/// Self time and its part off the CPU, in ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    ticks: u64,
    pub(super) off_ticks: u64,
}

/// Threads and functions of all records so far, by index.
#[derive(Debug, Default)]
pub(super) struct Known {
    threads: Vec<(String, u32)>,
    by_thread: HashMap<(String, u32), u32>,
    functions: Vec<u64>,
    by_function: HashMap<u64, u32>,
    /// Functions of sites, which seldom change from record to record.
    of_sites: Option<(Sites, Rc<[u32]>)>,
}

/// Self times of a record.
#[derive(Debug)]
pub(super) struct Sums {
    run: (u32, u64),
    since_reset_ns: u64,
    ticks_per_second: f64,
    waits: bool,
    /// Threads in the record.
    threads: Vec<u32>,
    /// Time by thread and function.
    spent: BTreeMap<(u32, u32), Spent>,
}

/// Activity in a slot.
#[derive(Debug)]
pub(super) struct Did {
    /// Length of the slot, in ticks.
    pub(super) ticks: f64,
    pub(super) waits: bool,
    /// Time by thread and function.
    pub(super) threads: BTreeMap<u32, BTreeMap<u32, Spent>>,
}

impl Spent {
    pub(super) fn add(&mut self, other: Self) {
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.off_ticks = self.off_ticks.saturating_add(other.off_ticks);
    }

    pub(super) fn working(self) -> u64 {
        self.ticks.saturating_sub(self.off_ticks)
    }
}

impl Known {
    /// Returns the name and the id of a thread.
    pub(super) fn thread(&self, number: u32) -> (&str, u32) {
        let (name, tid) = &self.threads[number as usize];
        (name, *tid)
    }

    /// Returns the key of a function.
    pub(super) fn function(&self, number: u32) -> u64 {
        self.functions[number as usize]
    }

    fn number_of(&mut self, name: &str, tid: u32) -> u32 {
        let next = self.threads.len() as u32;
        let key = (name.to_owned(), tid);
        if let Some(&number) = self.by_thread.get(&key) {
            return number;
        }
        self.threads.push(key.clone());
        self.by_thread.insert(key, next);
        next
    }

    /// Returns the index of each site's function.
    fn functions_of(&mut self, snapshot: &Snapshot) -> Rc<[u32]> {
        if let Some((sites, of_site)) = &self.of_sites
            && *sites == snapshot.sites
        {
            return Rc::clone(of_site);
        }
        let functions = Functions::of(snapshot);
        let numbers: Vec<u32> = functions
            .list
            .iter()
            .map(|function| {
                let next = self.functions.len() as u32;
                let number = *self.by_function.entry(function.key).or_insert(next);
                if number == next {
                    self.functions.push(function.key);
                }
                number
            })
            .collect();
        let of_site: Rc<[u32]> = functions.of_site.iter().map(|id| numbers[id.index()]).collect();
        self.of_sites = Some((snapshot.sites.clone(), Rc::clone(&of_site)));
        of_site
    }
}

impl Sums {
    pub(super) fn of(snapshot: &Snapshot, known: &mut Known) -> Self {
        let off = snapshot.measures.off_cpu_by_row(snapshot.nodes.len());
        let of_site = known.functions_of(snapshot);
        let mut threads = Vec::with_capacity(snapshot.threads.len());
        let mut spent: BTreeMap<(u32, u32), Spent> = BTreeMap::new();
        for (at, thread) in (0u32..).zip(&snapshot.threads) {
            let number = known.number_of(&thread.name, thread.tid);
            threads.push(number);
            for row in snapshot.rows_of(ThreadId(at)) {
                let ticks = snapshot.nodes.self_ticks[row];
                let function = of_site.get(snapshot.nodes.site[row] as usize);
                if let Some(&function) = function.filter(|_| ticks > 0) {
                    let off_ticks = off[row].min(ticks);
                    spent
                        .entry((number, function))
                        .or_default()
                        .add(Spent { ticks, off_ticks });
                }
            }
        }
        threads.sort_unstable();
        Self {
            run: (snapshot.process.pid, snapshot.process.started_unix_ns),
            since_reset_ns: snapshot.capture.since_reset_ns,
            ticks_per_second: snapshot.clock.ticks_per_second,
            waits: snapshot.waits,
            threads,
            spent,
        }
    }
}

impl Did {
    /// Returns the activity that the records `plus` have beyond the records `minus`, or `None` if they have no times. The last
    /// record of `plus` ends the slot.
    pub(super) fn between(
        plus: &[(usize, Rc<Sums>)],
        minus: &[(usize, Rc<Sums>)],
        known: &Known,
    ) -> Option<Self> {
        let (_, end) = plus.last()?;
        if plus.iter().chain(minus).any(|(_, sums)| sums.run != end.run) {
            return None;
        }
        let since = |all: &[(usize, Rc<Sums>)]| {
            let each = all.iter().map(|(_, sums)| sums.since_reset_ns);
            each.fold(0, u64::saturating_add)
        };
        let ns = since(plus).saturating_sub(since(minus));
        let ticks = ns as f64 * end.ticks_per_second / 1e9;
        let tells_time = ns > 0 && ticks > 0.0;
        if !tells_time {
            return None;
        }
        // Threads that have ended since are in the row of ended threads of their name.
        let row_of = |thread: u32| -> Option<u32> {
            if end.threads.binary_search(&thread).is_ok() {
                return Some(thread);
            }
            let ended = *known.by_thread.get(&(known.thread(thread).0.to_owned(), 0))?;
            end.threads.binary_search(&ended).ok().map(|_| ended)
        };
        let summed = |all: &[(usize, Rc<Sums>)]| {
            let mut sum: BTreeMap<(u32, u32), Spent> = BTreeMap::new();
            for (_, sums) in all {
                for (&(thread, function), &spent) in &sums.spent {
                    if let Some(row) = row_of(thread) {
                        sum.entry((row, function)).or_default().add(spent);
                    }
                }
            }
            sum
        };
        let (now, then) = (summed(plus), summed(minus));
        let mut threads: BTreeMap<u32, BTreeMap<u32, Spent>> = BTreeMap::new();
        for ((thread, function), now) in now {
            let then = then.get(&(thread, function)).copied().unwrap_or_default();
            let ticks = now.ticks.saturating_sub(then.ticks);
            if ticks > 0 {
                let off_ticks = now.off_ticks.saturating_sub(then.off_ticks).min(ticks);
                let spent = Spent { ticks, off_ticks };
                threads.entry(thread).or_default().insert(function, spent);
            }
        }
        Some(Self {
            ticks,
            waits: end.waits,
            threads,
        })
    }
}
