//! The groups in the JSON document.

use serde::Serialize;
use tickscope_analysis::functions::Functions;
use tickscope_analysis::groups::groups as rows;
use tickscope_analysis::inclusive_time::InclusiveTime;
use tickscope_analysis::per_call::PerCall;
use tickscope_format::snapshot::Snapshot;

use crate::quotient::Quotient;

#[derive(Serialize)]
pub(super) struct Group {
    name: String,
    #[serde(flatten)]
    sum: Sum,
    /// Full names of the functions and scopes in the group.
    members: Vec<String>,
    threads: Vec<InThread>,
}

/// Sums over the members. Totals include only outermost calls, so that nothing is counted twice.
#[derive(Serialize)]
struct Sum {
    calls: Quotient,
    outermost_calls: Quotient,
    total_ns: Quotient,
    self_ns: Quotient,
    total_ticks: Quotient,
    self_ticks: Quotient,
    /// Number of threads that are inside a call of the group now.
    open: u32,
    estimated: bool,
}

#[derive(Serialize)]
struct InThread {
    thread: u32,
    #[serde(flatten)]
    sum: Sum,
}

impl Sum {
    fn of(sum: InclusiveTime, per: Option<&PerCall>) -> Self {
        let part = |whole| Quotient::of(whole, per);
        Self {
            calls: part(sum.calls),
            outermost_calls: part(sum.outermost_calls),
            total_ns: part(sum.total_ns),
            self_ns: part(sum.self_ns),
            total_ticks: part(sum.total_ticks),
            self_ticks: part(sum.self_ticks),
            open: sum.open,
            estimated: sum.estimated,
        }
    }
}

/// Returns the groups, longest total time first.
pub(super) fn groups(snapshot: &Snapshot, per: Option<&PerCall>) -> Vec<Group> {
    let functions = Functions::of(snapshot);
    let groups = rows(snapshot, |_| true).into_iter();
    groups
        .map(|row| Group {
            name: row.name,
            sum: Sum::of(row.sum, per),
            members: row
                .members
                .iter()
                .map(|&id| functions.get(id).full_name())
                .collect(),
            threads: row
                .threads
                .into_iter()
                .map(|(thread, sum)| InThread {
                    thread: thread.0,
                    sum: Sum::of(sum, per),
                })
                .collect(),
        })
        .collect()
}
