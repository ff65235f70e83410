//! Samples of the program counter. They must be attributed to the right code, row and thread, and must not disturb the
//! program.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::support::{self, ring_of};
use crate::waits::cpu;
use tickscope::{Builder, Snapshot};
use tickscope_format::ids::{NodeId, ThreadId};
use tickscope_format::snapshot::{LineSample, LinesState, SampledIn, ThreadState};

/// Computes until this thread has used `time` of CPU time.
fn work(time: Duration) {
    let until = cpu() + time;
    while cpu() < until {
        (0..1_000u64).for_each(|number| {
            black_box(number);
        });
    }
}

fn outer(time: Duration) {
    tickscope::scope!("outer");
    work(time);
    tickscope::scope!("inner");
    work(time);
}

/// Returns the number of samples whose innermost scope has this name, and the CPU time in ns that they stand for.
fn found(snapshot: &Snapshot, name: &str) -> (u64, u64) {
    let is_it = |inside| match inside {
        SampledIn::Row(row) => snapshot.site_of(NodeId(row)).name == name,
        SampledIn::Thread(_) => name == "(outside)",
        SampledIn::Measuring => name == "(measuring)",
    };
    let of_it = snapshot
        .lines
        .samples
        .iter()
        .filter(|sample| is_it(sample.inside));
    of_it.fold((0, 0), |sum, sample| {
        (sum.0 + sample.samples, sum.1 + sample.cpu_ns)
    })
}

/// Returns the samples in rows named "inner", by the name of the outermost row and whether the thread has ended.
fn by_path(snapshot: &Snapshot) -> BTreeMap<(String, bool), u64> {
    let mut sums = BTreeMap::new();
    for (number, thread) in snapshot.threads.iter().enumerate() {
        let mut outermost = None;
        for row in snapshot.rows_of(ThreadId(number as u32)) {
            let (id, name) = (NodeId(row as u32), |id| snapshot.site_of(id).name.to_string());
            if snapshot.nodes.parent_of(id).is_none() {
                outermost = Some(name(id));
            }
            let of_row = |sample: &&LineSample| sample.inside == SampledIn::Row(row as u32);
            let samples: u64 = snapshot
                .lines
                .samples
                .iter()
                .filter(of_row)
                .map(|sample| sample.samples)
                .sum();
            if name(id) == "inner" && samples > 0 {
                let path = (outermost.clone().unwrap(), thread.state == ThreadState::Finished);
                *sums.entry(path).or_default() += samples;
            }
        }
    }
    sums
}

/// Waits for a snapshot that satisfies a condition. The wait is needed because samples are taken only at the kernel's
/// timer ticks.
fn once(holds: impl Fn(&Snapshot) -> bool) -> Snapshot {
    loop {
        let snapshot = tickscope::snapshot();
        if holds(&snapshot) {
            return snapshot;
        }
        outer(Duration::from_millis(20));
    }
}

fn samples_tell_the_scope_and_the_code_of_each_thread() {
    let session = Builder::new("lines").lines(true).try_start().unwrap();
    let workers: Vec<_> = (0..2)
        .map(|_| std::thread::spawn(|| (0..10).for_each(|_| outer(Duration::from_millis(20)))))
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    let snapshot = once(|snapshot| found(snapshot, "outer").0 > 10 && found(snapshot, "inner").0 > 10);
    let lines = &snapshot.lines;
    assert_eq!(lines.state, LinesState::On(libc::SIGPROF as u32));
    assert_eq!(lines.asked_hz, 1_000);
    // Not all samples are in this program's own code, because reading a clock partly runs in the kernel.
    let own = std::env::current_exe().unwrap();
    let in_own = lines.samples.iter().filter(|sample| {
        let module = lines.modules.get(sample.module as usize);
        module.is_some_and(|module| module.path == own.to_str().unwrap())
    });
    let in_own: u64 = in_own.map(|sample| sample.samples).sum();
    assert!(in_own > 0, "{lines:?}");
    let ((_, outer_ns), (_, inner_ns)) = (found(&snapshot, "outer"), found(&snapshot, "inner"));
    // Samples never show more CPU time than the threads have used. That time is known as of the last sample.
    let used: u64 = snapshot.threads.iter().filter_map(|thread| thread.cpu_ns).sum();
    assert!(outer_ns + inner_ns <= used, "{outer_ns} {inner_ns} of {used}");
    let rate = lines.rate_hz().unwrap();
    assert!(rate <= 2_000.0, "{rate}");
    drop(session);
    // Sampling has stopped, and the samples so far are kept.
    let ended = tickscope::snapshot();
    assert_eq!(ended.lines.state, LinesState::Off);
    assert_eq!(ended.lines.asked_hz, 1_000);
    let (before, _) = found(&ended, "outer");
    outer(Duration::from_millis(50));
    assert_eq!(found(&tickscope::snapshot(), "outer").0, before);
}

fn samples_stand_in_the_row_whose_call_they_interrupted_also_when_its_thread_has_ended() {
    let session = Builder::new("lines").lines(true).try_start().unwrap();
    let ring = ring_of(&session);
    let mut slot = ring.take_slot().unwrap().unwrap();
    let until_sampled = |path: &'static str, ended: bool| {
        move || by_path(&tickscope::snapshot()).contains_key(&(path.to_owned(), ended))
    };
    let left = std::thread::spawn(move || {
        let is_sampled = until_sampled("left", false);
        while !is_sampled() {
            tickscope::time!("left", outer(Duration::from_millis(5)));
        }
    });
    left.join().unwrap();
    support::wait_until("the thread to be one that has ended", until_sampled("left", true));
    let is_sampled = until_sampled("right", false);
    while !is_sampled() {
        tickscope::time!("right", outer(Duration::from_millis(5)));
    }
    let before = by_path(&tickscope::snapshot());
    let paths: Vec<(&str, bool)> = before
        .keys()
        .map(|(name, ended)| (name.as_str(), *ended))
        .collect();
    assert_eq!(paths, [("left", true), ("right", false)]);
    // Undoing a reset also restores the samples of a thread that has ended since the reset.
    let (go, is_to_go) = std::sync::mpsc::channel::<()>();
    let (ready, is_ready) = std::sync::mpsc::channel();
    let third = std::thread::spawn(move || {
        let is_sampled = until_sampled("third", false);
        while !is_sampled() {
            tickscope::time!("third", outer(Duration::from_millis(5)));
        }
        ready.send(()).unwrap();
        is_to_go.recv()
    });
    is_ready.recv().unwrap();
    support::ask(&mut slot, tickscope_format::slots::Op::Reset);
    assert!(!by_path(&tickscope::snapshot()).contains_key(&("left".into(), true)));
    drop(go);
    third.join().unwrap().unwrap_err();
    support::wait_until("its end", || {
        tickscope::snapshot()
            .threads
            .iter()
            .all(|thread| thread.tid == 0 || thread.tid == std::process::id())
    });
    support::ask(&mut slot, tickscope_format::slots::Op::UndoReset);
    let after = by_path(&tickscope::snapshot());
    assert!(after[&("left".into(), true)] >= before[&("left".into(), true)]);
    assert!(after.contains_key(&("third".into(), true)), "{after:?}");
    support::ask(&mut slot, tickscope_format::slots::Op::Lines(0));
    assert_eq!(tickscope::snapshot().lines.state, LinesState::Off);
    support::ask(&mut slot, tickscope_format::slots::Op::Lines(100));
    assert_eq!(tickscope::snapshot().lines.asked_hz, 100);
}

static OWN: AtomicU64 = AtomicU64::new(0);

extern "C" fn own_handler(_: libc::c_int) {
    OWN.fetch_add(1, Ordering::Relaxed);
}

fn a_program_that_uses_sigprof_keeps_it() {
    let _session = Builder::new("lines").lines(true).try_start().unwrap();
    once(|snapshot| found(snapshot, "inner").0 > 3);
    support::on_signal(libc::SIGPROF, own_handler);
    // At its next check the publisher switches to another signal, so that the program's handler receives no signals
    // from the collector.
    let other = |snapshot: &Snapshot| matches!(snapshot.lines.state, LinesState::On(signal) if signal != libc::SIGPROF as u32);
    let moved = once(other);
    let (before, came) = (found(&moved, "inner").0, OWN.load(Ordering::Relaxed));
    once(|snapshot| found(snapshot, "inner").0 > before + 3);
    assert_eq!(OWN.load(Ordering::Relaxed), came);
    // SAFETY: the signal has a handler.
    let raised = unsafe { libc::raise(libc::SIGPROF) };
    assert_eq!(raised, 0);
    assert_eq!(OWN.load(Ordering::Relaxed), came + 1);
}

/// Repeats blocking calls of several kinds, with work before each call, so that sampling timers fire.
fn blocking_calls_go_on_and_the_programs_own_timers_come() {
    count_alarms();
    let _session = Builder::new("lines").lines(true).try_start().unwrap();
    let rounds = 40;
    let again = |call: fn(u64)| {
        std::thread::spawn(move || {
            for round in 0..rounds {
                tickscope::scope!("blocking");
                work(Duration::from_millis(3));
                call(round);
            }
        })
    };
    let threads = [
        again(sleeps),
        again(reads),
        again(connects),
        again(waits_for),
        again(runs),
    ];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    once(|snapshot| found(snapshot, "blocking").0 > 10);
    let before = ALARMS.load(Ordering::Relaxed);
    once(|_| ALARMS.load(Ordering::Relaxed) > before + 3);
}

fn sleeps(_: u64) {
    let began = Instant::now();
    std::thread::sleep(Duration::from_millis(1));
    assert!(began.elapsed() >= Duration::from_millis(1));
}

fn reads(round: u64) {
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(1));
        writer.write_all(&round.to_le_bytes()).unwrap();
    });
    // `read_exact` is not used, because it would retry if a signal interrupted it.
    let mut bytes = [0; 8];
    assert_eq!(reader.read(&mut bytes).unwrap(), 8);
    assert_eq!(u64::from_le_bytes(bytes), round);
    other.join().unwrap();
}

fn connects(round: u64) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let other = std::thread::spawn(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        std::thread::sleep(Duration::from_millis(1));
        stream.write_all(&[round as u8; 10]).unwrap();
    });
    let (mut stream, _) = listener.accept().unwrap();
    let mut text = Vec::new();
    stream.read_to_end(&mut text).unwrap();
    assert_eq!(text, [round as u8; 10]);
    other.join().unwrap();
}

fn waits_for(_: u64) {
    let (done, is_done) = (Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(1));
            *done.lock().unwrap() = true;
            is_done.notify_one();
        });
        let mut waited = done.lock().unwrap();
        while !*waited {
            waited = is_done.wait(waited).unwrap();
        }
    });
}

/// Runs another program. It does not inherit the collector's timers.
fn runs(_: u64) {
    let done = std::process::Command::new("sleep").arg("0.001").status().unwrap();
    assert!(done.success(), "{done}");
}

static ALARMS: AtomicU64 = AtomicU64::new(0);

extern "C" fn on_alarm(_: libc::c_int) {
    ALARMS.fetch_add(1, Ordering::Relaxed);
}

/// Sets an alarm every millisecond, as a program may.
fn count_alarms() {
    support::on_signal(libc::SIGALRM, on_alarm);
    support::every_millisecond(libc::ITIMER_REAL, true);
}

fn many_threads_are_sampled() {
    let _session = Builder::new("lines").lines(true).try_start().unwrap();
    let threads = 300;
    let all = Barrier::new(threads);
    let is_found = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                tickscope::scope!("one of many");
                // All threads are alive at the same time, so that the publisher finds them all.
                all.wait();
                while !is_found.load(Ordering::Relaxed) {
                    work(Duration::from_millis(1));
                }
            });
        }
        once(|snapshot| found(snapshot, "one of many").0 > 0);
        is_found.store(true, Ordering::Relaxed);
    });
    let snapshot = tickscope::snapshot();
    let site = snapshot.sites.iter().position(|site| site.name == "one of many");
    let rows = snapshot.nodes.site.iter().zip(&snapshot.nodes.calls);
    let calls: u64 = rows
        .filter(|(of, _)| Some(**of as usize) == site)
        .map(|(_, calls)| calls)
        .sum();
    assert_eq!(calls, threads as u64);
    assert!(matches!(snapshot.lines.state, LinesState::On(_)));
    once(|snapshot| found(snapshot, "inner").0 > 3);
}

/// A child inherits none of the collector's timers. If it creates a timer of its own that gets the same id, that timer
/// is left alone.
fn forked_children_are_unharmed() {
    let session = Builder::new("lines").lines(true).try_start().unwrap();
    once(|snapshot| found(snapshot, "inner").0 > 3);
    let child = support::fork(|| {
        let mut id: libc::c_int = 0;
        let none = std::ptr::null::<libc::sigevent>();
        // SAFETY: `id` is valid for writes. A null event is allowed, and means that the timer sends a signal when it
        // expires.
        let made = unsafe {
            libc::syscall(
                libc::SYS_timer_create,
                libc::c_long::from(libc::CLOCK_MONOTONIC),
                none,
                &raw mut id,
            )
        };
        work(Duration::from_millis(20));
        drop(session);
        let mut left = std::mem::MaybeUninit::<libc::itimerspec>::zeroed();
        // SAFETY: `left` is valid for writes.
        let there =
            unsafe { libc::syscall(libc::SYS_timer_gettime, libc::c_long::from(id), left.as_mut_ptr()) };
        i32::from(made != 0 || there != 0)
    });
    assert!(support::status_of(child).success());
    let (before, _) = found(&tickscope::snapshot(), "inner");
    once(|snapshot| found(snapshot, "inner").0 > before + 3);
}

/// A timer signal still pending after `exec` would end the new program, which has no handler for it. The kernel
/// discards pending timer signals at `exec`.
fn a_program_that_replaces_itself_is_not_ended_by_a_sample() {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .map(|value| value.parse::<u64>().unwrap())
    };
    let left = number("LEFT").or_else(|| number("EXECS")).unwrap_or(20);
    let _session = Builder::new("lines").lines(true).try_start().unwrap();
    // The work takes a different time in each round, so that in some round the kernel's timer, which ticks every 1 to
    // 10 ms, ticks just before the `exec`.
    work(Duration::from_micros(left % 10 * 1_100));
    if left > 0 {
        let error = Command::new(std::env::current_exe().unwrap())
            .args(std::env::args_os().skip(1))
            .env("LEFT", (left - 1).to_string())
            .exec();
        panic!("{error}");
    }
}

crate::support::tests![
    isolated:
    samples_tell_the_scope_and_the_code_of_each_thread,
    samples_stand_in_the_row_whose_call_they_interrupted_also_when_its_thread_has_ended,
    a_program_that_uses_sigprof_keeps_it,
    blocking_calls_go_on_and_the_programs_own_timers_come,
    many_threads_are_sampled,
    forked_children_are_unharmed,
    a_program_that_replaces_itself_is_not_ended_by_a_sample;
];
