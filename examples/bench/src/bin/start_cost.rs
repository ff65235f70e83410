//! Measures what the start and the end cost a program: `start()`, after which the first record is in the ring, the end of a session, and
//! the exit of a process. It prints the median and the maximum of 50 processes, alone and beside four busy loops for each CPU.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PROCESSES: usize = 50;

/// The environment variable that says how a child ends: `drop` or `exit`.
const ROLE: &str = "START_COST_ROLE";

/// What is measured, in microseconds.
const WHAT: [&str; 3] = ["start()", "drop of the session", "exit"];

fn micros(begin: Instant) -> u128 {
    begin.elapsed().as_micros()
}

fn child(role: &str) {
    let begin = Instant::now();
    let session = tickscope::start("start_cost");
    let started = micros(begin);
    assert!(session.path().is_some(), "{:?}", session.warnings());
    tickscope::time!("work", std::thread::sleep(Duration::from_millis(5)));
    if role == "exit" {
        std::mem::forget(session);
        println!("{started} 0");
        std::process::exit(0);
    }
    let end = Instant::now();
    drop(session);
    println!("{started} {}", micros(end));
    // Nothing is left to do at the exit.
}

/// Runs a child, and returns its two figures and the time from its last output to its end.
fn run(role: &str) -> Result<[u128; 3], String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(program)
        .env(ROLE, role)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        let _ = BufReader::new(stdout).read_line(&mut line);
    }
    let said = Instant::now();
    child.wait().map_err(|error| error.to_string())?;
    let mut figures = [0, 0, micros(said)];
    for (figure, word) in figures.iter_mut().zip(line.split_whitespace()) {
        *figure = word.parse().map_err(|_| line.clone())?;
    }
    Ok(figures)
}

fn series(load: &str) -> Result<(), String> {
    let mut columns: [Vec<u128>; 3] = Default::default();
    for _ in 0..PROCESSES {
        let dropped = run("drop")?;
        let exited = run("exit")?;
        for (column, value) in columns.iter_mut().zip([dropped[0], dropped[1], exited[2]]) {
            column.push(value);
        }
    }
    for (what, column) in WHAT.iter().zip(&mut columns) {
        column.sort_unstable();
        let (median, worst) = (column[PROCESSES / 2], column[PROCESSES - 1]);
        println!("{load:>10}  {what:<20} {median:8} {worst:8}");
    }
    Ok(())
}

fn main() -> Result<(), String> {
    if let Ok(role) = std::env::var(ROLE) {
        child(&role);
        return Ok(());
    }
    println!("Microseconds; {PROCESSES} processes each.");
    println!("{:>10}  {:<20} {:>8} {:>8}", "", "", "median", "worst");
    series("quiet")?;
    let over = AtomicBool::new(false);
    let _ = std::io::stdout().flush();
    std::thread::scope(|scope| {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..4 * cpus {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let done = series("loaded");
        over.store(true, Ordering::Relaxed);
        done
    })
}
