//! Gives two snapshots the same rows, so that they can be compared row by row.

use std::collections::{HashMap, VecDeque};

use tickscope_format::ids::{NO_PARENT, NodeId, ThreadId};
use tickscope_format::snapshot::{Part, Snapshot, Tally, Thread};

use crate::call_tree::both_tallies;
use crate::joined::{Joined, Of, Threads, joined_sites, paths};

/// Returns both snapshots with the same sites, threads and rows. A row that only one of them has is added to the other without
/// counts. The snapshots may come from different runs and builds. Rows are matched by thread and by path of functions. Threads
/// are matched by name and id, or only by name if there is no such match.
///
/// The threads of the later snapshot keep their ids. They are followed by the threads that only the earlier snapshot has.
pub fn align(later: &Snapshot, earlier: &Snapshot) -> (Snapshot, Snapshot) {
    let both = [later, earlier];
    let (sites, places) = joined_sites(&later.sites, [&earlier.sites], |site| (&site.module, &site.name));
    let made_of = threads_of_both(later, earlier);
    let joined = Joined::of(&both, &places, &made_of, true);
    let thread = |made_of: &Vec<Of>| Thread {
        count: 0,
        ..both[made_of[0].0].threads[made_of[0].1.index()].without_counts()
    };
    let mut threads: Vec<Thread> = made_of.iter().map(thread).collect();
    joined.place(&mut threads);
    let side = |of: usize| {
        let (snapshot, map) = (both[of], joined.maps[of].clone());
        let mut side = snapshot.facts();
        if of == 1 {
            side.move_sites(&places[of]);
        }
        (side.sites, side.nodes, side.threads) = (sites.clone(), joined.nodes.clone(), threads.clone());
        for (thread, &to) in snapshot.threads.iter().zip(&map.threads) {
            let count = &mut side.threads[to as usize].count;
            *count = count.saturating_add(thread.count);
        }
        side.gather(&[Part::now(snapshot, map)]);
        side
    };
    let mut sides = [side(0), side(1)];
    share_counters(&mut sides, &joined);
    sides.into()
}

/// Sets the tally (counter, value or gauge) of the rows that were missing from a snapshot. A missing row gets the tally that its
/// path has in other threads of the same snapshot, or else in the other snapshot. If there are rows below it in either snapshot,
/// it becomes a scope instead.
fn share_counters(sides: &mut [Snapshot; 2], joined: &Joined) {
    if sides.iter().all(|side| side.counts.is_empty()) {
        return;
    }
    let paths = paths(&joined.nodes, joined.places.iter().copied());
    let tallies = sides.each_ref().map(Snapshot::tallies);
    let rows_of = |at: usize| {
        let rows = joined.maps[at].rows.iter().filter(|&&row| row != NO_PARENT);
        rows.map(|&row| row as usize)
    };
    // By snapshot and path: the tally that all rows on the path share, or `None` if one of these rows is a scope.
    let kinds = [0, 1].map(|at| {
        let mut kinds: HashMap<u32, Option<Tally>> = HashMap::new();
        for row in rows_of(at) {
            let kind = kinds.entry(paths[row]).or_insert(Some(Tally::Nothing));
            *kind = both_tallies(*kind, tallies[at][row].map(Tally::emptied));
        }
        kinds
    });
    let has_rows_below = joined.nodes.has_rows_below();
    for (at, side) in sides.iter_mut().enumerate() {
        let mut had = vec![false; paths.len()];
        rows_of(at).for_each(|row| had[row] = true);
        side.clear_tallies();
        for (row, path) in paths.iter().enumerate() {
            let kind = || kinds[at].get(path).or_else(|| kinds[1 - at].get(path));
            let tally = match had[row] {
                true => tallies[at][row],
                false if has_rows_below[row] => None,
                false => kind().copied().flatten(),
            };
            if let Some(tally) = tally {
                side.push_tally(NodeId(row as u32), tally);
            }
        }
    }
}

/// Returns a list of threads for each later thread: the thread itself, and the earlier threads that match it. Each earlier
/// thread without a match follows in a list of its own.
fn threads_of_both(later: &Snapshot, earlier: &Snapshot) -> Vec<Vec<Of>> {
    let ids = |snapshot: &Snapshot| (0..snapshot.threads.len() as u32).map(ThreadId);
    let mut threads: Vec<Vec<Of>> = ids(later).map(|id| vec![(0, id)]).collect();
    let known = Threads::of(later);
    let (same, left): (Vec<_>, Vec<_>) = ids(earlier)
        .map(|id| (id, &earlier.threads[id.index()]))
        .partition(|(_, thread)| known.same(thread).is_some());
    for (id, thread) in same {
        threads[known.same(thread).unwrap_or_default()].push((1, id));
    }
    let mut free: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (index, thread) in later.threads.iter().enumerate() {
        if threads[index].len() == 1 {
            free.entry(&thread.name).or_default().push_back(index);
        }
    }
    for (id, thread) in left {
        let same_name = free.get_mut(&*thread.name).and_then(VecDeque::pop_front);
        // An earlier thread that is missing from the later snapshot was folded into a row of ended threads, if there is one.
        match same_name.or_else(|| known.ended(thread)) {
            Some(index) => threads[index].push((1, id)),
            None => threads.push(vec![(1, id)]),
        }
    }
    threads
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::{SeenCost, Snapshot};
    use tickscope_testkit::fixture;

    use super::align;

    #[test]
    fn what_is_known_of_the_whole_stays_known() {
        let mut later = fixture::slow_frames();
        later.waits = true;
        later.drains_ns = Some(3.0);
        later.seen_cost = Some(SeenCost { looks: 5, ns: 2.0 });
        let mut earlier = fixture::over_budget();
        let name = over_budget(&earlier);
        earlier.waits = true;
        let (now, then) = align(&later, &earlier);
        assert!(now.waits && then.waits);
        assert_eq!(now.watches, later.watches);
        assert_eq!((now.drains_ns, now.seen_cost), (later.drains_ns, later.seen_cost));
        assert_eq!(over_budget(&then), name, "in the numbers of both");
        let serving = fixture::serving();
        let tasks = |s: &Snapshot| {
            let paths = s.tasks.paths.iter();
            let of_site = paths.map(|path| (s.sites[path.site.index()].clone(), path.in_flight));
            of_site.collect::<Vec<_>>()
        };
        let (_, then) = align(&later, &serving);
        assert!(!tasks(&serving).is_empty() && tasks(&then) == tasks(&serving));
        assert_eq!(then.tasks.ages, serving.tasks.ages);
    }

    /// Returns the name of the first function that is over the budget.
    fn over_budget(snapshot: &Snapshot) -> String {
        snapshot.sites[snapshot.over_budget()[0].site.index()]
            .name
            .clone()
    }
}
