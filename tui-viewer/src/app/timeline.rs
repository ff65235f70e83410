//! The view Timeline: the time on the screen, cut into one slot per column, and the part of it that the user has chosen.
//!
//! Only the two ends of the user's choice are stored here. The stretch of time that all views show is given by a moment
//! of the past (`playback`) and a window (`query`).

use std::ops::RangeInclusive;

use crate::app::keyhash::{KeyMap, KeySet};
use crate::app::past::slots::{Load, Records, Slot, Slots};
use crate::app::threads::ThreadRow;

/// Maximum height of a thread or a function, in screen lines.
pub(crate) const LANE_LINES: u16 = 4;

/// Height of the pane with the functions' shares of the chosen time: a horizontal rule, a heading, and some functions.
pub(crate) const PARTS_LINES: u16 = 9;

const SECOND_NS: u64 = 1_000_000_000;

/// What each line of the timeline stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Lanes {
    /// Each line is a thread.
    #[default]
    Threads,
    /// Each line is a function, in all threads.
    Functions,
}

/// How much time the timeline shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// This number of seconds.
    Seconds(u64),
    /// The whole recording or run.
    All,
}

/// Time in ns that the timeline shows by default, unless it shows a whole recording or run.
pub(crate) const USUAL_NS: u64 = 30 * SECOND_NS;

/// Spans in seconds to choose from, besides the whole recording.
const SPANS: [u64; 6] = [10, 30, 120, 600, 1_800, 3_600];

/// Returns the width of the names to the left of the columns, in lines of `width` cells.
pub(crate) fn name_cells(width: u16) -> u16 {
    (width / 5).clamp(6, 26)
}

/// Returns the number of columns in lines of `width` cells.
pub(crate) fn columns_in(width: u16) -> u16 {
    width.saturating_sub(name_cells(width) + 3).max(1)
}

/// Returns the height in screen lines of each of `lanes` lanes that share `lines` screen lines.
pub(crate) fn lines_of_lane(lanes: usize, lines: u16) -> u16 {
    let fits = |high: &u16| lanes.max(1) * usize::from(*high) <= usize::from(lines);
    (1..=LANE_LINES).rev().find(fits).unwrap_or(1)
}

/// A chosen stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice {
    /// Unix time in ns, within the slot where the user began to choose.
    anchor_ns: u64,
    /// Unix time in ns, within the slot at the other end of the choice, which the user moves.
    head_ns: u64,
}

/// The time on the screen.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// What lines should stand for, as chosen by the user.
    pub(crate) lanes: Lanes,
    /// What the lines on the screen stand for.
    drawn: Lanes,
    /// Keys of the threads that have a line.
    threads: KeySet<u64>,
    /// How much time the timeline shows; `None` unless the user has chosen it.
    span: Option<Span>,
    choice: Option<Choice>,
    /// Number of the last slot on the screen.
    last: u64,
    /// Number of slots on the screen.
    columns: u16,
    slots: Slots,
    /// Whether some slots still have to be read.
    pub(crate) is_unread: bool,
    summed: Summed,
}

/// Sums over the columns. They are recomputed only when something has changed, because a program publishes several
/// snapshots in the time of one column.
#[derive(Debug, Default)]
struct Summed {
    /// What the sums were computed from: the number of changes to the slots so far, the last column, the kind of lines,
    /// and the range.
    of: Option<(u64, u64, Lanes, Option<RangeInclusive<u16>>)>,
    /// Largest load of any function in any column, in CPUs. Lines that stand for functions are scaled to it.
    most: f64,
    /// Whether any column is known.
    is_known: bool,
    /// Mean load of each line that has a load, by the line's key.
    means: KeyMap<u64, Load>,
    parts: Vec<Part>,
}

/// What the timeline should show, and where its cursor is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a> {
    /// Source of snapshots.
    pub(crate) records: Records<'a>,
    /// Kind of the lines.
    pub(crate) lanes: Lanes,
    /// Threads that have a line.
    pub(crate) threads: &'a [ThreadRow],
    /// Length in ns of the open recording, or of the whole run if it has ended and was short; `None` otherwise.
    pub(crate) whole_ns: Option<u64>,
    /// Unix time in ns of the moment on screen; `None` while the screen follows the program.
    pub(crate) cursor_ns: Option<u64>,
    /// Whether the last column is always the one at the cursor.
    pub(crate) ends_there: bool,
}

/// Columns of time on the screen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeColumns {
    /// Number of columns.
    pub(crate) columns: u16,
    /// Kind of the lines.
    pub(crate) lanes: Lanes,
    /// Whether the columns are a strip beside a list. A strip always ends at the moment on screen.
    pub(crate) is_strip: bool,
}

/// A function's share of the measured time, from 0 to 1, inside the chosen range and outside of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    /// Key of the function.
    pub(crate) function: u64,
    /// Share of the time inside the range, or of all time on the screen if there is no range.
    pub(crate) inside: f64,
    /// Share of the other time on the screen; `None` if nothing was measured in it, or if there is no range.
    pub(crate) outside: Option<f64>,
    /// How much of the function's time inside the range was spent off the CPU, as a fraction.
    pub(crate) waiting: f64,
}

impl Timeline {
    /// Returns how much time the timeline shows. `has_whole` says whether it can show a whole recording or run.
    pub(crate) fn span(&self, has_whole: bool) -> Span {
        let usual = match has_whole {
            true => Span::All,
            false => Span::Seconds(USUAL_NS / SECOND_NS),
        };
        self.span
            .filter(|&span| has_whole || span != Span::All)
            .unwrap_or(usual)
    }

    /// Shows less time on the screen if `closer`, and otherwise more. Returns false if there is no shorter or longer span.
    pub(crate) fn zoom(&mut self, closer: bool, whole_ns: Option<u64>) -> bool {
        let all_s = whole_ns.map(|ns| ns.div_ceil(SECOND_NS));
        let seconds = match self.span(whole_ns.is_some()) {
            Span::Seconds(seconds) => seconds,
            Span::All => all_s.unwrap_or(u64::MAX),
        };
        let next = match closer {
            true => SPANS.iter().rev().find(|&&span| span < seconds),
            false => SPANS.iter().find(|&&span| span > seconds),
        };
        // A span at least as long as the recording is replaced by the whole recording.
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

    /// Returns to the usual span.
    pub(crate) fn zoom_usual(&mut self) {
        self.span = None;
    }

    /// Reads the slots that the screen shows in `columns` columns.
    pub(crate) fn read(&mut self, shown: Shown<'_>, columns: u16) {
        self.drawn = shown.lanes;
        let keys = shown.threads.iter().map(|thread| thread.key);
        if shown.threads.len() != self.threads.len() || !keys.clone().all(|key| self.threads.contains(&key)) {
            self.threads = keys.collect();
            self.summed.of = None;
        }
        let newest_ns = shown.records.newest.capture.unix_ns;
        let span_ns = match self.span(shown.whole_ns.is_some()) {
            Span::Seconds(seconds) => seconds * SECOND_NS,
            Span::All => shown.whole_ns.unwrap_or(USUAL_NS),
        };
        self.columns = columns.max(1);
        let slot_ns = span_ns.div_ceil(u64::from(self.columns)).max(1);
        let follows = shown.cursor_ns.is_none();
        // A short slot is shown only when its time is over; until then, it would have to be read several times. A long
        // slot is shown once half of its time is over.
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
                // The timeline moves to the cursor, with the cursor in the middle if possible.
                self.last = (cursor + u64::from(self.columns) / 2).min(newest.max(cursor));
            }
        }
        self.is_unread = !self.slots.read(shown.records, slot_ns, self.first(), self.last);
    }

    /// Recomputes the sums over the slots on the screen, and over those in the range, if any input has changed.
    pub(crate) fn sum_up(&mut self, range: Option<RangeInclusive<u16>>) {
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

    /// Forgets all slots and the choice, because another run has begun.
    pub(crate) fn forget(&mut self) {
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

    /// Returns the length of a column in ns.
    pub(crate) fn slot_ns(&self) -> u64 {
        self.slots.slot_ns
    }

    /// Returns the number of columns on the screen.
    pub(crate) fn columns(&self) -> u16 {
        self.columns
    }

    /// Returns the unix time in ns at which the last column ends.
    pub(crate) fn end_ns(&self) -> u64 {
        (self.last + 1).saturating_mul(self.slots.slot_ns)
    }

    /// Returns the load, in CPUs, at which a line is full: 1 for threads, and the largest load of any function for
    /// functions.
    pub(crate) fn most(&self) -> f64 {
        match self.drawn {
            Lanes::Threads => 1.0,
            Lanes::Functions => self.summed.most,
        }
    }

    /// Returns the slot of a column; `None` if it is not known.
    pub(crate) fn slot(&self, column: u16) -> Option<&Slot> {
        self.slots.get(self.first() + u64::from(column))
    }

    /// Returns the load of a line in a column; `None` if the load at that time is unknown.
    pub(crate) fn load(&self, key: u64, column: u16) -> Option<Load> {
        let slot = self.slot(column)?;
        Some(match self.drawn {
            Lanes::Threads => slot.thread(key, &self.threads),
            Lanes::Functions => slot.functions.get(&key).copied().unwrap_or_default(),
        })
    }

    /// Returns the mean load of a line over all known columns; `None` if no column is known.
    pub(crate) fn mean(&self, key: u64) -> Option<Load> {
        let mean = self.summed.means.get(&key).copied().unwrap_or_default();
        self.summed.is_known.then_some(mean)
    }

    /// Returns the functions' shares inside and outside the range. The function with the largest share inside comes first.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.summed.parts
    }

    /// Returns the column that ends closest to a moment; `None` if that column is not on the screen.
    pub(crate) fn column_before(&self, unix_ns: u64) -> Option<u16> {
        self.column_of(self.number_before(unix_ns, self.slots.slot_ns.max(1)))
    }

    fn column_of(&self, number: u64) -> Option<u16> {
        let column = number.checked_sub(self.first())?;
        (column < u64::from(self.columns)).then_some(column as u16)
    }

    /// Returns the columns on the screen that are part of the `ns` nanoseconds before `end_ns`; `None` if there are none.
    pub(crate) fn columns_of(&self, end_ns: u64, ns: u64) -> Option<RangeInclusive<u16>> {
        let slot_ns = self.slots.slot_ns.max(1);
        let last = self.number_before(end_ns, slot_ns);
        let begin = end_ns.saturating_sub(ns).saturating_add(slot_ns / 2) / slot_ns;
        let (begin, last) = (begin.max(self.first()), last.min(self.last));
        (begin <= last).then(|| Some(self.column_of(begin)?..=self.column_of(last)?))?
    }

    /// Extends the choice to column `to`. If nothing is chosen yet, or if `anew`, starts a new choice at column `from`
    /// first. Returns the Unix times in ns at which the chosen stretch begins and ends.
    pub(crate) fn choose_to(&mut self, from: u16, to: u16, anew: bool) -> (u64, u64) {
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

    /// Returns the column to which the choice was last extended; `None` if nothing is chosen or the column is not on
    /// the screen.
    pub(crate) fn head(&self) -> Option<u16> {
        let choice = self.choice?;
        self.column_of(choice.head_ns / self.slots.slot_ns.max(1))
    }

    /// Forgets the choice of time.
    pub(crate) fn choose_none(&mut self) {
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
