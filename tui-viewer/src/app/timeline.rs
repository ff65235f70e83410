//! The view Timeline: which time is on the screen, cut into slots of a column each, and which part of it is chosen.
//!
//! A chosen stretch is no state beside the others: it is a moment of the past (`playback`) and a window (`query`), which all views
//! show already.

pub(crate) mod slot;
pub(crate) mod slots;
mod sums;

use std::ops::RangeInclusive;

use crate::app::keyhash::{KeyMap, KeySet};
use crate::app::thread_rows::ThreadRow;
use crate::app::timeline::slot::{Load, Slot};
use crate::app::timeline::slots::{Past, Slots};

/// Lines of the screen that a thread or a function takes at most.
pub(crate) const LANE_LINES: u16 = 4;

/// Lines for what functions take in the chosen time: a rule, a heading, and some functions.
pub(crate) const PARTS_LINES: u16 = 9;

const SECOND_NS: u64 = 1_000_000_000;

/// What the lines are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// A thread each.
    #[default]
    Threads,
    /// A function each, in all threads.
    Functions,
}

/// How much time is on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// So many seconds.
    Seconds(u64),
    /// All of a recording or a run.
    All,
}

/// The time on the screen where none was chosen.
pub(super) const USUAL_NS: u64 = 30 * SECOND_NS;

/// The spans that one can choose from, without that of a whole recording.
const SPANS: [u64; 6] = [10, 30, 120, 600, 1_800, 3_600];

/// Cells of the names in front of lines of so many cells.
pub(crate) fn name_cells(width: u16) -> u16 {
    (width / 5).clamp(6, 26)
}

/// Columns that such a line has.
pub(super) fn columns_in(width: u16) -> u16 {
    width.saturating_sub(name_cells(width) + 3).max(1)
}

/// How high so many lanes are, where they share so many lines of the screen.
pub(crate) fn lines_of_lane(lanes: usize, lines: u16) -> u16 {
    let fits = |high: &u16| lanes.max(1) * usize::from(*high) <= usize::from(lines);
    (1..=LANE_LINES).rev().find(fits).unwrap_or(1)
}

/// A part of the time, chosen from one end to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice {
    /// A time in the slot that it began with.
    anchor_ns: u64,
    /// A time in the slot that it was drawn to.
    head_ns: u64,
}

/// The time on the screen.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// What the lines of the view are of, as it was chosen.
    pub(crate) lanes: Lanes,
    /// What those on the screen are of.
    drawn: Lanes,
    /// The keys of the threads that have a line.
    threads: KeySet<u64>,
    /// How much time is on the screen, where that was chosen.
    span: Option<Span>,
    choice: Option<Choice>,
    /// The number of the last slot on the screen.
    last: u64,
    /// Slots on the screen.
    columns: u16,
    slots: Slots,
    /// Some of the slots are still to be read.
    pub(super) is_unread: bool,
    summed: Summed,
}

/// What is summed up over the columns: made once for each change, as a program publishes more often than a column is over.
#[derive(Debug, Default)]
struct Summed {
    /// What it was made of: how often slots had changed, the last column, what lines are of, and the range.
    of: Option<(u64, u64, Lanes, Option<RangeInclusive<u16>>)>,
    /// The most that a function shows in a column, in CPUs, by which lines of functions are drawn.
    most: f64,
    /// Something is known of a column.
    is_known: bool,
    /// The mean of each line that did something, by its key.
    means: KeyMap<u64, Load>,
    parts: Vec<Part>,
}

/// What is on the screen, and where one stands in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown<'a> {
    /// Where snapshots come from.
    pub(super) past: Past<'a>,
    /// What the lines are of.
    pub(super) lanes: Lanes,
    /// The threads that have a line.
    pub(super) threads: &'a [ThreadRow],
    /// How long all of a recording or a run is, where that has an end.
    pub(super) whole_ns: Option<u64>,
    /// When the moment on screen was, while the screen stands still.
    pub(super) cursor_ns: Option<u64>,
    /// That is the end, wherever it is.
    pub(super) ends_there: bool,
}

/// A function's part of the measured time, 0 to 1, in the range and outside of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    /// The key of the function.
    pub(crate) function: u64,
    /// In the range, or in all that is on the screen where there is none.
    pub(crate) inside: f64,
    /// In the rest of what is on the screen; none without a range.
    pub(crate) outside: Option<f64>,
    /// Which part of its time in the range was off the CPU.
    pub(crate) waiting: f64,
}

impl Timeline {
    /// How much time is on the screen.
    pub(crate) fn span(&self, has_whole: bool) -> Span {
        let usual = match has_whole {
            true => Span::All,
            false => Span::Seconds(USUAL_NS / SECOND_NS),
        };
        self.span
            .filter(|&span| has_whole || span != Span::All)
            .unwrap_or(usual)
    }

    /// Takes more or less time on the screen; false where there is no more, or no less.
    pub(super) fn zoom(&mut self, closer: bool, whole_ns: Option<u64>) -> bool {
        let all_s = whole_ns.map(|ns| ns.div_ceil(SECOND_NS));
        let seconds = match self.span(whole_ns.is_some()) {
            Span::Seconds(seconds) => seconds,
            Span::All => all_s.unwrap_or(u64::MAX),
        };
        let next = match closer {
            true => SPANS.iter().rev().find(|&&span| span < seconds),
            false => SPANS.iter().find(|&&span| span > seconds),
        };
        // Less than all of a recording is a part of it.
        let within = next.filter(|&&next| all_s.is_none_or(|all| next < all));
        let to = match (within, closer) {
            (Some(&next), _) => Some(Span::Seconds(next)),
            (None, false) if all_s.is_some() => Some(Span::All),
            (None, _) => None,
        };
        let changes = to.is_some() && to != Some(self.span(whole_ns.is_some()));
        if changes {
            self.span = to;
        }
        changes
    }

    /// The usual span again.
    pub(super) fn zoom_usual(&mut self) {
        self.span = None;
    }

    /// Reads what is on the screen, for so many columns.
    pub(super) fn read(&mut self, shown: Shown<'_>, columns: u16) {
        self.drawn = shown.lanes;
        let keys = shown.threads.iter().map(|thread| thread.key);
        if shown.threads.len() != self.threads.len() || !keys.clone().all(|key| self.threads.contains(&key)) {
            self.threads = keys.collect();
            self.summed.of = None;
        }
        let newest_ns = shown.past.newest.capture.unix_ns;
        let span_ns = match self.span(shown.whole_ns.is_some()) {
            Span::Seconds(seconds) => seconds * SECOND_NS,
            Span::All => shown.whole_ns.unwrap_or(USUAL_NS),
        };
        self.columns = columns.max(1);
        let slot_ns = span_ns.div_ceil(u64::from(self.columns)).max(1);
        let follows = shown.cursor_ns.is_none();
        // What is short is shown when it is over, as it would be read several times; what is long, when half of it is.
        let known_ns = match shown.whole_ns {
            Some(_) => newest_ns.saturating_sub(1),
            None if slot_ns < SECOND_NS => newest_ns.saturating_sub(slot_ns),
            None => newest_ns.saturating_sub(slot_ns / 2),
        };
        let newest = known_ns / slot_ns;
        if follows || self.slots.slot_ns != slot_ns {
            self.last = newest;
        }
        if let Some(cursor_ns) = shown.cursor_ns {
            let cursor = self.number_before(cursor_ns, slot_ns);
            if shown.ends_there {
                self.last = cursor;
            } else if self.first() > cursor || self.last < cursor {
                // The cursor leads; where it can, it stands in the middle.
                self.last = (cursor + u64::from(self.columns) / 2).min(newest.max(cursor));
            }
        }
        self.is_unread = !self.slots.read(shown.past, slot_ns, self.first(), self.last);
    }

    /// Sums up what is on the screen, with a part of it, unless it is the same as before.
    pub(super) fn sum_up(&mut self, range: Option<RangeInclusive<u16>>) {
        let of = Some((self.slots.changes(), self.last, self.drawn, range.clone()));
        if self.summed.of == of {
            return;
        }
        let slots = self.numbers().filter_map(|number| self.slots.get(number));
        let (mut known, mut most, mut means) = (0u32, 0.05f64, KeyMap::<u64, Load>::default());
        for slot in slots {
            known += 1;
            for load in slot.functions.values() {
                most = most.max(load.working + load.waiting);
            }
            let mut add = |key: u64, load: Load| means.entry(key).or_default().add(load);
            match self.drawn {
                Lanes::Threads => {
                    let threads = self.threads.iter();
                    threads.for_each(|&key| add(key, slot.thread(key, &self.threads)));
                }
                Lanes::Functions => slot.functions.iter().for_each(|(&key, &load)| add(key, load)),
            }
        }
        for mean in means.values_mut() {
            mean.working /= f64::from(known);
            mean.waiting /= f64::from(known);
        }
        let parts = self.parts_of(range.as_ref());
        self.summed = Summed {
            of,
            most,
            is_known: known > 0,
            means,
            parts,
        };
    }

    /// Another run: nothing is known of it.
    pub(super) fn forget(&mut self) {
        self.slots.forget();
        self.choice = None;
        self.last = 0;
    }

    fn number_before(&self, unix_ns: u64, slot_ns: u64) -> u64 {
        (unix_ns.saturating_add(slot_ns / 2) / slot_ns).saturating_sub(1)
    }

    fn first(&self) -> u64 {
        (self.last + 1).saturating_sub(u64::from(self.columns))
    }

    fn numbers(&self) -> RangeInclusive<u64> {
        self.first()..=self.last
    }

    /// The length of a column.
    pub(crate) fn slot_ns(&self) -> u64 {
        self.slots.slot_ns
    }

    /// Columns on the screen.
    pub(crate) fn columns(&self) -> u16 {
        self.columns
    }

    /// When the last column ends.
    pub(crate) fn end_ns(&self) -> u64 {
        (self.last + 1).saturating_mul(self.slots.slot_ns)
    }

    /// The most that a line shows, in CPUs: threads have one, functions are drawn by the busiest of them.
    pub(crate) fn most(&self) -> f64 {
        match self.drawn {
            Lanes::Threads => 1.0,
            Lanes::Functions => self.summed.most,
        }
    }

    /// What happened in a column; none where that is not known.
    pub(crate) fn slot(&self, column: u16) -> Option<&Slot> {
        self.slots.get(self.first() + u64::from(column))
    }

    /// What a line shows in a column; none where nothing is known of that time.
    pub(crate) fn load(&self, key: u64, column: u16) -> Option<Load> {
        let slot = self.slot(column)?;
        Some(match self.drawn {
            Lanes::Threads => slot.thread(key, &self.threads),
            Lanes::Functions => slot.functions.get(&key).copied().unwrap_or_default(),
        })
    }

    /// The mean of a line over all columns that are known; none where none is.
    pub(crate) fn mean(&self, key: u64) -> Option<Load> {
        let mean = self.summed.means.get(&key).copied().unwrap_or_default();
        self.summed.is_known.then_some(mean)
    }

    /// What functions take in the range, beside the rest of the screen: the largest first.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.summed.parts
    }

    /// The column that ends with a moment; none where it is not on the screen.
    pub(crate) fn column_before(&self, unix_ns: u64) -> Option<u16> {
        self.column_of(self.number_before(unix_ns, self.slots.slot_ns.max(1)))
    }

    fn column_of(&self, number: u64) -> Option<u16> {
        let column = number.checked_sub(self.first())?;
        (column < u64::from(self.columns)).then_some(column as u16)
    }

    /// The columns of a stretch of time that ends with a moment, as far as they are on the screen.
    pub(crate) fn columns_of(&self, end_ns: u64, ns: u64) -> Option<RangeInclusive<u16>> {
        let slot_ns = self.slots.slot_ns.max(1);
        let last = self.number_before(end_ns, slot_ns);
        let begin = end_ns.saturating_sub(ns).saturating_add(slot_ns / 2) / slot_ns;
        let (begin, last) = (begin.max(self.first()), last.min(self.last));
        (begin <= last).then(|| Some(self.column_of(begin)?..=self.column_of(last)?))?
    }

    /// Goes on choosing to a column, from the column on which that began or begins now; gives the ends of the chosen time.
    pub(super) fn choose_to(&mut self, from: u16, to: u16, anew: bool) -> (u64, u64) {
        let middle = |column: u16| {
            let number = self.first() + u64::from(column);
            number
                .saturating_mul(self.slots.slot_ns)
                .saturating_add(self.slots.slot_ns / 2)
        };
        let (from_ns, head_ns) = (middle(from), middle(to));
        let anchor_ns = match self.choice.filter(|_| !anew) {
            Some(choice) => choice.anchor_ns,
            None => from_ns,
        };
        self.choice = Some(Choice { anchor_ns, head_ns });
        let slot_ns = self.slots.slot_ns.max(1);
        let [low, high] = [anchor_ns.min(head_ns), anchor_ns.max(head_ns)].map(|ns| ns / slot_ns);
        (low.saturating_mul(slot_ns), (high + 1).saturating_mul(slot_ns))
    }

    /// The column to which the time was chosen.
    pub(super) fn head(&self) -> Option<u16> {
        let choice = self.choice?;
        self.column_of(choice.head_ns / self.slots.slot_ns.max(1))
    }

    /// No part of the time is chosen.
    pub(super) fn choose_none(&mut self) {
        self.choice = None;
    }

    fn parts_of(&self, range: Option<&RangeInclusive<u16>>) -> Vec<Part> {
        #[derive(Clone, Copy, Default)]
        struct Sum {
            inside: f64,
            outside: f64,
            waiting: f64,
        }
        let mut sums: KeyMap<u64, Sum> = KeyMap::default();
        for column in 0..self.columns {
            let is_inside = range.is_none_or(|range| range.contains(&column));
            for (&function, load) in self.slot(column).into_iter().flat_map(|slot| &slot.functions) {
                let sum = sums.entry(function).or_default();
                let all = load.working + load.waiting;
                if is_inside {
                    sum.inside += all;
                    sum.waiting += load.waiting;
                } else {
                    sum.outside += all;
                }
            }
        }
        let whole = |of: fn(&Sum) -> f64| sums.values().map(of).sum::<f64>();
        let (inside, outside) = (whole(|sum| sum.inside), whole(|sum| sum.outside));
        let part = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let mut parts: Vec<Part> = sums
            .iter()
            .map(|(&function, sum)| Part {
                function,
                inside: part(sum.inside, inside),
                outside: (outside > 0.0).then(|| part(sum.outside, outside)),
                waiting: part(sum.waiting, sum.inside),
            })
            .collect();
        parts.sort_by(|a, b| b.inside.total_cmp(&a.inside).then(a.function.cmp(&b.function)));
        parts
    }
}
