//! Compares the shares of self time that each mode shows with the true shares, which perf records while the program
//! runs without scopes. perf also records the program with scopes. If the two recordings differ, scopes have changed
//! how the program runs. Any further difference is tickscope's error.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Duration;

use tickscope::Mode;
use tickscope_format::Snapshot;
use tickscope_format::snapshot_file;

use crate::shown::Shown;
use crate::timing::run_for;
use crate::truth::{Function, NoTruth, Truth, record, say_where_loaded};

/// Before a mode is measured, it runs for this fraction of the measurement's length, so that adaptive mode can learn.
const LEARNING: f64 = 0.15;

/// A program whose shares are compared.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Name of the program.
    pub name: &'static str,
    /// Functions with scopes.
    pub functions: &'a [Function],
}

/// A program for perf to record: its file and its arguments, to which [`compare`] adds some of its own.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// File of the program.
    pub file: &'a Path,
    /// Command-line arguments.
    pub words: &'a [&'a str],
}

/// The shares of a case in a mode.
#[derive(Clone, Debug)]
struct Shares {
    /// Name of the mode.
    name: &'static str,
    shown: Shown,
    /// perf's samples of the program with scopes in this mode.
    seen: Truth,
}

/// Modes that are compared, by their names.
const MODES: [(&str, Mode); 3] = [
    ("exact", Mode::Exact),
    ("adaptive", Mode::Adaptive),
    ("sampled", Mode::Sampled),
];

/// Runs `unit` repeatedly for this many seconds, in the process that perf records or whose own numbers are compared. If a mode
/// is given, starts a session in that mode, and first runs `unit` for a while without measuring, so that the mode can learn.
///
/// # Errors
/// An error if there is no such mode, `seconds` is not a number, or the program cannot find its own load address.
pub fn be_recorded(unit: impl Fn(), mode: Option<&str>, seconds: &str) -> Result<(), String> {
    let seconds = f64::from_str(seconds).map_err(|error| format!("{seconds}: {error}"))?;
    let session = mode.map(|_| tickscope::start("recorded"));
    if let Some(name) = mode {
        let mode = MODES.iter().find(|mode| mode.0 == name);
        tickscope::set_mode(mode.ok_or_else(|| format!("{name}: no such mode"))?.1);
    }
    say_where_loaded()?;
    if session.is_some() {
        run_for(Duration::from_secs_f64(seconds * LEARNING), &unit);
        tickscope::reset();
    }
    run_for(Duration::from_secs_f64(seconds), unit);
    drop(session);
    Ok(())
}

/// Runs the program in a separate process, so that earlier allocations do not affect the result. Returns the snapshot
/// that it saves at its end.
fn measured(program: Program<'_>, mode: &str, seconds: &str) -> Result<Snapshot, String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let kept = directory.path().join("kept.tks");
    let done = Command::new(program.file)
        .args(program.words)
        .args([mode, seconds])
        .env("TICKSCOPE_REPORT", &kept)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", program.file.display()))?;
    let said = String::from_utf8_lossy(&done.stderr);
    snapshot_file::read(&kept).map_err(|error| format!("{error}; {said}"))
}

/// Compares a case with and without scopes, and prints a JSON object for each function and mode. The program `plain` gets the
/// number of seconds as an additional argument, and `scoped` gets the name of a mode and the number of seconds; both must call
/// [`be_recorded`]. Returns whether perf was able to record. If perf is missing or not permitted, a line on stderr says so.
///
/// The plain program is recorded both before and after the modes, because the machine's speed drifts.
///
/// # Errors
/// An error if a program fails.
#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the text of programs that speak to their user"
)]
pub fn compare(
    case: &Case<'_>,
    plain: Program<'_>,
    scoped: Program<'_>,
    time: Duration,
) -> Result<bool, String> {
    let compared = compared(case, plain, scoped, time);
    let (shares, before, after) = match compared {
        Ok(compared) => compared,
        Err(NoTruth::NoPerf(why)) => {
            eprintln!("{}: shares are not compared, as {why}", case.name);
            return Ok(false);
        }
        Err(NoTruth::Failed(why)) => return Err(why),
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

/// Returns the shares for each mode, and perf's samples of the plain program from before and after the modes.
fn compared(
    case: &Case<'_>,
    plain: Program<'_>,
    scoped: Program<'_>,
    time: Duration,
) -> Result<(Vec<Shares>, Truth, Truth), NoTruth> {
    let seconds = time.as_secs_f64().to_string();
    let look = |program: Program<'_>, more: &[&str]| {
        let words: Vec<&OsStr> = program.words.iter().chain(more).map(OsStr::new).collect();
        record(program.file, &words, case.functions)
    };
    let before = look(plain, &[&seconds])?;
    let mut all = Vec::new();
    for (name, _) in MODES {
        let snapshot = measured(scoped, name, &seconds).map_err(NoTruth::Failed)?;
        let seen = look(scoped, &[name, &seconds])?;
        all.push(Shares {
            name,
            shown: Shown::of_work(&snapshot),
            seen,
        });
    }
    let after = look(plain, &[&seconds])?;
    Ok((all, before, after))
}

/// Prints a JSON object for each function, and one that sums up the mode.
#[expect(
    clippy::print_stdout,
    reason = "the text of programs that speak to their user"
)]
fn print(case: &Case<'_>, shares: &Shares, truth: &Truth) {
    let mode = shares.name;
    for Function { name, .. } in case.functions {
        let (shown, error) = shares.shown.share(name);
        println!(
            r#"{{"kind":"share","case":"{}","mode":"{mode}","function":"{name}","truth":{:.4},"truth_error":{:.4},"seen_with_scopes":{:.4},"shown":{shown:.4},"error":{error:.4}}}"#,
            case.name,
            truth.share(name),
            truth.error(name),
            shares.seen.share(name),
        );
    }
    println!(
        r#"{{"kind":"share-summary","case":"{}","mode":"{mode}","largest_difference":{:.4},"from_seen_with_scopes":{:.4}}}"#,
        case.name,
        largest(case, |name| shares.shown.share(name).0 - truth.share(name)),
        largest(case, |name| shares.shown.share(name).0 - shares.seen.share(name)),
    );
}

/// Returns the largest absolute value of `of` among the functions of a case.
fn largest(case: &Case<'_>, of: impl Fn(&str) -> f64) -> f64 {
    let values = case.functions.iter().map(|function| of(function.name).abs());
    values.fold(0.0, f64::max)
}
