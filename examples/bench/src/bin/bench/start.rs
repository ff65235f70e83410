//! Measures the cost of starting and ending: `start()`, the first record, dropping the session, and exiting the process.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tickscope_bench::child;
use tickscope_bench::statistics::{median, sorted};
use tickscope_format::file::open::RingFile;

/// Number of processes of each kind, one after another.
const PROCESSES: usize = 50;

/// How a process ends: it drops its session 5 ms or 100 ms after the first record, or exits with the session still open.
const ENDS: [(&str, &str); 3] = [
    ("young", "drop of a session, 5 ms old"),
    ("settled", "drop of a session, 100 ms old"),
    ("exit", "exit of the process"),
];

fn ms(begin: Instant) -> f64 {
    1e3 * begin.elapsed().as_secs_f64()
}

/// Runs as a child process with one session. Prints three times in milliseconds: until `start()` returned, until the
/// first record was written, and for dropping the session.
pub(crate) fn life(end: &str) -> Result<(), String> {
    let begin = Instant::now();
    let session = tickscope::start("life");
    let started = ms(begin);
    // The ring gets its file name with its first record. The session knows the name a little later.
    let has_record = |path: PathBuf| RingFile::open(&path).is_ok_and(|ring| ring.newest().is_ok());
    while !session.path().is_some_and(has_record) {
        if begin.elapsed() > Duration::from_secs(2) {
            return Err(format!("no record: {}", session.warnings().join("; ")));
        }
        thread::sleep(Duration::from_micros(50));
    }
    let record = ms(begin);
    let age = Duration::from_millis(if end == "settled" { 100 } else { 5 });
    tickscope::time!("work", thread::sleep(age));
    if end == "exit" {
        std::mem::forget(session);
        println!("{started} {record} 0");
        std::process::exit(0);
    }
    let dropped = Instant::now();
    drop(session);
    println!("{started} {record} {}", ms(dropped));
    Ok(())
}

/// Runs a child process, and returns the times that it prints. If the process exits with its session open, the last one
/// is the time from its output to its end.
fn run(end: &str) -> Result<[f64; 3], String> {
    let mut command = child::command(&["life", end])?;
    let spawned = command.stdout(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|error| error.to_string())?;
    let mut output = BufReader::new(child.stdout.take().ok_or("a child has no output")?);
    let mut text = String::new();
    let read = output.read_line(&mut text);
    let said = Instant::now();
    read.and_then(|_| child.wait())
        .map_err(|error| error.to_string())?;
    let [started, record, dropped] = child::parse(&text)?;
    Ok([started, record, if end == "exit" { ms(said) } else { dropped }])
}

fn series(load: &str) -> Result<(), String> {
    let mut rows = vec![
        ("start() comes back", Vec::new()),
        ("first record, from before start()", Vec::new()),
    ];
    for (end, what) in ENDS {
        let mut ends = Vec::new();
        for _ in 0..PROCESSES {
            let [started, record, ended] = run(end)?;
            rows[0].1.push(started);
            rows[1].1.push(record);
            ends.push(ended);
        }
        rows.push((what, ends));
    }
    println!(
        "{:36} {:>9} {:>9}  (ms, {PROCESSES} processes, {load})",
        "", "median", "worst"
    );
    for (what, times) in rows {
        let times = sorted(times);
        let worst = times.last().copied().unwrap_or(f64::NAN);
        println!("{what:<36} {:9.3} {worst:9.3}", median(&times));
    }
    Ok(())
}

/// Prints the table without adding any load to the machine.
pub(crate) fn print_quiet() -> Result<(), String> {
    series("nothing beside them")
}

/// Prints the table without added load, and then once more while four busy loops per CPU are running.
pub(crate) fn print() -> Result<(), String> {
    print_quiet()?;
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 * thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let done = series("four busy loops for each CPU");
        over.store(true, Ordering::Relaxed);
        done
    })
}
