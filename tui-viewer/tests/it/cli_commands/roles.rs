//! Roles that the test binary plays when it is started as an observed program.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tickscope_format::file::create::OwnRing;
use tickscope_format::file::header::Header;
use tickscope_format::file::open::RingFile;
use tickscope_format::os;
use tickscope_format::ring::Stamp;
use tickscope_format::slots::{Op, Outcome};
use tickscope_format::snapshot::CaptureKind;
use tickscope_testkit::test_program::payload;

use crate::support::{VIEWER, own_rings, rings_in, until_true};

static END: AtomicBool = AtomicBool::new(false);

/// Plays a role. Returns false if there is no such role.
pub(crate) fn play(role: &str, argument: &str) -> bool {
    match role {
        "busy" => busy(argument),
        "computing" => computing(argument),
        "reported" => reported(argument),
        "stuck" => stuck(argument),
        "counted" => counted(argument),
        "telling" => telling(argument),
        "grouped" => grouped(argument),
        "attribute" => attribute(argument),
        "scopeless" => {}
        "echo" => echo(),
        "killed" => killed(),
        "older" => older(argument),
        "deaf" => deaf(argument),
        "two_rings" => two_rings(argument),
        "cramped" => cramped(argument),
        "wordy" => wordy(argument),
        "handling" => handling(argument),
        "instances" => instances(argument),
        _ => return false,
    }
    true
}

/// Runs `tickscope report` on this process immediately after `start` has returned, and prints its output.
fn reported(name: &str) {
    let _session = tickscope::start(name);
    let report = Command::new(VIEWER)
        .args(["report", "-f", "json", name])
        .output()
        .unwrap();
    std::io::stdout().write_all(&report.stdout).unwrap();
    std::io::stderr().write_all(&report.stderr).unwrap();
    std::process::exit(report.status.code().unwrap_or(101));
}

/// Computes in a scope until the test ends.
fn computing(name: &str) {
    let _session = tickscope::start(name);
    thread::spawn(|| {
        let mut sum = 1u64;
        while !END.load(Ordering::Relaxed) {
            tickscope::scope!("collatz");
            for _ in 0..1_000_000 {
                sum = std::hint::black_box(if sum.is_multiple_of(2) {
                    sum / 2
                } else {
                    sum.wrapping_mul(3) + 1
                });
            }
        }
    });
    wait_for_end();
}

/// Starts a thread that sets `END` when the test closes standard input.
fn end_with_input() {
    thread::spawn(wait_for_end);
}

/// Waits until the test closes standard input, then sets `END`.
fn wait_for_end() {
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
    END.store(true, Ordering::Relaxed);
}

/// Waits until the ring of this process contains a record with a call.
fn wait_for_a_call() {
    let pid = format!(".{}.", std::process::id());
    let has_call = |path: &PathBuf| {
        let newest = || RingFile::open(path)?.newest_snapshot();
        path.to_string_lossy().contains(&pid) && newest().is_ok_and(|(_, snapshot)| snapshot.calls() > 0)
    };
    until_true("a call is in the ring", || {
        rings_in(&own_rings()).iter().any(has_call)
    });
}

#[tickscope::profile]
fn outer(depth: u32) -> u64 {
    tickscope::scope!("inner");
    if depth == 0 {
        return leaf(1);
    }
    outer(depth - 1) + leaf(u64::from(depth))
}

#[tickscope::profile]
fn leaf(n: u64) -> u64 {
    (0..n * 20).fold(n, |a, b| std::hint::black_box(a ^ b))
}

/// Runs threads that compute a little, some of them short-lived.
fn busy(name: &str) {
    let _tickscope = tickscope::start(name);
    thread::scope(|scope| {
        for index in 0..2 {
            thread::Builder::new()
                .name(format!("busy-{index}"))
                .spawn_scoped(scope, || {
                    while !END.load(Ordering::Relaxed) {
                        for depth in 0..6 {
                            outer(depth);
                        }
                        // The sleep leaves CPU time for the tests on small machines.
                        thread::sleep(Duration::from_millis(2));
                    }
                })
                .unwrap();
        }
        scope.spawn(|| {
            while !END.load(Ordering::Relaxed) {
                thread::Builder::new()
                    .name("brief".into())
                    .spawn(|| outer(2))
                    .unwrap()
                    .join()
                    .unwrap();
                thread::sleep(Duration::from_millis(20));
            }
        });
        wait_for_end();
    });
}

/// Counts its own calls, and writes the count to a file before it exits.
fn telling(name: &str) {
    end_with_input();
    let session = tickscope::Builder::new(name)
        .interval(Duration::from_millis(10))
        .start();
    let mut calls = 0u64;
    while !END.load(Ordering::Relaxed) {
        for _ in 0..100 {
            tickscope::scope!("counted");
            calls += 1;
        }
        thread::sleep(Duration::from_millis(1));
    }
    drop(session);
    std::fs::write("calls", calls.to_string()).unwrap();
}

/// Runs a thread that waits inside a call in the group `pipe`, and a thread that makes nested calls in the group
/// `work`.
fn grouped(name: &str) {
    let _tickscope = tickscope::start(name);
    thread::scope(|scope| {
        let named = |name: &str| thread::Builder::new().name(name.into());
        let work = || {
            while !END.load(Ordering::Relaxed) {
                {
                    tickscope::scope!(group = "work", "outside");
                    tickscope::time!(group = "work", "inside", leaf(100));
                }
                thread::sleep(Duration::from_millis(1));
            }
        };
        let wait = || {
            tickscope::scope!(group = "pipe", "waits");
            wait_for_end();
        };
        named("worker").spawn_scoped(scope, work).unwrap();
        named("waiter").spawn_scoped(scope, wait).unwrap();
    });
}

/// Handles requests quickly. Whenever a file called `slow` appears in the working directory, removes it, and takes two
/// seconds for one request.
fn handling(name: &str) {
    let _tickscope = tickscope::start(name);
    end_with_input();
    while !END.load(Ordering::Relaxed) {
        {
            tickscope::scope!("handle");
            if std::fs::remove_file("slow").is_ok() {
                tickscope::scope!("lookup");
                thread::sleep(Duration::from_secs(2));
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Opens scopes whose names look like symbols: instances of a generic function, and a closure.
fn instances(name: &str) {
    let _tickscope = tickscope::start(name);
    end_with_input();
    while !END.load(Ordering::Relaxed) {
        {
            tickscope::scope!("<net::RequestService<S> as net::Service>::call::{closure#0}");
            tickscope::scope!("Slab<u8>::get");
            tickscope::scope!("Slab<u16>::get");
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Makes a call that lasts until the test ends.
fn stuck(name: &str) {
    let _tickscope = tickscope::start(name);
    tickscope::scope!("stuck_in_here");
    wait_for_end();
}

/// Makes calls in frames, then exits. For example, `10 3` means 10 frames with 3 calls each.
fn counted(numbers: &str) {
    let _tickscope = tickscope::start("counted");
    let numbers: Vec<u64> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
    tickscope::scope!("whole");
    for _ in 0..numbers[0] {
        tickscope::scope!("frame");
        for n in 0..numbers[1] {
            leaf(n);
        }
    }
}

#[tickscope::profile]
fn marked() {
    println!("the program's output");
    eprintln!("the program's complaint");
}

/// Calls a function that has the attribute `profile`, then exits with this code.
fn attribute(code: &str) {
    marked();
    std::process::exit(code.parse().unwrap_or(0));
}

fn echo() {
    tickscope::scope!("echo");
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    println!("heard {text}");
    std::io::stdout().flush().unwrap();
}

fn killed() {
    marked();
    wait_for_a_call();
    let own = rustix::process::getpid();
    rustix::process::kill_process(own, rustix::process::Signal::TERM).unwrap();
    thread::sleep(Duration::from_secs(60));
}

/// Path of the library that is named in the second ring of `two_rings`.
pub(super) const LIBRARY: &str = "/usr/lib/libplugin.so";

/// Makes a ring with one record, as a collector does.
fn made_ring(name: &str, nonce: u64, library: &str) -> OwnRing {
    let header = Header {
        boot_id: os::boot_id(),
        nonce,
        started_unix_ns: nonce,
        ring_words: (64 << 10) / 8,
        library: library.into(),
        ..tickscope_testkit::ring::header(name)
    };
    // The file name is derived from the header, without the characters that are not allowed in file names.
    let mut ring = OwnRing::create(&own_rings(), header).unwrap();
    publish(&mut ring, library);
    ring.beat(os::monotonic_ns(), 1_000_000_000);
    ring.link().unwrap();
    ring
}

/// Publishes a record. If `library` is not empty, the record also names another copy of the collector, which is in the
/// program itself.
fn publish(ring: &mut OwnRing, library: &str) -> u64 {
    let stamp = Stamp {
        kind: CaptureKind::Periodic,
        tick: 1,
        unix_ns: 1,
    };
    let mut snapshot = tickscope::snapshot();
    if !library.is_empty() {
        snapshot.process.copies = vec!["/usr/bin/program".into()];
    }
    ring.publish(stamp, &payload(&snapshot)).unwrap()
}

/// Makes two rings of one process, as two copies of the collector do. The second ring names a library.
fn two_rings(name: &str) {
    let rings = [(1, ""), (2, LIBRARY)].map(|(nonce, library)| made_ring(name, nonce, library));
    wait_for_end();
    drop(rings);
}

/// Plays an older collector, which understands only requests for a record.
fn older(name: &str) {
    let mut ring = made_ring(name, 1, "");
    end_with_input();
    while !END.load(Ordering::Relaxed) {
        for request in ring.requests() {
            let (outcome, record) = match request.op {
                Some(Op::PublishNow) => (Outcome::Done, publish(&mut ring, "")),
                _ => (Outcome::Unknown, 0),
            };
            ring.answer(&request, outcome, record, 0);
        }
        ring.beat(os::monotonic_ns(), 1_000_000_000);
        thread::sleep(Duration::from_millis(1));
    }
}

/// Runs a session without remote control.
fn deaf(name: &str) {
    let _tickscope = tickscope::Builder::new(name).allow_remote_control(false).start();
    tickscope::scope!("deaf");
    wait_for_end();
}

/// Converts bytes to a name in a constant expression.
const fn letters(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(name) => name,
        Err(_) => "",
    }
}

/// Opens a scope with a name so long that a small ring has space for only a few records.
fn wordy(name: &str) {
    const LONG: &str = letters(&[b'x'; 16_000]);
    let _tickscope = tickscope::Builder::new(name).ring_bytes(64 << 10).start();
    tickscope::scope!(LONG);
    wait_for_end();
}

/// Opens a scope with a name so long that no record fits into a small ring, even after rows have been pruned.
fn cramped(name: &str) {
    const LONG: &str = letters(&[b'x'; 40_000]);
    let _tickscope = tickscope::Builder::new(name).ring_bytes(64 << 10).start();
    tickscope::scope!(LONG);
    wait_for_end();
}
