//! The sections of values and gauges, as columns.

use bincode::{Decode, Encode};

use super::section::damaged;
use crate::error::FormatError;
use crate::ids::NodeId;
use crate::latency::Latencies;
use crate::snapshot::{Extremes, GaugeRow, Level, ValueRow};

/// Flag that the row's smallest and largest number are known; otherwise both are stored as 0.
const KNOWN: u8 = 1;
const MIN_EXACT: u8 = 2;
const MAX_EXACT: u8 = 4;

/// Columns of rows, flags, smallest and largest numbers; then the rows, ends and bytes of the histograms.
#[derive(Encode, Decode, Default)]
pub(super) struct Values(Vec<u32>, Vec<u8>, Vec<u64>, Vec<u64>, Vec<u32>, Vec<u32>, Vec<u8>);

/// Columns of rows, flags, last levels and their ticks, smallest and largest levels.
#[derive(Encode, Decode, Default)]
pub(super) struct Gauges(Vec<u32>, Vec<u8>, Vec<i64>, Vec<u64>, Vec<i64>, Vec<i64>);

fn flags<T>(range: Option<Extremes<T>>) -> u8 {
    range.map_or(0, |range| {
        KNOWN | (u8::from(range.min_exact) * MIN_EXACT) | (u8::from(range.max_exact) * MAX_EXACT)
    })
}

fn extremes<T>(flags: u8, min: T, max: T) -> Option<Extremes<T>> {
    (flags & KNOWN != 0).then_some(Extremes {
        min,
        max,
        min_exact: flags & MIN_EXACT != 0,
        max_exact: flags & MAX_EXACT != 0,
    })
}

/// # Errors
/// Columns whose length is not the number of rows.
fn check_lengths(what: &'static str, at: usize, rows: usize, columns: &[usize]) -> Result<(), FormatError> {
    match columns.iter().find(|&&length| length != rows) {
        Some(length) => Err(damaged(
            what,
            at,
            format!("{length} rows"),
            format!("{rows} rows"),
        )),
        None => Ok(()),
    }
}

impl Values {
    /// Returns the columns of values. `histograms` are the histograms of these rows.
    pub(super) fn new(rows: &[ValueRow], histograms: Latencies) -> Self {
        let mut columns = Self::default();
        for row in rows {
            columns.0.push(row.node.0);
            columns.1.push(flags(row.range));
            columns.2.push(row.range.map_or(0, |range| range.min));
            columns.3.push(row.range.map_or(0, |range| range.max));
        }
        let Latencies { row, end, packed } = histograms;
        (columns.4, columns.5, columns.6) = (row, end, packed);
        columns
    }

    /// Returns the rows and their histograms.
    ///
    /// # Errors
    /// Columns of different lengths.
    pub(super) fn rows(self, at: usize) -> Result<(Vec<ValueRow>, Latencies), FormatError> {
        let Self(nodes, flags, min, max, row, end, packed) = self;
        check_lengths("values", at, nodes.len(), &[flags.len(), min.len(), max.len()])?;
        let ranges = flags.into_iter().zip(min.into_iter().zip(max));
        let rows = nodes
            .into_iter()
            .zip(ranges)
            .map(|(node, (flags, (min, max)))| ValueRow {
                node: NodeId(node),
                range: extremes(flags, min, max),
            });
        Ok((rows.collect(), Latencies { row, end, packed }))
    }
}

impl Gauges {
    pub(super) fn new(rows: &[GaugeRow]) -> Self {
        let mut columns = Self::default();
        for row in rows {
            columns.0.push(row.node.0);
            columns.1.push(flags(row.level.map(|level| level.range)));
            columns.2.push(row.level.map_or(0, |level| level.last));
            columns.3.push(row.level.map_or(0, |level| level.set_tick));
            columns.4.push(row.level.map_or(0, |level| level.range.min));
            columns.5.push(row.level.map_or(0, |level| level.range.max));
        }
        columns
    }

    /// Returns the rows.
    ///
    /// # Errors
    /// Columns of different lengths.
    pub(super) fn rows(self, at: usize) -> Result<Vec<GaugeRow>, FormatError> {
        let Self(nodes, flags, last, set_tick, min, max) = self;
        let lengths = [flags.len(), last.len(), set_tick.len(), min.len(), max.len()];
        check_lengths("gauges", at, nodes.len(), &lengths)?;
        let ranges = flags.into_iter().zip(min.into_iter().zip(max));
        let levels = last.into_iter().zip(set_tick).zip(ranges);
        let rows = nodes
            .into_iter()
            .zip(levels)
            .map(|(node, ((last, set_tick), (flags, (min, max))))| GaugeRow {
                node: NodeId(node),
                level: extremes(flags, min, max).map(|range| Level {
                    last,
                    set_tick,
                    range,
                }),
            });
        Ok(rows.collect())
    }
}

/// Splits the histograms of some rows from the histograms of all others.
pub(super) fn taken_out(all: &Latencies, rows: &[ValueRow]) -> (Latencies, Latencies) {
    let (mut others, mut taken) = (Latencies::default(), Latencies::default());
    let mut rows = rows.iter().map(|row| row.node.0).peekable();
    for &row in &all.row {
        while rows.next_if(|&next| next < row).is_some() {}
        let to = if rows.peek() == Some(&row) {
            &mut taken
        } else {
            &mut others
        };
        to.push_bytes(row, all.bytes_of(row).unwrap_or_default());
    }
    (others, taken)
}

/// Inserts valid histograms of other rows among existing ones.
pub(super) fn put_in(all: Latencies, more: &Latencies) -> Latencies {
    if more.row.is_empty() {
        return all;
    }
    let mut both = Latencies::default();
    let mut left = more.row.iter().copied().peekable();
    let mut put = |from: &Latencies, row| both.push_bytes(row, from.bytes_of(row).unwrap_or_default());
    for &row in &all.row {
        while let Some(next) = left.next_if(|&next| next <= row) {
            put(more, next);
        }
        put(&all, row);
    }
    left.for_each(|row| put(more, row));
    both
}
