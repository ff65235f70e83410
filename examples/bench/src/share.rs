//! Compares the shares of self time that modes show with those of a plain program, which perf looks at.

use std::path::Path;
use std::time::{Duration, Instant};

use tickscope::Mode;
use tickscope_analysis::overhead_correction::compensated;
use tickscope_format::Snapshot;

use crate::shown::Shown;
use crate::truth::{Function, NoTruth, Truth, record};

/// How much of its time a mode runs before it is measured: adaptive mode learns.
const LEARNING: f64 = 0.15;

/// A program whose shares are compared.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Its functions with scopes.
    pub functions: &'static [Function],
    /// Runs a unit of it with scopes.
    pub scoped: fn(),
}

/// The shares of a case in a mode.
#[derive(Clone, Debug)]
pub struct Shares {
    /// The mode.
    pub mode: &'static str,
    /// What is shown.
    pub shown: Shown,
}

/// Runs a unit again and again for so long.
pub fn run_for(time: Duration, unit: fn()) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        unit();
    }
}

/// Runs a case in each mode for so long, and returns what each shows; of exact mode also with the cost of measuring taken off.
/// A session must run: samples need it.
pub fn shares(case: &Case, time: Duration) -> Vec<Shares> {
    let mut all = Vec::new();
    for mode in [Mode::Exact, Mode::Adaptive, Mode::Sampled] {
        let snapshot = measured(case, mode, time);
        let shown = |snapshot: &Snapshot| Shown::of_work(snapshot);
        all.push(Shares {
            mode: snapshot.capture.mode.as_str(),
            shown: shown(&snapshot),
        });
        if mode == Mode::Exact {
            all.push(Shares {
                mode: "compensated",
                shown: shown(&compensated(&snapshot)),
            });
        }
    }
    all
}

/// Returns a snapshot of a mode that has learned what it learns.
fn measured(case: &Case, mode: Mode, time: Duration) -> Snapshot {
    tickscope::set_mode(mode);
    let learning = time.mul_f64(LEARNING).max(Duration::from_millis(50));
    run_for(learning, case.scoped);
    tickscope::reset();
    run_for(time, case.scoped);
    tickscope::reset()
}

/// Compares a case with its plain program, and prints an object for each function and mode. `plain` is the command that runs
/// the plain program for so many seconds, which are added to it. Returns whether there is a truth: where perf is missing or may
/// not look, one line on stderr says so.
///
/// The plain program is recorded before and after the modes, as machines change.
///
/// # Errors
/// The plain program fails.
#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the text of programs that speak to their user"
)]
pub fn compare(case: &Case, plain: (&Path, &[&str]), time: Duration) -> Result<bool, String> {
    let seconds = time.as_secs_f64().to_string();
    let (program, words) = plain;
    let words: Vec<&str> = words.iter().copied().chain([&*seconds]).collect();
    let look = || match record(program, &words, case.functions) {
        Ok(truth) => Ok(Some(truth)),
        Err(NoTruth::NoPerf(why)) => {
            eprintln!("{}: shares are not compared, as {why}", case.name);
            Ok(None)
        }
        Err(NoTruth::Failed(why)) => Err(why),
    };
    let Some(before) = look()? else {
        return Ok(false);
    };
    let shares = shares(case, time);
    let Some(after) = look()? else {
        return Ok(false);
    };
    let mut truth = before.clone();
    truth.add(&after);
    for shares in &shares {
        print(case, shares, &truth);
    }
    println!(
        r#"{{"kind":"truth","case":"{}","looks":{},"elsewhere":{},"largest_change":{:.4}}}"#,
        case.name,
        truth.all(),
        truth.elsewhere,
        largest(case, |name| before.share(name) - after.share(name)),
    );
    Ok(true)
}

/// Prints an object for each function, and one for the mode.
#[expect(
    clippy::print_stdout,
    reason = "the text of programs that speak to their user"
)]
fn print(case: &Case, shares: &Shares, truth: &Truth) {
    let mode = shares.mode;
    for Function { name, .. } in case.functions {
        let (shown, error) = shares.shown.share(name);
        println!(
            r#"{{"kind":"share","case":"{}","mode":"{mode}","function":"{name}","truth":{:.4},"truth_error":{:.4},"shown":{shown:.4},"error":{error:.4}}}"#,
            case.name,
            truth.share(name),
            truth.error(name),
        );
    }
    println!(
        r#"{{"kind":"share-summary","case":"{}","mode":"{mode}","largest_difference":{:.4}}}"#,
        case.name,
        largest(case, |name| shares.shown.share(name).0 - truth.share(name)),
    );
}

/// Returns the largest absolute value of the functions.
fn largest(case: &Case, of: impl Fn(&str) -> f64) -> f64 {
    let values = case.functions.iter().map(|function| of(function.name).abs());
    values.fold(0.0, f64::max)
}
