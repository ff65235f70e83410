//! The sections of counters, and of values and gauges, which are stored as columns.

use bincode::{Decode, Encode};

use super::latencies;
use super::section::{Section, anything, check_rows, damaged};
use crate::error::FormatError;
use crate::ids::NodeId;
use crate::latency::Latencies;
use crate::snapshot::{Count, Extremes, GaugeRow, Level, Snapshot, ValueRow};

pub(super) const COUNTS: Section = Section {
    id: 12,
    write: |s, out| out.put_if(!s.counts.is_empty(), &s.counts),
    read: |to, body| body.read().map(|counts| to.snapshot.counts = counts),
    check: check_counts,
};

pub(super) const VALUES: Section = Section {
    id: 18,
    write: |s, out| {
        if s.value_rows.is_empty() {
            return Ok(());
        }
        let histograms = match out.is_fine() {
            true => latencies::those(s, true),
            false => Latencies::default(),
        };
        out.put_small(Values::new(&s.value_rows, histograms))
    },
    read: |to, body| {
        let values: Values = body.read_small()?;
        (to.snapshot.value_rows, to.of_values) = values.rows(body.at)?;
        Ok(())
    },
    check: anything,
};

pub(super) const GAUGES: Section = Section {
    id: 19,
    write: |s, out| out.put_small_if(!s.gauge_rows.is_empty(), Gauges::new(&s.gauge_rows)),
    read: |to, body| {
        let gauges: Gauges = body.read_small()?;
        to.snapshot.gauge_rows = gauges.rows(body.at)?;
        Ok(())
    },
    // Also checks values, because no row may be both a value and a gauge.
    check: check_tallies,
};

/// Flag: the row's smallest and largest number are known. Without it both are stored as 0.
const KNOWN: u8 = 1;
const MIN_EXACT: u8 = 2;
const MAX_EXACT: u8 = 4;

/// Columns: row, flags, smallest number, largest number; then row, end and bytes of the histograms.
#[derive(Encode, Decode, Default)]
struct Values(Vec<u32>, Vec<u8>, Vec<u64>, Vec<u64>, Vec<u32>, Vec<u32>, Vec<u8>);

/// Columns: row, flags, last level and its tick, smallest level, largest level.
#[derive(Encode, Decode, Default)]
struct Gauges(Vec<u32>, Vec<u8>, Vec<i64>, Vec<u64>, Vec<i64>, Vec<i64>);

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

/// Checks that each column has `rows` entries.
///
/// # Errors
/// A column has another length.
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
    /// Makes the columns. `histograms` belong to these rows.
    fn new(rows: &[ValueRow], histograms: Latencies) -> Self {
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
    fn rows(self, at: usize) -> Result<(Vec<ValueRow>, Latencies), FormatError> {
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
    fn new(rows: &[GaugeRow]) -> Self {
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
    fn rows(self, at: usize) -> Result<Vec<GaugeRow>, FormatError> {
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

/// Checks that counters are existing rows without time, children, open calls and estimates. Only values may have
/// latencies.
fn check_counts(s: &Snapshot) -> Result<(), FormatError> {
    if s.counts.is_empty() {
        return Ok(());
    }
    check_rows(
        "counters",
        s.counts.iter().map(|count| count.node.0),
        s.nodes.len(),
    )?;
    let sums = s.sums();
    let is_counter = |row: u32| sums.get(row as usize).is_some_and(Option::is_some);
    let timed = |count: &Count| s.nodes.self_ticks[count.node.index()] > 0;
    let mut open = s.threads.iter().flat_map(|thread| &thread.open);
    let mut latencies = s.latencies.row.iter();
    if s.counts.iter().any(timed)
        || s.nodes.parent.iter().any(|&parent| is_counter(parent))
        || open.any(|frame| is_counter(frame.node.0))
        || latencies.any(|&row| is_counter(row) && !s.is_value(NodeId(row)))
        || s.estimates.iter().any(|estimate| is_counter(estimate.node.0))
    {
        return Err(damaged(
            "counters",
            0,
            "a counter with time or with rows below it",
            "only calls and a sum",
        ));
    }
    Ok(())
}

/// Checks that values and gauges are counters, that no row is both, and that no smallest number is above the largest.
fn check_tallies(s: &Snapshot) -> Result<(), FormatError> {
    const WHAT: &str = "values and gauges";
    fn fits<T: PartialOrd>(range: Option<Extremes<T>>) -> bool {
        range.is_none_or(|range| range.min <= range.max)
    }
    let (values, gauges) = (&s.value_rows, &s.gauge_rows);
    check_rows(WHAT, values.iter().map(|row| row.node.0), s.nodes.len())?;
    check_rows(WHAT, gauges.iter().map(|row| row.node.0), s.nodes.len())?;
    let mut rows = values
        .iter()
        .map(|row| row.node)
        .chain(gauges.iter().map(|row| row.node));
    let found = if rows.any(|row| s.sum_of(row).is_none()) {
        "rows that are not counters"
    } else if gauges.iter().any(|row| s.is_value(row.node)) {
        "a row that is a value and a gauge"
    } else if !values.iter().all(|row| fits(row.range))
        || !gauges.iter().all(|row| fits(row.level.map(|level| level.range)))
    {
        "a minimum above the maximum"
    } else {
        return Ok(());
    };
    Err(damaged(WHAT, 0, found, "rising counters, each with its range"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::section::{HEAD, SMALL, append};
    use crate::codec::tests::{encoded, refuses};
    use crate::codec::{decode, sections};
    use crate::fixture::programs;
    use crate::latency::Histogram;
    use crate::snapshot::{Estimate, OpenFrame, Tally};

    #[test]
    fn what_is_no_counter_is_refused_as_one() {
        refuses(
            "counters",
            &programs::order_sim_counting(),
            &[
                |s| s.counts.reverse(),
                |s| s.counts.push(s.counts[5]),
                |s| s.counts[5].node = NodeId(10),
                // Each change gives a counter one of these: time, a row below it, an open call, a latency, an estimate.
                |s| s.nodes.self_ticks[2] = 1,
                |s| {
                    s.counts.insert(
                        0,
                        Count {
                            node: NodeId(0),
                            sum: 1,
                        },
                    )
                },
                |s| {
                    let frame = |row| OpenFrame {
                        node: NodeId(row),
                        began_tick: 0,
                    };
                    s.threads[0].open = vec![frame(0), frame(1), frame(2)];
                },
                |s| {
                    s.latencies.push(
                        2,
                        &Histogram {
                            buckets: vec![(1, 1)],
                            max_ticks: 1,
                        },
                    )
                },
                |s| {
                    s.estimates.push(Estimate {
                        node: NodeId(2),
                        timed: 0,
                        self_error: 1,
                        total_error: 0,
                    });
                },
            ],
        );
    }

    #[test]
    fn readers_of_before_see_values_and_gauges_as_counters() {
        let snapshot = programs::queries();
        let bytes = encoded(&snapshot);
        let mut before = Vec::new();
        for (id, body) in sections(&bytes).map(Result::unwrap) {
            if id != VALUES.id && id != GAUGES.id {
                before.extend_from_slice(&bytes[body.at - HEAD..body.end()]);
            }
        }
        let shown = decode(&before).unwrap();
        assert_eq!(shown.counts, snapshot.counts);
        assert!(
            shown.latencies.row.is_empty() && shown.tallies()[2] == Some(Tally::Counter { sum: 1_805_060 })
        );
    }

    #[test]
    fn what_is_no_value_and_no_gauge_is_refused_as_one() {
        let mut sound = programs::queries();
        sound.latencies = Latencies::default();
        refuses(
            "values and gauges",
            &sound,
            &[
                |s| s.value_rows.reverse(),
                |s| s.gauge_rows.push(s.gauge_rows[0]),
                |s| s.value_rows[0].node = NodeId(1),
                |s| s.value_rows[0].node = NodeId(1_000),
                |s| s.gauge_rows[0].node = s.value_rows[1].node,
                |s| {
                    s.value_rows[0].range = Some(Extremes {
                        min: 5,
                        ..Extremes::of(4)
                    })
                },
                |s| {
                    let level = s.gauge_rows[0].level.as_mut().unwrap();
                    level.range.min = level.range.max + 1;
                },
            ],
        );
        let lengths: [fn(&mut Snapshot) -> Vec<u8>; 2] = [
            |s| {
                let mut bytes = encoded(s);
                let columns: (Vec<u32>, [Vec<u8>; 1]) = (vec![2], [vec![]]);
                let rest: [Vec<u64>; 5] = Default::default();
                append(&mut bytes, VALUES.id, (columns, rest), SMALL).unwrap();
                bytes
            },
            |s| {
                let mut bytes = encoded(s);
                let columns: (Vec<u32>, [Vec<u64>; 5]) = (vec![5], Default::default());
                append(&mut bytes, GAUGES.id, columns, SMALL).unwrap();
                bytes
            },
        ];
        for craft in lengths {
            let error = decode(&craft(&mut programs::queries())).unwrap_err().to_string();
            assert!(error.contains("0 rows") && error.contains("1 rows"), "{error}");
        }
    }
}
