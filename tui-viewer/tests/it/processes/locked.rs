//! Other processes of the same user hold locks that no viewer would hold: on the whole file, or on a slot without ever
//! releasing it.

use std::fs;

use tickscope_format::file::clean::clean;
use tickscope_format::file::open::{Liveness, RingFile};

use crate::support::{Place, Program, until, until_true};

/// Starts a process that holds a lock on a ring.
fn hold(place: &Place, what: &str, ring: &RingFile) -> Program {
    let holder = Program::spawn(&mut place.role("holder", format!("{what}\n{}", ring.path().display())));
    until("the lock is held", || {
        let tasks = fs::read_dir(format!("/proc/{}/task", holder.pid())).ok()?;
        let mut names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.any(|name| name.trim() == "holding").then_some(())
    });
    holder
}

fn locks_of_others_hold_the_program_up_in_nothing() {
    for what in ["all bytes", "one slot"] {
        let place = Place::new();
        let (mut program, ring) = place.run("asked");
        let holder = hold(&place, what, &ring);
        let first = ring.newest().unwrap().sequence;
        // The program assumes that locked slots belong to viewers, so it publishes at the rate for viewers.
        until_true("it publishes on", || ring.newest().unwrap().sequence > first + 20);
        assert_eq!(ring.liveness().unwrap(), Liveness::Running, "{what}");
        assert_eq!(place.listed(ring.path())["state"], "running");
        let path = ring.path().to_str().unwrap().to_string();
        let done = place.tickscope(&["reset", &path]);
        if what == "one slot" {
            done.ok();
        } else {
            done.with_code(1).says(&["16 viewers are there already"]);
        }
        drop(holder);
        place.tickscope(&["reset", &path]).ok();
        assert!(program.runs());
        assert!(program.end().success());
    }
}

/// The lock shows that a program is alive, and the heartbeat shows that it is working. If another process holds the
/// lock of a dead program, the program must not count as running.
fn a_dead_program_whose_lock_another_process_holds_does_not_run() {
    let place = Place::new();
    let (mut program, ring) = place.run("asked");
    program.kill();
    let holder = hold(&place, "flock", &ring);
    let state = until("its last heartbeat is old", || {
        let state = ring.liveness().unwrap();
        (state != Liveness::Running).then_some(state)
    });
    assert!(matches!(state, Liveness::Stale { .. }), "{state:?}");
    assert_eq!(place.listed(ring.path())["state"], "stale");
    let removed = clean(&place.rings(), 0, None);
    assert_eq!(removed.len(), 0, "what is locked is not removed");
    // No process can carry out the request.
    let done = place.tickscope(&["reset", ring.path().to_str().unwrap()]);
    done.with_code(1).says(&["did not answer within 2 s"]);
    drop(holder);
    until_true("the lock is free", || {
        matches!(ring.liveness().unwrap(), Liveness::Crashed { .. })
    });
    assert_eq!(place.listed(ring.path())["state"], "crashed");
    assert_eq!(clean(&place.rings(), 0, None).len(), 1);
}

/// To check a ring, a viewer briefly takes a shared lock, which other viewers can hold at the same time.
fn a_viewer_that_asks_for_a_lock_is_not_taken_for_the_program() {
    let place = Place::new();
    let (mut program, ring) = place.run("asked");
    program.kill();
    until_true("its lock is free", || {
        matches!(ring.liveness().unwrap(), Liveness::Crashed { .. })
    });
    let other = fs::File::open(ring.path()).unwrap();
    other.try_lock_shared().unwrap();
    assert!(matches!(ring.liveness().unwrap(), Liveness::Crashed { .. }));
    assert_eq!(place.listed(ring.path())["state"], "crashed");
    // The check must release the lock again: a program that was mistaken for dead must be able to take it.
    other.unlock().unwrap();
    other.try_lock().unwrap();
}

tickscope_testkit::tests![
    locks_of_others_hold_the_program_up_in_nothing,
    a_dead_program_whose_lock_another_process_holds_does_not_run,
    a_viewer_that_asks_for_a_lock_is_not_taken_for_the_program,
];
