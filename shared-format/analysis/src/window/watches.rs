//! Counts of watched functions in a window.

use std::collections::HashMap;

use tickscope_format::snapshot::{CauseSum, PathSums, Snapshot, Watch};

/// Subtracts the earlier counts. A watch that was restarted in the window has no earlier counts.
pub(super) fn take(watches: &mut [Watch], earlier: &Snapshot) {
    for watch in watches {
        let is_same = |then: &&Watch| then.function == watch.function && then.number == watch.number;
        if let Some(then) = earlier.watches.iter().find(is_same) {
            take_one(watch, then, earlier.capture.unix_ns);
        }
    }
}

fn take_one(watch: &mut Watch, then: &Watch, from_unix_ns: u64) {
    for (path, then) in watch.paths.iter_mut().zip(&then.paths) {
        path.typical = less(&path.typical, &then.typical);
        path.slow = less(&path.slow, &then.slow);
    }
    let key = |cause: &CauseSum| (cause.path, cause.kind.as_str());
    let before: HashMap<_, _> = then.causes.iter().map(|cause| (key(cause), cause)).collect();
    for cause in &mut watch.causes {
        if let Some(then) = before.get(&key(cause)) {
            cause.calls = cause.calls.saturating_sub(then.calls);
            cause.excess_ticks = cause.excess_ticks.saturating_sub(then.excess_ticks);
            cause.path_calls = cause.path_calls.saturating_sub(then.path_calls);
        }
    }
    watch.causes.retain(|cause| cause.calls > 0);
    watch
        .exemplars
        .retain(|exemplar| exemplar.began_unix_ns >= from_unix_ns);
    let (lost, before) = (&mut watch.lost, &then.lost);
    lost.discarded = lost.discarded.saturating_sub(before.discarded);
    lost.missed = lost.missed.saturating_sub(before.missed);
    lost.not_kept = lost.not_kept.saturating_sub(before.not_kept);
}

fn less(now: &PathSums, then: &PathSums) -> PathSums {
    let ticks = now.ticks.saturating_sub(then.ticks);
    // Waits and total time are counted separately, so the difference in waits could exceed the difference in time.
    let waiting = now.waiting.saturating_sub(then.waiting).min(ticks);
    PathSums {
        calls: now.calls.saturating_sub(then.calls),
        ticks,
        waiting,
        ready: now.ready.saturating_sub(then.ready).min(ticks - waiting),
        allocations: now.allocations.saturating_sub(then.allocations),
        allocated_bytes: now.allocated_bytes.saturating_sub(then.allocated_bytes),
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::CauseKind;
    use tickscope_testkit::fixture;

    use super::super::between;
    use crate::slow::Slow;

    #[test]
    fn a_window_has_the_calls_since_it_began() {
        let earlier = fixture::slow_frames();
        let mut later = earlier.clone();
        later.capture.unix_ns += 1_000_000_000;
        let watch = &mut later.watches[0];
        for path in &mut watch.paths {
            path.typical.calls += 100;
            path.typical.ticks += 250_000;
        }
        for path in [0, 3] {
            watch.paths[path].slow.calls += 2;
            watch.paths[path].slow.ticks += 5_000_000;
        }
        watch.paths[3].slow.waiting += 4_000_000;
        watch.causes[1].calls += 2;
        watch.causes[1].excess_ticks += 4_000_000;
        watch.exemplars[0].began_unix_ns = earlier.capture.unix_ns + 1;
        watch.exemplars[1].began_unix_ns = earlier.capture.unix_ns - 1;
        let window = between(&later, &earlier);
        let slow = Slow::of(&window.watches[0], &window);
        assert_eq!([slow.typical_calls, slow.slow_calls], [100, 2]);
        let causes = slow.causes.iter();
        let causes: Vec<_> = causes.map(|cause| (cause.kind, cause.slow_calls)).collect();
        assert_eq!(causes, [(CauseKind::Waiting, 2)]);
        assert_eq!(window.watches[0].exemplars.len(), 1);
        assert_eq!(fixture::received(&window), window);

        let mut anew = later.clone();
        anew.watches[0].number += 1;
        let window = between(&anew, &earlier);
        assert_eq!(window.watches, anew.watches, "nothing of it was counted before");
    }
}
