//! What measuring costs a program, and whether its reports claim as much.

use std::fs;

use tickscope_bench::statistics::{Middle, median, sorted};

use crate::Outcome;

/// Returns a row of a Markdown table: the CPU time of the plain program in seconds, the ratio of the measured program's to
/// it with its 95 % interval, and the median of the costs that the reports claim, in percent of the plain program's. The
/// file `times` has a line for each round, with the seconds of the plain program and of the measured one.
pub(crate) fn cost(name: &str, times: &str, reports: &[String]) -> Outcome<String> {
    let mut rounds = Vec::new();
    for line in fs::read_to_string(times)?.lines() {
        let (plain, measured) = line
            .split_once(' ')
            .ok_or_else(|| format!("no two times: {line}"))?;
        rounds.push((plain.parse::<f64>()?, measured.parse::<f64>()?));
    }
    let mut claims = [Vec::new(), Vec::new()];
    for path in reports {
        let report: serde_json::Value = serde_json::from_slice(&fs::read(path)?)?;
        for (of, field) in claims.iter_mut().zip(["share_lower", "share_upper"]) {
            let share = &report["cost"][field];
            of.push(100.0 * share.as_f64().ok_or_else(|| format!("{path}: no cost.{field}"))?);
        }
    }
    if rounds.is_empty() {
        return Err(format!("{times}: no rounds").into());
    }
    let plain = Middle::of(rounds.iter().map(|(plain, _)| *plain));
    let ratio = Middle::of(rounds.iter().map(|(plain, measured)| measured / plain));
    let [low, high] = claims.map(|claims| median(&sorted(claims)));
    Ok(format!(
        "| {name} | {:.2} | {ratio:.3} | {low:.1} to {high:.1} |",
        plain.middle
    ))
}
