//! Threads that hang, end, have no name, or open scopes in destructors, and limits on the whole process. Limits on a
//! single thread are tested in `programs`, thousands of threads in `scale`, and signal handlers in `signals`.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use crate::support::{
    self, Isolated, calls_of, check, checked, each_passes, newest, open_path, test_name, threads_named,
    ticks_of, tree, wait_until,
};
use tickscope::Builder;
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::{Snapshot, ThreadState};

fn a_thread_stuck_in_one_call_shows_growing_time_until_the_program_is_killed() {
    let mut running = Isolated::new(test_name!()).start(|| {
        let session = Builder::new("stuck").try_start().unwrap();
        std::thread::Builder::new()
            .name("worker".into())
            .spawn(|| {
                tickscope::scope!("outer");
                tickscope::time!("done", ());
                tickscope::scope!("stuck");
                loop {
                    std::thread::park();
                }
            })
            .unwrap();
        let me = || tickscope::snapshot();
        wait_until("the call", || calls_of(&me(), "stuck") == 1);
        let first = ticks_of(&me(), "stuck");
        wait_until("growth", || ticks_of(&me(), "stuck") > first);
        support::tell("ready", "");
        wait_until("the end", || session.path().is_none());
    });
    running.told("ready");
    let ring = running.ring();
    assert_eq!(ring.liveness().unwrap(), Liveness::Running);
    let _slot = ring.take_slot().unwrap().unwrap();
    let mut last = 0;
    for _ in 0..3 {
        wait_until("growing time", || {
            let snapshot = checked(newest(&ring));
            let (before, now) = (last, ticks_of(&snapshot, "stuck"));
            last = now;
            now > before && before > 0
        });
        let snapshot = newest(&ring);
        let worker = threads_named(&snapshot, "worker").next().unwrap();
        assert_eq!(snapshot.threads[worker.index()].state, ThreadState::Running);
        assert_eq!(open_path(&snapshot, worker), ["outer", "stuck"]);
    }
    running.kill();
    let Liveness::Crashed { unix_ns } = ring.liveness().unwrap() else {
        panic!("{:?}", ring.liveness());
    };
    let (record, snapshot) = RingFile::open(ring.path()).unwrap().newest_snapshot().unwrap();
    assert_eq!(unix_ns, record.stamp.unix_ns);
    check(&snapshot);
    assert!(ticks_of(&snapshot, "stuck") >= last);
}

fn names_are_those_of_the_kernel_and_threads_without_one_share_theirs() {
    tickscope::time!("work", ());
    let (done, hear) = mpsc::channel::<()>();
    let wait = move || {
        tickscope::time!("work", ());
        let _ = hear.recv();
    };
    let long = std::thread::Builder::new()
        .name("a-name-longer-than-fifteen".into())
        .spawn(wait)
        .unwrap();
    std::thread::spawn(|| tickscope::time!("work", ()))
        .join()
        .unwrap();
    wait_until("the long-named one", || {
        calls_of(&tickscope::snapshot(), "work") == 3
    });
    let snapshot = tickscope::snapshot();
    let mut names: Vec<(&str, u64)> = snapshot.threads.iter().map(|t| (&*t.name, t.count)).collect();
    names.sort_unstable();
    assert_eq!(names, [("a-name-longer-t", 1), ("main", 1), ("thread", 1)]);
    let main = threads_named(&snapshot, "main").next().unwrap();
    assert_eq!(snapshot.threads[main.index()].tid, std::process::id());
    drop(done);
    long.join().unwrap();
    let snapshot = tickscope::snapshot();
    assert!(
        snapshot
            .threads
            .iter()
            .any(|t| t.name == "a-name-longer-t" && t.state == ThreadState::Finished)
    );
}

static OPENED: AtomicU64 = AtomicU64::new(0);

struct OpensScopes;

impl Drop for OpensScopes {
    fn drop(&mut self) {
        OPENED.fetch_add(2, Ordering::Relaxed);
        tickscope::scope!("destructor");
        let _pause = tickscope::pause();
        tickscope::time!("in it", ());
        drop(tickscope::snapshot());
    }
}

thread_local! {
    static EARLY: OpensScopes = const { OpensScopes };
    static LATE: OpensScopes = const { OpensScopes };
    static ONCE: Cell<u8> = const { Cell::new(0) };
}

fn scopes_in_destructors_of_threads_are_counted_or_counted_as_dropped() {
    for round in 0..60 {
        std::thread::spawn(move || {
            ONCE.set(1);
            if round % 3 != 0 {
                EARLY.with(|_| ());
            }
            if round % 3 != 1 {
                OPENED.fetch_add(1, Ordering::Relaxed);
                tickscope::time!("body", ());
            }
            LATE.with(|_| ());
        })
        .join()
        .unwrap();
    }
    let snapshot = checked(tickscope::snapshot());
    assert_eq!(
        snapshot.calls() + snapshot.capture.losses.dropped,
        OPENED.load(Ordering::Relaxed)
    );
    assert_eq!(
        snapshot.capture.losses.dropped, 0,
        "our own end comes behind them all"
    );
    assert_eq!(snapshot.lifetime.calls, snapshot.calls());
    assert_eq!(snapshot.capture.losses.unbalanced, 0);
}

/// Opens scopes. This is the destructor of a `pthread_key_create` key.
unsafe extern "C" fn opens_scopes(_: *mut libc::c_void) {
    drop(OpensScopes);
}

fn new_key() -> libc::pthread_key_t {
    let mut key = 0;
    // SAFETY: the pointer is valid for writes, and the destructor accepts any value.
    let made = unsafe { libc::pthread_key_create(&mut key, Some(opens_scopes)) };
    assert_eq!(made, 0);
    key
}

/// The values of pthread keys are destroyed after Rust's thread-locals, in the order in which the keys were created.
fn scopes_in_destructors_of_threads_in_c_are_counted_or_counted_as_dropped() {
    let early = new_key();
    tickscope::time!("body", ());
    let late = new_key();
    let opened = |round: u64| {
        std::thread::spawn(move || {
            let body = || tickscope::time!("body", ());
            let set = |key| {
                // SAFETY: the key was created above, and its value is never dereferenced.
                let result = unsafe { libc::pthread_setspecific(key, std::ptr::dangling()) };
                assert_eq!(result, 0);
            };
            if round.is_multiple_of(2) {
                body();
            }
            set(early);
            set(late);
        })
        .join()
        .unwrap();
        u64::from(round.is_multiple_of(2))
    };
    let body: u64 = 1 + (0..60).map(opened).sum::<u64>();
    let snapshot = checked(tickscope::snapshot());
    assert_eq!(OPENED.load(Ordering::Relaxed), 240);
    assert_eq!(snapshot.calls() + snapshot.capture.losses.dropped, 240 + body);
    // In odd rounds, a destructor opens the thread's first scope, and this registers the collector's own destructor. As
    // many scopes are dropped as in even rounds.
    assert_eq!(
        snapshot.capture.losses.dropped, 120,
        "scopes after our own destructor"
    );
    let living = snapshot.threads.iter().filter(|thread| thread.tid != 0);
    assert_eq!(living.count(), 1);
}

fn threads_are_folded_where_the_program_has_used_up_the_keys_of_the_system() {
    let make = |_| Isolated::new(test_name!());
    each_passes([40, usize::MAX], make, |keys| {
        let mut key = 0;
        // SAFETY: the pointer is valid for writes.
        let mut make = || unsafe { libc::pthread_key_create(&mut key, None) } == 0;
        (0..keys).take_while(|_| make()).for_each(drop);
        for _ in 0..10 {
            std::thread::spawn(|| tickscope::time!("short", ()))
                .join()
                .unwrap();
        }
        let snapshot = tickscope::snapshot();
        assert_eq!(calls_of(&snapshot, "short"), 10);
        assert_eq!(snapshot.threads.len(), 1);
        assert_eq!((snapshot.threads[0].tid, snapshot.threads[0].count), (0, 10));
    });
}

fn guards_leaked_in_a_loop_are_unbalanced_and_what_follows_is_measured() {
    let _session = Builder::new("leaks").start();
    for round in 1..=3 {
        for _ in 0..2_000 {
            std::mem::forget(tickscope::scope_guard!("leaked"));
            tickscope::time!("inside", ());
        }
        for _ in 0..10 {
            tickscope::time!("after", ());
        }
        let snapshot = checked(tickscope::snapshot());
        let losses = snapshot.capture.losses;
        assert_eq!(losses.dropped, 0, "{losses:?}");
        assert!(losses.unbalanced >= round * 1_500, "{losses:?}");
        assert_eq!(calls_of(&snapshot, "leaked"), 2_000 * round);
        assert_eq!(calls_of(&snapshot, "inside"), 2_000 * round);
        assert_eq!(calls_of(&snapshot, "after"), 10 * round);
    }
}

/// Opens twenty scopes one after the other, and recurses inside each of them. Returns the number of opened scopes.
fn bush(depth: u32) -> u64 {
    if depth == 0 {
        return 0;
    }
    let mut opened = 0;
    macro_rules! places {
        ($($name:literal)*) => {
            $({
                tickscope::scope!($name);
                opened += 1 + bush(depth - 1);
            })*
        };
    }
    places!("0" "1" "2" "3" "4" "5" "6" "7" "8" "9" "a" "b" "c" "d" "e" "f" "g" "h" "i" "j");
    opened
}

/// Returns the number of rows other than "(over the limit)", and the sum of their calls.
fn rows_and_calls(snapshot: &Snapshot) -> (usize, u64) {
    let rows = (0..).zip(&snapshot.nodes.calls);
    let own = rows.filter(|&(row, _)| snapshot.site_of(NodeId(row)).name != "(over the limit)");
    own.fold((0, 0), |(rows, sum), (_, calls)| (rows + 1, sum + calls))
}

fn nodes_of_the_process_are_given_back_by_threads_that_end() {
    let _session = Builder::new("nodes").max_process_nodes(500).start();
    let mut opened = 0;
    for _ in 0..10 {
        opened += std::thread::spawn(|| bush(2)).join().unwrap();
        // As below, a snapshot merges what the thread may have left.
        let snapshot = tickscope::snapshot();
        assert_eq!(snapshot.calls(), opened, "420 at a time");
        assert_eq!(snapshot.capture.losses.dropped, 0, "420 at a time");
    }
    let (told, hear) = mpsc::channel::<()>();
    let (ready, is_ready) = mpsc::channel();
    let holder = std::thread::spawn(move || {
        ready.send(bush(2)).unwrap();
        let _ = hear.recv();
    });
    opened += is_ready.recv().unwrap();
    opened += bush(2);
    let snapshot = checked(tickscope::snapshot());
    let (rows, calls) = rows_and_calls(&snapshot);
    assert_eq!(rows, 420 + 500);
    assert!(snapshot.capture.losses.dropped > 0);
    assert_eq!(calls + snapshot.capture.losses.dropped, opened);
    assert_eq!(snapshot.lifetime.calls, snapshot.calls());
    drop(told);
    holder.join().unwrap();
    let snapshot = tickscope::snapshot();
    let (_, calls) = rows_and_calls(&snapshot);
    assert_eq!(calls + snapshot.capture.losses.dropped, opened);
}

fn finished_threads_beyond_the_nodes_of_the_process_are_one_row() {
    let _session = Builder::new("pruned").max_process_nodes(420).start();
    let mut opened = 0;
    for name in ["one", "two", "two"] {
        let thread = std::thread::Builder::new().name(name.into()).spawn(|| bush(2));
        opened += thread.unwrap().join().unwrap();
        // A thread that ends while a snapshot is taken leaves its tree, and its nodes, to the next snapshot.
        drop(tickscope::snapshot());
    }
    let snapshot = checked(tickscope::snapshot());
    assert_eq!(snapshot.calls(), opened);
    assert_eq!(
        tree(&snapshot, "two").split(' ').take(2).collect::<Vec<_>>(),
        ["(pruned)", "840"]
    );
}

crate::support::tests![
    own:
    a_thread_stuck_in_one_call_shows_growing_time_until_the_program_is_killed,
    threads_are_folded_where_the_program_has_used_up_the_keys_of_the_system;
    isolated:
    names_are_those_of_the_kernel_and_threads_without_one_share_theirs,
    scopes_in_destructors_of_threads_are_counted_or_counted_as_dropped,
    scopes_in_destructors_of_threads_in_c_are_counted_or_counted_as_dropped,
    guards_leaked_in_a_loop_are_unbalanced_and_what_follows_is_measured,
    nodes_of_the_process_are_given_back_by_threads_that_end,
    finished_threads_beyond_the_nodes_of_the_process_are_one_row;
];
