//! Errors of the times that the clock has measured.

use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::Snapshot;

/// Standard error of the cost of timing a call, as a multiple of the upper bound of a function call's cost. Few calls are timed,
/// so the code that times them is not in the nearest cache, unlike during calibration. In fd, for example, timed calls took 100 ns
/// longer than others, where measuring a call costs up to 30 ns.
const TIMING: f64 = 2.0;

/// Upper bound of the standard error of the cost of timing a call, in nanoseconds.
const TIMING_MOST_NS: f64 = 200.0;

/// The standard errors of a row's times by the clock, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ClockErrors {
    pub(crate) of_self: f64,
    /// The random part of the error of the total time.
    pub(crate) of_total: f64,
    /// How much the total time may be too long because timed calls last longer than others. All rows are wrong in the same
    /// direction, so these errors add up.
    pub(crate) timing: f64,
}

/// Returns the errors of the rows that have estimates. In programs built with `cargo tickscope`, they include the error of the
/// cost of timing.
pub(crate) fn errors_by_clock(snapshot: &Snapshot) -> Vec<ClockErrors> {
    let nodes = &snapshot.nodes;
    let mut errors = vec![ClockErrors::default(); nodes.len()];
    let of_call_ns = TIMING * snapshot.scope_cost().high_ns;
    // A damaged file may hold any number.
    let of_call = match snapshot.has_function_cost() && of_call_ns.is_finite() {
        true => of_call_ns.clamp(0.0, TIMING_MOST_NS) * snapshot.clock.ticks_per_second / 1e9,
        false => 0.0,
    };
    let mut timed = nodes.calls.clone();
    for estimate in &snapshot.estimates {
        let timed = &mut timed[estimate.node.index()];
        *timed = estimate.timed.min(*timed);
    }
    let [ticks, timed_below] = [&nodes.self_ticks, &timed].map(|own| nodes.totals(own));
    // How much the self times are too long. Time that callees have too much is missing in their callers.
    let mut of_self = vec![0.0; nodes.len()];
    for row in (0..nodes.len()).filter(|&row| timed[row] > 0) {
        // Each timed call contains the cost of timing the calls inside it as well.
        let of_timed = of_call * timed_below[row] as f64 / timed[row] as f64;
        let timing = ((nodes.calls[row] - timed[row]) as f64 * of_timed).min(ticks[row] as f64);
        errors[row].timing = timing;
        of_self[row] += timing;
        if let Some(caller) = nodes.parent_of(NodeId(row as u32)) {
            of_self[caller.index()] -= timing;
        }
    }
    for estimate in &snapshot.estimates {
        let row = estimate.node.index();
        errors[row].of_self = (estimate.self_error as f64).hypot(of_self[row]);
        errors[row].of_total = estimate.total_error as f64;
    }
    errors
}
