//! The section of watched functions.

use bincode::Encode;

use super::section::{Section, refuse, sum};
use crate::ids::NO_PARENT;
use crate::snapshot::{Exemplar, PathSums, Then, Trace, WATCHES_MAX, Watch};

/// The watched functions. Readers accept at most `WATCHES_MAX` of them, and check that the data of each is consistent.
pub(super) const WATCHES: Section = Section {
    id: 23,
    write: |s, out| {
        let with_exemplars = out.is_fine;
        let all = s.watches.iter();
        let watches: Vec<_> = all.map(|watch| written(watch, with_exemplars)).collect();
        out.put_small_if(!watches.is_empty(), watches)
    },
    read: |to, body| body.read_small().map(|watches| to.snapshot.watches = watches),
    check: |s| {
        const WHAT: &str = "watched functions";
        let many = Some(s.watches.len()).filter(|&watches| watches > WATCHES_MAX);
        refuse(WHAT, many, format_args!("at most {WATCHES_MAX}"))?;
        let found = s.watches.iter().find_map(|watch| fault(watch, s.sites.len()));
        refuse(WHAT, found, "consistent paths, causes and calls")
    },
};

/// Returns a watch in the form in which it is encoded. Records of the coarse ring have no exemplars, which are single
/// calls recorded in full.
fn written(watch: &Watch, with_exemplars: bool) -> impl Encode + '_ {
    let exemplars: &[Exemplar] = if with_exemplars { &watch.exemplars } else { &[] };
    (
        &watch.function,
        watch.over,
        watch.number,
        watch.began_unix_ns,
        watch.state,
        watch.threshold_ticks,
        watch.lost,
        &watch.paths,
        &watch.causes,
        exemplars,
    )
}

/// Returns the first inconsistency, if any, of a watch in a snapshot with `sites` sites.
fn fault(watch: &Watch, sites: usize) -> Option<&'static str> {
    let paths = watch.paths.len();
    let has_path = |path: u32| (path as usize) < paths;
    for (index, path) in watch.paths.iter().enumerate() {
        if path.parent != NO_PARENT && path.parent as usize >= index {
            return Some("a path before its parent");
        }
        if path.site.index() >= sites {
            return Some("a site that does not exist");
        }
    }
    let sums = watch.paths.iter().flat_map(|path| [path.typical, path.slow]);
    let columns = [
        |sums: &PathSums| sums.calls,
        |sums: &PathSums| sums.ticks,
        |sums: &PathSums| sums.allocations,
        |sums: &PathSums| sums.allocated_bytes,
    ];
    let fits = |column: &fn(&PathSums) -> u64| sum(sums.clone().map(|sums| column(&sums))).is_some();
    if !columns.iter().all(fits) {
        return Some("a sum beyond 64 bits");
    }
    if sums
        .clone()
        .any(|sums| sums.waiting.saturating_add(sums.ready) > sums.ticks)
    {
        return Some("more time off the CPU than time");
    }
    if !watch.causes.iter().all(|cause| has_path(cause.path)) {
        return Some("a cause in a path that does not exist");
    }
    watch.exemplars.iter().find_map(|exemplar| {
        if exemplar.cause.is_some_and(|(path, _)| !has_path(path)) {
            return Some("a cause in a path that does not exist");
        }
        exemplar
            .trace
            .as_ref()
            .and_then(|trace| fault_of_trace(trace, paths))
    })
}

fn fault_of_trace(trace: &Trace, paths: usize) -> Option<&'static str> {
    let steps = trace.path.len();
    if trace.ticks.len() != steps || trace.then.len() != steps {
        return Some("columns of different lengths");
    }
    if trace.path.iter().any(|&path| path as usize >= paths) {
        return Some("a step in a path that does not exist");
    }
    if trace.then.iter().any(|&code| Then::of(code).is_none()) {
        return Some("a step that ends in an unknown way");
    }
    let has_step = |step: u32| (step as usize) < steps;
    let off = &trace.off_cpu;
    if !off.is_sorted_by(|a, b| a.0 < b.0) || off.last().is_some_and(|last| !has_step(last.0)) {
        return Some("time off the CPU out of order, or of a step that does not exist");
    }
    if off
        .iter()
        .any(|&(step, waiting, ready)| waiting.saturating_add(ready) > trace.ticks[step as usize])
    {
        return Some("more time off the CPU than time");
    }
    let gap = trace.gap.map(|gap| gap.ticks);
    if sum(trace.ticks.iter().copied().chain(gap)).is_none() {
        return Some("a sum beyond 64 bits");
    }
    let notes = &trace.notes;
    if !notes.is_sorted_by_key(|note| note.step)
        || notes.last().is_some_and(|note| note.step as usize > steps)
    {
        return Some("notes out of order, or after the last step");
    }
    if notes.iter().any(|note| note.key as usize >= trace.keys.len()) {
        return Some("a note with a key that does not exist");
    }
    if trace.gap.is_some_and(|gap| gap.step as usize > steps) {
        return Some("a gap after the last step");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::decode;
    use crate::codec::tests::{encoded, refuses};
    use crate::fixture;
    use crate::ids::SiteId;
    use crate::snapshot::{CauseKind, Note, Snapshot, TraceGap};

    fn trace(s: &mut Snapshot) -> &mut Trace {
        s.watches[0].exemplars[0].trace.as_mut().unwrap()
    }

    #[test]
    fn watches_that_do_not_fit_together_are_refused() {
        refuses(
            "watched functions",
            &fixture::slow_frames(),
            &[
                |s| s.watches[0].paths[1].parent = 1,
                |s| s.watches[0].paths[1].site = SiteId(4),
                |s| s.watches[0].paths[2].slow.ticks = u64::MAX,
                |s| s.watches[0].paths[3].slow.ready = s.watches[0].paths[3].slow.ticks,
                |s| s.watches[0].causes[0].path = 4,
                |s| s.watches[0].exemplars[0].cause = Some((4, CauseKind::Ready)),
                |s| trace(s).path[0] = 4,
                |s| trace(s).then[0] = 4,
                |s| trace(s).ticks.push(0),
                |s| trace(s).ticks[0] = u64::MAX,
                |s| trace(s).off_cpu[0].1 = u64::MAX,
                |s| trace(s).off_cpu[0].0 = 5,
                |s| {
                    trace(s).notes.push(Note {
                        step: 1,
                        ..Note::default()
                    });
                },
                |s| {
                    trace(s).gap = Some(TraceGap {
                        step: 6,
                        ..TraceGap::default()
                    });
                },
            ],
        );
        let mut snapshot = fixture::slow_frames();
        snapshot.watches = vec![snapshot.watches[0].clone(); WATCHES_MAX + 1];
        assert!(decode(&encoded(&snapshot)).is_err());
        // A record of the coarse ring has all the data of a watch except its exemplars.
        let mut snapshot = fixture::slow_frames();
        let small = fixture::small_payload(&snapshot);
        snapshot.watches[0].exemplars.clear();
        assert_eq!(decode(&small).unwrap(), snapshot);
    }
}
