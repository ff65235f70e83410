//! The section of functions that the compiler has instrumented.

use super::section::{Section, refuse};
use crate::snapshot::{OverBudget, Snapshot};

pub(super) const FUNCTIONS: Section = Section {
    id: 22,
    write: |s, out| match &s.functions {
        Some(functions) => out.put(functions),
        None => Ok(()),
    },
    read: |to, body| {
        body.read()
            .map(|functions| to.snapshot.functions = Some(functions))
    },
    check: |s| {
        let is_wrong = |over: &OverBudget| {
            let is_sound = |number: f64| number.is_finite() && number >= 0.0;
            !(is_sound(over.mean_ns) && is_sound(over.cost_share))
        };
        let wrong = s.over_budget().iter().find(|over| is_wrong(over));
        let wrong = wrong.map(|over| format!("{over:?}"));
        refuse("function over the budget", wrong, "numbers of 0 or more")
    },
};

/// Drops functions over the budget whose site does not exist. They are dropped instead of refused, because earlier
/// versions accepted them.
pub(super) fn leave_out_unknown(s: &mut Snapshot) {
    let sites = s.sites.len();
    if let Some(functions) = &mut s.functions {
        functions.over_budget.retain(|over| over.site.index() < sites);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::decode;
    use crate::codec::section::{CONFIG, append};
    use crate::codec::tests::{encoded, refuses};
    use crate::fixture;
    use crate::ids::SiteId;
    use crate::snapshot::FunctionChoice;

    #[test]
    fn functions_stand_where_older_versions_look_for_them() {
        type Older = (
            (u32, u32, u64, u64, u64, u64, bool),
            (f64, f64, f64),
            Vec<(u32, f64, f64, bool)>,
            FunctionChoice,
        );
        let older: Older = (
            (7, 5, 9, 1, 2, 3, true),
            (0.05, 0.01, 31.5),
            vec![(1, 85.5, 0.25, true)],
            FunctionChoice::default(),
        );
        let mut written = Vec::new();
        append(&mut written, FUNCTIONS.id, older, CONFIG).unwrap();
        let read = decode(&[encoded(&fixture::two_threads()), written.clone()].concat()).unwrap();
        let functions = read.functions.as_ref().unwrap();
        assert_eq!((functions.known, functions.on, functions.vanished), (7, 5, 3));
        let over = OverBudget {
            site: SiteId(1),
            mean_ns: 85.5,
            cost_share: 0.25,
            learned: true,
        };
        assert_eq!(read.over_budget(), [over]);
        let again = encoded(&read);
        assert!(again.windows(written.len()).any(|bytes| bytes == written));
    }

    #[test]
    fn what_is_over_the_budget_is_of_a_site_that_exists_and_has_numbers() {
        let mut snapshot = fixture::over_budget();
        let over_budget = &mut snapshot.functions.as_mut().unwrap().over_budget;
        let first = over_budget[0];
        over_budget[1].site = SiteId(99);
        // Functions with unknown sites are dropped instead of refused, because earlier versions did not check sites.
        assert_eq!(decode(&encoded(&snapshot)).unwrap().over_budget(), [first]);
        refuses(
            "function over the budget",
            &fixture::over_budget(),
            &[
                |s| s.functions.as_mut().unwrap().over_budget[1].mean_ns = f64::NAN,
                |s| s.functions.as_mut().unwrap().over_budget[1].cost_share = -1.0,
            ],
        );
    }
}
