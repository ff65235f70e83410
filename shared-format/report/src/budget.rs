//! Describes functions that are off because of the budget.

use std::collections::BTreeMap;

use tickscope_format::snapshot::Snapshot;

use crate::number::percent;

/// Returns how many functions are off because of the budget, and how the user can have them counted anyway. Returns `None` if
/// there are none.
pub(crate) fn off_for_the_budget(snapshot: &Snapshot) -> Option<String> {
    let functions = snapshot.functions.as_ref()?;
    let off = &functions.over_budget;
    let mut by_crate: BTreeMap<&str, f64> = BTreeMap::new();
    for over in off {
        let module = &snapshot.sites[over.site.index()].module;
        let name = module.split("::").next().unwrap_or_default();
        *by_crate.entry(name).or_default() += over.cost_share;
    }
    let (most, _) = by_crate.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let learned = match off.iter().filter(|over| over.learned).count() {
        0 => String::new(),
        learned => format!("{learned} of them learned by an earlier run; "),
    };
    Some(format!(
        "{} off for the budget of {} ({learned}`tickscope on '{most}::*'`, --only or --budget off counts them)",
        off.len(),
        percent(functions.budget)
    ))
}
