//! Time cut into slots of one length, each with what threads and functions did in it. The history is read once for each slot.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use tickscope_analysis::functions::Functions;
use tickscope_format::Snapshot;
use tickscope_format::snapshot::Sites;

use crate::app::source::KnownCode;
use crate::app::timeline::slot::Slot;
use crate::app::timeline::sums::Sums;
use crate::source::history::History;

const SECOND_NS: u64 = 1_000_000_000;

/// So many rows of snapshots are read at once: some milliseconds. The rest comes with the next look.
const ROWS_AT_ONCE: usize = 40_000;

/// Snapshots whose sums are kept: the ends of neighbours are the same.
const SUMS_KEPT: usize = 4;

/// Between moments that are further apart nothing is known, unless all of them are: the coarse history has one each ten seconds.
const GAP_NS: u64 = 30 * SECOND_NS;

/// Where snapshots come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Past<'a> {
    /// The past of the program.
    pub(crate) history: &'a History,
    /// Its newest snapshot, which need not be decoded.
    pub(crate) newest: &'a Rc<Snapshot>,
    /// What is known of the code of samples.
    pub(in crate::app) code: &'a KnownCode,
}

/// The slots that are known.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// The length of each.
    pub(super) slot_ns: u64,
    /// By their number since 1970; none where nothing is known of one.
    slots: BTreeMap<u64, Option<Rc<Slot>>>,
    /// A slot that was read before its end, and until when.
    unfinished: Option<(u64, u64)>,
    /// How often they have changed.
    changes: u64,
    sums: Vec<Rc<Sums>>,
    functions: Option<(Sites, Arc<Functions>)>,
    /// What the history was when slots were read of which nothing was known.
    revision: u64,
    /// What was named of code when `sums` were made; 0 before any of it was.
    code: u64,
}

impl Past<'_> {
    /// When the moment was that is nearest to a time.
    pub(crate) fn nearest(&self, unix_ns: u64) -> Option<u64> {
        let before = self.history.at_or_before(unix_ns);
        let after = self.history.after(unix_ns);
        match before.zip(after) {
            Some((before, after)) if after - unix_ns < unix_ns - before => Some(after),
            Some((before, _)) => Some(before),
            None => before.or(after),
        }
    }

    /// When the moments were that a slot lies between: those nearest to its ends, or, where that is the same one, those around it.
    fn ends(&self, begin_ns: u64, end_ns: u64, gap_ns: u64) -> Option<(u64, u64)> {
        let middle_ns = begin_ns.midpoint(end_ns);
        let (begin, end) = (self.nearest(begin_ns)?, self.nearest(end_ns)?);
        let (begin, end) = match begin < end {
            true => (begin, end),
            false => (
                self.history.at_or_before(middle_ns)?,
                self.history.after(middle_ns)?,
            ),
        };
        // Nothing is known of what lies outside of all moments.
        let touches = begin <= end_ns && begin_ns <= end;
        (touches && end - begin <= gap_ns).then_some((begin, end))
    }

    /// Between moments that are further apart nothing is known.
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
        Some(self.code.with_rows(snapshot))
    }
}

impl Slots {
    /// Reads what is not known of the slots from `first` to `last`, the newest first. False where some are left for the next time.
    pub(crate) fn read(&mut self, past: Past<'_>, slot_ns: u64, first: u64, last: u64) -> bool {
        if self.slot_ns != slot_ns {
            self.slots.clear();
            self.unfinished = None;
            self.slot_ns = slot_ns;
        }
        let revision = past.history.revision();
        if self.revision != revision {
            // Older moments have come.
            self.slots.retain(|_, slot| slot.is_some());
            self.revision = revision;
        }
        let code = past.code.named();
        if self.code != code {
            if self.code == 0 {
                self.slots.clear();
            }
            // Both ends of a slot have to name the same code.
            self.sums.clear();
            self.code = code;
        }
        let newest_ns = past.newest.capture.unix_ns;
        let is_over = |number: u64| newest_ns / slot_ns > number;
        if let Some((number, until_ns)) = self.unfinished
            && (is_over(number) || newest_ns.saturating_sub(until_ns) >= SECOND_NS)
        {
            self.slots.remove(&number);
            self.unfinished = None;
        }
        self.slots = self.slots.split_off(&first);
        let gap_ns = past.gap_ns();
        let mut left = ROWS_AT_ONCE;
        for number in (first..=last).rev() {
            if self.slots.contains_key(&number) {
                continue;
            }
            if left == 0 {
                return false;
            }
            let slot = self.slot(past, number, gap_ns, &mut left).map(Rc::new);
            self.slots.insert(number, slot);
            self.changes += 1;
            if !is_over(number) {
                self.unfinished = Some((number, newest_ns));
            }
        }
        true
    }

    fn slot(&mut self, past: Past<'_>, number: u64, gap_ns: u64, left: &mut usize) -> Option<Slot> {
        let (begin, end) = past.ends(
            number.saturating_mul(self.slot_ns),
            (number + 1).saturating_mul(self.slot_ns),
            gap_ns,
        )?;
        let end = self.sums_at(past, end, left)?;
        let begin = self.sums_at(past, begin, left)?;
        end.since(&begin)
    }

    fn sums_at(&mut self, past: Past<'_>, unix_ns: u64, left: &mut usize) -> Option<Rc<Sums>> {
        if let Some(known) = self.sums.iter().find(|sums| sums.unix_ns == unix_ns) {
            return Some(Rc::clone(known));
        }
        let snapshot = past.snapshot(unix_ns)?;
        *left = left.saturating_sub(snapshot.nodes.len().max(1));
        let functions = match &self.functions {
            Some((sites, functions)) if *sites == snapshot.sites => Arc::clone(functions),
            Some(_) | None => {
                let functions = Arc::new(Functions::of(&snapshot));
                self.functions = Some((snapshot.sites.clone(), Arc::clone(&functions)));
                functions
            }
        };
        let sums = Rc::new(Sums::of(&snapshot, &functions));
        self.sums.truncate(SUMS_KEPT - 1);
        self.sums.insert(0, Rc::clone(&sums));
        Some(sums)
    }

    /// What happened in a slot; none where that is not known.
    pub(crate) fn get(&self, number: u64) -> Option<&Slot> {
        self.slots.get(&number)?.as_deref()
    }

    /// How often slots have changed.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Another run: nothing is known of it.
    pub(crate) fn forget(&mut self) {
        *self = Self {
            changes: self.changes + 1,
            ..Self::default()
        };
    }
}
