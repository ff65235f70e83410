//! Facts of the functions that the compiler has prepared.

use bincode::{Decode, Encode};

use super::scope_cost::ScopeCost;
use crate::ids::SiteId;

/// The functions of a program that `cargo tickscope` has built. The counts begin at the program's start, and
/// resets do not change them. Each call that began has returned, was unwound or is still open.
// The section of functions has the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Functions {
    /// Number of functions that have sleds.
    pub known: u32,
    /// Number of functions whose sleds are switched on.
    pub on: u32,
    /// Calls that returned.
    pub returned: u64,
    /// Calls that ended by a panic, by `longjmp`, or while their function was switched off.
    pub unwound: u64,
    /// Entries and ends of functions on stacks other than their thread's own, such as coroutines. They are not counted
    /// as calls.
    pub elsewhere: u64,
    /// Calls of async functions and blocks whose end was not seen when it happened, and was found out later.
    pub vanished: u64,
    /// Whether the system prevents the program from changing its code, so that functions that were off at the start
    /// stay off.
    pub fixed: bool,
    /// Share of the program's CPU time that measuring functions may take, 0 to 1; 0 for no limit.
    pub budget: f64,
    /// Share of the program's CPU time that measuring took at the last check, 0 to 1, estimated from calls.
    pub cost_share: f64,
    /// Cost of measuring a call, in nanoseconds; 0 if it is not known yet.
    pub call_ns: f64,
    /// Functions that are off because of the budget.
    pub over_budget: Vec<OverBudget>,
    /// Choice of the functions that are measured from the start of the program.
    pub choice: FunctionChoice,
}

/// A function that is off, because its calls were among the shortest when measuring exceeded the budget. Its
/// time is charged to its callers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct OverBudget {
    /// Site of the function.
    pub site: SiteId,
    /// Mean duration of its calls in nanoseconds, including all calls inside and the cost of measuring them.
    pub mean_ns: f64,
    /// Share of the program's CPU time that measuring it took, 0 to 1.
    pub cost_share: f64,
    /// Whether the function was off from the start, because it was over the budget in an earlier run of the
    /// same build. The numbers are then from that run.
    pub learned: bool,
}

/// A call costs up to this factor more in a program than in the empty loop that measures its cost.
pub const CALL_IN_PROGRAM: f64 = 1.5;

/// Upper bound of a call's cost, as a multiple of the most likely cost.
const CALL_HIGH: f64 = 4.0 / 3.0;

/// Upper bound of the share of the program's CPU time that disabled sleds cost: the code is larger, and each sled is a jump. This
/// includes sleds at ends, which stay on until all calls that were open at the switch have ended.
const SLEDS_OFF: f64 = 0.05;

impl Functions {
    /// Returns the cost of measuring a call; `None` if it is not known yet.
    pub(super) fn call_cost(&self) -> Option<ScopeCost> {
        (self.call_ns > 0.0 && self.call_ns.is_finite()).then_some(ScopeCost {
            low_ns: self.call_ns / CALL_IN_PROGRAM,
            middle_ns: self.call_ns,
            high_ns: self.call_ns * CALL_HIGH,
        })
    }

    /// Returns the bounds of the CPU time that `calls` calls add, as a share of the time without them.
    /// Threads worked for `working_ns` nanoseconds. The upper bound includes the cost of the build with all
    /// sleds off.
    pub(super) fn cost_share(cost: ScopeCost, calls: f64, working_ns: f64) -> (f64, f64) {
        let more = |call_ns: f64| {
            let cost_ns = calls * call_ns;
            // If the cost is nearly all of the time, the remainder is not known well.
            cost_ns / (working_ns - cost_ns).max(working_ns / 10.0)
        };
        (more(cost.low_ns), more(cost.high_ns) + SLEDS_OFF)
    }
}

/// Choice of the functions that are measured if no rule applies; see
/// [`Chooser`](crate::function_choice::Chooser).
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct FunctionChoice {
    /// Whether the smallest functions and the standard library are measured as well.
    pub every: bool,
    /// Patterns of the functions that are measured; empty if no pattern limits them.
    pub only: Vec<String>,
    /// Patterns of functions that are not measured.
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
        // What a call costs is not known yet.
        assert_eq!(snapshot.cost_share(), without);
        // Measuring a call costs a hundredth of the call's time.
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
