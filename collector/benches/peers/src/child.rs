//! Runs this program again in a new process for each peer and case.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::lines::{END, ROW, say};
use crate::measure::Measured;
use crate::peers;

pub(crate) const FLAG: &str = "--child";

/// Runs in the child process: measures a case with a peer, and writes the result row to standard output.
pub(crate) fn measure(peer: &str, case: &str) -> Result<(), String> {
    let measured = peers::measure_named(peer, case).ok_or(format!("no peer {peer} or no case {case}"))?;
    let recorded = measured
        .recorded
        .map_or("-".to_owned(), |count| count.to_string());
    let (low, high) = measured.interval;
    let fields = [
        measured.ns_per_scope,
        measured.added_ns,
        measured.ratio,
        low,
        high,
        measured.background_ns,
    ];
    let fields = fields.map(|value| value.to_string()).join(" ");
    say(&format!(
        "{ROW}{fields} {} {recorded} {}",
        measured.scopes, measured.peak_kib
    ))
}

/// Runs in the parent process: starts a child and waits until it exits. Returns the child's measurements, and the time
/// from its last scope to its exit.
pub(crate) fn run(peer: &str, case: &str) -> Result<(Measured, Duration), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(program)
        .args([FLAG, "--peer", peer, "--case", case])
        // Without this variable, hotpath opens a port.
        .env("HOTPATH_METRICS_SERVER_OFF", "1")
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut measured = None;
    let mut end = Instant::now();
    let out = child.stdout.take().ok_or("no output")?;
    for line in BufReader::new(out).lines() {
        let line = line.map_err(|error| error.to_string())?;
        if line == END {
            end = Instant::now();
        } else if let Some(fields) = line.strip_prefix(ROW) {
            measured = parse(fields);
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let exit = end.elapsed();
    if !status.success() {
        return Err(status.to_string());
    }
    Ok((measured.ok_or("it wrote no row")?, exit))
}

fn parse(fields: &str) -> Option<Measured> {
    let fields: Vec<&str> = fields.split(' ').collect();
    let number = |index: usize| fields.get(index)?.parse::<f64>().ok();
    let whole = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Measured {
        ns_per_scope: number(0)?,
        added_ns: number(1)?,
        ratio: number(2)?,
        interval: (number(3)?, number(4)?),
        background_ns: number(5)?,
        scopes: whole(6)?,
        recorded: whole(7),
        peak_kib: whole(8)?,
    })
}
