//! Compares the waiting and ready time that tickscope shows with the kernel's times for the same scopes: sleeps, pipes,
//! locks, work, and threads without a CPU.

use std::error::Error;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use tickscope_bench::timing::cpu;
use tickscope_format::Snapshot;
use tickscope_format::ids::{NodeId, ThreadId};
use tickscope_format::snapshot::Quantity;

/// Quantities of time off the CPU.
const OFF: [Quantity; 2] = [Quantity::Waiting, Quantity::Ready];

fn sleep(us: u64) {
    thread::sleep(Duration::from_micros(us));
}

/// Keeps the CPU busy for this long.
fn work(us: u64) {
    let begin = cpu();
    while cpu() - begin < Duration::from_micros(us) {
        (0..1_000).for_each(|number| _ = black_box(number));
    }
}

/// Wall time and off-CPU time of a case, measured by the kernel and summed over all rounds.
#[derive(Default)]
struct Truth {
    name: &'static str,
    wall: Duration,
    off: Duration,
}

impl Truth {
    fn since(&mut self, (wall, on): (Instant, Duration)) {
        let on = cpu() - on;
        let wall = wall.elapsed();
        self.wall += wall;
        self.off += wall.saturating_sub(on);
    }
}

/// Runs a body in a scope with this name, and adds the times to the case with the same name.
macro_rules! timed {
    ($table:expr, $name:literal, $body:expr) => {{
        let begin = (Instant::now(), cpu());
        tickscope::time!($name, $body);
        add($table, $name, begin);
    }};
}

fn add(table: &mut Vec<Truth>, name: &'static str, begin: (Instant, Duration)) {
    let at = table.iter().position(|truth| truth.name == name);
    let at = at.unwrap_or_else(|| {
        table.push(Truth {
            name,
            ..Truth::default()
        });
        table.len() - 1
    });
    table[at].since(begin);
}

/// Prints a line for each case, and compares the main thread's total time off the CPU with `whole`.
fn print_table(table: &[Truth], snapshot: &Snapshot, whole: &Truth) {
    println!(
        "{:<24} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8}",
        "ms", "wall", "off CPU", "waiting", "ready", "of off", "of wall"
    );
    let ms = |time: Duration| 1e3 * time.as_secs_f64();
    let shown = |name, quantity| snapshot.nanos(of(snapshot, name, quantity)) as f64 / 1e6;
    for truth in table {
        let [waiting, ready] = OFF.map(|quantity| shown(truth.name, quantity));
        let (wall, off) = (ms(truth.wall), ms(truth.off));
        let error = 100.0 * (waiting + ready - off);
        println!(
            "{:<24} {wall:>10.2} {off:>10.2} {waiting:>10.2} {ready:>10.2} {:>+7.2}% {:>+7.2}%",
            truth.name,
            error / off.max(1e-6),
            error / wall.max(1e-6),
        );
    }
    let [placed, unplaced] = of_main(snapshot).map(|ticks| snapshot.nanos(ticks) as f64 / 1e6);
    println!(
        "\nin gaps too short to be looked at: {unplaced:.2} ms; with it {:.2} ms are off the CPU, by the kernel {:.2} ms",
        placed + unplaced,
        ms(whole.off)
    );
}

/// Returns the sum of a quantity over all rows with this name, in ticks.
fn of(snapshot: &Snapshot, name: &str, quantity: Quantity) -> u64 {
    let column = snapshot.measures.of(quantity);
    let rows = column.into_iter().flat_map(|column| &column.rows);
    let named = rows.filter(|(row, _)| snapshot.site_of(NodeId(*row)).name == name);
    named.map(|(_, ticks)| ticks).sum()
}

/// Returns the main thread's ticks off the CPU as two sums: those charged to a row or to the time outside all rows, and
/// those charged to neither.
fn of_main(snapshot: &Snapshot) -> [u64; 2] {
    let mut threads = (0..).zip(&snapshot.threads);
    let Some((at, _)) = threads.find(|(_, thread)| thread.name == "main") else {
        return [0; 2];
    };
    let rows = snapshot.rows_of(ThreadId(at));
    let mut placed = 0;
    for column in OFF.iter().filter_map(|&quantity| snapshot.measures.of(quantity)) {
        let all = column.rows.iter();
        let own = all.filter(|(row, _)| rows.contains(&(*row as usize)));
        placed += own.map(|(_, ticks)| ticks).sum::<u64>() + column.of_outside(at);
    }
    let unplaced = snapshot.measures.of(Quantity::UnplacedWaiting);
    [placed, unplaced.map_or(0, |column| column.of_outside(at))]
}

/// Runs all cases. The usual number of rounds is multiplied by `factor`.
pub(crate) fn print(factor: u32) -> Result<(), Box<dyn Error>> {
    let _session = tickscope::Builder::new("waits")
        .mode(tickscope::Mode::Exact)
        .start();
    let (begin, mut whole) = ((Instant::now(), cpu()), Truth::default());
    tickscope::time!("first", ());
    sleep(2_000);
    let (mut slow, mut quick) = (echo(50)?, echo(0)?);
    let mut all = Vec::new();
    let table = &mut all;
    let rounds = |count: u32| 0..count * factor;
    rounds(1_000).for_each(|_| timed!(table, "sleep 0.1 ms", sleep(100)));
    rounds(200).for_each(|_| timed!(table, "sleep 1 ms", sleep(1_000)));
    rounds(30).for_each(|_| timed!(table, "sleep 10 ms", sleep(10_000)));
    rounds(5_000).for_each(|_| timed!(table, "work 20 us", work(20)));
    rounds(200).for_each(|_| timed!(table, "work 1 ms", work(1_000)));
    rounds(1_000).for_each(|_| timed!(table, "pipe", slow()));
    let (lock, over) = (Mutex::new(()), AtomicBool::new(false));
    thread::scope(|scope| {
        // This thread holds the lock most of the time.
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let held = lock.lock();
                sleep(300);
                drop(held);
                sleep(100);
            }
        });
        let taken = || {
            drop(lock.lock());
            work(50);
        };
        rounds(500).for_each(|_| timed!(table, "contended lock", taken()));
        over.store(true, Ordering::Relaxed);
    });
    for _ in rounds(1_000) {
        timed!(table, "sleep 40 us, then", sleep(40));
        timed!(table, "work 200 us", work(200));
    }
    // Many waits, each too short to be examined, are followed by work that is long enough to be examined.
    for _ in rounds(1_000) {
        (0..20).for_each(|_| timed!(table, "20 echoes, then", quick()));
        timed!(table, "work of 200 us", work(200));
    }
    rivals(table, factor)?;
    let snapshot = tickscope::snapshot();
    whole.since(begin);
    print_table(&all, &snapshot, &whole);
    Ok(())
}

/// Starts a thread that sends back each byte that it receives, after this many microseconds. Returns a function that
/// sends a byte and waits until it comes back. The thread ends when the pipes are closed.
fn echo(us: u64) -> io::Result<impl FnMut()> {
    let (mut there, mut send) = io::pipe()?;
    let (mut receive, mut back) = io::pipe()?;
    thread::spawn(move || {
        let mut byte = [0];
        while there.read(&mut byte).is_ok_and(|read| read == 1) {
            if us > 0 {
                sleep(us);
            }
            if back.write_all(&byte).is_err() {
                return;
            }
        }
    });
    Ok(move || {
        let asked = send.write_all(&[7]);
        _ = asked.and_then(|()| receive.read_exact(&mut [0]));
    })
}

/// Makes this thread share a CPU with a busy thread, first while this thread works all the time, and then while it
/// sleeps before each piece of work.
fn rivals(table: &mut Vec<Truth>, factor: u32) -> Result<(), Box<dyn Error>> {
    let before = sched_getaffinity(None)?;
    let cpu = (0..CpuSet::MAX_CPU).find(|&cpu| before.is_set(cpu)).unwrap_or(0);
    let mut one = CpuSet::new();
    one.set(cpu);
    // The rival thread inherits this affinity to one CPU.
    sched_setaffinity(None, &one)?;
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                black_box(0);
            }
        });
        (0..50 * factor).for_each(|_| timed!(table, "two on one CPU", work(5_000)));
        let preempted = || {
            sleep(1_000);
            work(100);
        };
        (0..100 * factor).for_each(|_| timed!(table, "preempted sleeper", preempted()));
        over.store(true, Ordering::Relaxed);
    });
    Ok(sched_setaffinity(None, &before)?)
}
