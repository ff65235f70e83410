//! The self time of each thread in each function, either up to a record or between two records of a run.

use std::borrow::{Borrow, Cow};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::{self, Thread, scaled};

use crate::functions::Functions;
use crate::series::RecordEpoch;
use crate::thread_names::after_end;

/// Self time, and how much of it was off the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Self time in ticks.
    pub ticks: u64,
    /// Part of `ticks` off the CPU.
    pub off_ticks: u64,
}

impl Spent {
    /// Adds the time of `other`.
    pub fn add(&mut self, other: Self) {
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.off_ticks = self.off_ticks.saturating_add(other.off_ticks);
    }

    /// Returns the ticks on a CPU.
    pub fn working(self) -> u64 {
        self.ticks.saturating_sub(self.off_ticks)
    }

    fn less(self, then: Self) -> Self {
        let ticks = self.ticks.saturating_sub(then.ticks);
        let off_ticks = self.off_ticks.saturating_sub(then.off_ticks).min(ticks);
        Self { ticks, off_ticks }
    }
}

/// Self times with the keys of their thread and function, sorted by these keys.
type ByKeys = Vec<((u64, u64), Spent)>;

/// Returns the key of a thread: a hash of its name and id.
pub fn key_of(thread: &Thread) -> u64 {
    key(&thread.name, thread.tid)
}

/// Returns the key shared by all ended threads with this name.
pub fn key_once_ended(name: &str) -> u64 {
    key(name, 0)
}

fn key(name: &str, tid: u32) -> u64 {
    let mut hasher = DefaultHasher::new();
    (name, tid).hash(&mut hasher);
    hasher.finish()
}

/// Self times up to a record, by thread and function.
#[derive(Debug)]
pub struct TimeSpent {
    /// When the record was made, in nanoseconds since the Unix epoch.
    pub unix_ns: u64,
    /// The reset epochs whose counts the record holds.
    pub epoch: RecordEpoch,
    run: (u32, u64),
    since_reset_ns: u64,
    clock_epoch: u32,
    ticks_per_second: f64,
    waits: bool,
    /// Whether samples are known. Coarse records have none.
    has_samples: bool,
    /// Maps the key of each thread to the keys that it may get once it has ended: the key of ended threads with its name, and, if
    /// the name contains a process id, the key of threads from ended processes.
    threads: HashMap<u64, (u64, Option<u64>)>,
    spent: ByKeys,
}

/// Self times between two records.
#[derive(Debug)]
pub struct Lapse {
    /// Time between the records, in ticks.
    pub ticks: f64,
    /// Whether times off the CPU are known.
    pub waits: bool,
    /// Self times with the keys of their thread and function. Times of 0 are left out.
    pub spent: Vec<((u64, u64), Spent)>,
}

impl TimeSpent {
    /// Returns the self times of a snapshot. `functions` must be the functions of this snapshot.
    pub fn of(snapshot: &Snapshot, functions: &Functions) -> Self {
        let off = snapshot.measures.off_cpu_by_row(snapshot.nodes.len());
        let mut threads = HashMap::with_capacity(snapshot.threads.len());
        let mut spent = Vec::new();
        let mut by_function = vec![Spent::default(); functions.list.len()];
        let mut met = Vec::new();
        for (at, thread) in (0u32..).zip(&snapshot.threads) {
            let own = key_of(thread);
            let of_process = after_end(&thread.name).map(|name| key_once_ended(&name));
            threads.insert(own, (key_once_ended(&thread.name), of_process));
            for row in snapshot.rows_of(ThreadId(at)) {
                let ticks = snapshot.nodes.self_ticks[row];
                let function = functions.of_site.get(snapshot.nodes.site[row] as usize);
                if let Some(&function) = function.filter(|_| ticks > 0) {
                    let sum = &mut by_function[function.index()];
                    if sum.ticks == 0 {
                        met.push(function);
                    }
                    let off_ticks = off[row].min(ticks);
                    sum.add(Spent { ticks, off_ticks });
                }
            }
            spent.extend(met.drain(..).map(|function| {
                let sum = std::mem::take(&mut by_function[function.index()]);
                ((own, functions.get(function).key), sum)
            }));
        }
        Self {
            unix_ns: snapshot.capture.unix_ns,
            epoch: RecordEpoch::from(&snapshot.capture),
            run: (snapshot.process.pid, snapshot.process.started_unix_ns),
            since_reset_ns: snapshot.capture.since_reset_ns,
            clock_epoch: snapshot.clock.epoch,
            ticks_per_second: snapshot.clock.ticks_per_second,
            waits: snapshot.waits,
            has_samples: !snapshot.lines.is_empty(),
            threads,
            spent: together(spent),
        }
    }

    /// Returns the key that the thread whose key is now `thread` gets once it has ended.
    pub fn once_ended(&self, thread: u64) -> u64 {
        self.threads.get(&thread).map_or(thread, |(ended, _)| *ended)
    }

    /// Converts the self times to the form that they have in the record `later`: in ticks of its clock, and with threads that
    /// have ended in the meantime under the key that ended threads of their name share.
    fn as_in<'a>(&'a self, later: &Self) -> Cow<'a, [((u64, u64), Spent)]> {
        let has_ended = |thread: &u64| !later.threads.contains_key(thread);
        let is_other_clock = self.clock_epoch != later.clock_epoch;
        if !is_other_clock && !self.threads.keys().any(has_ended) {
            return Cow::Borrowed(&self.spent);
        }
        let row_of = |thread: u64| {
            let ended = self.threads.get(&thread).filter(|_| has_ended(&thread));
            let Some(&(of_name, of_process)) = ended else {
                return thread;
            };
            of_process
                .filter(|row| has_ended(&of_name) && !has_ended(row))
                .unwrap_or(of_name)
        };
        let ratio = match is_other_clock {
            true => later.ticks_per_second / self.ticks_per_second,
            false => 1.0,
        };
        let spent = self.spent.iter().map(|&((thread, function), spent)| {
            let [ticks, off_ticks] = [spent.ticks, spent.off_ticks].map(|ticks| scaled(ticks, ratio));
            ((row_of(thread), function), Spent { ticks, off_ticks })
        });
        Cow::Owned(together(spent.collect()))
    }
}

/// Returns the self times of the records `plus` minus the self times of the records `minus`; see
/// [`Terms`](crate::series::Terms). The period ends with the last record of `plus`. Returns `None` if the period is
/// empty, if the records are from different runs, or if samples are known only since some time in the period.
pub fn lapse<T: Borrow<TimeSpent>>(plus: &[T], minus: &[T]) -> Option<Lapse> {
    let end: &TimeSpent = plus.last()?.borrow();
    let is_other = |record: &T| record.borrow().run != end.run;
    if plus.iter().chain(minus).any(is_other) {
        return None;
    }
    let lacks_samples = |record: &T| !record.borrow().has_samples && !record.borrow().spent.is_empty();
    if end.has_samples && minus.iter().any(lacks_samples) {
        return None;
    }
    let since = |records: &[T]| {
        let each = records.iter().map(|record| record.borrow().since_reset_ns);
        each.fold(0, u64::saturating_add)
    };
    let ns = since(plus).saturating_sub(since(minus));
    let ticks = ns as f64 * end.ticks_per_second / 1e9;
    let tells_time = ns > 0 && ticks > 0.0;
    if !tells_time {
        return None;
    }
    let (now, then) = (summed(plus, end), summed(minus, end));
    let mut then = then.iter().peekable();
    let spent = now.iter().filter_map(|&(keys, now)| {
        while then.next_if(|(before, _)| *before < keys).is_some() {}
        let then = then.next_if(|(before, _)| *before == keys);
        let spent = now.less(then.map(|&(_, spent)| spent).unwrap_or_default());
        (spent.ticks > 0).then_some((keys, spent))
    });
    Some(Lapse {
        ticks,
        waits: end.waits,
        spent: spent.collect(),
    })
}

fn summed<'a, T: Borrow<TimeSpent>>(records: &'a [T], end: &TimeSpent) -> Cow<'a, [((u64, u64), Spent)]> {
    match records {
        [] => Cow::Borrowed(&[]),
        [one] => one.borrow().as_in(end),
        several => {
            let each = several.iter().map(|record| record.borrow().as_in(end));
            Cow::Owned(together(each.collect::<Vec<_>>().concat()))
        }
    }
}

/// Sorts self times by their keys, and adds up those with equal keys.
fn together(spent: ByKeys) -> ByKeys {
    snapshot::together(spent, |mut all, next| {
        all.add(next);
        all
    })
}

#[cfg(test)]
mod tests {
    use tickscope_format::ids::SiteId;
    use tickscope_testkit::fixture::site;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Returns a record with the given threads. Each is given as its name, its id (0 for ended threads) and the seconds that it
    /// worked.
    fn record(second: u64, threads: &[(&str, u32, f64)]) -> Snapshot {
        let mut s = Snapshot::default();
        s.sites.push(site("", "work", 0));
        s.clock.ticks_per_second = SECOND as f64;
        s.capture.since_reset_ns = second * SECOND;
        for (first_row, &(name, tid, worked)) in (0..).zip(threads) {
            s.nodes.push(None, SiteId(0), 1, (worked * SECOND as f64) as u64);
            s.threads.push(Thread {
                name: name.into(),
                tid,
                first_row,
                rows: 1,
                ..Thread::default()
            });
        }
        s
    }

    /// Returns the seconds between two records, and the seconds that each thread worked, shortest first.
    fn seconds(plus: &[&Snapshot], minus: &[&Snapshot]) -> (f64, Vec<f64>) {
        let of = |records: &[&Snapshot]| -> Vec<TimeSpent> {
            let each = records.iter();
            each.map(|record| TimeSpent::of(record, &Functions::of(record)))
                .collect()
        };
        let (plus, minus) = (of(plus), of(minus));
        let lapse = lapse(&plus, &minus).unwrap();
        let second = plus[plus.len() - 1].ticks_per_second;
        let spent = lapse.spent.iter();
        let each = spent.map(|(_, spent)| spent.working() as f64 / second);
        let mut each: Vec<f64> = each.collect();
        each.sort_by(f64::total_cmp);
        (lapse.ticks / second, each)
    }

    #[test]
    fn a_thread_that_ends_alone_or_with_its_process_did_no_more_than_it_did_since() {
        let before = record(100, &[("worker", 0, 30.0), ("worker", 5, 90.0)]);
        let after = record(101, &[("worker", 0, 120.5), ("worker", 6, 0.25)]);
        assert_eq!(seconds(&[&after], &[&before]), (1.0, vec![0.25, 0.5]));
        // A process ends in the second between these records. Only its work in that second is counted, not all its work.
        let before = record(100, &[("worker (7)", 5, 90.0), ("worker (ended)", 0, 30.0)]);
        let after = record(101, &[("worker (ended)", 0, 120.5)]);
        assert_eq!(seconds(&[&after], &[&before]), (1.0, vec![0.5]));
    }

    /// After a reset, the row of ended threads is missing until something is counted in it.
    #[test]
    fn a_thread_that_ends_after_a_reset_keeps_what_it_did_before() {
        let (before, end) = (
            record(100, &[("worker", 5, 90.0)]),
            record(101, &[("worker", 5, 90.5)]),
        );
        let after = record(1, &[("other", 6, 0.25)]);
        assert_eq!(seconds(&[&end, &after], &[&before]), (2.0, vec![0.25, 0.5]));
    }

    #[test]
    fn a_time_is_unknown_if_samples_are_known_only_since_some_moment_in_it() {
        let [mut before, mut after] = [
            record(100, &[("worker", 5, 90.0)]),
            record(101, &[("worker", 5, 90.5)]),
        ];
        let is_known = |before: &Snapshot, after: &Snapshot| {
            let [before, after] = [before, after].map(|record| TimeSpent::of(record, &Functions::of(record)));
            lapse(&[after], &[before]).is_some()
        };
        assert!(is_known(&before, &after));
        after.lines.asked_hz = 1_000;
        assert!(!is_known(&before, &after));
        assert!(is_known(&record(100, &[]), &after), "nothing was done before");
        before.lines.asked_hz = 1_000;
        assert!(is_known(&before, &after));
    }

    #[test]
    fn time_before_a_clock_broke_is_in_ticks_of_the_next_clock() {
        let (before, end) = (
            record(100, &[("worker", 5, 90.0)]),
            record(101, &[("worker", 5, 90.5)]),
        );
        let mut after = record(1, &[("worker", 5, 0.25)]);
        after.clock.epoch = 1;
        after.clock.ticks_per_second /= 4.0;
        after.nodes.self_ticks[0] /= 4;
        assert_eq!(seconds(&[&end, &after], &[&before]), (2.0, vec![0.75]));
    }
}
