//! Activity of each thread over the course of a recording, in time slots: how long the thread worked and waited, and in which
//! functions.
//!
//! Two consecutive records form a slot. If there would be more than 300 slots, neighbouring slots are merged. Records are read
//! one by one. Only their sums by thread and function are kept in memory, and only until the next slot is done.

mod plan;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use tickscope_analysis::functions::Functions;
use tickscope_analysis::series::{RecordEpoch, Series};
use tickscope_analysis::spent::{Lapse, Spent, TimeSpent, key_of, key_once_ended, lapse};
use tickscope_format::Snapshot;
use tickscope_format::snapshot::Sites;

/// Maximum number of slots. A gap between records cuts a slot short, so gaps may add a few.
const SLOTS: usize = 300;

/// Maximum number of threads that are shown. The threads with the most working time are chosen.
const ROWS: usize = 40;

/// Maximum number of functions that are listed for a thread in a slot.
const FUNCTIONS: usize = 3;

/// A thread must work for at least this share of a CPU in a slot for its functions to be listed there.
const LEAST: f64 = 0.002;

/// Activity of threads over the course of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// When the first record was made, in nanoseconds since the Unix epoch.
    pub(crate) began_unix_ns: u64,
    /// Time from the first record to the last, in nanoseconds.
    pub(crate) length_ns: u64,
    /// Start and end of each slot, in nanoseconds since the first record. Nothing is known about the gaps between slots.
    pub(crate) times: Vec<(u64, u64)>,
    /// Whether waiting times are known.
    pub(crate) waits: bool,
    /// The threads that are shown, most working time first.
    pub(crate) rows: Vec<Row>,
    /// Number of threads that are not shown.
    pub(crate) left_out: usize,
    /// Keys of the functions that occur in slots, most working time first.
    pub(crate) functions: Vec<u64>,
}

/// A thread, with its activity over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// Thread id, or 0 if the row stands for ended threads of this name.
    pub(crate) tid: u32,
    /// Activity over all slots.
    pub(crate) all: Load,
    pub(crate) loads: Vec<Load>,
}

/// Activity of a thread, in one slot or in all of them. Times are percentages of one CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Time spent in scopes and on a CPU, or all time spent in scopes if waits are unknown.
    pub(crate) working: u32,
    /// Time spent in scopes and off the CPU.
    pub(crate) waiting: u32,
    /// Keys of the functions with the most working time, each with its percentage.
    pub(crate) functions: Vec<(u64, u32)>,
    /// Key of the function that waited most.
    pub(crate) waits_in: Option<u64>,
}

impl Slots {
    /// Returns the slots between two records of one run, which have the indices `from` and `to`. `unix_ns` contains the time of
    /// each record, and `read` reads the record with a given index.
    ///
    /// # Errors
    /// Any error from `read`.
    pub fn of<E>(
        records: &[RecordEpoch],
        unix_ns: &[u64],
        (from, to): (usize, usize),
        mut read: impl FnMut(usize) -> Result<Snapshot, E>,
    ) -> Result<Self, E> {
        let times = unix_ns.get(from..=to).unwrap_or_default();
        let (Some(&began_unix_ns), Some(&ended_unix_ns)) = (times.first(), times.last()) else {
            return Ok(Self::default());
        };
        let since = |at: usize| unix_ns[at].saturating_sub(began_unix_ns);
        let mut known = Known::default();
        let mut kept: Vec<(usize, Rc<TimeSpent>)> = Vec::new();
        let mut out = Self {
            began_unix_ns,
            length_ns: ended_unix_ns.saturating_sub(began_unix_ns),
            ..Self::default()
        };
        let mut table = Table::default();
        let mut series = Series::default();
        let mut records = (0..).zip(records);
        for (begin, end) in plan::slots(times, SLOTS) {
            let (begin, end) = (from + begin, from + end);
            let mut take_until = |end: usize| {
                while series.newest().is_none_or(|newest| newest.counts < end)
                    && let Some((at, &record)) = records.next()
                {
                    series.take(record, at);
                }
                series.clone()
            };
            let (then, now) = (take_until(begin), take_until(end));
            let terms = now.since(&then).map(|&at| at);
            let mut used: Vec<(usize, Rc<TimeSpent>)> = Vec::new();
            for &at in terms.minus.iter().chain(&terms.plus) {
                let spent = match kept.iter().chain(&used).find(|(of, _)| *of == at) {
                    Some((_, spent)) => Rc::clone(spent),
                    None => Rc::new(known.spent_in(&read(at)?)),
                };
                used.push((at, spent));
            }
            let spent: Vec<&TimeSpent> = used.iter().map(|(_, spent)| &**spent).collect();
            let (minus, plus) = spent.split_at(terms.minus.len());
            // After an undo, `terms` may include counts from before this slot. In that case, the slot is left out.
            let lapse = if terms.more { None } else { lapse(plus, minus) };
            if let Some(lapse) = lapse {
                out.waits |= lapse.waits;
                out.times.push((since(begin), since(end)));
                table.add(&lapse);
            }
            kept = used;
        }
        table.rows(&mut out, &known);
        Ok(out)
    }
}

/// All threads that were in any record so far, and the functions of the last record. The functions are kept because they rarely
/// change between records.
#[derive(Default)]
struct Known {
    /// Name and id of each thread, by the thread's key.
    threads: HashMap<u64, (String, u32)>,
    of_sites: Option<(Sites, Functions)>,
}

impl Known {
    fn thread(&self, key: u64) -> (&str, u32) {
        self.threads.get(&key).map_or(("", 0), |(name, tid)| (name, *tid))
    }

    /// Returns the self times in a record, and remembers the record's threads and functions.
    fn spent_in(&mut self, snapshot: &Snapshot) -> TimeSpent {
        for thread in &snapshot.threads {
            for (key, tid) in [(key_of(thread), thread.tid), (key_once_ended(&thread.name), 0)] {
                self.threads
                    .entry(key)
                    .or_insert_with(|| (thread.name.clone(), tid));
            }
        }
        let known = self.of_sites.take().filter(|(sites, _)| *sites == snapshot.sites);
        let known = known.unwrap_or_else(|| (snapshot.sites.clone(), Functions::of(snapshot)));
        let (_, functions) = self.of_sites.insert(known);
        TimeSpent::of(snapshot, functions)
    }
}

/// Activity by slot and thread.
#[derive(Default)]
struct Table {
    /// Length of all slots together, in ticks.
    ticks: f64,
    slots: usize,
    threads: BTreeMap<u64, Thread>,
}

#[derive(Default)]
struct Thread {
    all: BTreeMap<u64, Spent>,
    /// Activity of the thread in each slot. Slots without activity are left out.
    loads: BTreeMap<usize, Parts>,
}

/// Activity as shares of one CPU, 0 to 1.
#[derive(Clone, Debug, Default)]
struct Parts {
    working: f64,
    waiting: f64,
    functions: Vec<(u64, f64)>,
    waits_in: Option<(u64, f64)>,
}

impl Table {
    fn add(&mut self, lapse: &Lapse) {
        let slot = self.slots;
        self.slots += 1;
        self.ticks += lapse.ticks;
        for of_thread in lapse.spent.chunk_by(|((one, _), _), ((next, _), _)| one == next) {
            let functions = of_thread.iter().map(|&((_, function), spent)| (function, spent));
            let row = self.threads.entry(of_thread[0].0.0).or_default();
            row.loads.insert(slot, Parts::of(functions.clone(), lapse.ticks));
            for (function, spent) in functions {
                row.all.entry(function).or_default().add(spent);
            }
        }
    }

    /// Moves the threads that are shown, with their activity, into `out`.
    fn rows(mut self, out: &mut Slots, known: &Known) {
        self.join_ended(known);
        let ticks = self.ticks.max(1.0);
        let mut rows: Vec<((&str, u32), Parts, Thread)> = std::mem::take(&mut self.threads)
            .into_iter()
            .map(|(key, thread)| {
                let all = thread.all.iter().map(|(&function, &spent)| (function, spent));
                (known.thread(key), Parts::of(all, ticks), thread)
            })
            .filter(|(_, all, _)| all.working > 0.0 || all.waiting > 0.0)
            .collect();
        // Of two threads with the same working and waiting times, an ended one comes last.
        let is_over = |(_, tid): &(&str, u32)| *tid == 0;
        rows.sort_by(|(one, a, _), (other, b, _)| {
            let by = |x: f64, y: f64| y.total_cmp(&x);
            by(a.working, b.working)
                .then(by(a.waiting, b.waiting))
                .then(is_over(one).cmp(&is_over(other)))
                .then(one.cmp(other))
        });
        out.left_out = rows.len().saturating_sub(ROWS);
        rows.truncate(ROWS);
        let mut worked: BTreeMap<u64, u64> = BTreeMap::new();
        for ((name, tid), all, thread) in rows {
            for (&function, spent) in &thread.all {
                let sum = worked.entry(function).or_default();
                *sum = sum.saturating_add(spent.working());
            }
            out.rows.push(Row {
                name: name.to_owned(),
                tid,
                all: all.load(),
                loads: (0..self.slots)
                    .map(|slot| thread.loads.get(&slot).map_or_else(Load::default, Parts::load))
                    .collect(),
            });
        }
        let mut worked: Vec<(u64, u64)> = worked.into_iter().collect();
        worked.sort_by_key(|&(function, ticks)| (Reverse(ticks), function));
        let loads = out.rows.iter().flat_map(|row| row.loads.iter().chain([&row.all]));
        let told: BTreeSet<u64> = loads
            .flat_map(|load| load.functions.iter().map(|&(key, _)| key).chain(load.waits_in))
            .collect();
        let keys = worked.into_iter().map(|(function, _)| function);
        out.functions = keys.filter(|key| told.contains(key)).collect();
    }

    /// Moves the activity of ended threads to their own rows. What a thread does between its last record and its end appears in a
    /// row that all ended threads of its name share. This row is added to the thread's own row if no other thread has the name.
    fn join_ended(&mut self, known: &Known) {
        let mut by_name: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for &at in self.threads.keys() {
            by_name.entry(known.thread(at).0).or_default().push(at);
        }
        for threads in by_name.into_values() {
            let (ended, alive): (Vec<u64>, Vec<u64>) =
                threads.into_iter().partition(|&at| known.thread(at).1 == 0);
            let (&[ended], &[alive]) = (&ended[..], &alive[..]) else {
                continue;
            };
            let (Some(ended), Some(alive)) = (self.threads.remove(&ended), self.threads.get_mut(&alive))
            else {
                continue;
            };
            for (function, spent) in ended.all {
                alive.all.entry(function).or_default().add(spent);
            }
            for (slot, parts) in ended.loads {
                alive.loads.entry(slot).or_default().add(parts);
            }
        }
    }
}

impl Parts {
    fn of(functions: impl Iterator<Item = (u64, Spent)>, ticks: f64) -> Self {
        let mut parts = Self::default();
        for (function, spent) in functions {
            let (working, waiting) = (spent.working() as f64 / ticks, spent.off_ticks as f64 / ticks);
            parts.working += working;
            parts.waiting += waiting;
            if working > 0.0 {
                parts.functions.push((function, working));
            }
            if waiting > parts.waits_in.map_or(0.0, |(_, most)| most) {
                parts.waits_in = Some((function, waiting));
            }
        }
        parts.keep_most();
        parts
    }

    fn add(&mut self, other: Self) {
        self.working += other.working;
        self.waiting += other.waiting;
        for (function, more) in other.functions {
            match self.functions.iter_mut().find(|(of, _)| *of == function) {
                Some((_, sum)) => *sum += more,
                None => self.functions.push((function, more)),
            }
        }
        let most = self.waits_in.map_or(0.0, |(_, most)| most);
        self.waits_in = other
            .waits_in
            .filter(|&(_, waits)| waits > most)
            .or(self.waits_in);
        self.keep_most();
    }

    fn keep_most(&mut self) {
        self.functions
            .sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        self.functions.truncate(FUNCTIONS);
    }

    fn load(&self) -> Load {
        let percent = |part: f64| (part * 100.0).round() as u32;
        let works = self.working >= LEAST;
        let functions = self.functions.iter().enumerate();
        Load {
            working: percent(self.working),
            waiting: percent(self.waiting),
            // If the thread was active in the slot, its first function is listed even if it rounds to 0 %.
            functions: functions
                .filter(|&(at, &(_, part))| works && (at == 0 || percent(part) > 0))
                .map(|(_, &(function, part))| (function, percent(part)))
                .collect(),
            waits_in: self
                .waits_in
                .filter(|_| percent(self.waiting) > 0)
                .map(|(function, _)| function),
        }
    }
}

#[cfg(test)]
mod tests;
