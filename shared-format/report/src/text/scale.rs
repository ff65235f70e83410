//! Formats times and counts in the chosen unit, either as totals or per call of a function.
//!
//! The division by the number of calls comes last, so that results are rounded only once. Shares, means and percentiles
//! are not divided.

use tickscope_analysis::call_tree::{AsyncCalls, Figures, SampledTime};
use tickscope_analysis::measure::Dimension;
use tickscope_analysis::uncertainty::Uncertainty;
use tickscope_format::snapshot::saturating_sum;

use super::page::Page;
use crate::number;
use crate::unit::Unit;

/// A time in nanoseconds and in ticks.
#[derive(Clone, Copy)]
pub(super) struct Time {
    pub(super) ns: u64,
    pub(super) ticks: u64,
    /// Whether the time is a rough estimate.
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

    /// Returns the self time and the total time of a row. The time of a row that was never called is exactly 0, not an
    /// estimate.
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

    /// Returns the part of the time that belongs to counted calls, without the part that was only sampled.
    pub(super) fn counted(self, sampled: SampledTime) -> Self {
        Self {
            ns: sampled.counted_ns(self.ns),
            ticks: self.ticks.saturating_sub(sampled.ticks),
            ..self
        }
    }

    /// Returns whether the time is an estimate of 0. No sample fell into it, so it is short, but its actual length is
    /// unknown.
    pub(super) fn is_unseen(self) -> bool {
        self.estimated && self.ns == 0
    }
}

/// Shown instead of the number of calls in a sampled row, whose calls were not counted.
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

    /// Returns the unit in which times are shown. Measures other than time have only one unit.
    pub(super) fn unit(&self) -> Unit {
        match self.dimension() {
            Dimension::Time => self.options.unit,
            Dimension::Count | Dimension::Bytes => Unit::Ns,
        }
    }

    /// Returns the dimension of the report's measure: time, a count or bytes.
    pub(super) fn dimension(&self) -> Dimension {
        self.options.by.dimension()
    }

    /// Formats a value of the report's measure for use in a sentence.
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

    /// Formats a time for a column. If both units are shown, `width` is the width of the nanoseconds, in cells.
    pub(super) fn cell(&self, time: Time, width: usize) -> String {
        if time.is_unseen() {
            return self.nothing(width);
        }
        self.in_unit(self.nanos(time), self.ticks(time), width)
    }

    /// Returns the title of a time column, followed by the title `TICKS` if both units are shown.
    pub(super) fn title(&self, title: &str, width: usize) -> String {
        match self.unit() {
            Unit::Ns | Unit::Ticks => title.into(),
            Unit::Both => self.side_by_side(title, "TICKS", width),
        }
    }

    /// Returns what a time column shows in a row that has no time.
    pub(super) fn nothing(&self, width: usize) -> String {
        self.no_time("-", width)
    }

    /// Formats a text that is shown in a time column instead of a time.
    pub(super) fn no_time(&self, text: &str, width: usize) -> String {
        match self.unit() {
            Unit::Ns | Unit::Ticks => text.into(),
            Unit::Both => self.side_by_side(text, "-", width),
        }
    }

    /// Returns the contents of a time column: nanoseconds, ticks, or both.
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

    /// Returns the width of a time column in cells, and the gap before it. If any time is an estimate, columns are one
    /// cell wider to fit a tilde, and the gap shrinks from two spaces to one.
    pub(super) fn time_cells(&self) -> (usize, &'static str) {
        if self.has_estimates { (7, " ") } else { (6, "  ") }
    }

    /// Formats the mean duration of a row's calls for a column. For a future, this is the mean wall-clock time of the
    /// calls that have ended.
    pub(super) fn average_of(&self, total: Time, row: &Figures, width: usize) -> String {
        if !row.asynchronous.is_future {
            return self.average(total, row.calls, width);
        }
        let AsyncCalls { ended, ticks, ns, .. } = row.asynchronous;
        let estimated = false;
        self.average(Time { ns, ticks, estimated }, ended, width)
    }

    /// Formats the mean duration of a call for a column. If no call began since the reset, the mean is unknown, even if
    /// an earlier call is still open.
    pub(super) fn average(&self, total: Time, calls: u64, width: usize) -> String {
        if calls == 0 || total.is_unseen() {
            return self.nothing(width);
        }
        let value = self.in_charset(number::mean(total.ns, calls, self.dimension()));
        let nanos = tilde(total.estimated, value);
        let ticks = tilde(total.estimated, number::quotient(total.ticks, calls));
        self.in_unit(nanos, ticks, width)
    }

    /// Formats the duration of a call from a histogram. Two digits are enough, because histograms are no more precise.
    pub(super) fn length(&self, ticks: u64) -> String {
        match self.unit() {
            Unit::Ns | Unit::Both => self.in_charset(number::two_digits(self.snapshot.nanos(ticks))),
            Unit::Ticks => number::count(ticks),
        }
    }

    /// Formats the number of calls of a row, or [`SAMPLED`] if the number is unknown.
    pub(super) fn calls(&self, calls: u64, sampled: SampledTime) -> String {
        match sampled.is_all(calls) {
            true => SAMPLED.into(),
            false => self.count(calls),
        }
    }

    /// Formats a number of calls, or another count.
    pub(super) fn count(&self, calls: u64) -> String {
        match &self.options.per {
            None => number::count(calls),
            Some(per) => number::quotient(calls, per.calls),
        }
    }

    /// Formats waiting or ready time for a column. Most rows never wait, so 0 is shown as a dash, and so is an unknown
    /// time.
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

    /// Converts nanoseconds to ticks, for times that were measured in nanoseconds.
    pub(super) fn ticks_of(&self, ns: u64) -> u64 {
        (ns as f64 * self.snapshot.clock.ticks_per_second / 1e9).round() as u64
    }

    /// Formats the mean time per call, where `calls` calls took `ns` nanoseconds in total.
    fn part(&self, ns: u64, calls: u64) -> String {
        match number::rounded(ns, calls.max(1)) {
            // A time that rounds to 0 must not be shown as 0.
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
