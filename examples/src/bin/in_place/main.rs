//! What a scope costs, found in place: a running program compares short stretches with its scopes timed and only
//! counted, or with the site of one function on and off. Here the answer is held against the same code without
//! scopes, and against the bounds that calibration gives.
//!
//! `in_place [ROUNDS]`
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

mod measure;
mod statistics;
mod workloads;

use measure::{Bounds, Calibrated, Measured, Scopes};
use statistics::Estimate;
use workloads::WORKLOADS;

/// ABBA turns of each comparison, if no other number is given.
const ROUNDS: usize = 60;

fn main() -> Result<(), String> {
    let rounds = match std::env::args().nth(1) {
        None => ROUNDS,
        Some(word) => {
            let rounds = word.parse().ok().filter(|rounds| (1..=10_000).contains(rounds));
            rounds.ok_or(format!("in_place [ROUNDS], from 1 to 10000, not `{word}`"))?
        }
    };
    // The publisher works all the while, as it does in a program.
    let _tickscope = tickscope::start("in_place");
    WORKLOADS.iter().for_each(|workload| (workload.scoped)());
    let calibrated = Calibrated::ask();
    heading(calibrated, rounds);
    let mut rows = Vec::new();
    for workload in WORKLOADS {
        for scopes in [Scopes::Counted, Scopes::Off] {
            rows.push(measure::whole(workload, scopes, calibrated, rounds));
            print(&rows[rows.len() - 1], calibrated.exact);
        }
        for function in workload.functions {
            rows.push(measure::function(workload, function, calibrated, rounds));
            print(&rows[rows.len() - 1], calibrated.exact);
        }
    }
    judge(&rows, calibrated.exact);
    Ok(())
}

fn heading(calibrated: Calibrated, rounds: usize) {
    let show = |(lower, upper): Bounds| format!("{lower:.1} to {upper:.1}");
    println!(
        "calibrated ns/scope: exact {}, counted only {}, off {}",
        show(calibrated.exact),
        show(calibrated.sampled),
        show(calibrated.off)
    );
    println!("ns/scope, medians of {rounds} ABBA turns; [..] = 95 % interval; err = less truth\n");
    println!(
        "{:<11} {:<17} {:>6} {:>7} {:>6} {:<14} {:>8} {:<14} {:>6} {:>9} {:>9}  better",
        "workload",
        "function",
        "calls",
        "plain",
        "truth",
        "",
        "in place",
        "",
        "err",
        "lower err",
        "upper err"
    );
}

fn print(row: &Measured, exact: Bounds) {
    let range = |low: f64, high: f64| format!("[{low:.1} {high:.1}]");
    let (truth, place) = (row.truth, row.in_place);
    println!(
        "{:<11} {:<17} {:>6} {:>7.1} {:>6.1} {:<14} {:>8.1} {:<14} {:>6.1} {:>9.1} {:>9.1}  {}",
        row.workload,
        row.scopes.label(),
        row.calls,
        row.plain,
        truth.median,
        range(truth.low, truth.high),
        place.median,
        range(place.low, place.high),
        place.median - truth.median,
        exact.0 - truth.median,
        exact.1 - truth.median,
        better(row, exact)
    );
}

/// In what the estimate in place beats the bounds.
fn better(row: &Measured, exact: Bounds) -> &'static str {
    match (is_nearer(row, exact), is_narrower(row, exact)) {
        (true, true) => "error, range",
        (true, false) => "error",
        (false, true) => "range",
        (false, false) => "-",
    }
}

/// Whether it is nearer to the truth than the nearer of the bounds.
fn is_nearer(row: &Measured, (lower, upper): Bounds) -> bool {
    let error = |value: f64| (value - row.truth.median).abs();
    error(row.in_place.median) < error(lower).min(error(upper))
}

/// Whether its interval is narrower than the bounds and true.
fn is_narrower(row: &Measured, (lower, upper): Bounds) -> bool {
    row.in_place.meets(row.truth) && row.in_place.high - row.in_place.low < upper - lower
}

fn judge(rows: &[Measured], exact: Bounds) {
    let middle = (exact.0 + exact.1) / 2.0;
    let of_function = |scopes| matches!(scopes, Scopes::Function(_));
    let groups: [(&str, &dyn Fn(Scopes) -> bool); 3] = [
        ("all scopes against counted only", &|scopes| {
            scopes == Scopes::Counted
        }),
        ("all scopes against off", &|scopes| scopes == Scopes::Off),
        ("one function against its site off", &of_function),
    ];
    for (what, belongs) in groups {
        let rows = || rows.iter().filter(|row| belongs(row.scopes));
        let count = |holds: &dyn Fn(&Measured) -> bool| rows().filter(|row| holds(row)).count();
        println!(
            "\n{what}, {} rows: nearer to the truth than the nearer bound in {}, than the middle of the bounds in {}; \
             interval true in {}, and narrower than the bounds in {}; bounds true in {}",
            rows().count(),
            count(&|row| is_nearer(row, exact)),
            count(&|row| is_nearer(row, (middle, middle))),
            count(&|row| row.in_place.meets(row.truth)),
            count(&|row| is_narrower(row, exact)),
            count(&|row| row.truth.high >= exact.0 && row.truth.low <= exact.1),
        );
        let error = |value: &dyn Fn(&Measured) -> f64| {
            Estimate::of(rows().map(|row| (value(row) - row.truth.median).abs()).collect()).median
        };
        println!(
            "median error, ns: in place {:.1}, lower bound {:.1}, middle {:.1}, upper bound {:.1}",
            error(&|row| row.in_place.median),
            error(&|_| exact.0),
            error(&|_| middle),
            error(&|_| exact.1),
        );
    }
}
