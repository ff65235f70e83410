//! Times and counts in the chosen unit, of all calls or per call of one function.
//!
//! The division by calls comes last, and its result is rounded once. Shares, means and percentiles do not depend on it.

use tickscope_analysis::call_tree::{AsyncCalls, Figures, SampledTime};
use tickscope_analysis::measure::Dimension;
use tickscope_analysis::uncertainty::Uncertainty;
use tickscope_format::snapshot::saturating_sum;

use super::page::Page;
use crate::number;
use crate::unit::Unit;

/// A time in both units, with its uncertainty.
#[derive(Clone, Copy)]
pub(super) struct Time {
    pub(super) ns: u64,
    pub(super) ticks: u64,
    /// Whether it is a rough estimate.
    pub(super) estimated: bool,
}

impl Time {
    pub(super) fn own(ns: u64, ticks: u64, uncertainty: Option<Uncertainty>) -> Self {
        let estimated = uncertainty.is_some_and(|uncertainty| uncertainty.rough(ticks, 0).self_estimated);
        Self { ns, ticks, estimated }
    }

    pub(super) fn total(ns: u64, ticks: u64, uncertainty: Option<Uncertainty>) -> Self {
        let estimated = uncertainty.is_some_and(|uncertainty| uncertainty.rough(0, ticks).total_estimated);
        Self { ns, ticks, estimated }
    }

    /// Returns the times of a row. A row that was never called took no time, which is not an estimate.
    pub(super) fn own_and_total(row: &Figures, uncertainty: Option<Uncertainty>) -> (Self, Self) {
        let was_called = row.calls > 0 || row.open > 0;
        let if_called = |time: Self| Self {
            estimated: time.estimated && (was_called || time.ns > 0),
            ..time
        };
        (
            if_called(Self::own(row.self_ns, row.self_ticks, uncertainty)),
            if_called(Self::total(row.total_ns, row.total_ticks, uncertainty)),
        )
    }

    /// Returns the part of the time in calls that are counted.
    pub(super) fn counted(self, sampled: SampledTime) -> Self {
        Self {
            ns: sampled.counted_ns(self.ns),
            ticks: self.ticks.saturating_sub(sampled.ticks),
            ..self
        }
    }

    /// Returns whether no sample was taken in the time. Such a time is short, but its length is unknown.
    pub(super) fn is_unseen(self) -> bool {
        self.estimated && self.ns == 0
    }
}

/// Text in place of calls for a row that was sampled.
pub(super) const SAMPLED: &str = "~";

impl Page<'_> {
    /// Returns the sum of all self times, without its uncertainty.
    pub(super) fn measured(&self) -> Time {
        let ticks = saturating_sum(self.tree.rows.iter().map(|row| row.self_ticks));
        Time::own(self.measured_ns, ticks, None)
    }

    /// Returns the uncertainty of the sum of all self times, or `None` if the sum is exact.
    pub(super) fn measured_uncertainty(&self) -> Option<Uncertainty> {
        self.tree.sum_of(self.tree.top())
    }

    /// Returns the unit of times; other measures have only one unit.
    pub(super) fn unit(&self) -> Unit {
        match self.dimension() {
            Dimension::Time => self.options.unit,
            Dimension::Count | Dimension::Bytes => Unit::Ns,
        }
    }

    /// Returns the dimension of the values on the page.
    pub(super) fn dimension(&self) -> Dimension {
        self.options.by.dimension()
    }

    /// Formats a value for a sentence.
    pub(super) fn time(&self, time: Time) -> String {
        let in_ticks = format!("{} ticks", self.ticks(time));
        let value = match self.unit() {
            Unit::Ns => self.nanos(time),
            Unit::Ticks => in_ticks,
            Unit::Both => format!("{} ({in_ticks})", self.nanos(time)),
        };
        match self.options.by.summed() {
            "" => value,
            summed => format!("{value} {summed}"),
        }
    }

    /// Formats a time for a column of times. `width` is the width in cells of the first part if both units are shown.
    pub(super) fn cell(&self, time: Time, width: usize) -> String {
        if time.is_unseen() {
            return self.nothing(width);
        }
        self.in_unit(self.nanos(time), self.ticks(time), width)
    }

    /// Returns the title of a column of times.
    pub(super) fn title(&self, title: &str, width: usize) -> String {
        match self.unit() {
            Unit::Ns | Unit::Ticks => title.into(),
            Unit::Both => self.side_by_side(title, "TICKS", width),
        }
    }

    /// Returns the text of a column of times in a row without a time.
    pub(super) fn nothing(&self, width: usize) -> String {
        self.no_time("-", width)
    }

    /// Returns a text for a column of times that replaces the time.
    pub(super) fn no_time(&self, text: &str, width: usize) -> String {
        match self.unit() {
            Unit::Ns | Unit::Ticks => text.into(),
            Unit::Both => self.side_by_side(text, "-", width),
        }
    }

    /// Returns the text of a column of times: nanoseconds, ticks, or both.
    fn in_unit(&self, nanos: String, ticks: String, width: usize) -> String {
        match self.unit() {
            Unit::Ns => nanos,
            Unit::Ticks => ticks,
            Unit::Both => self.side_by_side(&nanos, &ticks, width),
        }
    }

    fn side_by_side(&self, first: &str, second: &str, width: usize) -> String {
        let (cells, gap) = self.time_cells();
        format!("{first:>width$}{gap}{second:>cells$}")
    }

    /// Returns the cells of a column of times and the gap before it. A tilde takes one of the two cells between
    /// columns.
    pub(super) fn time_cells(&self) -> (usize, &'static str) {
        if self.has_estimates { (7, " ") } else { (6, "  ") }
    }

    /// Formats the mean of a call for a column; for a future the mean by the wall clock.
    pub(super) fn average_of(&self, total: Time, row: &Figures, width: usize) -> String {
        if !row.asynchronous.is_future {
            return self.average(total, row.calls, width);
        }
        let AsyncCalls { ended, ticks, ns, .. } = row.asynchronous;
        let estimated = false;
        self.average(Time { ns, ticks, estimated }, ended, width)
    }

    /// Formats the mean of a call for a column. It is unknown if no call began since the reset, though one may still be
    /// open.
    pub(super) fn average(&self, total: Time, calls: u64, width: usize) -> String {
        if calls == 0 || total.is_unseen() {
            return self.nothing(width);
        }
        let value = self.in_charset(number::mean(total.ns, calls, self.dimension()));
        let nanos = tilde(total.estimated, value);
        let ticks = tilde(total.estimated, number::quotient(total.ticks, calls));
        self.in_unit(nanos, ticks, width)
    }

    /// Formats the duration of a call with the two digits that a histogram gives.
    pub(super) fn length(&self, ticks: u64) -> String {
        match self.unit() {
            Unit::Ns | Unit::Both => self.in_charset(number::two_digits(self.snapshot.nanos(ticks))),
            Unit::Ticks => number::count(ticks),
        }
    }

    /// Formats the calls of a row, or a sign that they are not known.
    pub(super) fn calls(&self, calls: u64, sampled: SampledTime) -> String {
        match sampled.is_all(calls) {
            true => SAMPLED.into(),
            false => self.count(calls),
        }
    }

    /// Formats calls or another count.
    pub(super) fn count(&self, calls: u64) -> String {
        match &self.options.per {
            None => number::count(calls),
            Some(per) => number::quotient(calls, per.calls),
        }
    }

    /// Formats a part of a time off the CPU for a column. A dash means an unknown time or 0, because most rows never
    /// wait.
    pub(super) fn part_off_cpu(&self, ns: u64, width: usize) -> String {
        if ns == 0 || !self.snapshot.waits {
            return self.nothing(width);
        }
        let nanos = match &self.options.per {
            None => self.duration(ns),
            Some(per) => self.part(ns, per.calls),
        };
        self.in_unit(nanos, self.count(self.ticks_of(ns)), width)
    }

    /// Converts a time that is known in nanoseconds to ticks.
    pub(super) fn ticks_of(&self, ns: u64) -> u64 {
        (ns as f64 * self.snapshot.clock.ticks_per_second / 1e9).round() as u64
    }

    /// Formats the mean time of a call, where `calls` calls took `ns` together.
    fn part(&self, ns: u64, calls: u64) -> String {
        match number::rounded(ns, calls.max(1)) {
            // A short time differs from no time.
            0 if ns > 0 => "<1ns".into(),
            ns => self.duration(ns),
        }
    }

    fn nanos(&self, time: Time) -> String {
        let text = match (&self.options.per, self.dimension()) {
            (None, dimension) => self.in_charset(number::value(time.ns, dimension)),
            (Some(per), Dimension::Time) => self.part(time.ns, per.calls),
            (Some(per), dimension) => number::mean(time.ns, per.calls, dimension),
        };
        tilde(time.estimated, text)
    }

    fn ticks(&self, time: Time) -> String {
        tilde(time.estimated, self.count(time.ticks))
    }
}

pub(super) fn tilde(estimated: bool, text: String) -> String {
    if estimated { format!("~{text}") } else { text }
}
