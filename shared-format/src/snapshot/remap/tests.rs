use proptest::prelude::*;

use super::*;
use crate::fixture::programs::any_snapshot;
use crate::fixture::received;
use crate::snapshot::{Left, Site};

/// For a row with estimated times: the number of timed calls, the error of the self time, and the error of the total
/// time.
type Estimated = Option<(u64, u64, u64)>;

/// Returns a snapshot with a single thread. For each of its rows, `rows` has the parent, the number of calls, and the
/// estimate.
fn adaptive(rows: &[(u32, u64, Estimated)]) -> Snapshot {
    let mut s = Snapshot {
        sites: [Site::default()].into(),
        ..Snapshot::default()
    };
    for &(parent, calls, estimate) in rows {
        let above = (parent != NO_PARENT).then_some(NodeId(parent));
        let node = s.nodes.push(above, SiteId(0), calls, 100);
        let estimate = estimate.map(|(timed, self_error, total_error)| Estimate {
            node,
            timed,
            self_error,
            total_error,
        });
        s.estimates.extend(estimate);
    }
    s.threads.push(crate::snapshot::Thread {
        count: 1,
        rows: rows.len() as u32,
        ..Default::default()
    });
    s
}

#[test]
fn what_has_no_estimate_was_timed() {
    let s = adaptive(&[(NO_PARENT, 100, Some((10, 3, 3))), (NO_PARENT, 50, None)]);
    let mut both = adaptive(&[(NO_PARENT, 0, None)]);
    both.nodes.self_ticks[0] = 0;
    let map = RowMap {
        rows: vec![0, 0],
        threads: vec![0],
        sums: None,
    };
    both.gather(&[Part::now(&s, map.clone()), Part::now(&s, map)]);
    let Estimate {
        timed, self_error, ..
    } = both.estimates[0];
    // The error is sqrt(3² + 3²), rounded only once.
    assert_eq!((both.nodes.calls[0], timed, self_error), (300, 120, 4));
}

#[test]
fn the_total_of_a_subtree_is_its_own_time_where_it_is_summed_up() {
    let s = adaptive(&[
        (NO_PARENT, 1, None),
        (0, 10, Some((2, 50, 5))),
        (1, 20, Some((2, 50, 50))),
        (0, 5, Some((1, 12, 12))),
    ]);
    let part = s.part(|_| true, |row| row == 0, Left::Summed("(small)"));
    assert_eq!((part.nodes.len(), part.nodes.calls[1]), (2, 35));
    let Estimate {
        self_error,
        total_error,
        ..
    } = part.estimates[0];
    assert_eq!((self_error, total_error), (13, 13));
}

#[test]
fn values_that_come_to_one_place_are_added_up() {
    let mut s = adaptive(&[(NO_PARENT, 1, None), (NO_PARENT, 1, None), (NO_PARENT, 1, None)]);
    for (row, value) in [(0, 5), (1, 6), (2, 7)] {
        s.measures.push_row(Quantity::Frees, row, value);
        s.measures.push_row(Quantity::LiveBytes, row, value);
        s.measures.push_row(Quantity::Ready, row, value);
    }
    s.measures.push_outside(Quantity::Frees, 0, 1);
    s.waits_in = WaitsIn::new(
        [(0, "read", 2), (2, "read", 1), (2, "fsync", 3)],
        [(0, super::super::Now::Ready)],
    );
    let mut sum = adaptive(&[(NO_PARENT, 0, None), (NO_PARENT, 0, None)]);
    let map = RowMap {
        rows: vec![1, NO_PARENT, 1],
        threads: vec![0],
        sums: None,
    };
    let before = Part {
        ratio: 0.5,
        when: When::Before,
        ..Part::now(&s, map.clone())
    };
    sum.gather(&[before, Part::now(&s, map)]);
    let rows = |quantity| sum.measures.of(quantity).map(|column| &column.rows[..]);
    assert_eq!(rows(Quantity::Frees), Some(&[(1, 24)][..]));
    // Levels are taken only from the part that was captured at the same moment as the sum.
    assert_eq!(rows(Quantity::LiveBytes), Some(&[(1, 12)][..]));
    assert_eq!(rows(Quantity::Ready), Some(&[(1, 3 + 4 + 12)][..]));
    assert_eq!(sum.measures.of(Quantity::Frees).unwrap().of_outside(0), 2);
    let samples: Vec<_> = sum.waits_in.samples().collect();
    assert_eq!(samples, [(1, "fsync", 6), (1, "read", 6)]);
    assert_eq!(sum.waits_in.now().count(), 1);

    let mut nothing = adaptive(&[(NO_PARENT, 0, None)]);
    let too_little = Part {
        ratio: 0.01,
        ..Part::now(
            &s,
            RowMap {
                rows: vec![0; 3],
                threads: vec![0],
                sums: None,
            },
        )
    };
    nothing.gather(&[too_little]);
    assert!(
        nothing
            .measures
            .of(Quantity::Ready)
            .is_none_or(|column| column.rows.is_empty())
    );
}

proptest! {
    #[test]
    fn all_of_it_is_itself(mut whole in any_snapshot()) {
        whole.capture.cost = Default::default();
        for left in [Left::Out, Left::Summed("rest")] {
            prop_assert_eq!(&whole.part(|_| true, |_| true, left), &whole);
        }
    }

    #[test]
    fn sums_stay_whatever_is_summed_up_and_rows_that_are_kept_stay_as_they_were(whole in any_snapshot(), kept in prop::collection::vec(any::<bool>(), 1..40)) {
        let is_kept = |row: usize| kept[row % kept.len()];
        let part = whole.part(|_| true, is_kept, Left::Summed("rest"));
        prop_assert_eq!(part.calls(), whole.calls());
        prop_assert_eq!(part.measured_ticks(), whole.measured_ticks());
        let errors = |s: &Snapshot| s.errors.iter().map(|error| error.count).sum::<u64>();
        prop_assert_eq!(errors(&part), errors(&whole));
        let shown = |s: &Snapshot, row: usize| {
            let id = NodeId(row as u32);
            let name = s.site_of(id).name.clone();
            (name, s.nodes.calls[row], s.nodes.self_ticks[row], s.tallies()[row], s.latencies.of(id.0))
        };
        let mut stays: Vec<bool> = Vec::new();
        for row in 0..whole.nodes.len() {
            let above = whole.nodes.parent_of(NodeId(row as u32));
            stays.push(is_kept(row) && above.is_none_or(|above| stays[above.index()]));
        }
        let wanted = (0..stays.len()).filter(|&row| stays[row]);
        let found = (0..part.nodes.len()).map(|row| shown(&part, row)).filter(|row| row.0 != "rest");
        prop_assert_eq!(found.collect::<Vec<_>>(), wanted.map(|row| shown(&whole, row)).collect::<Vec<_>>());
        received(&part);
    }
}
