//! Latencies: the durations of a node's finished calls, kept as histograms.

mod histogram;
pub(crate) mod packed;

use bincode::{Decode, Encode};

pub use self::histogram::{
    BUCKETS, Histogram, OCTAVES, PER_OCTAVE, bucket_of, bucket_of_small, lower_edge, upper_edge,
    value_bucket, value_edges,
};
pub use self::packed::Packed;

/// The histograms of a snapshot, stored as columns. A row without finished calls has no histogram.
// An encoded snapshot contains the columns in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Latencies {
    /// Rows that have a histogram, in ascending order.
    pub row: Vec<u32>,
    /// For each of these rows, the byte offset in `packed` at which its histogram ends.
    pub end: Vec<u32>,
    /// The histograms; see [`Packed`].
    pub packed: Vec<u8>,
}

impl Latencies {
    /// Adds the histogram of a row, unless the histogram is empty. Rows must be added in ascending order.
    pub fn push(&mut self, row: u32, histogram: &Histogram) {
        if !histogram.is_empty() {
            packed::append(histogram, &mut self.packed);
            self.end_row(row);
        }
    }

    /// Like [`push`](Self::push), but takes a histogram that is already packed.
    pub fn push_packed(&mut self, row: u32, packed: &Packed) {
        self.push_bytes(row, packed.bytes());
    }

    /// Like [`push_packed`](Self::push_packed), but takes the packed histogram as bytes.
    pub fn push_bytes(&mut self, row: u32, packed: &[u8]) {
        if !packed.is_empty() {
            self.packed.extend_from_slice(packed);
            self.end_row(row);
        }
    }

    fn end_row(&mut self, row: u32) {
        self.row.push(row);
        self.end.push(self.packed.len() as u32);
    }

    /// Returns the histogram of a row, or an empty histogram if the row has none.
    pub fn of(&self, row: u32) -> Histogram {
        self.bytes_of(row).and_then(packed::unpack).unwrap_or_default()
    }

    /// Returns the packed histogram of a row as bytes, or `None` if the row has none.
    pub fn bytes_of(&self, row: u32) -> Option<&[u8]> {
        let at = self.row.binary_search(&row).ok()?;
        Some(self.bytes_at(at))
    }

    /// Returns the bytes of the packed histogram at index `at`.
    ///
    /// # Panics
    /// If `at` is out of bounds.
    pub fn bytes_at(&self, at: usize) -> &[u8] {
        let begin = at.checked_sub(1).map_or(0, |before| self.end[before]);
        self.packed
            .get(begin as usize..self.end[at] as usize)
            .unwrap_or_default()
    }

    /// Returns the histogram at index `at`.
    ///
    /// # Panics
    /// If `at` is out of bounds.
    pub fn at(&self, at: usize) -> Histogram {
        packed::unpack(self.bytes_at(at)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(durations: &[u64]) -> Histogram {
        let mut all = Histogram::default();
        durations.iter().for_each(|&ticks| all.insert(ticks));
        all
    }

    proptest! {
        #[test]
        fn columns_give_back_each_row(rows in proptest::collection::vec(proptest::collection::vec(1u64..1000, 0..5), 0..20)) {
            let mut columns = Latencies::default();
            for (row, durations) in rows.iter().enumerate() {
                columns.push(row as u32, &of(durations));
            }
            for (row, durations) in rows.iter().enumerate() {
                prop_assert_eq!(columns.of(row as u32), of(durations));
            }
        }
    }
}
