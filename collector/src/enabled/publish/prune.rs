//! Cuts down a snapshot that is too large for a record. Its smallest subtrees become "(pruned)" rows, so that all sums
//! stay right and nothing is lost silently.

use tickscope_format::ids::NO_PARENT;
use tickscope_format::snapshot::Left;
use tickscope_format::{FormatError, Snapshot};

/// Maximum number of places in the code whose samples are kept.
const PLACES_KEPT: usize = 1 << 10;

/// Function that appends the payload of a snapshot to a buffer.
type Encode = fn(&Snapshot, &mut Vec<u8>) -> Result<(), FormatError>;

/// If the payload is longer than `longest`, encodes the snapshot again, with as many of its rows as fit.
///
/// # Errors
/// The errors of `encode`.
pub(crate) fn shorten(
    snapshot: &Snapshot,
    payload: &mut Vec<u8>,
    longest: u64,
    encode: Encode,
) -> Result<(), FormatError> {
    let mut pruned = None;
    while payload.len() as u64 > longest {
        let whole = pruned.as_ref().unwrap_or(snapshot);
        // About this many rows fit, given their current mean size. Data other than rows may still be too large.
        let rows = (whole.nodes.len() as u64 * longest / payload.len() as u64 * 15 / 16) as usize;
        let Some(cut) = prune(whole, rows) else { break };
        payload.clear();
        encode(&cut, payload)?;
        pruned = Some(cut);
    }
    Ok(())
}

/// Cuts a snapshot down to at most `rows_max` rows. Returns `None` if it already has no more rows than that.
///
/// Open rows are kept first, then rows with the largest totals. The rows removed below a row are merged into a single
/// child of that row, named "(pruned)", which keeps all their calls and ticks. It does not keep the sums of counters or
/// the numbers recorded for values.
fn prune(snapshot: &Snapshot, rows_max: usize) -> Option<Snapshot> {
    let before = snapshot.nodes.len();
    if before <= rows_max {
        return None;
    }
    let order = by_weight(snapshot);
    // Searches for the number of rows to keep. The pruned snapshot has more rows, because each parent that loses
    // children gets a new row.
    let (mut low, mut high) = (0, rows_max);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if rows_with(snapshot, &kept(&order, middle, before)) <= rows_max {
            low = middle
        } else {
            high = middle - 1
        }
    }
    let keep = kept(&order, low, before);
    let mut cut = snapshot.part(|_| true, |row| keep[row], Left::Summed("(pruned)"));
    cut.lines.keep_most(PLACES_KEPT);
    let gone = before - cut.nodes.len();
    cut.capture.pruned += gone as u64;
    (gone > 0).then_some(cut)
}

/// Sorts rows by their weight: open rows first, then by total time, parents before their children.
fn by_weight(snapshot: &Snapshot) -> Vec<u32> {
    let mut weights = snapshot.nodes.totals(&snapshot.nodes.self_ticks);
    // A counter has no time of its own, so it weighs as much as its parent. A counter at the top of a thread weighs
    // more than any row that is not open.
    for count in &snapshot.counts {
        let parent = snapshot.nodes.parent_of(count.node);
        weights[count.node.index()] = parent.map_or(u64::MAX - 1, |parent| weights[parent.index()]);
    }
    for frame in snapshot.threads.iter().flat_map(|thread| &thread.open) {
        weights[frame.node.index()] = u64::MAX;
    }
    let mut order: Vec<u32> = (0..snapshot.nodes.len() as u32).collect();
    order.sort_by_key(|&row| (u64::MAX - weights[row as usize], row));
    order
}

fn kept(order: &[u32], count: usize, rows: usize) -> Vec<bool> {
    let mut keep = vec![false; rows];
    for &row in &order[..count] {
        keep[row as usize] = true;
    }
    keep
}

/// Returns the number of rows after pruning: the kept rows, and one for each parent (or top of a thread) that loses rows.
fn rows_with(snapshot: &Snapshot, keep: &[bool]) -> usize {
    let nodes = &snapshot.nodes;
    let mut count = 0;
    let mut has_pruned = vec![false; nodes.len()];
    for thread in &snapshot.threads {
        let mut top_has_pruned = false;
        for row in thread.first_row as usize..(thread.first_row + thread.rows) as usize {
            let parent = nodes.parent[row];
            if keep[row] {
                count += 1;
            } else if parent == NO_PARENT {
                top_has_pruned = true;
            } else if keep[parent as usize] && !std::mem::replace(&mut has_pruned[parent as usize], true) {
                count += 1;
            }
        }
        count += usize::from(top_has_pruned);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tickscope_format::codec;
    use tickscope_format::ids::{NodeId, SiteId};
    use tickscope_format::snapshot::{Count, OpenFrame, Site, Thread};

    /// Makes threads with random trees: each row is either below an earlier row of its thread, or at the top.
    fn snapshot(shapes: &[Vec<(usize, u64)>], open: bool) -> Snapshot {
        let mut s = Snapshot {
            sites: [Site::default()].into(),
            ..Snapshot::default()
        };
        for rows in shapes {
            let first = s.nodes.len();
            let mut last = None;
            for (index, &(parent, ticks)) in rows.iter().enumerate() {
                let parent = (index > 0 && parent > 0).then(|| NodeId((first + parent % index) as u32));
                last = Some(s.nodes.push(parent, SiteId(0), 1, ticks));
            }
            let mut path = Vec::new();
            while let Some(node) = last.filter(|_| open) {
                path.insert(0, OpenFrame { node, began_tick: 0 });
                last = s.nodes.parent_of(node);
            }
            s.threads.push(Thread {
                first_row: first as u32,
                rows: rows.len() as u32,
                open: path,
                ..Thread::default()
            });
        }
        s
    }

    #[test]
    fn the_smallest_subtrees_go_and_their_sums_stay() {
        // 0 is the top; 1 and 2 are below it; 3 and 4 are below 2.
        let mut s = snapshot(&[vec![(0, 10), (5, 1), (6, 50), (8, 2), (10, 3)]], false);
        s.nodes.parent = vec![NO_PARENT, 0, 0, 2, 2];
        let s = prune(&s, 4).unwrap();
        assert_eq!(s.capture.pruned, 1);
        assert_eq!(s.nodes.parent, [NO_PARENT, 0, 0, 2]);
        assert_eq!(s.nodes.calls, [1, 1, 1, 2]);
        assert_eq!(s.nodes.self_ticks, [10, 1, 50, 5]);
        assert_eq!(s.sites[s.nodes.site[3] as usize].name, "(pruned)");
    }

    #[test]
    fn counters_stay_with_what_they_stand_in() {
        // 1 and 2 are below 0. There is a counter below each of them, and one at the top.
        let mut s = snapshot(&[vec![(0, 10), (5, 1), (6, 50), (8, 0), (10, 0), (0, 0)]], false);
        s.nodes.parent = vec![NO_PARENT, 0, 0, 1, 2, NO_PARENT];
        s.counts = [(3, 7), (4, 8), (5, 9)]
            .map(|(row, sum)| Count {
                node: NodeId(row),
                sum,
            })
            .into();
        let s = prune(&s, 5).unwrap();
        assert_eq!(s.capture.pruned, 1);
        assert_eq!(s.nodes.parent, [NO_PARENT, 0, 0, 2, NO_PARENT]);
        assert_eq!(
            s.nodes.calls,
            [1, 2, 1, 1, 1],
            "the small one and its counter are one row"
        );
        assert_eq!(s.sums(), [None, None, None, Some(8), Some(9)]);
    }

    proptest! {
        #[test]
        fn whatever_goes_sums_hold_and_the_rest_decodes(
            shapes in proptest::collection::vec(proptest::collection::vec((0usize..50, 0u64..1000), 1..40), 1..5),
            rows_max in 4usize..60,
            open in any::<bool>(),
        ) {
            let whole = snapshot(&shapes, open);
            let cut = prune(&whole, rows_max).unwrap_or_else(|| whole.clone());
            prop_assert_eq!(cut.capture.pruned as usize, whole.nodes.len() - cut.nodes.len());
            let open_rows: usize = whole.threads.iter().map(|thread| thread.open.len()).sum();
            if 2 * open_rows + whole.threads.len() <= rows_max {
                prop_assert!(cut.nodes.len() <= rows_max);
                for (before, after) in whole.threads.iter().zip(&cut.threads) {
                    prop_assert_eq!(before.open.len(), after.open.len());
                }
            }
            prop_assert_eq!(cut.calls(), whole.calls());
            prop_assert_eq!(cut.measured_ticks(), whole.measured_ticks());
            let mut bytes = Vec::new();
            codec::encode(&cut, &mut bytes).unwrap();
            prop_assert_eq!(codec::decode(&bytes).unwrap(), cut);
        }
    }
}
