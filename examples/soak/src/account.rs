//! What the load has done by its own account, which the program that watches it compares with the records.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};

use crate::load::SMALL_BLOCK;
use crate::process::Process;
use crate::soak::{Count, Over};

/// Calls of scopes, counters, values, gauges and futures.
pub(crate) static MADE: Count = Count::new();
/// Attempts to take a lock. Those that find it taken are calls as well.
pub(crate) static ATTEMPTS: Count = Count::new();
/// Calls of futures that were polled for the first time, were ready, and were dropped before.
pub(crate) static STARTED: Count = Count::new();
pub(crate) static ENDED: Count = Count::new();
pub(crate) static CANCELLED: Count = Count::new();
/// Numbers given to a value, and their sum.
pub(crate) static VALUES: Count = Count::new();
pub(crate) static VALUE_SUM: Count = Count::new();
/// Blocks that were allocated and dropped in the scope "churn".
pub(crate) static CHURNED: Count = Count::new();

/// Numbers by their names.
pub(crate) type Numbers = BTreeMap<String, i64>;

/// Those that no record has: attempts to take a lock, and calls that tickscope has counted, or dropped and counted.
pub(crate) const ATTEMPTED: &str = "attempts";
pub(crate) const COUNTED: &str = "counted";

/// Returns the account of this process, in which tickscope has counted so many calls.
pub(crate) fn own(counted: u64) -> Numbers {
    let churned = CHURNED.get();
    let bytes = churned * SMALL_BLOCK as u64;
    numbers(&[
        ("calls", MADE.get()),
        ("started", STARTED.get()),
        ("ended", ENDED.get()),
        ("cancelled", CANCELLED.get()),
        ("in flight", 0),
        ("values", VALUES.get()),
        ("sum of values", VALUE_SUM.get()),
        ("churned", churned),
        ("churned bytes", bytes),
        ("churned and freed", churned),
        ("churned and freed bytes", bytes),
        (ATTEMPTED, ATTEMPTS.get()),
        (COUNTED, counted),
    ])
}

pub(crate) fn numbers(all: &[(&str, u64)]) -> Numbers {
    let all = all
        .iter()
        .map(|&(name, number)| (name.to_owned(), number.cast_signed()));
    all.collect()
}

/// Checks that all calls were counted. An attempt to take a lock may be one.
///
/// # Errors
/// The account.
pub(crate) fn has_all_calls(account: &Numbers) -> anyhow::Result<()> {
    let [made, attempts, counted] = ["calls", ATTEMPTED, COUNTED].map(|name| account[name]);
    let all = made..=made + attempts;
    ensure!(
        all.contains(&counted),
        "other calls were made than counted: {account:?}"
    );
    Ok(())
}

/// Ends a program with the load, and returns its account.
///
/// # Errors
/// How it ended instead, or what it said that is no account.
pub(crate) fn of(program: Process) -> anyhow::Result<Numbers> {
    let said = program.end(&Over::default())?;
    read(&said).with_context(|| format!("the load said {said:?} at its end"))
}

fn read(text: &str) -> Option<Numbers> {
    let numbers: Numbers = serde_json::from_str(text).ok()?;
    // A part of an account would be compared with a part of the records.
    numbers.keys().eq(own(0).keys()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_read_as_it_was_written() {
        let mut account = own(12);
        account.extend([("calls".to_owned(), 10), (ATTEMPTED.to_owned(), 2)]);
        let text = serde_json::to_string(&account).unwrap();
        assert_eq!(read(&text).as_ref(), Some(&account));
        assert_eq!(read(r#"{"calls": 10}"#), None);
        assert_eq!(read(""), None);
        assert!(has_all_calls(&account).is_ok());
        for counted in [9, 13] {
            account.insert(COUNTED.to_owned(), counted);
            assert!(has_all_calls(&account).is_err());
        }
    }
}
