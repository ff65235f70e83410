//! What is known of the functions that the compiler has prepared.

use bincode::{Decode, Encode};

use super::scope_cost::ScopeCost;
use crate::ids::SiteId;

/// The functions of a program that `cargo tickscope` has built. Calls are those since the program's start; resets do not
/// change them. Each call that began has returned, was unwound or is still open.
// The section of functions has the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Functions {
    /// How many have sleds.
    pub known: u32,
    /// How many of them are switched on.
    pub on: u32,
    /// Calls that returned.
    pub returned: u64,
    /// Calls that ended otherwise: by a panic, by `longjmp`, or while their function was switched off.
    pub unwound: u64,
    /// Beginnings and ends on other stacks than their thread's own, as those of coroutines. They are not counted.
    pub elsewhere: u64,
    /// Calls of async functions and blocks whose end was not seen: it was noticed later that they were over.
    pub vanished: u64,
    /// Whether the system does not let the program change its code: then functions that were off at the start stay off.
    pub fixed: bool,
    /// How much of the program's CPU time measuring functions may take, from 0 to 1; 0 if there is no such limit.
    pub budget: f64,
    /// How much it took when it was last looked at, from 0 to 1; it is estimated from calls.
    pub cost_share: f64,
    /// What measuring a call costs, in nanoseconds; 0 if it is not known yet.
    pub call_ns: f64,
    /// Those that are off because of the budget.
    pub over_budget: Vec<OverBudget>,
    /// Which ones were to count when the program began.
    pub choice: FunctionChoice,
}

/// A function that is off: its calls were among the shortest when measuring functions took more than the budget. Its time became
/// that of its callers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct OverBudget {
    /// Its site.
    pub site: SiteId,
    /// How long its calls took on average, with all calls inside and what measuring them took, in nanoseconds.
    pub mean_ns: f64,
    /// How much of the program's CPU time measuring it took, from 0 to 1.
    pub cost_share: f64,
    /// Whether it was off from the program's start, because an earlier run of the same build had found that; the numbers are then
    /// of that run.
    pub learned: bool,
}

/// In the loop in which the cost of a call is measured it is so many times less than in a program, as far as that is known.
pub const CALL_IN_PROGRAM: f64 = 1.5;

/// In a program it may be this much more.
const CALL_HIGH: f64 = 4.0 / 3.0;

/// Code with sleds that are off takes at most so much of the program's CPU time: it is larger, and sleds are skipped. The ends of a
/// function that was switched off while it was open are in this as well: they stay on until its last call has ended.
const SLEDS_OFF: f64 = 0.05;

impl Functions {
    /// Returns what measuring a call costs; `None` if it is not known yet.
    pub(super) fn call_cost(&self) -> Option<ScopeCost> {
        (self.call_ns > 0.0 && self.call_ns.is_finite()).then_some(ScopeCost {
            low_ns: self.call_ns / CALL_IN_PROGRAM,
            middle_ns: self.call_ns,
            high_ns: self.call_ns * CALL_HIGH,
        })
    }

    /// Returns the lower and the upper bound of how much more CPU time a program takes by so many calls, of what it would take without,
    /// where its threads worked for `working_ns` nanoseconds. The upper bound has what the build of the program costs where nothing counts.
    pub(super) fn cost_share(cost: ScopeCost, calls: f64, working_ns: f64) -> (f64, f64) {
        let more = |call_ns: f64| {
            let cost_ns = calls * call_ns;
            // Where it is nearly all, the rest is not known well.
            cost_ns / (working_ns - cost_ns).max(working_ns / 10.0)
        };
        (more(cost.low_ns), more(cost.high_ns) + SLEDS_OFF)
    }
}

/// Which functions are to count where no rule says anything; see [`Chooser`](crate::function_choice::Chooser).
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct FunctionChoice {
    /// Also the smallest and the standard library's.
    pub every: bool,
    /// Only what one of these patterns matches, if there are any.
    pub only: Vec<String>,
    /// Nothing that one of these patterns matches.
    pub not: Vec<String>,
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use crate::snapshot::Functions;

    #[test]
    fn the_cost_of_functions_has_calls_publisher_and_build() {
        let mut snapshot = fixture::two_threads();
        let (calls, working_ns) = (
            snapshot.scope_calls() as f64,
            snapshot.nanos(snapshot.working_ticks()) as f64,
        );
        let without = snapshot.cost_share();
        snapshot.functions = Some(Functions::default());
        assert_eq!(
            snapshot.cost_share(),
            without,
            "what a call costs is not known yet"
        );
        // A call is a hundredth of all.
        let call_ns = working_ns / calls / 100.0;
        snapshot.functions = Some(Functions {
            call_ns,
            ..Functions::default()
        });
        snapshot
            .threads
            .iter_mut()
            .for_each(|thread| thread.cpu_ns = None);
        (snapshot.capture.since_reset_ns, snapshot.process.uptime_ns) = (1_000, 2_000);
        snapshot.capture.cost.publisher_cpu_ns = (working_ns * 0.04) as u64;
        let (low, high) = snapshot.cost_share();
        let wanted = (
            0.02 / 3.0 / (1.0 - 0.02 / 3.0) + 0.02,
            0.04 / 3.0 / (1.0 - 0.04 / 3.0) + super::SLEDS_OFF + 0.02,
        );
        assert!(
            (low - wanted.0).abs() < 1e-3 && (high - wanted.1).abs() < 1e-3,
            "{low} {high}, {wanted:?}"
        );
        assert!((snapshot.doubtful_below_ns() - 4.0 * call_ns).abs() < 1e-9 * call_ns);
    }
}
