//! Compares waiting and ready time as tickscope shows them with what the kernel says of the same scopes: sleeps, pipes,
//! locks, work, and threads without a CPU.
//!
//! `waits [FACTOR]`: FACTOR times as many rounds, 1 unless said otherwise.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::error::Error;
use std::hint::black_box;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use tickscope_format::Snapshot;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::Quantity;

/// CPU time of the calling thread.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Computes for so long on the CPU.
fn work(time: Duration) {
    let begin = cpu();
    while cpu() - begin < time {
        for number in 0..1_000 {
            black_box(number);
        }
    }
}

/// Wall and CPU time of all rounds of a case, as the kernel has it.
#[derive(Default)]
struct Truth {
    wall: Duration,
    off: Duration,
}

impl Truth {
    fn add(&mut self, body: impl FnOnce()) {
        let (wall, on) = (Instant::now(), cpu());
        body();
        let on = cpu() - on;
        let wall = wall.elapsed();
        self.wall += wall;
        self.off += wall.saturating_sub(on);
    }
}

/// A table of cases.
struct Table {
    lines: Vec<(&'static str, Truth)>,
}

/// Runs a case: so many rounds of a body in a scope of its name.
macro_rules! case {
    ($table:expr, $name:literal, $rounds:expr, $body:expr) => {{
        let mut truth = Truth::default();
        for _ in 0..$rounds {
            truth.add(|| tickscope::time!($name, $body));
        }
        $table.lines.push(($name, truth));
    }};
}

impl Table {
    fn print(&self, snapshot: &Snapshot) {
        println!(
            "{:<24} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8}",
            "ms", "wall", "off CPU", "waiting", "ready", "of off", "of wall"
        );
        let ms = |ns: u64| ns as f64 / 1e6;
        for (name, truth) in &self.lines {
            let shown = [Quantity::Waiting, Quantity::Ready].map(|quantity| of(snapshot, name, quantity));
            let [wall, off] = [truth.wall, truth.off].map(|time| time.as_nanos() as u64);
            let error = shown.iter().sum::<u64>() as f64 - off as f64;
            println!(
                "{name:<24} {:>10.2} {:>10.2} {:>10.2} {:>10.2} {:>+7.2}% {:>+7.2}%",
                ms(wall),
                ms(off),
                ms(shown[0]),
                ms(shown[1]),
                error / off.max(1) as f64 * 100.0,
                error / wall.max(1) as f64 * 100.0,
            );
        }
        let unplaced = snapshot.measures.of(Quantity::UnplacedWaiting);
        let unplaced = unplaced.map_or(0, |column| column.outside.iter().map(|&(_, ticks)| ticks).sum());
        println!(
            "\nin gaps too short to be looked at: {:.2} ms",
            ms(snapshot.nanos(unplaced))
        );
    }
}

/// What rows of a name have, in nanoseconds.
fn of(snapshot: &Snapshot, name: &str, quantity: Quantity) -> u64 {
    let Some(column) = snapshot.measures.of(quantity) else {
        return 0;
    };
    let named = |row: &u32| snapshot.site_of(NodeId(*row)).name == name;
    let values = column.rows.iter().filter(|(row, _)| named(row));
    snapshot.nanos(values.map(|&(_, value)| value).sum())
}

fn main() -> Result<(), Box<dyn Error>> {
    let factor: u32 = match std::env::args().nth(1) {
        None => 1,
        Some(word) => word
            .parse()
            .ok()
            .filter(|factor| (1..=1_000).contains(factor))
            .ok_or(format!("{word}: wanted 1 to 1000"))?,
    };
    let _session = tickscope::start("waits");
    tickscope::time!("first", ());
    std::thread::sleep(Duration::from_millis(2));
    let mut table = Table { lines: Vec::new() };
    let sleep = |us| std::thread::sleep(Duration::from_micros(us));
    case!(table, "sleep 0.1 ms", 1_000 * factor, sleep(100));
    case!(table, "sleep 1 ms", 200 * factor, sleep(1_000));
    case!(table, "sleep 10 ms", 30 * factor, sleep(10_000));
    case!(
        table,
        "work 20 us",
        5_000 * factor,
        work(Duration::from_micros(20))
    );
    case!(table, "work 1 ms", 200 * factor, work(Duration::from_millis(1)));
    pipes(&mut table, factor)?;
    locks(&mut table, factor)?;
    let mut truth = [Truth::default(), Truth::default()];
    for _ in 0..1_000 * factor {
        truth[0].add(|| tickscope::time!("sleep 40 us, then", sleep(40)));
        truth[1].add(|| tickscope::time!("work 200 us", work(Duration::from_micros(200))));
    }
    let [sleeps, works] = truth;
    table.lines.push(("sleep 40 us, then", sleeps));
    table.lines.push(("work 200 us", works));
    rivals(&mut table, factor)?;
    table.print(&tickscope::snapshot());
    Ok(())
}

/// A byte to another thread and back.
fn pipes(table: &mut Table, factor: u32) -> Result<(), Box<dyn Error>> {
    let (mut there, mut send) = std::io::pipe()?;
    let (mut receive, mut back) = std::io::pipe()?;
    let answers = std::thread::spawn(move || {
        let mut byte = [0];
        while there.read(&mut byte).is_ok_and(|read| read == 1) {
            std::thread::sleep(Duration::from_micros(50));
            if back.write_all(&byte).is_err() {
                return;
            }
        }
    });
    case!(table, "pipe", 1_000 * factor, {
        let _ = send.write_all(&[7]);
        let _ = receive.read_exact(&mut [0]);
    });
    drop(send);
    answers
        .join()
        .map_err(|_| "the thread behind the pipe has panicked".into())
}

/// A lock that another thread holds most of the time.
fn locks(table: &mut Table, factor: u32) -> Result<(), Box<dyn Error>> {
    let (lock, over) = (Arc::new(Mutex::new(())), Arc::new(AtomicBool::new(false)));
    let holder = std::thread::spawn({
        let (lock, over) = (Arc::clone(&lock), Arc::clone(&over));
        move || {
            while !over.load(Ordering::Relaxed) {
                let held = lock.lock();
                std::thread::sleep(Duration::from_micros(300));
                drop(held);
                std::thread::sleep(Duration::from_micros(100));
            }
        }
    });
    case!(table, "contended lock", 500 * factor, {
        drop(lock.lock());
        work(Duration::from_micros(50));
    });
    over.store(true, Ordering::Relaxed);
    holder.join().map_err(|_| "the holder has panicked".into())
}

/// Two busy threads on one CPU, and one that sleeps in between.
fn rivals(table: &mut Table, factor: u32) -> Result<(), Box<dyn Error>> {
    let before = sched_getaffinity(None)?;
    let cpu = (0..CpuSet::MAX_CPU).find(|&cpu| before.is_set(cpu)).unwrap_or(0);
    let mut one = CpuSet::new();
    one.set(cpu);
    let over = Arc::new(AtomicBool::new(false));
    let rival = std::thread::spawn({
        let (over, one) = (Arc::clone(&over), one);
        move || {
            let _ = sched_setaffinity(None, &one);
            while !over.load(Ordering::Relaxed) {
                black_box(0);
            }
        }
    });
    sched_setaffinity(None, &one)?;
    case!(
        table,
        "two on one CPU",
        50 * factor,
        work(Duration::from_millis(5))
    );
    case!(table, "preempted sleeper", 100 * factor, {
        std::thread::sleep(Duration::from_millis(1));
        work(Duration::from_micros(100));
    });
    over.store(true, Ordering::Relaxed);
    sched_setaffinity(None, &before)?;
    rival.join().map_err(|_| "the rival has panicked".into())
}
