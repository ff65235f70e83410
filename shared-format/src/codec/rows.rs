//! The sections of clock errors and of estimates, which list the rows that have any.

use super::section::{Section, check_rows, check_sum};

pub(super) const ERRORS: Section = Section {
    id: 5,
    write: |s, out| out.put_if(!s.errors.is_empty(), &s.errors),
    read: |to, body| body.read().map(|errors| to.snapshot.errors = errors),
    check: |s| {
        let rows = s.errors.iter().map(|error| error.node.0);
        check_rows("clock errors", rows, s.nodes.len())?;
        check_sum("clock errors", s.errors.iter().map(|error| error.count)).map(drop)
    },
};

pub(super) const ESTIMATES: Section = Section {
    id: 8,
    write: |s, out| out.put_if(!s.estimates.is_empty(), &s.estimates),
    read: |to, body| body.read().map(|estimates| to.snapshot.estimates = estimates),
    check: |s| {
        let rows = s.estimates.iter().map(|estimate| estimate.node.0);
        check_rows("estimates", rows, s.nodes.len())
    },
};

#[cfg(test)]
mod tests {
    use crate::codec::tests::refuses;
    use crate::fixture;
    use crate::ids::NodeId;
    use crate::snapshot::{NodeErrors, Snapshot};

    fn errors(s: &mut Snapshot, rows: [(u32, u64); 2]) {
        let errors = rows.map(|(row, count)| NodeErrors {
            node: NodeId(row),
            count,
        });
        s.errors = errors.to_vec();
    }

    #[test]
    fn rows_with_clock_errors_rise_and_are_there_and_have_a_sum() {
        refuses(
            "clock errors",
            &fixture::two_threads(),
            &[
                |s| errors(s, [(1, 1), (0, 1)]),
                |s| errors(s, [(1, 1), (1, 1)]),
                |s| errors(s, [(0, 1), (1_000, 1)]),
                |s| errors(s, [(0, u64::MAX), (1, 1)]),
            ],
        );
    }
}
