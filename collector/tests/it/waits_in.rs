//! The system calls in which threads wait. They are found by sampling threads that have had no recent events.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crate::support::{checked, complain, quick, threads_named, wait_for, wait_until};
use tickscope::Snapshot;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::Now;

/// Returns the system calls in which rows with this name were seen waiting, and the total number of samples.
fn found<'a>(snapshot: &'a Snapshot, name: &str) -> (BTreeSet<&'a str>, u64) {
    let samples = snapshot.waits_in.samples();
    let of_name = samples.filter(|&(row, ..)| snapshot.site_of(NodeId(row)).name == name);
    of_name.fold((BTreeSet::new(), 0), |(mut calls, sum), (_, call, count)| {
        calls.insert(call);
        (calls, sum + count)
    })
}

fn now<'a>(snapshot: &'a Snapshot, thread: &str) -> Option<Now<'a>> {
    let thread = threads_named(snapshot, thread).next()?;
    snapshot.waits_in.now_of(thread.0)
}

/// Checks that rows with this name were seen waiting only in the system call `call`, and that the thread is waiting in
/// it now. Some systems do not report the call.
fn assert_in(snapshot: &Snapshot, name: &str, thread: &str, call: &str) {
    let (calls, _) = found(snapshot, name);
    if calls == BTreeSet::from(["unknown call"]) {
        return complain("this system does not tell what threads wait in");
    }
    assert_eq!(calls, BTreeSet::from([call]), "{name}");
    assert_eq!(now(snapshot, thread), Some(Now::In(call)), "{thread}");
}

fn threads_are_found_in_the_calls_they_wait_in() {
    let _session = quick("waits");
    static END: AtomicBool = AtomicBool::new(false);
    let spawn = |name: &str, body: Box<dyn FnOnce() + Send>| {
        let thread = std::thread::Builder::new().name(name.into());
        thread.spawn(body).unwrap()
    };
    let (release, locked) = mpsc::channel::<()>();
    let (mut input, output) = std::io::pipe().unwrap();
    let threads = [
        spawn(
            "asleep",
            Box::new(|| {
                tickscope::time!(
                    "nap",
                    while !END.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(200))
                    }
                );
            }),
        ),
        spawn(
            "locked",
            Box::new(move || {
                tickscope::time!("lock", _ = locked.recv());
            }),
        ),
        spawn(
            "reading",
            Box::new(move || {
                tickscope::time!("outer", tickscope::time!("input", _ = input.read(&mut [0])));
            }),
        ),
        spawn(
            "busy",
            Box::new(|| {
                tickscope::time!(
                    "busy",
                    while !END.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                );
            }),
        ),
        spawn(
            "paused",
            Box::new(|| {
                tickscope::time!("paused", {
                    let _pause = tickscope::pause();
                    while !END.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                });
            }),
        ),
    ];
    let snapshot = wait_for("some samples of each", || {
        let snapshot = checked(tickscope::snapshot());
        let all = ["nap", "lock", "input"]
            .iter()
            .all(|name| found(&snapshot, name).1 >= 3);
        (all && now(&snapshot, "paused").is_some()).then_some(snapshot)
    });
    assert_in(&snapshot, "nap", "asleep", "clock_nanosleep");
    assert_in(&snapshot, "lock", "locked", "futex");
    assert_in(&snapshot, "input", "reading", "read (pipe)");
    for none in ["outer", "busy", "paused"] {
        assert_eq!(found(&snapshot, none).1, 0, "{none}");
    }
    wait_until("the busy one to have a CPU, or to want one", || {
        let snapshot = tickscope::snapshot();
        let now = now(&snapshot, "busy");
        assert!(!matches!(now, Some(Now::In(_))), "{now:?}");
        matches!(now, Some(Now::Running | Now::Ready))
    });

    let before = found(&snapshot, "lock").1;
    tickscope::reset();
    let after = checked(tickscope::snapshot());
    assert!(found(&after, "lock").1 < before, "a reset begins anew");
    drop((release, output));
    END.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let kept = found(&after, "input").1;
    let snapshot = checked(tickscope::snapshot());
    assert!(
        found(&snapshot, "input").1 >= kept,
        "ended threads keep their samples"
    );
    assert_eq!(now(&snapshot, "reading"), None);
}

/// While a standard descriptor is closed, the collector must open no files. Otherwise, one of them could take the
/// descriptor number that the program expects to get from its next `open`.
fn while_a_standard_descriptor_is_closed_nobody_looks() {
    let session = quick("closed");
    // SAFETY: nothing in this process reads standard input.
    assert_eq!(unsafe { libc::close(0) }, 0);
    tickscope::time!("nap", std::thread::sleep(Duration::from_millis(500)));
    let snapshot = checked(tickscope::snapshot());
    assert_eq!(found(&snapshot, "nap").1, 0);
    // SAFETY: the path is NUL-terminated.
    let null = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY) };
    assert_eq!(null, 0, "the number is still free");
    tickscope::time!(
        "nap",
        wait_until("looks", || found(&tickscope::snapshot(), "nap").1 > 0)
    );
    drop(session);
}

/// The publisher looks at only a few threads at a time, so the threads must take turns.
fn of_many_threads_each_is_looked_at() {
    const THREADS: usize = 50;
    let _session = quick("many");
    let (send, receive) = mpsc::channel::<()>();
    let receive = std::sync::Arc::new(std::sync::Mutex::new(receive));
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let receive = std::sync::Arc::clone(&receive);
            let thread = std::thread::Builder::new().stack_size(64 << 10);
            thread
                .spawn(move || tickscope::time!("wait", _ = receive.lock().unwrap().recv()))
                .unwrap()
        })
        .collect();
    wait_until("all to be known", || {
        let snapshot = checked(tickscope::snapshot());
        let waiting = snapshot
            .waits_in
            .now()
            .filter(|(_, now)| matches!(now, Now::In(_)));
        waiting.count() == THREADS
    });
    drop(send);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let snapshot = checked(tickscope::snapshot());
    assert!(found(&snapshot, "wait").1 >= THREADS as u64);
}

crate::support::tests![
    isolated:
    threads_are_found_in_the_calls_they_wait_in,
    while_a_standard_descriptor_is_closed_nobody_looks,
    of_many_threads_each_is_looked_at;
];
