//! The nodes as comma-separated values (RFC 4180): a header, then one row for each node of each thread.
//!
//! The columns and their order are fixed; what was measured beside calls and time has columns of its own behind them. The
//! numbers are those of the JSON document. Names that contain a comma or a
//! quote are quoted. Control characters, line ends above all, are written as escapes (`\n`), so that each row is one
//! line.

use std::io::{self, Write};

use csv::{Terminator, WriterBuilder};
use tickscope_analysis::per_call::PerCall;
use tickscope_analysis::tasks::has_futures;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::Snapshot;

use crate::escape::visible;
use crate::json::futures::{self, Futures};
use crate::json::measures;
use crate::json::node::{Node, nodes};

pub use crate::unit::Unit;

/// The columns before the times.
const WHICH: [&str; 12] = [
    "id",
    "parent",
    "depth",
    "thread",
    "tid",
    "state",
    "thread_name",
    "name",
    "module",
    "file",
    "line",
    "calls",
];
const NANOS: [&str; 2] = ["total_ns", "self_ns"];
const TICKS: [&str; 2] = ["total_ticks", "self_ticks"];
/// The columns behind the times.
const HOW: [&str; 14] = [
    "open",
    "errors",
    "p50_ns",
    "p90_ns",
    "p99_ns",
    "p999_ns",
    "max_ns",
    "max_exact",
    "estimated",
    "self_error_ns",
    "total_error_ns",
    "timed_calls",
    "sum",
    "group",
];
/// What values and gauges have, where there are some. Their calls and sums are in the columns of all.
const TALLIES: [&str; 10] = [
    "value_p50",
    "value_p90",
    "value_p99",
    "value_p999",
    "value_mean",
    "last",
    "lowest",
    "lowest_exact",
    "highest",
    "highest_exact",
];
/// The last ones, where numbers are per call.
pub const PER: [&str; 2] = ["per", "per_calls"];

impl Unit {
    /// Returns the names of the columns. Percentiles and errors are always in nanoseconds.
    pub fn columns(self) -> Vec<&'static str> {
        let ns = NANOS.iter().filter(|_| self != Self::Ticks);
        let ticks = TICKS.iter().filter(|_| self != Self::Ns);
        WHICH.iter().chain(ns).chain(ticks).chain(&HOW).copied().collect()
    }
}

/// Writes the header and the rows, parents before children.
///
/// # Errors
/// The error of writing to `out`.
pub fn write(snapshot: &Snapshot, unit: Unit, out: &mut impl Write) -> io::Result<()> {
    write_per(snapshot, unit, None, out)
}

/// Like [`write()`], with times and calls divided by the calls of a function. Its name and calls are in columns after the
/// others.
///
/// # Errors
/// The error of writing to `out`.
pub fn write_per(
    snapshot: &Snapshot,
    unit: Unit,
    per: Option<&PerCall>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
    let per_columns = PER.into_iter().filter(|_| per.is_some());
    let tallies = TALLIES.into_iter().filter(|_| has_tallies(snapshot));
    let with_futures = has_futures(snapshot);
    let columns = unit
        .columns()
        .into_iter()
        .chain(measures::names(snapshot))
        .chain(tallies)
        .chain(futures::COLUMNS.into_iter().filter(|_| with_futures));
    writer.write_record(columns.chain(per_columns))?;
    let mut depths: Vec<u32> = vec![0; snapshot.nodes.len()];
    for node in nodes(snapshot, per) {
        let depth = node.parent.map_or(0, |parent| depths[parent as usize] + 1);
        depths[node.id as usize] = depth;
        write_node(&mut writer, snapshot, unit, &node, depth)?;
        if with_futures {
            write_futures(&mut writer, node.futures.as_ref())?;
        }
        if let Some(per) = per {
            writer.write_field(visible(&per.name, false).as_bytes())?;
            writer.write_field(per.calls.to_string())?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

fn write_node<W: Write>(
    writer: &mut csv::Writer<W>,
    snapshot: &Snapshot,
    unit: Unit,
    node: &Node<'_>,
    depth: u32,
) -> io::Result<()> {
    let thread = &snapshot.threads[node.thread as usize];
    let mut numbers = Numbers(writer);
    numbers.put(node.id)?;
    numbers.put_if(node.parent)?;
    numbers.put(depth)?;
    numbers.put(node.thread)?;
    numbers.put(thread.tid)?;
    let texts = [
        thread.state.as_str(),
        &thread.name,
        node.name,
        node.module,
        node.file,
    ];
    for text in texts {
        numbers.0.write_field(visible(text, false).as_bytes())?;
    }
    numbers.put(node.line)?;
    numbers.put(node.calls)?;
    if unit != Unit::Ticks {
        numbers.put(node.total_ns)?;
        numbers.put(node.self_ns)?;
    }
    if unit != Unit::Ns {
        numbers.put(node.total_ticks)?;
        numbers.put(node.self_ticks)?;
    }
    numbers.put(node.open)?;
    numbers.put(node.errors)?;
    let latency = &node.latency;
    for quantile in [
        latency.p50_ns,
        latency.p90_ns,
        latency.p99_ns,
        latency.p999_ns,
        latency.max_ns,
    ] {
        numbers.put_if(quantile)?;
    }
    numbers.put_if(latency.max_exact)?;
    let estimate = &node.estimate;
    numbers.put(estimate.estimated)?;
    numbers.put_if(estimate.self_error_ns)?;
    numbers.put_if(estimate.total_error_ns)?;
    numbers.put(estimate.timed_calls)?;
    numbers.put_if(node.sum)?;
    let group = &snapshot.site_of(NodeId(node.id)).group;
    numbers.0.write_field(visible(group, false).as_bytes())?;
    for (_, value) in node.measures.iter() {
        numbers.put(value)?;
    }
    if has_tallies(snapshot) {
        let value = node.value.as_ref();
        for quantile in [
            value.and_then(|value| value.p50),
            value.and_then(|value| value.p90),
            value.and_then(|value| value.p99),
            value.and_then(|value| value.p999),
        ] {
            numbers.put_if(quantile)?;
        }
        numbers.put_if(value.and_then(|value| value.mean))?;
        let gauge = node.gauge;
        numbers.put_if(gauge.and_then(|gauge| gauge.last))?;
        let either = |value: Option<u64>, level: Option<i64>| match value {
            Some(value) => Some(value.to_string()),
            None => level.map(|level| level.to_string()),
        };
        let (min, max) = (
            value.and_then(|value| value.min),
            value.and_then(|value| value.max),
        );
        numbers.put_if(either(min, gauge.and_then(|gauge| gauge.min)))?;
        let exact = value.map_or(gauge.and_then(|gauge| gauge.min_exact), |value| value.min_exact);
        numbers.put_if(exact)?;
        numbers.put_if(either(max, gauge.and_then(|gauge| gauge.max)))?;
        let exact = value.map_or(gauge.and_then(|gauge| gauge.max_exact), |value| value.max_exact);
        numbers.put_if(exact)?;
    }
    Ok(())
}

fn has_tallies(snapshot: &Snapshot) -> bool {
    !snapshot.value_rows.is_empty() || !snapshot.gauge_rows.is_empty()
}

/// Empty fields where a node is no future.
fn write_futures<W: Write>(writer: &mut csv::Writer<W>, futures: Option<&Futures>) -> io::Result<()> {
    let mut numbers = Numbers(writer);
    let fields = futures.map(Futures::fields).unwrap_or_default();
    for field in fields {
        numbers.put_if(field)?;
    }
    Ok(())
}

/// Fields that are numbers or yes and no.
struct Numbers<'a, W: Write>(&'a mut csv::Writer<W>);

impl<W: Write> Numbers<'_, W> {
    fn put(&mut self, value: impl ToString) -> io::Result<()> {
        Ok(self.0.write_field(value.to_string())?)
    }

    /// Empty where there is none.
    fn put_if(&mut self, value: Option<impl ToString>) -> io::Result<()> {
        let text = value.map(|value| value.to_string()).unwrap_or_default();
        Ok(self.0.write_field(text)?)
    }
}

#[cfg(test)]
mod tests;
