//! Compares waiting and ready time as tickscope shows them with what the kernel says of the same scopes: sleeps, pipes,
//! locks, work, and threads without a CPU.
//!
//! `waits [FACTOR]`: FACTOR times as many rounds, 1 unless said otherwise.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::error::Error;
use std::hint::black_box;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use tickscope_format::Snapshot;
use tickscope_format::ids::{NodeId, ThreadId};
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
        let begin = (Instant::now(), cpu());
        body();
        self.since(begin);
    }

    fn since(&mut self, (wall, on): (Instant, Duration)) {
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
    /// Prints it below its titles, and what there is of all, beside `whole`.
    fn print(&self, snapshot: &Snapshot, whole: &Truth) {
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
        let [placed, unplaced] = of_main(snapshot);
        println!(
            "\nin gaps too short to be looked at: {:.2} ms; with it {:.2} ms are off the CPU, by the kernel {:.2} ms",
            ms(unplaced),
            ms(placed + unplaced),
            ms(whole.off.as_nanos() as u64)
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

/// The time off the CPU of the main thread, placed in rows or outside them, and not placed, in nanoseconds.
fn of_main(snapshot: &Snapshot) -> [u64; 2] {
    let main = (0..)
        .zip(&snapshot.threads)
        .find(|(_, thread)| thread.name == "main");
    let Some((at, _)) = main else { return [0; 2] };
    let rows = snapshot.rows_of(ThreadId(at));
    let mut placed = 0;
    for quantity in [Quantity::Waiting, Quantity::Ready] {
        let Some(column) = snapshot.measures.of(quantity) else {
            continue;
        };
        let own = column
            .rows
            .iter()
            .filter(|&&(row, _)| rows.contains(&(row as usize)));
        placed += own.map(|&(_, ticks)| ticks).sum::<u64>() + column.of_outside(at);
    }
    let unplaced = snapshot.measures.of(Quantity::UnplacedWaiting);
    let unplaced = unplaced.map_or(0, |column| column.of_outside(at));
    [placed, unplaced].map(|ticks| snapshot.nanos(ticks))
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
    let _session = tickscope::Builder::new("waits")
        .mode(tickscope::Mode::Exact)
        .start();
    let (begin, mut whole) = ((Instant::now(), cpu()), Truth::default());
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
    let [mut slow, mut quick] = [Echo::new(Duration::from_micros(50))?, Echo::new(Duration::ZERO)?];
    case!(table, "pipe", 1_000 * factor, slow.ask());
    locks(&mut table, factor)?;
    let mut truth: [Truth; 4] = Default::default();
    for _ in 0..1_000 * factor {
        truth[0].add(|| tickscope::time!("sleep 40 us, then", sleep(40)));
        truth[1].add(|| tickscope::time!("work 200 us", work(Duration::from_micros(200))));
    }
    // Many waits that are too short to be looked at, before work that is not.
    for _ in 0..1_000 * factor {
        for _ in 0..20 {
            truth[2].add(|| tickscope::time!("20 echoes, then", quick.ask()));
        }
        truth[3].add(|| tickscope::time!("work of 200 us", work(Duration::from_micros(200))));
    }
    let names = [
        "sleep 40 us, then",
        "work 200 us",
        "20 echoes, then",
        "work of 200 us",
    ];
    table.lines.extend(names.into_iter().zip(truth));
    rivals(&mut table, factor)?;
    let snapshot = tickscope::snapshot();
    whole.since(begin);
    table.print(&snapshot, &whole);
    [slow, quick].into_iter().try_for_each(Echo::end)
}

/// A thread that sends each byte back, through two pipes.
struct Echo {
    send: PipeWriter,
    receive: PipeReader,
    thread: JoinHandle<()>,
}

impl Echo {
    /// Starts it. It sleeps for so long before each answer; not at all where that is nothing.
    fn new(sleep: Duration) -> Result<Self, Box<dyn Error>> {
        let (mut there, send) = std::io::pipe()?;
        let (receive, mut back) = std::io::pipe()?;
        let thread = std::thread::spawn(move || {
            let mut byte = [0];
            while there.read(&mut byte).is_ok_and(|read| read == 1) {
                if !sleep.is_zero() {
                    std::thread::sleep(sleep);
                }
                if back.write_all(&byte).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            send,
            receive,
            thread,
        })
    }

    fn ask(&mut self) {
        let _ = self.send.write_all(&[7]);
        let _ = self.receive.read_exact(&mut [0]);
    }

    fn end(self) -> Result<(), Box<dyn Error>> {
        drop(self.send);
        self.thread
            .join()
            .map_err(|_| "the thread behind the pipe has panicked".into())
    }
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
