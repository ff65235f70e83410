//! Account of the load: what the program itself has counted, to be compared with what tickscope counted.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use crate::checks::Tally;
use crate::process::{CTRL_D, Process};

/// The program's own counts, by name. The first number of each pair is the count.
pub(crate) type Account = BTreeMap<String, [i64; 2]>;

/// The counts that the program itself makes: calls of scopes, counters, values, gauges and futures; attempts to take a
/// lock, which are calls only if the lock is taken; and others, by the names of [`crate::records`].
pub(crate) static DONE: Tally = Tally::new();

pub(crate) const ATTEMPTS: &str = "attempts";
/// Name of the number of calls that tickscope has counted, in rows or as dropped.
pub(crate) const COUNTED: &str = "counted";

/// Ends a program with the load, and returns its account. An attempt to take a lock is a call only if the lock was taken.
///
/// # Errors
/// An error if the program ended in another way, or tickscope counted another number of calls.
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
