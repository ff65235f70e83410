//! The section of measures. For each quantity, it stores a code and the values of those rows and threads that have one.

use super::section::{Section, check_rows, check_sum, refuse};
use crate::error::FormatError;
use crate::snapshot::{Column, Measures, Quantity, Snapshot};

/// The index of a row or thread, paired with its value.
type Value = (u32, u64);

pub(super) const MEASURES: Section = Section {
    id: 14,
    write: |s, out| {
        let columns = s.measures.iter();
        let columns: Vec<(u32, &[Value], &[Value])> = columns
            .map(|(quantity, column)| (quantity.code(), &column.rows[..], &column.outside[..]))
            .collect();
        out.put_small_if(!columns.is_empty(), columns)
    },
    read: |to, body| {
        let columns: Vec<(u32, Vec<Value>, Vec<Value>)> = body.read_small()?;
        to.snapshot.measures = Measures::default();
        for (code, rows, outside) in columns {
            // Later versions may write quantities that this version does not know.
            if let Some(quantity) = Quantity::of_code(code) {
                to.snapshot.measures.set(quantity, Column { rows, outside });
            }
        }
        Ok(())
    },
    check,
};

/// Checks that values belong to existing rows and threads, in ascending order, that no value is 0, and that the sum of
/// all values fits into 64 bits.
fn check(s: &Snapshot) -> Result<(), FormatError> {
    for (quantity, Column { rows, outside }) in s.measures.iter() {
        let what = quantity.name();
        check_rows(what, rows.iter().map(|value| value.0), s.nodes.len())?;
        check_rows(what, outside.iter().map(|value| value.0), s.threads.len())?;
        let all = || rows.iter().chain(outside).map(|&(_, value)| value);
        let zero = all().find(|&value| value == 0);
        refuse(what, zero.map(|_| "a value of 0"), "values above 0")?;
        check_sum(what, all())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::decode;
    use crate::codec::tests::{encoded, refuses};
    use crate::fixture;

    fn polls(s: &mut Snapshot, rows: Vec<(u32, u64)>) {
        let outside = Vec::new();
        s.measures.set(Quantity::Polls, Column { rows, outside });
    }

    #[test]
    fn a_second_section_replaces_the_first() {
        let mut other = fixture::serving();
        other.measures = Measures::default();
        polls(&mut other, vec![(0, 5)]);
        let both = [fixture::serving(), other.clone()].map(|s| encoded(&s)).concat();
        assert_eq!(decode(&both).unwrap().measures, other.measures);
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        refuses(
            Quantity::Polls.name(),
            &fixture::serving(),
            &[
                |s| polls(s, vec![(0, 0)]),
                |s| polls(s, vec![(1, 1), (0, 1)]),
                |s| polls(s, vec![(8, 1)]),
            ],
        );
    }
}
