//! Aligned snapshots have the same rows, and each keeps its own counts.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tickscope_format::ids::NodeId;
use tickscope_format::latency::Latencies;
use tickscope_format::snapshot::{Count, Mode, Nodes, Snapshot, Tally};
use tickscope_testkit::fixture::programs::{any_snapshot, order_sim};

use super::{by_path, given, outside, small};
use crate::align::align;
use crate::call_tree::CallTree;

#[test]
fn a_row_that_one_of_two_has_is_of_the_same_kind_in_the_other() {
    let later = given(&[3], &[5]);
    let mut earlier = later.clone();
    earlier.clear_tallies();
    earlier.latencies = Latencies::default();
    earlier.nodes = Nodes::default();
    earlier.threads[0].rows = 0;
    let (now, then) = align(&later, &earlier);
    assert_eq!(now.tallies(), later.tallies());
    assert_eq!(now.latencies, later.latencies);
    let nothing = [Tally::Value { sum: 0, range: None }, Tally::Gauge { level: None }];
    assert_eq!(then.tallies(), nothing.map(Some));
}

#[test]
fn a_row_of_another_build_is_found_by_its_function() {
    let earlier = order_sim();
    let mut later = earlier.clone();
    later.process.pid += 1;
    later.process.started_unix_ns += 1;
    for (index, site) in later.sites.iter_mut().enumerate() {
        site.line += 7;
        if index == 4 {
            site.name = "rebalance_fast".into();
        }
    }
    for thread in &mut later.threads {
        thread.tid += if thread.tid > 0 { 1_000 } else { 0 };
    }
    let (now, then) = align(&later, &earlier);
    // Threads of different runs are matched by name.
    assert_eq!(now.threads.len(), earlier.threads.len());
    // The renamed function adds a row to each of the two matcher threads.
    assert_eq!(now.nodes.len(), earlier.nodes.len() + 2);
    assert_eq!(now.sites.len(), earlier.sites.len() + 1);
    assert_eq!(then.measured_ticks(), earlier.measured_ticks());
}

/// A counter in one snapshot stays a counter, even if the other snapshot has a scope with the same name in another thread.
#[test]
fn what_was_a_counter_in_one_thread_and_a_scope_in_the_others_was_no_counter() {
    let mut one = order_sim();
    one.counts.clear();
    let thread = &one.threads[0];
    let (first, rows) = (thread.first_row, thread.rows);
    let leaf = (first..first + rows)
        .rfind(|row| !one.nodes.parent.contains(row))
        .unwrap();
    let mut other = one.clone();
    one.nodes.self_ticks[leaf as usize] = 0;
    one.counts.push(Count {
        node: NodeId(leaf),
        sum: 5,
    });
    one.threads.truncate(1);
    other.threads[0].name = "another".into();
    let mut paths = by_path(&one).into_iter();
    let path = paths.find(|(_, figures)| figures.3 == Some(5)).unwrap();
    let (now, then) = align(&one, &other);
    assert_eq!(by_path(&now).get(&path.0), Some(&path.1));
    assert_eq!(by_path(&then)[&path.0].3, None);
}

proptest! {
    #[test]
    fn aligned_snapshots_have_the_same_rows_and_their_own_counts(
        one in any_snapshot().prop_map(small),
        other in any_snapshot().prop_map(small),
        mode in prop::sample::select(vec![Mode::Exact, Mode::Sampled]),
    ) {
        let (mut one, other) = (one, other);
        one.capture.mode = mode;
        let (now, then) = align(&one, &other);
        prop_assert_eq!(&now.nodes.parent, &then.nodes.parent);
        prop_assert_eq!(&now.nodes.site, &then.nodes.site);
        prop_assert_eq!(&now.sites, &then.sites);
        for (side, from) in [(&now, &one), (&then, &other)] {
            prop_assert_eq!(side.calls(), from.calls());
            prop_assert_eq!(outside(side), outside(from));
            let errors = |s: &Snapshot| s.errors.iter().map(|error| error.count).sum::<u64>();
            prop_assert_eq!(errors(side), errors(from));
            let all = by_path(side);
            let tree = CallTree::build(side, |_| true);
            let parents = tree.rows.iter().filter_map(|row| row.parent);
            let has_rows_below: BTreeSet<u64> = parents.map(|row| tree.rows[row as usize].path.0).collect();
            for (path, (calls, own, total, sum)) in by_path(from) {
                let sum = sum.filter(|_| !has_rows_below.contains(&path));
                prop_assert_eq!(all.get(&path).copied(), Some((calls, own, total, sum)));
            }
        }
        let (a, b) = (CallTree::build(&now, |_| true), CallTree::build(&then, |_| true));
        prop_assert_eq!(a.rows.len(), b.rows.len());
        for (index, (a_row, b_row)) in a.rows.iter().zip(&b.rows).enumerate() {
            prop_assert_eq!((a_row.path, a_row.parent, a_row.function), (b_row.path, b_row.parent, b_row.function));
            // The difference of a parent is its own difference plus the differences of its children.
            let change = |a: u64, b: u64| i128::from(a) - i128::from(b);
            let below: i128 = a.children(index as u32).iter()
                .map(|&c| change(a.rows[c as usize].total_ns, b.rows[c as usize].total_ns))
                .sum();
            prop_assert_eq!(change(a_row.self_ns, b_row.self_ns) + below, change(a_row.total_ns, b_row.total_ns));
        }
    }
}
