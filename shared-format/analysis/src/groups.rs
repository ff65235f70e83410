//! The time spent in each group of functions, which is the time of its members' outermost calls.

use std::collections::HashMap;

use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::Snapshot;

use crate::functions::{FunctionId, Functions};
use crate::inclusive_time::{InclusiveTime, SetId, inclusive_times};

/// A group of functions with its times.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRow {
    /// Name of the group.
    pub name: String,
    /// Calls and times of the members in all chosen threads.
    pub sum: InclusiveTime,
    /// Calls and times of the members, for each thread that called one of them.
    pub threads: Vec<(ThreadId, InclusiveTime)>,
    /// Functions in the group, in the order of their ids.
    pub members: Vec<FunctionId>,
}

/// Returns the names of all groups, in the order of their first site, and the index of each site's group.
pub fn names(snapshot: &Snapshot) -> (Vec<&str>, Vec<Option<SetId>>) {
    let mut known: HashMap<&str, SetId> = HashMap::new();
    let mut names = Vec::new();
    let mut id_of = |group| {
        *known.entry(group).or_insert_with(|| {
            names.push(group);
            names.len() as SetId - 1
        })
    };
    let groups = snapshot.sites.iter().map(|site| site.group.as_str());
    let of_site = groups
        .map(|group| (!group.is_empty()).then(|| id_of(group)))
        .collect();
    (names, of_site)
}

/// Returns the groups that have a row in a thread for which `in_scope` returns true. They are sorted by total time, longest
/// first, and then by name.
///
/// A member of one group may call a member of another. The call is then part of both totals, so the groups' totals may add up to
/// more than the measured time.
pub fn groups(snapshot: &Snapshot, mut in_scope: impl FnMut(ThreadId) -> bool) -> Vec<GroupRow> {
    let (names, of_site) = names(snapshot);
    if names.is_empty() {
        return Vec::new();
    }
    let mut rows: Vec<GroupRow> = names
        .iter()
        .map(|name| GroupRow {
            name: (*name).to_owned(),
            sum: InclusiveTime::default(),
            threads: Vec::new(),
            members: Vec::new(),
        })
        .collect();
    let functions = Functions::of(snapshot);
    for (group, &function) in of_site.iter().zip(&functions.of_site) {
        if let Some(group) = group {
            rows[*group as usize].members.push(function);
        }
    }
    for (index, sums) in inclusive_times(snapshot, &of_site).into_iter().enumerate() {
        let thread = ThreadId(index as u32);
        if in_scope(thread) {
            for (group, sum) in sums {
                rows[group as usize].sum.add(&sum);
                rows[group as usize].threads.push((thread, sum));
            }
        }
    }
    rows.retain(|row| !row.threads.is_empty());
    for row in &mut rows {
        row.members.sort_unstable();
        row.members.dedup();
    }
    rows.sort_by(|a, b| (b.sum.total_ns, &a.name).cmp(&(a.sum.total_ns, &b.name)));
    rows
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use tickscope_format::ids::NodeId;
    use tickscope_testkit::fixture;
    use tickscope_testkit::fixture::programs::any_snapshot;

    use super::*;
    use crate::call_tree::CallTree;
    use crate::hotspots::hot;

    fn any_grouped() -> impl Strategy<Value = Snapshot> {
        let groups = prop::collection::vec(prop::sample::select(vec!["", "a", "b", "[x]"]), 8);
        (any_snapshot(), groups).prop_map(|(mut snapshot, groups)| {
            for (site, group) in snapshot.sites.iter_mut().zip(groups) {
                site.group = group.into();
            }
            // The sums must fit into 64 bits.
            for ticks in &mut snapshot.nodes.self_ticks {
                *ticks %= 1 << 40;
            }
            snapshot
        })
    }

    fn all(_: ThreadId) -> bool {
        true
    }

    /// Computes the same numbers as [`groups`] by walking from every row to the top, which is slow but easy to verify.
    fn slowly(snapshot: &Snapshot, group: &str) -> (u64, u64, u64, u64) {
        let nodes = &snapshot.nodes;
        let in_group = |row: NodeId| snapshot.site_of(row).group == group;
        let totals = nodes.totals(&snapshot.self_nanos());
        let mut sums = (0, 0, 0, 0);
        for row in (0..nodes.len() as u32).map(NodeId).filter(|&row| in_group(row)) {
            let mut above = nodes.parent_of(row);
            while let Some(at) = above.filter(|&at| !in_group(at)) {
                above = nodes.parent_of(at);
            }
            sums.0 += nodes.calls[row.index()];
            sums.2 += snapshot.nanos(nodes.self_ticks[row.index()]);
            if above.is_none() {
                sums.1 += nodes.calls[row.index()];
                sums.3 += totals[row.index()];
            }
        }
        sums
    }

    proptest! {
        #[test]
        fn totals_are_those_of_outermost_members(snapshot in any_grouped()) {
            let measured: u64 = snapshot.self_nanos().iter().sum();
            for row in groups(&snapshot, all) {
                let InclusiveTime { calls, outermost_calls, self_ns, total_ns, .. } = row.sum;
                prop_assert_eq!((calls, outermost_calls, self_ns, total_ns), slowly(&snapshot, &row.name));
                prop_assert!(self_ns <= total_ns && total_ns <= measured);
                prop_assert!(outermost_calls <= calls);
                prop_assert_eq!(row.threads.iter().map(|(_, sum)| sum.total_ns).sum::<u64>(), total_ns);
            }
        }

        #[test]
        fn a_thread_alone_has_what_it_has_among_others(snapshot in any_grouped()) {
            let together = groups(&snapshot, all);
            for index in 0..snapshot.threads.len() as u32 {
                let alone = groups(&snapshot, |id| id == ThreadId(index));
                for row in &together {
                    let of = row.threads.iter().find(|(id, _)| id.0 == index).map(|(_, sum)| *sum);
                    let own = alone.iter().find(|own| own.name == row.name).map(|own| own.sum);
                    prop_assert_eq!(of, own);
                }
            }
        }

        /// If groups replace their members, the hotspots have the same numbers as the table of groups, and the sum of all self
        /// times stays the same.
        #[test]
        fn hotspots_agree(snapshot in any_grouped()) {
            let tree = CallTree::build_of(&snapshot, Arc::new(Functions::build(&snapshot, true)), all);
            let hotspots = hot(&tree);
            prop_assert_eq!(hotspots.iter().map(|row| row.self_ns).sum::<u64>(), tree.measured_ns());
            let plain = CallTree::build(&snapshot, all);
            prop_assert_eq!(plain.measured_ns(), tree.measured_ns());
            let table = groups(&snapshot, all);
            let merged: Vec<_> = hotspots.iter().filter(|row| tree.functions.get(row.function).is_group).collect();
            prop_assert_eq!(merged.len(), table.len());
            for row in merged {
                let name = &tree.functions.get(row.function).group;
                let group = table.iter().find(|group| &group.name == name);
                let sum = group.map(|group| (group.sum.calls, group.sum.self_ns, group.sum.total_ns, group.sum.open));
                prop_assert_eq!(sum, Some((row.calls, row.self_ns, row.total_ns, row.open)));
            }
        }
    }

    /// Returns a snapshot in which `even` and `odd`, both in one group, call each other and call a leaf of another group.
    fn mutual() -> Snapshot {
        let mut snapshot = fixture::mutual_recursion();
        for site in &mut snapshot.sites {
            site.group = match site.name.as_str() {
                "even" | "odd" => "parity".into(),
                "leaf" => "leaves".into(),
                _ => String::new(),
            };
        }
        snapshot
    }

    #[test]
    fn estimates_are_told_and_no_groups_are_no_rows() {
        let mut snapshot = mutual();
        assert!(groups(&snapshot, |_| false).is_empty());
        snapshot.estimates.push(fixture::estimate(1, 1, 3, 3));
        let rows = groups(&snapshot, all);
        let estimated: Vec<bool> = rows.iter().map(|row| row.sum.estimated).collect();
        assert_eq!(estimated, [true, false]);
        assert!(groups(&fixture::two_threads(), all).is_empty());
    }

    #[test]
    fn a_group_is_no_function_of_its_name() {
        let mut snapshot = mutual();
        snapshot.sites[1].name = "[parity]".into();
        snapshot.sites[1].module = String::new();
        let functions = Functions::build(&snapshot, true);
        let keys: std::collections::HashSet<u64> = functions.list.iter().map(|f| f.key).collect();
        assert_eq!((functions.list.len(), keys.len()), (3, 3));
    }
}
