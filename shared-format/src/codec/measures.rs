//! The section of measures: for each quantity its code, and the values of rows and threads that have any.

use bincode::{Decode, Encode};

use crate::snapshot::{Column, Measures, Quantity};

/// Index of a row or thread, and its value.
type Value = (u32, u64);

/// Code of a quantity, values of rows, values of threads outside any scope.
type ColumnOut<'a> = (u32, &'a [Value], &'a [Value]);
type ColumnIn = (u32, Vec<Value>, Vec<Value>);

#[derive(Encode)]
pub(super) struct MeasuresOut<'a>(Vec<ColumnOut<'a>>);

#[derive(Decode)]
pub(super) struct MeasuresIn(Vec<ColumnIn>);

impl<'a> MeasuresOut<'a> {
    pub(super) fn new(measures: &'a Measures) -> Self {
        let columns = measures.iter();
        Self(
            columns
                .map(|(quantity, column)| (quantity.code(), &column.rows[..], &column.outside[..]))
                .collect(),
        )
    }
}

impl MeasuresIn {
    /// Returns the measures, without quantities that only later versions know.
    pub(super) fn measures(self) -> Measures {
        let mut measures = Measures::default();
        for (code, rows, outside) in self.0 {
            if let Some(quantity) = Quantity::of_code(code) {
                measures.set(quantity, Column { rows, outside });
            }
        }
        measures
    }
}
