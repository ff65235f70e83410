use tickscope_format::latency::Latencies;
use tickscope_format::snapshot::Column;
use tickscope_testkit::fixture;

use super::*;

#[test]
fn latencies_and_errors_of_merged_rows_are_combined() {
    let mut snapshot = fixture::two_threads();
    snapshot.latencies.push(2, &fixture::calls_of(1_000, 90));
    snapshot.latencies.push(5, &fixture::calls_of(9_000, 10));
    snapshot.estimates = [(2, 30), (5, 40)]
        .map(|(row, error)| fixture::estimate(row, 25, error, error))
        .into();
    let tree = CallTree::build(&snapshot, |_| true);
    let leaf = (0..tree.rows.len() as u32)
        .find(|&row| tree.rows[row as usize].depth == 2)
        .unwrap();
    let latency = tree.latency(leaf);
    assert_eq!((latency.count(), latency.max()), (100, Some((9_000, true))));
    let uncertainty = tree.uncertainty(leaf).unwrap();
    let got = (uncertainty.timed, uncertainty.self_error, uncertainty.total_error);
    assert_eq!(got, (50, 50.0, 50.0));
    let above = tree.rows[leaf as usize].parent.unwrap();
    assert_eq!(tree.uncertainty(above), None, "nothing was stated of it");
    let main = tree.top().iter().find(|&&row| tree.children(row).is_empty());
    let main = *main.unwrap();
    let got = (tree.uncertainty(main), tree.latency(main).is_empty());
    assert_eq!(got, (None, true));

    let one = CallTree::build(&snapshot, |thread| thread == ThreadId(1));
    assert_eq!(one.latency(2).count(), 10, "only of the threads in scope");
}

#[test]
fn threads_with_the_same_path_share_a_row() {
    let snapshot = fixture::two_threads();
    let tree = CallTree::build(&snapshot, |_| true);
    assert_eq!(tree.top().len(), 2, "worker is merged, main stands alone");
    let one = CallTree::build(&snapshot, |thread| thread == ThreadId(1));
    assert_eq!(one.top().len(), 1);
    let worker = tree.rows.iter().find(|row| row.path == one.rows[0].path);
    assert!(worker.is_some(), "a path has the same id in every scope");
}

#[test]
fn latencies_and_means_of_futures_are_those_of_calls() {
    let mut snapshot = fixture::serving();
    let tree = CallTree::build(&snapshot, |_| true);
    let [handler, parse] = [0, 1].map(|row| tree.rows[row]);
    assert_eq!(tree.latency(0).count(), 80, "calls and not polls");
    assert_eq!(handler.asynchronous.or(100, 1), (80, 80 * 22_000_000));
    assert_eq!(parse.asynchronous.or(100, 1), (100, 1));
    // The mean of a future covers only its ended calls, and there are none left here.
    snapshot.async_latencies = Latencies::default();
    for quantity in [
        Quantity::FutureEnds,
        Quantity::FutureCancels,
        Quantity::FutureTime,
    ] {
        snapshot.measures.set(quantity, Column::default());
    }
    let tree = CallTree::build(&snapshot, |_| true);
    assert!(tree.latency(0).is_empty());
    assert_eq!(tree.rows[0].asynchronous.or(100, 1), (0, 0));
}
