//! The numeric columns that the call tree and the list of functions have in common.

use std::fmt::{self, Write};

use tickscope_analysis::call_tree::{Figures, OffCpu};
use tickscope_analysis::uncertainty::Uncertainty;
use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::{Snapshot, Tally};

use super::page::Page;
use super::scale::{SAMPLED, Time, tilde};
use crate::unit::Unit;
use crate::{number, tally};

/// Minimum report width, in cells, at which the call tree shows percentiles. Names still get 28 cells.
pub(super) const WIDTH_FOR_TREE: usize = 100;

/// Minimum report width, in cells, at which the list of functions shows percentiles. The list is wider than the tree,
/// because file and line follow the name.
pub(super) const WIDTH_FOR_TOP: usize = 120;

/// Minimum report widths, in cells, for showing the WAIT column, and for showing the READY column next to it.
const WIDTH_FOR_WAIT: usize = 100;
const WIDTH_FOR_READY: usize = 116;

/// The column layout of a table: the width of its times, and which columns it has beyond the six that every table has.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    /// Width of a time column in cells, and the gap before it.
    pub(super) cells: (usize, &'static str),
    /// Number of columns for time off the CPU: 0, 1 (waiting) or 2 (waiting and ready).
    pub(super) off_cpu: usize,
    pub(super) latencies: bool,
    pub(super) errors: bool,
}

/// The texts in one line's columns, from left to right.
pub(super) struct Cells {
    pub(super) share: String,
    pub(super) time: String,
    pub(super) other_time: String,
    pub(super) other_share: String,
    /// Waiting and ready time, both of which are included in the total time.
    pub(super) off_cpu: [String; 2],
    pub(super) calls: String,
    pub(super) average: String,
    pub(super) latency: [String; 3],
    pub(super) errors: String,
}

/// Returns whether any row has data for the P50, P99 and MAX columns.
fn has_latencies(snapshot: &Snapshot) -> bool {
    !snapshot.latencies.row.is_empty() || !snapshot.gauge_rows.is_empty()
}

impl Columns {
    pub(super) fn of(page: &Page<'_>, width: usize) -> Self {
        let (cells, gap) = page.time_cells();
        // If both units are shown, each time column needs room for a second number.
        let second = if page.unit() == Unit::Both {
            cells + gap.len()
        } else {
            0
        };
        let least = [WIDTH_FOR_WAIT + 4 * second, WIDTH_FOR_READY + 5 * second];
        let off_cpu = if page.snapshot.has_wait_columns() {
            least.iter().filter(|&&least| page.options.width >= least).count()
        } else {
            0
        };
        let more = (3 + off_cpu) * second;
        Self {
            cells: page.time_cells(),
            off_cpu,
            latencies: page.options.width >= width + more && has_latencies(page.snapshot),
            errors: false,
        }
    }

    pub(super) fn write(self, out: &mut String, cells: &Cells) -> fmt::Result {
        // There is no gap before the first column. Times in both units have already been padded to their full width.
        let (width, gap) = self.cells;
        let Cells {
            share,
            time,
            other_time,
            other_share,
            off_cpu,
            calls,
            average,
            latency: [p50, p99, max],
            errors,
        } = cells;
        write!(
            out,
            "{share:>width$}{gap}{time:>width$}{gap}{other_time:>width$}{gap}{other_share:>width$}"
        )?;
        for time in off_cpu.iter().take(self.off_cpu) {
            write!(out, "{gap}{time:>width$}")?;
        }
        write!(out, "  {calls:>5}{gap}{average:>width$}  ")?;
        if self.latencies {
            write!(out, "{p50:>6}  {p99:>6}  {max:>7}  ")?;
        }
        if self.errors {
            write!(out, "{errors:>5}  ")?;
        }
        Ok(())
    }
}

impl Cells {
    /// Returns cells that all contain a dash, for rows without numbers.
    pub(super) fn nothing(page: &Page<'_>) -> Self {
        let text = || "-".to_string();
        let time = || page.nothing(page.time_cells().0);
        Self {
            share: text(),
            time: time(),
            other_time: time(),
            other_share: text(),
            off_cpu: [time(), time()],
            calls: text(),
            average: time(),
            latency: [text(), text(), text()],
            errors: text(),
        }
    }

    /// Returns the cells of a row. The self time comes before the total time if `own_first` is true.
    pub(super) fn of(
        page: &Page<'_>,
        row: &Figures,
        latency: &Histogram,
        uncertainty: Option<Uncertainty>,
        own_first: bool,
    ) -> Self {
        if let Some(tally) = row.tally {
            return Self::counter(page, row.calls, tally, latency);
        }
        let (own, total) = Time::own_and_total(row, uncertainty);
        let (time, other_time) = if own_first { (own, total) } else { (total, own) };
        let (width, _) = page.time_cells();
        Self {
            share: page.share_of(time),
            time: page.cell(time, width),
            other_time: page.cell(other_time, width),
            other_share: page.share_of(other_time),
            off_cpu: page.off_cpu(row.total_off),
            calls: page.calls(row.calls, row.sampled),
            average: page.average_of(total.counted(row.sampled), row, width),
            latency: page.latency(latency, uncertainty, row.calls),
            errors: number::count(row.errors),
        }
    }

    /// Returns the cells of a counter, value or gauge. Its sum or level is shown in place of a time, so the share
    /// column holds a symbol that says it is not a time.
    fn counter(page: &Page<'_>, calls: u64, of: Tally, numbers: &Histogram) -> Self {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_string());
        let in_place_of_time = |text| page.no_time(&or_none(text), page.time_cells().0);
        let quantile = |share: f64| or_none(tally::quantile(of, numbers, share));
        Self {
            share: page.sign_of(of).into(),
            time: in_place_of_time(tally::main(of, |sum| page.count(sum))),
            other_time: in_place_of_time(tally::least(of, page.options.ascii)),
            calls: page.count(calls),
            average: in_place_of_time(tally::mean(of, calls)),
            // The MAX column always uses ASCII (`<=`, `>=`) for bounds, so the signs are ASCII here too.
            latency: [quantile(0.5), quantile(0.99), or_none(tally::most(of, true))],
            ..Self::nothing(page)
        }
    }

    /// Returns the column titles. The titles of shares and times differ between tables, so the caller passes them.
    pub(super) fn titles(page: &Page<'_>, [share, time, other_time, other_share]: [&str; 4]) -> Self {
        let title = |text: &str| page.title(text, page.time_cells().0);
        Self {
            share: share.into(),
            time: title(time),
            other_time: title(other_time),
            other_share: other_share.into(),
            off_cpu: ["WAIT", "READY"].map(title),
            calls: "CALLS".into(),
            average: title("AVG"),
            latency: ["P50", "P99", "MAX"].map(str::to_string),
            errors: "ERR".into(),
        }
    }
}

impl Page<'_> {
    pub(super) fn share_of(&self, time: Time) -> String {
        tilde(time.estimated, self.percent(time.ns))
    }

    /// Writes a note that explains the WAIT and READY columns, if the table has them.
    pub(super) fn write_off_cpu(&self, out: &mut String, columns: Columns) -> fmt::Result {
        match columns.off_cpu {
            0 => Ok(()),
            _ if !self.snapshot.waits => writeln!(
                out,
                "WAIT is not known in mode {}",
                self.snapshot.capture.mode.as_str()
            ),
            1 => writeln!(
                out,
                "WAIT is the part of TOTAL time in which threads could not have run"
            ),
            _ => writeln!(
                out,
                "WAIT and READY are parts of TOTAL time: threads could not have run, or could and had no CPU"
            ),
        }
    }

    /// Formats waiting and ready time. They are shown as times even if the report uses another measure.
    pub(super) fn off_cpu(&self, off: OffCpu) -> [String; 2] {
        let (width, _) = self.time_cells();
        [off.waiting_ns, off.ready_ns].map(|ns| self.part_off_cpu(ns, width))
    }

    /// Returns the symbol that is shown before the sum of a counter or the level of a gauge.
    pub(super) fn sign_of(&self, of: Tally) -> &'static str {
        if of.is_gauge() {
            tally::LEVEL
        } else {
            self.glyphs.sum
        }
    }

    /// Writes a note that explains the `~` of sampled rows, if there are any.
    pub(super) fn write_sampled(&self, out: &mut String) -> fmt::Result {
        match self.tree.rows.iter().any(|row| row.sampled.is_all(row.calls)) {
            true => writeln!(
                out,
                "{SAMPLED} in CALLS: the function was sampled and not counted"
            ),
            false => Ok(()),
        }
    }

    /// Writes notes on how counters, values and gauges are shown in these columns, if there are any.
    pub(super) fn write_counters(&self, out: &mut String) -> fmt::Result {
        self.write_signs(out)?;
        let at_least = tally::at_least(self.options.ascii);
        if !self.snapshot.value_rows.is_empty() {
            writeln!(
                out,
                "AVG, P50, P99 and MAX of a value are plain numbers; {at_least} is before the smallest of them"
            )?;
        }
        if !self.snapshot.gauge_rows.is_empty() {
            writeln!(
                out,
                "MAX of a gauge is its highest level; {at_least} is before its lowest"
            )?;
        }
        Ok(())
    }

    /// Writes notes on the symbols before the sums of counters and the levels of gauges, if there are any.
    pub(super) fn write_signs(&self, out: &mut String) -> fmt::Result {
        let snapshot = self.snapshot;
        if snapshot.counts.len() > snapshot.gauge_rows.len() {
            writeln!(
                out,
                "{} is the sum that a counter has added up in its CALLS; it has no {}",
                self.glyphs.sum,
                tally::missing(self.options.by),
            )?;
        }
        if !snapshot.gauge_rows.is_empty() {
            writeln!(out, "{} is the level that a gauge was set to last", tally::LEVEL)?;
        }
        Ok(())
    }

    /// Returns the 50th and 99th percentile and the maximum of the latencies of finished calls, as text.
    pub(super) fn latency(
        &self,
        latency: &Histogram,
        uncertainty: Option<Uncertainty>,
        calls: u64,
    ) -> [String; 3] {
        let uncertainty = uncertainty.unwrap_or(Uncertainty {
            timed: calls,
            ..Uncertainty::default()
        });
        let text = |ticks: u64| self.length(ticks);
        let is_rough = uncertainty.has_rough_percentiles(calls);
        let quantile = |share: f64| {
            let ticks = latency.quantile(share);
            ticks.map_or_else(|| "-".to_string(), |ticks| tilde(is_rough, text(ticks)))
        };
        let max = match latency.max() {
            None => "-".to_string(),
            Some((ticks, _)) if uncertainty.is_timed_in_part(calls) => format!(">={}", text(ticks)),
            Some((ticks, true)) => text(ticks),
            Some((ticks, false)) => format!("<={}", text(ticks)),
        };
        [quantile(0.5), quantile(0.99), max]
    }
}
