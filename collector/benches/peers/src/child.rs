//! Processes for each peer and case, which run this program again.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::lines::{END, ROW, say};
use crate::peers;

pub(crate) const FLAG: &str = "--child";

/// Measurements of a child.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) peer: String,
    pub(crate) ns_per_scope: f64,
    pub(crate) added_ns: f64,
    pub(crate) ratio: f64,
    pub(crate) ratio_lo: f64,
    pub(crate) ratio_hi: f64,
    pub(crate) background_ns: f64,
    pub(crate) scopes: u64,
    /// Scopes that the peer recorded; `None` if it cannot say.
    pub(crate) recorded: Option<u64>,
    pub(crate) peak_kib: u64,
    /// Time from the last scope to the end of the process.
    pub(crate) exit: Duration,
}

/// Measures in the child, and writes a row.
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

/// Runs a child from the parent, and waits for its end.
pub(crate) fn run(peer: &str, case: &str) -> Result<Row, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(program)
        .args([FLAG, "--peer", peer, "--case", case])
        // hotpath would open a port.
        .env("HOTPATH_METRICS_SERVER_OFF", "1")
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut row = None;
    let mut end = Instant::now();
    let out = child.stdout.take().ok_or("no output")?;
    for line in BufReader::new(out).lines() {
        let line = line.map_err(|error| error.to_string())?;
        if line == END {
            end = Instant::now();
        } else if let Some(fields) = line.strip_prefix(ROW) {
            row = parse(peer, case, fields);
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let exit = end.elapsed();
    if !status.success() {
        return Err(status.to_string());
    }
    row.map(|row| Row { exit, ..row })
        .ok_or("it wrote no row".to_owned())
}

fn parse(peer: &str, case: &str, fields: &str) -> Option<Row> {
    let fields: Vec<&str> = fields.split(' ').collect();
    let number = |index: usize| fields.get(index)?.parse::<f64>().ok();
    let whole = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Row {
        case: case.to_owned(),
        peer: peer.to_owned(),
        ns_per_scope: number(0)?,
        added_ns: number(1)?,
        ratio: number(2)?,
        ratio_lo: number(3)?,
        ratio_hi: number(4)?,
        background_ns: number(5)?,
        scopes: whole(6)?,
        recorded: whole(7),
        peak_kib: whole(8)?,
        exit: Duration::ZERO,
    })
}
