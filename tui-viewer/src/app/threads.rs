//! The list of threads to choose from: the busiest first, and in that order as long as the list is open.

use std::cmp::Ordering;

use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::saturating_sum;

/// Returns the ticks measured in a thread's own scopes.
pub(crate) fn measured_ticks(snapshot: &Snapshot, thread: ThreadId) -> u64 {
    saturating_sum(snapshot.rows_of(thread).map(|row| snapshot.nodes.self_ticks[row]))
}

/// Returns all threads, by time, the most first. Equal threads are sorted by name, with numbers in names as numbers.
pub(crate) fn busiest_first(snapshot: &Snapshot) -> Vec<ThreadId> {
    let mut keyed: Vec<(u64, ThreadId)> = (0..snapshot.threads.len() as u32)
        .map(|index| (measured_ticks(snapshot, ThreadId(index)), ThreadId(index)))
        .collect();
    keyed.sort_by(|a, b| {
        let (one, other) = (
            &snapshot.threads[a.1.0 as usize],
            &snapshot.threads[b.1.0 as usize],
        );
        let by_name = || natural(&one.name, &other.name).then(one.tid.cmp(&other.tid));
        b.0.cmp(&a.0).then_with(by_name)
    });
    keyed.into_iter().map(|(_, thread)| thread).collect()
}

/// Returns the order of an older snapshot in a newer one: new threads stand at the end, and no other thread moves.
pub(crate) fn kept_order(old: &Snapshot, order: &[ThreadId], new: &Snapshot) -> Vec<ThreadId> {
    let mut left = busiest_first(new);
    let mut out = Vec::with_capacity(left.len());
    for thread in order.iter().filter_map(|&at| old.threads.get(at.0 as usize)) {
        let same = |at: &ThreadId| {
            let new = &new.threads[at.0 as usize];
            (new.tid, &new.name) == (thread.tid, &thread.name)
        };
        if let Some(at) = left.iter().position(same) {
            out.push(left.remove(at));
        }
    }
    out.extend(left);
    out
}

/// Compares names with numbers in them as numbers: `job-2` before `job-10`.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut one, mut other) = (a, b);
    loop {
        let (Some(c), Some(d)) = (one.chars().next(), other.chars().next()) else {
            // The names are equal so far: the shorter one comes first, then leading zeros decide.
            return one.len().cmp(&other.len()).then_with(|| a.cmp(b));
        };
        if c.is_ascii_digit() && d.is_ascii_digit() {
            let (m, after_m) = number(one);
            let (n, after_n) = number(other);
            let order = m.len().cmp(&n.len()).then_with(|| m.cmp(n));
            if order.is_ne() {
                return order;
            }
            (one, other) = (after_m, after_n);
        } else if c == d {
            (one, other) = (&one[c.len_utf8()..], &other[d.len_utf8()..]);
        } else {
            return c.cmp(&d);
        }
    }
}

/// Returns the digits at the beginning, without leading zeros, and the text after them.
fn number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].trim_start_matches('0'), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_numbers() {
        let mut names = ["job-10", "job-2", "job", "b9x", "job-02", "b10a", "a"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["a", "b9x", "b10a", "job", "job-02", "job-2", "job-10"]);
    }

    #[test]
    fn an_open_list_keeps_its_order_and_who_comes_stands_at_its_end() {
        let old = crate::orderbook::snapshot(1_340);
        let order = [ThreadId(3), ThreadId(0), ThreadId(1)];
        let ids: Vec<u32> = kept_order(&old, &order, &old).iter().map(|id| id.0).collect();
        assert_eq!(ids, [3, 0, 1, 2]);
        let mut new = old.clone();
        new.threads.remove(0);
        let ids: Vec<u32> = kept_order(&old, &order, &new).iter().map(|id| id.0).collect();
        assert_eq!(ids, [2, 0, 1], "main, match-1, and ingest that came");
    }
}
