//! Quantities other than calls and time, as members of nodes and threads. A quantity that the program did not measure has no
//! member.

use serde::{Serialize, Serializer};
use tickscope_analysis::per_call::PerCall;
use tickscope_format::snapshot::{Column, Quantity, Snapshot, live_error};

use crate::quotient::Quotient;

/// The quantities in the document, with their values in all rows.
pub(super) struct Measures<'a> {
    /// One column for each quantity; empty if none was measured.
    columns: Vec<Dense<'a>>,
    snapshot: &'a Snapshot,
    per: Option<&'a PerCall>,
}

/// One quantity with its values in all rows.
struct Dense<'a> {
    quantity: Quantity,
    column: Option<&'a Column>,
    own: Vec<u64>,
    totals: Vec<u64>,
}

/// Some members of a node or a thread: their names and values.
pub(super) struct Members(Vec<(&'static str, Quotient)>);

/// Returns the quantities in the document: times off the CPU if they were measured, all allocator counts if any of them was
/// counted, and every other quantity that was counted.
fn known(snapshot: &Snapshot) -> impl Iterator<Item = Quantity> {
    let counts = snapshot
        .measures
        .iter()
        .any(|(quantity, _)| quantity.is_of_allocator());
    let is_known = move |quantity: &Quantity| {
        if quantity.is_of_futures() {
            // These quantities are written separately, in the object `futures` of each node.
            false
        } else if quantity.is_off_cpu() {
            snapshot.waits
        } else if quantity.is_of_allocator() {
            counts
        } else if quantity.is_level() {
            snapshot.measures.of(Quantity::LiveBytes).is_some()
        } else {
            snapshot.measures.of(*quantity).is_some()
        }
    };
    Quantity::ALL.into_iter().filter(is_known)
}

impl<'a> Measures<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, per: Option<&'a PerCall>) -> Self {
        let of = |quantity| {
            let column = snapshot.measures.of(quantity);
            let ticks = column.map_or_else(Vec::new, |column| column.dense(snapshot.nodes.len()));
            // Variances can be added up, but errors cannot. So the total is first computed as a variance and then converted to an
            // error.
            let of_variances = (quantity == Quantity::LiveVariance).then(|| snapshot.nodes.totals(&ticks));
            let own = in_unit(snapshot, quantity, ticks);
            let totals = match of_variances {
                Some(totals) => in_unit(snapshot, quantity, totals),
                None => snapshot.nodes.totals(&own),
            };
            Dense {
                quantity,
                column,
                own,
                totals,
            }
        };
        Self {
            columns: known(snapshot).map(of).collect(),
            snapshot,
            per,
        }
    }

    /// Returns the self value and the total of each quantity, for one row.
    pub(super) fn of_row(&self, row: usize) -> Members {
        let value = |values: &[u64]| Quotient::of(values.get(row).copied().unwrap_or(0), self.per);
        let of_rows = self.columns.iter().filter(|dense| dense.quantity.is_of_rows());
        let members = of_rows.flat_map(|dense| {
            [
                (dense.quantity.name(), value(&dense.own)),
                (dense.quantity.total_name(), value(&dense.totals)),
            ]
        });
        Members(members.collect())
    }

    /// Returns the value of each quantity that a thread has outside any scope.
    pub(super) fn outside(&self, thread: u32) -> Members {
        let members = self.columns.iter().map(|dense| {
            let outside = dense.column.map_or(0, |column| column.of_outside(thread));
            let outside = value_of(self.snapshot, dense.quantity, outside);
            (dense.quantity.outside_name(), Quotient::of(outside, self.per))
        });
        Members(members.collect())
    }
}

/// Converts values to what reports show; see [`value_of`].
fn in_unit(snapshot: &Snapshot, quantity: Quantity, values: Vec<u64>) -> Vec<u64> {
    let in_unit = |value| value_of(snapshot, quantity, value);
    values.into_iter().map(in_unit).collect()
}

/// Returns what reports show for a value: nanoseconds for a time, the error bound of [`live_error`] for a variance, and otherwise
/// the value itself.
fn value_of(snapshot: &Snapshot, quantity: Quantity, value: u64) -> u64 {
    if quantity.is_time() {
        snapshot.nanos(value)
    } else if quantity == Quantity::LiveVariance {
        live_error(value)
    } else {
        value
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}
