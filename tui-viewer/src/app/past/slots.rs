//! Divides time into slots of equal length, and computes the load of each thread and each function in every slot. The slots
//! are kept, so that the history is not read again each time they are needed.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use tickscope_analysis::functions::Functions;
use tickscope_analysis::series::terms;
use tickscope_analysis::spent::{Lapse, TimeSpent, lapse};
use tickscope_format::Snapshot;
use tickscope_format::snapshot::Sites;
use tickscope_programs::history::History;

use crate::app::keyhash::{KeyMap, KeySet};
use crate::app::source::KnownCode;

/// Load of a thread or a function in a slot, as a fraction of one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Load {
    /// Fraction of the slot spent in scopes on a CPU. Waits are included if the program does not measure them.
    pub(crate) working: f64,
    /// Fraction of the slot spent in scopes off the CPU.
    pub(crate) waiting: f64,
    /// Key of the function that spent the most time on a CPU.
    pub(crate) function: u64,
    /// Fraction of the slot that this function spent on a CPU.
    pub(super) most: f64,
}

/// Loads in a slot.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// Load by the key of the thread.
    pub(crate) threads: KeyMap<u64, Load>,
    /// Maps the key of each line for ended threads to the threads that move to this line once they have ended.
    pub(super) by_line_once_ended: KeyMap<u64, Vec<u64>>,
    /// Load of each function, summed over all threads, by the function's key.
    pub(crate) functions: KeyMap<u64, Load>,
}

impl Slot {
    /// Builds a slot from `lapse`, the time between two records. `end` is the later record.
    pub(super) fn of(lapse: &Lapse, end: &TimeSpent) -> Self {
        let mut slot = Self::default();
        for &((thread, function), spent) in &lapse.spent {
            let working = spent.working() as f64 / lapse.ticks;
            let load = Load {
                working,
                waiting: spent.off_ticks as f64 / lapse.ticks,
                function,
                most: working,
            };
            slot.threads.entry(thread).or_default().add(load);
            slot.functions.entry(function).or_default().add(load);
        }
        for &thread in slot.threads.keys() {
            let line = end.once_ended(thread);
            slot.by_line_once_ended.entry(line).or_default().push(thread);
        }
        slot
    }

    /// Returns the load to show in a thread's line. `lines` contains the threads that have lines of their own. All other
    /// threads have ended, and those with the same name share a line.
    pub(crate) fn thread(&self, line: u64, lines: &KeySet<u64>) -> Load {
        let mut all = Load::default();
        let threads = self.by_line_once_ended.get(&line).into_iter().flatten();
        let ended = threads.filter(|&thread| *thread != line && !lines.contains(thread));
        let loads = ended.chain([&line]).filter_map(|thread| self.threads.get(thread));
        loads.for_each(|&load| all.add(load));
        all
    }
}

impl Load {
    pub(crate) fn add(&mut self, other: Self) {
        self.working += other.working;
        self.waiting += other.waiting;
        // If two functions spent the same time on a CPU, the one with the smaller key wins, so that the colour does not depend
        // on the order in which loads are added.
        let more = other.most > self.most;
        let first = other.most >= self.most && (self.function == 0 || other.function < self.function);
        if more || first {
            (self.most, self.function) = (other.most, other.function);
        }
    }
}

const SECOND_NS: u64 = 1_000_000_000;

/// Number of snapshot rows after which a call stops reading and leaves the rest to the next call. Reading this many takes a
/// few milliseconds.
const ROWS_AT_ONCE: usize = 40_000;

/// Number of snapshots whose self times are cached, because neighbouring slots share a boundary.
const SPENT_KEPT: usize = 4;

/// Maximum number of records added up for one slot. A program may reset over and over, so there has to be a limit.
const RESETS_MOST: usize = 64;

/// Maximum time in ns between two records across which the load still counts as known. If the history has fewer than one
/// record every 10 s, three times the mean time between records applies instead.
const GAP_NS: u64 = 30 * SECOND_NS;

/// Sources of the snapshots that slots are made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Records<'a> {
    /// Records of the program.
    pub(crate) history: &'a History,
    /// Newest snapshot of the program, already decoded.
    pub(crate) newest: &'a Rc<Snapshot>,
    /// Known code of the program, used to name the functions in samples.
    pub(crate) code: &'a KnownCode,
}

/// The slots that are known.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// Length of a slot in ns.
    pub(crate) slot_ns: u64,
    /// Slots by index, counted in units of `slot_ns` since 1970; `None` if the load in the slot is unknown.
    slots: BTreeMap<u64, Option<Rc<Slot>>>,
    /// Index of the slot that was read before it was over, and the unix time in ns up to which it was read.
    unfinished: Option<(u64, u64)>,
    /// Number of changes to the slots so far.
    changes: u64,
    spent: Vec<Rc<TimeSpent>>,
    functions: Option<(Sites, Arc<Functions>)>,
    /// Revision of the history at the last attempt to read unknown slots.
    revision: u64,
    /// Value of [`KnownCode::named`] when `spent` was computed.
    code: u64,
}

impl Records<'_> {
    /// Returns the unix times of the two records that bound a slot. They are the records nearest to the ends of the slot.
    /// If both ends have the same nearest record, they are the records just before and after the middle of the slot.
    fn ends(&self, begin_ns: u64, end_ns: u64, gap_ns: u64) -> Option<(u64, u64)> {
        let middle_ns = begin_ns.midpoint(end_ns);
        let (begin, end) = (self.history.nearest(begin_ns)?, self.history.nearest(end_ns)?);
        let (begin, end) = match begin < end {
            true => (begin, end),
            false => (
                self.history.at_or_before(middle_ns)?,
                self.history.after(middle_ns)?,
            ),
        };
        // A slot before the first or after the last record is unknown.
        let touches = begin <= end_ns && begin_ns <= end;
        (touches && end - begin <= gap_ns).then_some((begin, end))
    }

    /// Returns the maximum time in ns between two records across which the load still counts as known.
    fn gap_ns(&self) -> u64 {
        let mut times = self.history.times();
        let (first, last) = (times.next(), times.next_back());
        let all_ns = first.zip(last).map_or(0, |(first, last)| last - first);
        let gaps = self.history.times().count().saturating_sub(1).max(1) as u64;
        GAP_NS.max((all_ns / gaps).saturating_mul(3))
    }

    fn snapshot(&self, unix_ns: u64) -> Option<Rc<Snapshot>> {
        let snapshot = match self.newest.capture.unix_ns == unix_ns {
            true => Rc::clone(self.newest),
            false => Rc::new(self.history.decode(unix_ns)?),
        };
        Some(self.code.with_unscaled_rows(snapshot))
    }
}

impl Slots {
    /// Reads the unknown slots from `first` to `last`, the newest first. Returns false if some slots are left for the
    /// next call.
    pub(crate) fn read(&mut self, records: Records<'_>, slot_ns: u64, first: u64, last: u64) -> bool {
        if self.slot_ns != slot_ns {
            self.slots.clear();
            self.unfinished = None;
            self.slot_ns = slot_ns;
        }
        let revision = records.history.revision();
        if self.revision != revision {
            // Older moments have arrived, so unknown slots are read again.
            self.slots.retain(|_, slot| slot.is_some());
            self.revision = revision;
        }
        let code = records.code.named();
        if self.code != code {
            if self.code == 0 {
                self.slots.clear();
            }
            // `spent` is computed again, because both ends of a slot must use the same names for functions.
            self.spent.clear();
            self.code = code;
        }
        let newest_ns = records.newest.capture.unix_ns;
        let is_over = |number: u64| newest_ns / slot_ns > number;
        if let Some((number, until_ns)) = self.unfinished
            && (is_over(number) || newest_ns.saturating_sub(until_ns) >= SECOND_NS)
        {
            self.slots.remove(&number);
            self.unfinished = None;
        }
        self.slots = self.slots.split_off(&first);
        let gap_ns = records.gap_ns();
        let mut left = ROWS_AT_ONCE;
        for number in (first..=last).rev() {
            if self.slots.contains_key(&number) {
                continue;
            }
            if left == 0 {
                return false;
            }
            let slot = self.slot(records, number, gap_ns, &mut left).map(Rc::new);
            self.slots.insert(number, slot);
            self.changes += 1;
            if !is_over(number) {
                self.unfinished = Some((number, newest_ns));
            }
        }
        true
    }

    fn slot(&mut self, records: Records<'_>, number: u64, gap_ns: u64, left: &mut usize) -> Option<Slot> {
        let (begin, end) = records.ends(
            number.saturating_mul(self.slot_ns),
            (number + 1).saturating_mul(self.slot_ns),
            gap_ns,
        )?;
        let between: Vec<_> = records.history.epochs(begin, end).collect();
        let (&last, epochs) = (between.last()?, between.iter().map(|(_, epoch)| *epoch));
        let mut terms = terms(epochs, 0, between.len() - 1).map(|at| between[at].0);
        if terms.more {
            return None;
        }
        if terms.unclosed || terms.plus.len() > RESETS_MOST {
            // Only the time since the reset is known.
            (terms.plus, terms.minus) = (vec![last.0], Vec::new());
        }
        let mut read = |times: &[u64]| -> Option<Vec<Rc<TimeSpent>>> {
            times.iter().map(|&at| self.spent_at(records, at, left)).collect()
        };
        let (plus, minus) = (read(&terms.plus)?, read(&terms.minus)?);
        Some(Slot::of(&lapse(&plus, &minus)?, plus.last()?))
    }

    fn spent_at(&mut self, records: Records<'_>, unix_ns: u64, left: &mut usize) -> Option<Rc<TimeSpent>> {
        if let Some(known) = self.spent.iter().find(|spent| spent.unix_ns == unix_ns) {
            return Some(Rc::clone(known));
        }
        let snapshot = records.snapshot(unix_ns)?;
        *left = left.saturating_sub(snapshot.nodes.len().max(1));
        let functions = match &self.functions {
            Some((sites, functions)) if *sites == snapshot.sites => Arc::clone(functions),
            Some(_) | None => {
                let functions = Arc::new(Functions::of(&snapshot));
                self.functions = Some((snapshot.sites.clone(), Arc::clone(&functions)));
                functions
            }
        };
        let spent = Rc::new(TimeSpent::of(&snapshot, &functions));
        self.spent.truncate(SPENT_KEPT - 1);
        self.spent.insert(0, Rc::clone(&spent));
        Some(spent)
    }

    /// Returns a slot; `None` if it is not known.
    pub(crate) fn get(&self, number: u64) -> Option<&Slot> {
        self.slots.get(&number)?.as_deref()
    }

    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Forgets all slots, because another run began.
    pub(crate) fn forget(&mut self) {
        *self = Self {
            changes: self.changes + 1,
            ..Self::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use tickscope_analysis::functions::Functions;
    use tickscope_analysis::spent::{Spent, key_of};
    use tickscope_format::Snapshot;
    use tickscope_format::snapshot::Thread;

    use super::*;

    /// In the last record of a recording, all threads have ended. Their lines must still show the load from when they ran.
    #[test]
    fn what_a_thread_did_is_in_the_line_of_its_name_once_it_has_ended() {
        let worker = |tid| Thread {
            name: "worker".into(),
            tid,
            ..Thread::default()
        };
        let line = |tid| key_of(&worker(tid));
        let end = Snapshot {
            threads: [0, 5, 6].map(worker).into(),
            ..Snapshot::default()
        };
        let spent = [(0, 250), (5, 500), (6, 125)].map(|(tid, ticks)| {
            let spent = Spent { ticks, off_ticks: 0 };
            ((line(tid), 1), spent)
        });
        let lapse = Lapse {
            ticks: 1000.0,
            waits: false,
            spent: spent.into(),
        };
        let slot = Slot::of(&lapse, &TimeSpent::of(&end, &Functions::default()));
        let worked = |shown: &[u32], tid| {
            let lines = shown.iter().map(|&tid| line(tid)).collect();
            slot.thread(line(tid), &lines).working
        };
        assert_eq!([0, 5, 6].map(|tid| worked(&[0, 5, 6], tid)), [0.25, 0.5, 0.125]);
        assert_eq!([0, 6].map(|tid| worked(&[0, 6], tid)), [0.75, 0.125]);
        assert_eq!(worked(&[0], 0), 0.875);
    }
}
