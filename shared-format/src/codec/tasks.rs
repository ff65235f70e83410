//! The section of futures in flight.

use super::latencies::check_latencies;
use super::section::{Section, check_sum};
use crate::error::{FormatError, damaged};
use crate::ids::NO_PARENT;
use crate::snapshot::{Snapshot, Tasks};

pub(super) const TASKS: Section = Section {
    id: 21,
    write: |s, out| {
        let is_there = out.is_fine && !s.tasks.is_empty();
        out.put_if(is_there, &s.tasks)
    },
    read: |to, body| body.read().map(|tasks| to.snapshot.tasks = tasks),
    check,
};

/// Checks that each path comes after its parent and names an existing site, that the other counts of a path do not
/// exceed its calls in flight, that the sum of all calls fits into 64 bits, and that the histograms of ages are valid.
fn check(s: &Snapshot) -> Result<(), FormatError> {
    const WHAT: &str = "futures in flight";
    let Tasks { paths, ages, beyond } = &s.tasks;
    for (index, path) in paths.iter().enumerate() {
        let (parent, site, sites) = (path.parent, path.site, s.sites.len());
        let (found, wanted) = if parent != NO_PARENT && parent as usize >= index {
            (format!("parent {parent}"), format!("below {index} or no parent"))
        } else if site.index() >= sites {
            (format!("site {}", site.0), format!("below {sites}"))
        } else if path.innermost > path.in_flight || path.polled > path.in_flight {
            (
                "more calls in a part than in all".into(),
                "at most all calls in flight".into(),
            )
        } else {
            continue;
        };
        return Err(damaged(WHAT, None, format!("{found} in row {index}"), wanted));
    }
    check_sum(WHAT, paths.iter().map(|path| path.in_flight).chain([*beyond]))?;
    check_latencies(ages, paths.len())
}

#[cfg(test)]
mod tests {
    use crate::codec::tests::refuses;
    use crate::fixture::{received, serving};

    #[test]
    fn futures_that_do_not_fit_are_refused() {
        refuses(
            "futures",
            &serving(),
            &[
                |s| s.tasks.paths[0].polled = 21,
                |s| s.tasks.paths[1].innermost = 21,
                |s| s.tasks.paths[1].parent = 1,
            ],
        );
        let mut all_at_once = serving();
        all_at_once.tasks.paths[0].polled = 20;
        assert_eq!(received(&all_at_once), all_at_once);
    }
}
