//! The load's own account: everything that the program has counted itself, for comparison with tickscope's counts.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use crate::checks::Tally;
use crate::process::{CTRL_D, Process};

/// The program's own counts, by name. Only the first number of each pair is used.
pub(crate) type Account = BTreeMap<String, [i64; 2]>;

/// What the program counts itself: calls of scopes, counters, values, gauges and futures; attempts to take a lock, which
/// tickscope counts as calls only if the lock was already held; and others, under the names used in [`crate::records`].
pub(crate) static DONE: Tally = Tally::new();

pub(crate) const ATTEMPTS: &str = "attempts";
/// Name for the number of calls that tickscope counted, including dropped ones.
pub(crate) const COUNTED: &str = "counted";

/// Ends a program with the load, and returns its account. An attempt to take a lock may or may not be a call, depending
/// on whether the lock was already held.
///
/// # Errors
/// An error if the program fails or does not end, or if tickscope counted a different number of calls.
pub(crate) fn account_of(program: Process) -> Result<Account> {
    let said = program.end(CTRL_D)?;
    let account: Account = serde_json::from_str(&said).with_context(|| format!("the load says {said:?}"))?;
    let number = |name| account.get(name).map_or(0, |[done, _]| *done);
    let calls = number("calls")..=number("calls") + number(ATTEMPTS);
    ensure!(
        calls.contains(&number(COUNTED)),
        "other calls were made than counted: {account:?}"
    );
    Ok(account)
}

pub(crate) fn made(calls: u64) {
    DONE.did("calls", calls);
}
