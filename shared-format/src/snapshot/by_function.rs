//! Measurements of a single function in a snapshot, for assertions in tests.

use std::time::Duration;

use super::Snapshot;
#[cfg(feature = "by-function")]
use super::saturating_sum;
#[cfg(feature = "by-function")]
use crate::pattern::Pattern;

/// Measurements of all functions that have a given name; see [`Snapshot::function`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionNumbers {
    /// Number of sites with that name in the snapshot; 0 if no such scope has been entered yet, or if the name is
    /// misspelt.
    pub sites: usize,
    /// Calls since the reset, including recursive calls. This is exact in every mode but `off`.
    pub calls: u64,
    /// Time spent in the functions themselves, without their callees. Depending on the mode, this may be an estimate.
    pub self_time: Duration,
    /// Time spent in the functions and their callees. The time of recursive calls is counted only once.
    pub total_time: Duration,
}

/// The name of a function. If tickscope's feature `report` is enabled, strings implement this trait; otherwise, no type
/// does.
#[diagnostic::on_unimplemented(
    message = "`Snapshot::function` needs the feature `report` of tickscope",
    label = "this call needs `report`",
    note = "in Cargo.toml: tickscope = {{ .., features = [\"report\"] }}"
)]
pub trait FunctionName {
    /// Returns the name.
    fn as_name(&self) -> &str;
}

#[cfg(feature = "by-function")]
impl FunctionName for &str {
    fn as_name(&self) -> &str {
        self
    }
}

#[cfg(feature = "by-function")]
impl FunctionName for &String {
    fn as_name(&self) -> &str {
        self
    }
}

impl Snapshot {
    /// Returns the measurements of all functions and scopes with this name, summed up over all threads. The name may be
    /// `parse`, `book::insert` or a pattern (`book::*`).
    ///
    /// If no such function was ever entered, everything is 0, including `sites`. If such a function was entered, but
    /// not since the reset, `sites` is not 0. An empty name, a name of more than 96 bytes and a name with control
    /// characters match no function.
    ///
    /// # Examples
    /// ```
    /// # #[cfg(feature = "by-function")] {
    /// use tickscope_format::Snapshot;
    ///
    /// let nothing = Snapshot::default().function("parse");
    /// assert_eq!((nothing.sites, nothing.calls), (0, 0));
    /// # }
    /// ```
    pub fn function<N: FunctionName>(&self, name: N) -> FunctionNumbers {
        numbers(self, name.as_name())
    }
}

#[cfg(feature = "by-function")]
fn numbers(snapshot: &Snapshot, name: &str) -> FunctionNumbers {
    let Ok(pattern) = Pattern::new(name) else {
        return FunctionNumbers::default();
    };
    let is_meant: Vec<bool> = snapshot.sites.iter().map(|site| pattern.matches(site)).collect();
    let nodes = &snapshot.nodes;
    let self_ns = snapshot.self_nanos();
    let total_ns = nodes.totals(&self_ns);
    // Finds the rows inside a call of these functions. A single pass is enough, because parents come before their
    // children.
    let mut is_inside = vec![false; nodes.len()];
    let (mut calls, mut own, mut total) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..nodes.len() {
        let parent = nodes.parent.get(row);
        let above = parent.and_then(|&parent| is_inside.get(parent as usize).copied());
        let is_below = above.unwrap_or(false);
        let is_it = is_meant.get(nodes.site[row] as usize).copied().unwrap_or(false);
        is_inside[row] = is_it || is_below;
        if is_it {
            calls.push(nodes.calls[row]);
            own.push(self_ns[row]);
            if !is_below {
                total.push(total_ns[row]);
            }
        }
    }
    FunctionNumbers {
        sites: is_meant.iter().filter(|is| **is).count(),
        calls: saturating_sum(calls),
        self_time: Duration::from_nanos(saturating_sum(own)),
        total_time: Duration::from_nanos(saturating_sum(total)),
    }
}

/// Never called, because no type implements `FunctionName` without the feature.
#[cfg(not(feature = "by-function"))]
fn numbers(_: &Snapshot, _: &str) -> FunctionNumbers {
    FunctionNumbers::default()
}

#[cfg(all(test, feature = "by-function"))]
mod tests {
    use crate::fixture;

    #[test]
    fn recursion_counts_once_in_totals() {
        let snapshot = fixture::recursion();
        let fib = snapshot.function("fib");
        let ns = |ticks: u64| u128::from(snapshot.nanos(ticks));
        assert_eq!((fib.sites, fib.calls), (1, 7));
        assert_eq!(fib.self_time.as_nanos(), ns(600));
        assert_eq!(fib.total_time, fib.self_time);
        let all = snapshot.function("*");
        assert_eq!(all.calls, snapshot.calls());
        assert_eq!(all.total_time, all.self_time);
    }

    #[test]
    fn what_is_not_there_has_nothing() {
        let snapshot = fixture::two_threads();
        let insert = snapshot.function(&"book::insert".to_string());
        assert_eq!((insert.sites, insert.calls), (1, 800));
        assert!(insert.total_time > insert.self_time);
        for name in ["", "nowhere", "a\nb"] {
            assert_eq!(snapshot.function(name), Default::default(), "{name}");
        }
    }
}
