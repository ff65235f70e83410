//! Counts the instructions that scopes add, as the difference between two runs of this program under callgrind: one
//! with fewer scopes and one with more.

use tickscope_bench::{callgrind, child};

use crate::cases::Case;
use crate::modes::Mode;

/// Lengths of the two runs under callgrind, after the warm-up: 1/20 and 3/20 of a timed run.
const AMOUNTS: [u64; 2] = [1, 3];
const PARTS: u64 = 20;

/// Length of the warm-up, as a multiple of a timed run: `WARM` to create the nodes, and `LEARNING` if adaptive mode has
/// to learn as well. This is less than the warm-up before timed runs.
const WARM: u64 = 1;
const LEARNING: u64 = 3;

/// Returns the number of instructions that a scope adds to plain code, for each mode.
pub(crate) fn added(case: &Case) -> Result<Vec<f64>, String> {
    let plain = per_scope(case, Mode::Plain)?;
    let mut added = vec![0.0];
    for &mode in &Mode::all()[1..] {
        added.push(per_scope(case, mode)? - plain);
    }
    Ok(added)
}

/// Returns the number of instructions per scope, including the work inside it.
fn per_scope(case: &Case, mode: Mode) -> Result<f64, String> {
    let before = if mode == Mode::Adaptive { LEARNING } else { WARM };
    let [few, many] = AMOUNTS.map(|parts| case.amount * (before * PARTS + parts) / PARTS);
    let total = |amount: u64| {
        let (mode, amount) = (mode.name(), amount.to_string());
        let arguments = [child::FLAG, "instructions", case.name, &mode, &amount];
        callgrind::instructions(&arguments, &[])
    };
    let added = total(many)? as f64 - total(few)? as f64;
    Ok(added / (case.scopes(many) - case.scopes(few)) as f64)
}

/// Runs as the process that callgrind observes.
pub(crate) fn run(case: &str, mode: &str, amount: u64) -> Result<(), String> {
    let (case, mode) = (Case::named(case)?, Mode::named(mode)?);
    callgrind::enter(mode.of_tickscope(), mode.has_histogram());
    case.run(mode, amount);
    Ok(())
}
