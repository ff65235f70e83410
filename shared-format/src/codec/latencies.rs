//! The sections of histograms of durations, one for calls and one for calls of futures.

use std::borrow::Cow;

use super::section::{Section, check_rows};
use crate::error::{FormatError, damaged};
use crate::ids::NodeId;
use crate::latency::{Latencies, packed};
use crate::snapshot::Snapshot;

/// Histograms of durations. The histograms of values are not here but in the section of values: values are counters,
/// and older readers refuse a counter that has a histogram.
pub(super) const LATENCIES: Section = Section {
    id: 9,
    write: |s, out| {
        if !out.is_fine {
            return Ok(());
        }
        let of_calls = match s.value_rows.is_empty() {
            true => Cow::Borrowed(&s.latencies),
            false => Cow::Owned(those(s, false)),
        };
        out.put_if(!of_calls.row.is_empty(), &*of_calls)
    },
    read: |to, body| body.read().map(|latencies| to.snapshot.latencies = latencies),
    check: |s| check_latencies(&s.latencies, s.nodes.len()),
};

pub(super) const ASYNC_LATENCIES: Section = Section {
    id: 17,
    write: |s, out| {
        let is_there = out.is_fine && !s.async_latencies.row.is_empty();
        out.put_if(is_there, &s.async_latencies)
    },
    read: |to, body| {
        body.read()
            .map(|latencies| to.snapshot.async_latencies = latencies)
    },
    check: |s| check_latencies(&s.async_latencies, s.nodes.len()),
};

/// Returns the histograms of values if `of_values` is true, and all other histograms if it is false.
pub(super) fn those(s: &Snapshot, of_values: bool) -> Latencies {
    let mut those = Latencies::default();
    for (at, &row) in s.latencies.row.iter().enumerate() {
        if s.is_value(NodeId(row)) == of_values {
            those.push_bytes(row, s.latencies.bytes_at(at));
        }
    }
    those
}

/// Adds histograms to the snapshot. A row must not have two histograms; this is checked later.
///
/// # Errors
/// The snapshot's own histograms or the added ones are damaged. Neither has been checked before.
pub(super) fn put_in(s: &mut Snapshot, more: &Latencies) -> Result<(), FormatError> {
    if more.row.is_empty() {
        return Ok(());
    }
    let all = std::mem::take(&mut s.latencies);
    check_latencies(&all, s.nodes.len())?;
    check_latencies(more, s.nodes.len())?;
    let mut rows: Vec<(u32, &[u8])> = [&all, more]
        .into_iter()
        .flat_map(|of| (0..).zip(&of.row).map(|(at, &row)| (row, of.bytes_at(at))))
        .collect();
    rows.sort_by_key(|&(row, _)| row);
    for (row, bytes) in rows {
        s.latencies.push_bytes(row, bytes);
    }
    Ok(())
}

/// Checks the columns of histograms: equal lengths, existing rows in ascending order, and valid histograms.
pub(super) fn check_latencies(latencies: &Latencies, rows: usize) -> Result<(), FormatError> {
    let Latencies { row, end, packed } = latencies;
    let damaged = |found: &str, wanted: &str| Err(damaged("histograms", None, found, wanted));
    if end.len() != row.len() {
        return damaged("columns of different lengths", "columns of equal length");
    }
    check_rows("histograms", row.iter().copied(), rows)?;
    if end.last().map_or(0, |&end| end as usize) != packed.len() {
        return damaged(
            "ends that do not fit the bytes",
            "the last end at the end of the bytes",
        );
    }
    let mut begin = 0;
    for &end in end {
        let Some(bytes) = packed.get(begin..end as usize) else {
            return damaged("ends out of order", "ends that rise");
        };
        if packed::walk(bytes, |_, _| {}).is_none() {
            return damaged("bytes that are not a histogram", "rising buckets that exist");
        }
        begin = end as usize;
    }
    Ok(())
}
