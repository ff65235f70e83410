//! What the load has done by its own account, which the program that watches it compares with the records.

use std::fmt;
use std::str::FromStr;

use crate::tally::Count;

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

/// An account at the end of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) made: u64,
    pub(crate) attempts: u64,
    /// The calls that tickscope has counted, and those that it has dropped.
    pub(crate) counted: u64,
    pub(crate) started: u64,
    pub(crate) ended: u64,
    pub(crate) cancelled: u64,
    pub(crate) values: u64,
    pub(crate) value_sum: u64,
    pub(crate) churned: u64,
}

/// Returns the account of this process, without what tickscope has counted.
pub(crate) fn own() -> Account {
    Account {
        made: MADE.get(),
        attempts: ATTEMPTS.get(),
        counted: 0,
        started: STARTED.get(),
        ended: ENDED.get(),
        cancelled: CANCELLED.get(),
        values: VALUES.get(),
        value_sum: VALUE_SUM.get(),
        churned: CHURNED.get(),
    }
}

impl Account {
    /// Returns whether all calls were counted. An attempt to take a lock may be one.
    pub(crate) fn has_all_calls(&self) -> bool {
        (self.made..=self.made + self.attempts).contains(&self.counted)
    }

    fn numbers(&self) -> [u64; 9] {
        [
            self.made,
            self.attempts,
            self.counted,
            self.started,
            self.ended,
            self.cancelled,
            self.values,
            self.value_sum,
            self.churned,
        ]
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = self.numbers().map(|number| number.to_string());
        f.write_str(&numbers.join(" "))
    }
}

impl FromStr for Account {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Vec<u64> = text.split_whitespace().flat_map(str::parse).collect();
        let [
            made,
            attempts,
            counted,
            started,
            ended,
            cancelled,
            values,
            value_sum,
            churned,
        ] = numbers[..]
        else {
            return Err(format!("said {text:?} at its end"));
        };
        Ok(Self {
            made,
            attempts,
            counted,
            started,
            ended,
            cancelled,
            values,
            value_sum,
            churned,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_read_as_it_was_written() {
        let account = Account {
            made: 10,
            attempts: 2,
            counted: 12,
            started: 4,
            ended: 5,
            cancelled: 6,
            values: 7,
            value_sum: 8,
            churned: 9,
        };
        assert_eq!(account.to_string().parse(), Ok(account));
        assert!("1 2".parse::<Account>().is_err());
        assert!(account.has_all_calls());
        for counted in [9, 13] {
            assert!(!Account { counted, ..account }.has_all_calls());
        }
    }
}
