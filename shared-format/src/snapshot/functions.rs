//! Facts about the functions that the compiler has instrumented.

use bincode::{Decode, Encode};

use super::scope_cost::ScopeCost;
use crate::ids::SiteId;

/// The functions of a program that was built with `cargo tickscope`. All counts start when the program starts, and
/// resets do not change them. Every call that has begun has returned, was unwound, or is still open.
// An encoded snapshot contains the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Functions {
    /// Number of instrumented functions, that is, functions with sleds.
    pub known: u32,
    /// Number of functions whose sleds are currently switched on.
    pub on: u32,
    /// Calls that returned.
    pub returned: u64,
    /// Calls that ended by a panic or by `longjmp`, or that ended while their function was switched off.
    pub unwound: u64,
    /// Function entries and ends on a stack other than the thread's own, such as the stack of a coroutine. They are not
    /// counted as calls.
    pub elsewhere: u64,
    /// Calls of async functions and blocks whose end was not observed when it happened, but was inferred later.
    pub vanished: u64,
    /// Whether the system prevents the program from modifying its own code. If so, functions that are off at the start
    /// stay off.
    pub fixed: bool,
    /// Maximum share of the program's CPU time that measuring functions may take, 0 to 1; 0 means no limit.
    pub budget: f64,
    /// Share of the program's CPU time that measuring took when this was last checked, 0 to 1. It is estimated from the
    /// number of calls.
    pub cost_share: f64,
    /// Cost of measuring a call, in nanoseconds; 0 if it is not known yet.
    pub call_ns: f64,
    /// Functions that were switched off to stay within the budget.
    pub over_budget: Vec<OverBudget>,
    /// Which functions are measured from the start of the program.
    pub choice: FunctionChoice,
}

/// A function that was switched off because measuring exceeded the budget and its calls were among the shortest. While
/// it is off, its time is charged to its callers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct OverBudget {
    /// Site of the function.
    pub site: SiteId,
    /// Mean duration of the function's calls in nanoseconds. This includes all nested calls and the cost of measuring
    /// them.
    pub mean_ns: f64,
    /// Share of the program's CPU time that measuring the function took, 0 to 1.
    pub cost_share: f64,
    /// Whether the function was off from the start, because it was over the budget in an earlier run of the same build.
    /// If so, the other numbers are from that run.
    pub learned: bool,
}

/// A call may cost up to this many times as much in a program as in the empty loop in which its cost is measured.
pub const CALL_IN_PROGRAM: f64 = 1.5;

/// Upper bound of a call's cost, as a multiple of its most likely cost.
const CALL_HIGH: f64 = 4.0 / 3.0;

/// Maximum share of the program's CPU time that sleds take while they are off: they make the code larger, and each of
/// them is a jump. This includes the sleds at the ends of functions, which stay on until all calls that were open when
/// their function was switched off have ended.
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

    /// Returns the lower and the upper bound of the CPU time that measuring `calls` calls adds, relative to the CPU
    /// time without measuring. `working_ns` is how long threads worked in total, in nanoseconds, including the cost of
    /// measuring. `sampled` is the same ratio and its standard error according to code samples. It takes precedence,
    /// because samples also find the cost of waits and of async calls. The upper bound includes what the instrumented
    /// build costs while all sleds are off.
    pub(super) fn cost_share(
        cost: ScopeCost,
        calls: f64,
        working_ns: f64,
        sampled: Option<(f64, f64)>,
    ) -> (f64, f64) {
        let more = |call_ns: f64| {
            let cost_ns = calls * call_ns;
            // If measuring took nearly all of the time, the remaining time is not known accurately, so it is assumed to
            // be at least a tenth of the whole.
            cost_ns / (working_ns - cost_ns).max(working_ns / 10.0)
        };
        let (low, high) = match sampled {
            // Samples miss what colder caches cost, so the upper bound is further away from them.
            Some((share, error)) => ((share - error).max(0.0), share + 2.0 * error),
            None => (more(cost.low_ns), more(cost.high_ns)),
        };
        (low, high + SLEDS_OFF)
    }
}

/// Which functions are measured by default, that is, unless a rule says otherwise; see
/// [`Chooser`](crate::function_choice::Chooser).
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct FunctionChoice {
    /// Whether the smallest functions and the standard library are measured as well.
    pub every: bool,
    /// If not empty, only functions that match one of these patterns are measured.
    pub only: Vec<String>,
    /// Functions that match one of these patterns are not measured.
    pub not: Vec<String>,
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use crate::snapshot::{Functions, LineSample, NO_MODULE, Quantity, SampledIn};

    #[test]
    fn the_cost_of_functions_has_calls_publisher_and_build() {
        let mut snapshot = fixture::two_threads();
        let (calls, working_ns) = (
            snapshot.scope_calls() as f64,
            snapshot.nanos(snapshot.working_ticks()) as f64,
        );
        let without = snapshot.cost_share();
        snapshot.functions = Some(Functions::default());
        // The cost of a call is not known yet.
        assert_eq!(snapshot.cost_share(), without);
        // Measuring a call takes a hundredth of the call's time.
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
        // A fifth of the samples is in the collector's code.
        let sample = |inside, samples| LineSample {
            inside,
            module: NO_MODULE,
            address: 0,
            samples,
            cpu_ns: samples * 10,
        };
        let all = [sample(SampledIn::Row(0), 400), sample(SampledIn::Measuring, 100)];
        snapshot.lines.set(all);
        assert_eq!(snapshot.cost_share(), (low, high), "no code was looked up");
        snapshot.measures.push_row(Quantity::Sampled, 0, 1);
        let (low, high) = snapshot.cost_share();
        assert!((low - (0.25 - 0.028 + 0.02)).abs() < 1e-3, "{low}");
        assert!(
            (high - (0.25 + 2.0 * 0.028 + super::SLEDS_OFF + 0.02)).abs() < 1e-3,
            "{high}"
        );
    }
}
