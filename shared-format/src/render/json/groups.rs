//! The groups of the document: one line each.

use serde::Serialize;

use crate::profile::functions::Functions;
use crate::profile::groups::groups as rows;
use crate::profile::inside::Inside;
use crate::snapshot::Snapshot;

#[derive(Serialize)]
pub(super) struct Group {
    name: String,
    #[serde(flatten)]
    sum: Sum,
    /// Its functions and scopes, by their full names.
    members: Vec<String>,
    threads: Vec<InThread>,
}

/// What its members have together; totals are those of the outermost of them.
#[derive(Serialize)]
struct Sum {
    calls: u64,
    outermost_calls: u64,
    total_ns: u64,
    self_ns: u64,
    total_ticks: u64,
    self_ticks: u64,
    /// How many threads are in it now.
    open: u32,
    estimated: bool,
}

#[derive(Serialize)]
struct InThread {
    thread: u32,
    #[serde(flatten)]
    sum: Sum,
}

// === impl Sum ===

impl From<Inside> for Sum {
    fn from(sum: Inside) -> Self {
        let Inside {
            calls,
            outermost_calls,
            self_ticks,
            total_ticks,
            self_ns,
            total_ns,
            open,
            estimated,
        } = sum;
        Self {
            calls,
            outermost_calls,
            total_ns,
            self_ns,
            total_ticks,
            self_ticks,
            open,
            estimated,
        }
    }
}

/// Those with most time first.
pub(super) fn groups(snapshot: &Snapshot) -> Vec<Group> {
    let functions = Functions::of(snapshot);
    let groups = rows(snapshot, |_| true).into_iter();
    groups
        .map(|row| Group {
            name: row.name,
            sum: row.sum.into(),
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
                    sum: sum.into(),
                })
                .collect(),
        })
        .collect()
}
