//! The sections of counters, values and gauges. Values and gauges are stored as columns.

use super::latencies;
use super::section::{Section, anything, check_rows, refuse};
use crate::error::{FormatError, damaged};
use crate::ids::NodeId;
use crate::latency::Latencies;
use crate::snapshot::{Count, Extremes, GaugeRow, Level, Snapshot, ValueRow};

pub(super) const COUNTS: Section = Section {
    id: 12,
    write: |s, out| out.put_if(!s.counts.is_empty(), &s.counts),
    read: |to, body| body.read().map(|counts| to.snapshot.counts = counts),
    check: check_counts,
};

/// Columns of values: row, flags, smallest number, largest number. After them come the rows, ends and bytes of the
/// histograms.
type Values = (Vec<u32>, Vec<u8>, Vec<u64>, Vec<u64>, Vec<u32>, Vec<u32>, Vec<u8>);

/// Columns of gauges: row, flags, last level, tick at which that level was set, lowest level, highest level.
type Gauges = (Vec<u32>, Vec<u8>, Vec<i64>, Vec<u64>, Vec<i64>, Vec<i64>);

pub(super) const VALUES: Section = Section {
    id: 18,
    write: |s, out| {
        let rows = &s.value_rows;
        if rows.is_empty() {
            return Ok(());
        }
        let Latencies { row, end, packed } = match out.is_fine {
            true => latencies::those(s, true),
            false => Latencies::default(),
        };
        let columns: Values = (
            column(rows, |row| row.node.0),
            column(rows, |row| flags(row.range)),
            column(rows, |row| row.range.map_or(0, |range| range.min)),
            column(rows, |row| row.range.map_or(0, |range| range.max)),
            row,
            end,
            packed,
        );
        out.put_small(columns)
    },
    read: |to, body| {
        let columns: Values = body.read_small()?;
        let (nodes, flags, min, max, row, end, packed) = columns;
        let lengths = [flags.len(), min.len(), max.len()];
        check_lengths("values", body.at, nodes.len(), &lengths)?;
        let rows = (0..nodes.len()).map(|at| ValueRow {
            node: NodeId(nodes[at]),
            range: extremes(flags[at], min[at], max[at]),
        });
        to.snapshot.value_rows = rows.collect();
        to.of_values = Latencies { row, end, packed };
        Ok(())
    },
    check: anything,
};

pub(super) const GAUGES: Section = Section {
    id: 19,
    write: |s, out| {
        let rows = &s.gauge_rows;
        let columns: Gauges = (
            column(rows, |row| row.node.0),
            column(rows, |row| flags(row.level.map(|level| level.range))),
            column(rows, |row| row.level.map_or(0, |level| level.last)),
            column(rows, |row| row.level.map_or(0, |level| level.set_tick)),
            column(rows, |row| row.level.map_or(0, |level| level.range.min)),
            column(rows, |row| row.level.map_or(0, |level| level.range.max)),
        );
        out.put_small_if(!rows.is_empty(), columns)
    },
    read: |to, body| {
        let columns: Gauges = body.read_small()?;
        let (nodes, flags, last, set_tick, min, max) = columns;
        let lengths = [flags.len(), last.len(), set_tick.len(), min.len(), max.len()];
        check_lengths("gauges", body.at, nodes.len(), &lengths)?;
        let rows = (0..nodes.len()).map(|at| GaugeRow {
            node: NodeId(nodes[at]),
            level: extremes(flags[at], min[at], max[at]).map(|range| Level {
                last: last[at],
                set_tick: set_tick[at],
                range,
            }),
        });
        to.snapshot.gauge_rows = rows.collect();
        Ok(())
    },
    // This also checks the values, because no row may be both a value and a gauge.
    check: check_tallies,
};

/// Flag: the smallest and the largest number of the row are known. If this flag is not set, both are stored as 0.
const KNOWN: u8 = 1;
const MIN_EXACT: u8 = 2;
const MAX_EXACT: u8 = 4;

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

fn column<R, T>(rows: &[R], of: impl Fn(&R) -> T) -> Vec<T> {
    rows.iter().map(of).collect()
}

/// Checks that each column has `rows` entries.
///
/// # Errors
/// A column has a different length.
fn check_lengths(what: &'static str, at: usize, rows: usize, columns: &[usize]) -> Result<(), FormatError> {
    match columns.iter().find(|&&length| length != rows) {
        Some(length) => {
            let (found, wanted) = (format!("{length} rows"), format!("{rows} rows"));
            Err(damaged(what, at as u64, found, wanted))
        }
        None => Ok(()),
    }
}

/// Checks that the rows of counters exist and have no time, children, open calls or estimates, and that among counters
/// only values have latencies.
fn check_counts(s: &Snapshot) -> Result<(), FormatError> {
    if s.counts.is_empty() {
        return Ok(());
    }
    let counters = s.counts.iter().map(|count| count.node.0);
    check_rows("counters", counters, s.nodes.len())?;
    let sums = s.sums();
    let is_counter = |row: u32| sums.get(row as usize).is_some_and(Option::is_some);
    let timed = |count: &Count| s.nodes.self_ticks[count.node.index()] > 0;
    let mut open = s.threads.iter().flat_map(|thread| &thread.open);
    let mut latencies = s.latencies.row.iter();
    let is_more = s.counts.iter().any(timed)
        || s.nodes.parent.iter().any(|&parent| is_counter(parent))
        || open.any(|frame| is_counter(frame.node.0))
        || latencies.any(|&row| is_counter(row) && !s.is_value(NodeId(row)))
        || s.estimates.iter().any(|estimate| is_counter(estimate.node.0));
    let found = is_more.then_some("a counter with time or with rows below it");
    refuse("counters", found, "only calls and a sum")
}

/// Checks that values and gauges are counters, that no row is both, and that no minimum is larger than its maximum.
fn check_tallies(s: &Snapshot) -> Result<(), FormatError> {
    const WHAT: &str = "values and gauges";
    fn fits<T: PartialOrd>(range: Option<Extremes<T>>) -> bool {
        range.is_none_or(|range| range.min <= range.max)
    }
    let (values, gauges) = (&s.value_rows, &s.gauge_rows);
    check_rows(WHAT, values.iter().map(|row| row.node.0), s.nodes.len())?;
    check_rows(WHAT, gauges.iter().map(|row| row.node.0), s.nodes.len())?;
    let of_gauges = gauges.iter().map(|row| row.node);
    let mut rows = values.iter().map(|row| row.node).chain(of_gauges);
    let found = if rows.any(|row| s.sum_of(row).is_none()) {
        Some("rows that are not counters")
    } else if gauges.iter().any(|row| s.is_value(row.node)) {
        Some("a row that is a value and a gauge")
    } else if !values.iter().all(|row| fits(row.range))
        || !gauges.iter().all(|row| fits(row.level.map(|level| level.range)))
    {
        Some("a minimum above the maximum")
    } else {
        None
    };
    refuse(WHAT, found, "rising counters, each with its range")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::section::{HEAD, SMALL, append};
    use crate::codec::tests::{encoded, refuses};
    use crate::codec::{decode, sections};
    use crate::fixture::{open, programs};
    use crate::latency::Histogram;
    use crate::snapshot::{Estimate, Tally};

    #[test]
    fn what_is_no_counter_is_refused_as_one() {
        refuses(
            "counters",
            &programs::order_sim_counting(),
            &[
                |s| s.counts.reverse(),
                |s| s.counts.push(s.counts[5]),
                |s| s.counts[5].node = NodeId(10),
                // Each change gives a counter something that it must not have: time, a child row, an open call, a
                // latency or an estimate.
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
                    s.threads[0].open = (0..3).map(|row| open(row, 0)).collect();
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
