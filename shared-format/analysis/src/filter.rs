//! Snapshots that contain a part of another snapshot: only chosen threads, or only rows that exceed a share of the time.

use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::{Left, Snapshot};

use crate::functions::Functions;
use crate::joined::paths;
use crate::measure::Measure;

/// Name of the row that contains the sums of the rows that [`above`] removed.
pub const SMALL: &str = "(small)";

/// Returns the snapshot with only the chosen threads. Data about the whole program (cost, losses, lifetime) is kept.
pub fn of_threads(snapshot: &Snapshot, chosen: impl Fn(ThreadId) -> bool) -> Snapshot {
    snapshot.part(chosen, |_| true, Left::Out)
}

/// Returns the snapshot without small paths. A path is small if its total by `measure`, summed over all threads, is below the
/// given share (0 to 1) of the whole program. The removed rows are summed up in a row called [`SMALL`] below their parent, so
/// all totals stay the same.
pub fn above(snapshot: &Snapshot, measure: Measure, share: f64) -> Snapshot {
    let values = measure.self_values(snapshot);
    let all: u64 = values.iter().fold(0, |sum, &value| sum.saturating_add(value));
    let functions = Functions::of(snapshot);
    let sites = snapshot.nodes.site.iter();
    let sites = sites.map(|&site| functions.of_site[site as usize].0);
    let path_of = paths(&snapshot.nodes, sites);
    let mut value_of = vec![0u64; path_of.iter().max().map_or(0, |&path| path as usize + 1)];
    for (&path, total) in path_of.iter().zip(snapshot.nodes.totals(&values)) {
        let value = &mut value_of[path as usize];
        *value = value.saturating_add(total);
    }
    let least = all as f64 * share;
    let is_large = |&path: &u32| value_of[path as usize] as f64 >= least;
    let mut kept: Vec<bool> = path_of.iter().map(is_large).collect();
    // A counter has no total, so it is kept if its parent is kept. But if the same path is a scope in another thread, the path's
    // total decides.
    let mut has_scope = vec![false; value_of.len()];
    let mut counters = snapshot.counts.iter().map(|count| count.node.index()).peekable();
    for (row, &path) in path_of.iter().enumerate() {
        has_scope[path as usize] |= counters.next_if_eq(&row).is_none();
    }
    for count in &snapshot.counts {
        let row = count.node.index();
        let parent = snapshot.nodes.parent_of(count.node);
        kept[row] |= !has_scope[path_of[row] as usize] && parent.is_none_or(|parent| kept[parent.index()]);
    }
    snapshot.part(|_| true, |row| kept[row], Left::Summed(SMALL))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickscope_format::ids::NodeId;
    use tickscope_testkit::fixture;
    use tickscope_testkit::fixture::programs as fixtures;

    use super::*;
    use crate::call_tree::CallTree;

    #[test]
    fn one_thread_of_three() {
        let whole = fixtures::order_sim_adaptive();
        let id = ThreadId(1);
        let part = of_threads(&whole, |thread| thread == id);
        assert_eq!(part.threads.len(), 1);
        assert_eq!(part.threads[0].name, "match-1");
        let rows = whole.rows_of(id);
        assert_eq!(part.nodes.self_ticks, whole.nodes.self_ticks[rows.clone()]);
        for (new, old) in rows.enumerate() {
            let (new, old) = (NodeId(new as u32), NodeId(old as u32));
            assert_eq!(part.latencies.of(new.0), whole.latencies.of(old.0));
            let errors = |s: &Snapshot, row| s.estimate_of(row).map(|e| (e.timed, e.self_error));
            assert_eq!(errors(&part, new), errors(&whole, old));
        }
        let open: Vec<u32> = part.threads[0].open.iter().map(|frame| frame.node.0).collect();
        assert_eq!(open, [0, 1, 2, 3]);
    }

    #[test]
    fn small_rows_become_one_below_their_parent() {
        let whole = fixture::two_threads();
        // All rows together have 12 250 012 ticks, of which `main` has 250 000.
        let part = above(&whole, Measure::Time, 0.05);
        let names: Vec<&str> = (0..part.nodes.len())
            .map(|row| part.site_of(NodeId(row as u32)).name.as_str())
            .collect();
        let worker = ["worker", "insert", "Tree::rebalance"];
        assert_eq!(names, [&worker[..], &worker, &[SMALL]].concat());
        assert_eq!(part.nodes.calls[6], 2);
        assert_eq!(part.errors[0].node, NodeId(6), "its errors went along");
        assert_eq!(part.threads[2].rows, 1);
        // A share of 0 removes no path.
        assert_eq!(above(&whole, Measure::Time, 0.0), whole);
    }

    proptest! {
        #[test]
        fn totals_of_what_stays_are_what_they_were(whole in fixtures::any_snapshot(), share in 0.0..1.0f64) {
            let part = above(&whole, Measure::Time, share);
            prop_assert_eq!(part.measured_ticks(), whole.measured_ticks());
            prop_assert_eq!(part.calls(), whole.calls());
            let (all, some) = (CallTree::build(&whole, |_| true), CallTree::build(&part, |_| true));
            for row in &some.rows {
                if some.functions.get(row.function).name != SMALL {
                    let same = all.rows.iter().find(|other| other.path == row.path).unwrap();
                    prop_assert_eq!(same.total_ticks, row.total_ticks);
                    let stays = same.total_ns as f64 >= all.measured_ns() as f64 * share;
                    prop_assert!(stays || row.tally.is_some());
                }
            }
            prop_assert_eq!(fixture::received(&part), part, "it is a sound snapshot");
        }

        #[test]
        fn threads_apart_add_up_to_all(whole in fixtures::any_snapshot()) {
            let ticks = (0..whole.threads.len() as u32)
                .map(|id| of_threads(&whole, |thread| thread == ThreadId(id)).measured_ticks())
                .sum::<u64>();
            prop_assert_eq!(ticks, whole.measured_ticks());
        }
    }
}
