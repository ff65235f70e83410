//! The columns of numbers, the same in the tree and in the list of functions.

use std::fmt::{self, Write};

use super::Page;
use crate::latency::Histogram;
use crate::profile::spread::Spread;
use crate::render::number;

/// Before the name of a row in 100 cells there is room for the percentiles, and 28 are left.
pub(super) const WIDTH_FOR_TREE: usize = 100;

/// Behind the name of a function stands its place.
pub(super) const WIDTH_FOR_TOP: usize = 120;

/// Which columns there are beside the six that are always there.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    /// Times may carry a `~`.
    pub(super) estimates: bool,
    pub(super) latencies: bool,
    pub(super) errors: bool,
}

/// What stands in the columns, from left to right.
pub(super) struct Cells {
    pub(super) share: String,
    pub(super) time: String,
    pub(super) other_time: String,
    pub(super) other_share: String,
    pub(super) calls: String,
    pub(super) average: String,
    pub(super) latency: [String; 3],
    pub(super) errors: String,
}

/// A time and what goes with it.
#[derive(Clone, Copy)]
pub(super) struct Time {
    pub(super) ns: u64,
    pub(super) estimated: bool,
}

// === impl Columns ===

impl Columns {
    pub(super) fn of(page: &Page<'_>, width: usize) -> Self {
        Self {
            estimates: page.has_estimates(),
            latencies: page.options.width >= width && !page.snapshot.latencies.row.is_empty(),
            errors: false,
        }
    }

    pub(super) fn write(self, out: &mut String, cells: &Cells) -> fmt::Result {
        // A tilde takes one of the two cells between columns; before the first there is none.
        let (width, gap) = if self.estimates { (7, " ") } else { (6, "  ") };
        let Cells {
            share,
            time,
            other_time,
            other_share,
            calls,
            average,
            latency: [p50, p99, max],
            errors,
        } = cells;
        write!(
            out,
            "{share:>width$}{gap}{time:>width$}{gap}{other_time:>width$}{gap}{other_share:>width$}  {calls:>5}\
             {gap}{average:>width$}  "
        )?;
        if self.latencies {
            write!(out, "{p50:>6}  {p99:>6}  {max:>7}  ")?;
        }
        if self.errors {
            write!(out, "{errors:>5}  ")?;
        }
        Ok(())
    }
}

// === impl Cells ===

impl Cells {
    /// The same text in all columns.
    pub(super) fn same(text: &str) -> Self {
        let text = || text.to_string();
        Self {
            share: text(),
            time: text(),
            other_time: text(),
            other_share: text(),
            calls: text(),
            average: text(),
            latency: [text(), text(), text()],
            errors: text(),
        }
    }

    /// Those of a counter: what it has added up stands where times do, and behind a sign that it is none.
    pub(super) fn counter(page: &Page<'_>, calls: u64, sum: u64) -> Self {
        Self {
            share: page.glyphs.sum.into(),
            time: number::count(sum),
            calls: number::count(calls),
            ..Self::same("-")
        }
    }

    /// Titles; the first four are the reader's choice.
    pub(super) fn titles([share, time, other_time, other_share]: [&str; 4]) -> Self {
        Self {
            share: share.into(),
            time: time.into(),
            other_time: other_time.into(),
            other_share: other_share.into(),
            calls: "CALLS".into(),
            average: "AVG".into(),
            latency: ["P50", "P99", "MAX"].map(str::to_string),
            errors: "ERR".into(),
        }
    }
}

// === impl Time ===

impl Time {
    pub(super) fn own(ns: u64, spread: Option<Spread>) -> Self {
        let estimated = spread.is_some_and(|spread| spread.self_estimated);
        Self { ns, estimated }
    }

    pub(super) fn total(ns: u64, spread: Option<Spread>) -> Self {
        let estimated = spread.is_some_and(|spread| spread.total_estimated);
        Self { ns, estimated }
    }
}

// === impl Page ===

impl Page<'_> {
    pub(super) fn time(&self, time: Time) -> String {
        tilde(time.estimated, self.duration(time.ns))
    }

    pub(super) fn share_of(&self, time: Time) -> String {
        tilde(time.estimated, self.percent(time.ns))
    }

    /// The mean of a call; unknown where no call began since the reset, though one may still be open.
    pub(super) fn average(&self, total: Time, calls: u64) -> String {
        match total.ns.checked_div(calls) {
            Some(ns) => self.time(Time { ns, ..total }),
            None => "-".to_string(),
        }
    }

    /// Says what counters are, where there are some.
    pub(super) fn write_counters(&self, out: &mut String) -> fmt::Result {
        if self.snapshot.counts.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "{} is what a counter has added up in its CALLS; it has no time",
            self.glyphs.sum
        )
    }

    /// Half of the finished calls, 99 of 100, and all of them took no longer than this.
    pub(super) fn latency(&self, latency: &Histogram) -> [String; 3] {
        let text = |ticks: u64| self.in_charset(number::two_digits(self.snapshot.nanos(ticks)));
        let quantile = |share: f64| latency.quantile(share).map_or_else(|| "-".to_string(), text);
        let max = match latency.max() {
            None => "-".to_string(),
            Some((ticks, true)) => text(ticks),
            Some((ticks, false)) => format!("<={}", text(ticks)),
        };
        [quantile(0.5), quantile(0.99), max]
    }
}

fn tilde(estimated: bool, text: String) -> String {
    if estimated { format!("~{text}") } else { text }
}
