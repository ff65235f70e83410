//! Programs that close all file descriptors, become daemons, or drop their privileges. The collector must tolerate all
//! of this.

use std::fs::{self, File};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::allocations::allocated;
use crate::support::{
    self, Isolated, calls_of, each_passes, has_exited, isolated_as_usual, newest, quick, ring_of, rings_in,
    test_name, wait_until,
};
use tickscope::{Builder, Destination, Status};
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_testkit::suite::skip;

/// Closes all descriptors from `first` upwards, as daemons do.
fn close_from(first: u32) {
    // SAFETY: this test does not use the closed descriptors again.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    assert_eq!(result, 0);
}

/// Closes the descriptors from 3 to 63 that are not in `files`, even in the gaps between them.
fn close_between(files: &[(i32, PathBuf)]) {
    let is_own = |number: &i32| files.iter().any(|(own, _)| own == number);
    for number in (3..64).filter(|number| !is_own(number)) {
        // SAFETY: this test does not use the closed descriptors again.
        unsafe { libc::close(number) };
    }
}

/// Opens files on behalf of the program. They get the lowest free descriptors.
fn own_files(place: &Path) -> Vec<(i32, PathBuf)> {
    (0..20)
        .map(|number| {
            let path = place.join(format!("own-{number}"));
            fs::write(&path, "mine").unwrap();
            let file = File::options().read(true).write(true).open(&path).unwrap();
            (file.into_raw_fd(), path)
        })
        .collect()
}

fn check_own(files: &[(i32, PathBuf)]) {
    for (number, path) in files {
        let behind = fs::read_link(format!("/proc/self/fd/{number}"));
        assert_eq!(behind.ok().as_ref(), Some(path), "it is open as it was");
        assert_eq!(fs::read_to_string(path).unwrap(), "mine");
    }
}

/// The program's own files get the numbers of the descriptors that were closed. The session must not close these files
/// or write its history into them. It must not report the ring as truncated either, because the ring is intact.
fn descriptors_of_a_program_that_closes_all_are_left_alone() {
    let done = isolated_as_usual!(|| {
        let session = quick("closes");
        let path = session.path().unwrap();
        tickscope::time!("before", ());
        close_from(3);
        let files = own_files(&support::shared_place());
        tickscope::time!("after", ());
        // The reset makes the publisher write a history, for which the file has to grow.
        drop(tickscope::reset());
        tickscope::time!("after", ());
        wait_until("a later record", || {
            calls_of(&newest(&RingFile::open(&path).unwrap()), "after") == 1
        });
        // By now the publisher has opened new descriptors. They are closed as well.
        close_between(&files);
        check_own(&files);
        tickscope::time!("after", ());
        drop(session);
        check_own(&files);
    });
    let ring = done.ring();
    assert!(has_exited(&ring));
    assert_eq!(calls_of(&newest(&ring), "after"), 2);
}

fn a_ring_that_is_closed_and_gone_is_replaced() {
    let session = quick("closes");
    let path = session.path().unwrap();
    fs::remove_file(&path).unwrap();
    close_from(3);
    let files = own_files(&support::shared_place());
    wait_until("another ring", || session.path().is_some_and(|now| now != path));
    let warnings = session.warnings().join("\n");
    // Without a descriptor, the publisher cannot check the file before it stores into the mapping, and the store could
    // raise a signal.
    let said = match tickscope_testkit::ring::kernel_copies() {
        true => "was removed or moved by another program",
        false => "was moved away, and the program has closed its descriptor",
    };
    assert!(warnings.contains(said), "{warnings}");
    drop(session);
    check_own(&files);
    drop(quick("again"));
}

/// The report at exit must not go into one of the program's own files that has taken over the descriptor of standard
/// error.
fn a_report_at_exit_goes_into_no_file_that_took_the_descriptor() {
    let make = |_| Isolated::as_usual(test_name!());
    for (end, done) in each_passes(["own", "log", "null"], make, |end| {
        let _session = Builder::new("ends").report_at_exit(Destination::Stderr).start();
        tickscope::time!("work", ());
        let path = support::shared_place().join("own");
        fs::write(&path, "mine").unwrap();
        let mut options = File::options();
        let file = match end {
            "own" => options.read(true).write(true).open(path),
            "log" => options.append(true).open(path),
            _ => options.write(true).open("/dev/null"),
        };
        // SAFETY: both descriptors are open.
        let number = unsafe { libc::dup2(file.unwrap().as_raw_fd(), libc::STDERR_FILENO) };
        assert_eq!(number, libc::STDERR_FILENO);
    }) {
        let own = fs::read_to_string(done.place().join("own")).unwrap();
        assert!(own.starts_with("mine"), "{end}: {own}");
        assert_eq!(own.contains("work"), end == "log", "{end}: {own}");
        assert_eq!(done.stderr, "");
    }
}

/// Turns into a daemon by forking twice, as usual. Returns true in the daemon.
fn daemonize() -> bool {
    for _ in 0..2 {
        // SAFETY: this process has only this thread and the publisher.
        match unsafe { libc::fork() } {
            0 => {
                // SAFETY: `setsid` takes no arguments. In the second round it fails, which does no harm.
                unsafe { libc::setsid() };
            }
            child => {
                assert!(child > 0);
                let mut status = -1;
                // SAFETY: `status` is valid for writes.
                unsafe { libc::waitpid(child, &mut status, 0) };
                return false;
            }
        }
    }
    close_from(0);
    for _ in 0..3 {
        let _ = File::options()
            .read(true)
            .write(true)
            .open("/dev/null")
            .unwrap()
            .into_raw_fd();
    }
    true
}

/// Runs `body` in the daemon, reports its result to the test, and exits.
fn daemon_says(body: impl FnOnce() -> String) -> ! {
    let said = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
    support::tell("daemon", said.unwrap_or_else(|_| "panicked".into()));
    std::process::exit(0)
}

fn a_daemon_publishes_where_it_starts_itself() {
    let running = Isolated::as_usual(test_name!()).start(|| {
        if daemonize() {
            daemon_says(|| {
                let session = quick("daemon");
                tickscope::time!("work", ());
                let ring = ring_of(&session);
                wait_until("the work", || calls_of(&newest(&ring), "work") == 1);
                format!("{:?}", session.status())
            });
        }
    });
    assert_eq!(running.told("daemon"), "Publishing");
}

fn a_daemon_that_was_started_before_publishes_nothing_and_goes_on() {
    let running = Isolated::as_usual(test_name!()).start(|| {
        let session = quick("before");
        tickscope::time!("work", ());
        if daemonize() {
            daemon_says(|| {
                for _ in 0..1000 {
                    tickscope::time!("in the daemon", ());
                }
                let files = own_files(&support::shared_place());
                tickscope::request_reset();
                let calls = tickscope::reset().calls() + tickscope::snapshot().calls();
                let own = tickscope::start("own");
                drop(session);
                check_own(&files);
                format!("{:?} {calls}", own.status())
            });
        }
        drop(session);
    });
    assert_eq!(running.told("daemon"), "Counting 0");
    let done = running.wait().succeeded();
    let ring = done.ring();
    assert!(has_exited(&ring));
    assert_eq!(calls_of(&newest(&ring), "in the daemon"), 0);
}

/// The child must not wait for a lock that is held by a thread of the parent. The allocator has such locks.
fn a_child_forked_past_the_c_library_goes_on() {
    let session = quick("forks");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                drop(tickscope::snapshot());
                drop(session.warnings());
            }
        });
        let _over = support::Over(&over);
        for _ in 0..50 {
            // SAFETY: this forks with the bare system call, as some runtimes do, so that no fork handlers run.
            let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
            if child == 0 {
                let before = allocated();
                tickscope::time!("child", ());
                tickscope::request_reset();
                let calls = tickscope::reset().calls() + tickscope::snapshot().calls();
                let counts = session.status() == Status::Counting && allocated() == before;
                // SAFETY: `_exit` ends the process without running exit handlers.
                unsafe { libc::_exit(if counts && calls == 0 { 7 } else { 1 }) }
            }
            assert_eq!(support::status_of(child as i32).code(), Some(7));
        }
    });
    assert_eq!(session.status(), Status::Publishing);
}

fn scopes_between_fork_and_exec_are_no_harm() {
    let session = quick("spawns");
    for _ in 0..20 {
        let mut command = Command::new("true");
        // SAFETY: the closure opens a scope, which neither allocates nor locks.
        unsafe {
            command.pre_exec(|| {
                tickscope::time!("between", ());
                Ok(())
            })
        };
        assert!(command.status().unwrap().success());
    }
    assert_eq!(calls_of(&tickscope::snapshot(), "between"), 0);
    assert_eq!(session.status(), Status::Publishing);
}

/// Drops all privileges that a program can drop while it runs.
fn give_up_rights() -> Result<(), &'static str> {
    let place = support::shared_place();
    let place = std::ffi::CString::new(place.to_str().unwrap()).unwrap();
    // SAFETY: `PR_SET_DUMPABLE` takes no pointers.
    let dumpable = unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) };
    assert_eq!(dumpable, 0);
    // SAFETY: `unshare` takes no pointers.
    if unsafe { libc::unshare(libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS) } != 0 {
        return Err("no rights to unshare");
    }
    // SAFETY: `setgid` takes no pointers.
    if unsafe { libc::setgid(65534) } != 0 {
        return Err("a namespace with a single user");
    }
    // SAFETY: `place` is a NUL-terminated string.
    assert_eq!(unsafe { libc::chroot(place.as_ptr()) }, 0);
    // SAFETY: `setuid` takes no pointers. The C library changes the id of all threads.
    assert_eq!(unsafe { libc::setuid(65534) }, 0);
    Ok(())
}

fn a_program_that_gives_up_its_rights_goes_on_publishing() {
    let mut running = Isolated::as_usual(test_name!()).start(|| {
        let session = quick("gives-up");
        if let Err(why) = give_up_rights() {
            support::tell("refused", why);
        }
        std::thread::spawn(|| tickscope::time!("after", ()))
            .join()
            .unwrap();
        wait_until("the end", || session.status() != Status::Publishing);
    });
    let ring = running.ring();
    wait_until("what came after", || calls_of(&newest(&ring), "after") == 1);
    assert_eq!(ring.liveness().unwrap(), Liveness::Running);
    running.kill();
    if let Ok(why) = fs::read_to_string(running.place().join("refused")) {
        skip(why);
    }
}

/// System calls made by the publisher after its first record, or by a program that is waiting.
const CALLS: [libc::c_long; 15] = [
    libc::SYS_futex,
    libc::SYS_clock_gettime,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_fcntl,
    libc::SYS_openat,
    libc::SYS_read,
    libc::SYS_close,
    libc::SYS_madvise,
    libc::SYS_exit_group,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
];

/// System calls that the publisher makes rarely: to get memory, to let the history grow, and when it ends.
const RARE_CALLS: [libc::c_long; 14] = [
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_brk,
    libc::SYS_fallocate,
    libc::SYS_fstatfs,
    libc::SYS_ftruncate,
    libc::SYS_lseek,
    libc::SYS_getdents64,
    libc::SYS_sched_yield,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sigaltstack,
    libc::SYS_exit,
];

fn under_a_filter_that_kills_at_other_system_calls_the_publisher_goes_on() {
    let running = Isolated::as_usual(test_name!()).start(|| {
        let session = quick("filtered");
        // The publisher makes the system calls of its start-up in the first second.
        let ring = ring_of(&session);
        let record = |ring: &RingFile| ring.newest().unwrap().sequence;
        let _slot = ring.take_slot().unwrap();
        let began = std::time::Instant::now();
        wait_until("the beginning to be over", || {
            began.elapsed() > Duration::from_millis(1500)
        });
        // `pread64` is for the test itself, which reads the ring. `getrusage` is for a thread that has lost its CPU and
        // reads its waits.
        let own = [libc::SYS_pread64, libc::SYS_getrusage];
        support::allow_only(&[&CALLS[..], &RARE_CALLS, &own].concat(), true);
        tickscope::time!("after", ());
        let first = record(&ring);
        loop {
            if record(&ring) > first + 3 {
                // SAFETY: `_exit` ends the process without running exit handlers.
                unsafe { libc::_exit(7) }
            }
            std::hint::spin_loop();
        }
    });
    let done = running.wait();
    assert_eq!(done.status.code(), Some(7), "{done:?}");
    let ring = done.ring();
    assert_eq!(calls_of(&newest(&ring), "after"), 1);
}

/// `TICKSCOPE=live` starts a session before `main`. Daemons and workers that are forked after that, daemons twice, must
/// still be measured.
fn a_child_that_is_forked_before_the_first_scope_has_a_session_of_its_own() {
    let live = |_| Isolated::as_usual(test_name!()).env("TICKSCOPE", "live");
    let ways = [("scopes", 1), ("start", 1), ("scopes", 2), ("start", 2)];
    for (way, done) in each_passes(ways, live, |(way, forks)| {
        let measured = || {
            let session = (way == "start").then(|| Builder::new("child").try_start().unwrap());
            tickscope::time!("in the child", ());
            if session.is_none() {
                wait_until("the child publishes", || {
                    let own = format!(".{}.", std::process::id());
                    let rings = rings_in(&support::shared_place().join("rings"));
                    rings.iter().any(|path| path.to_string_lossy().contains(&own))
                });
            }
            drop(session);
            std::process::exit(0);
        };
        let child = support::fork(|| match forks {
            1 => measured(),
            _ => i32::from(!support::status_of(support::fork(measured)).success()),
        });
        tickscope::time!("in the parent", ());
        assert!(support::status_of(child).success());
    }) {
        let rings = rings_in(&done.place().join("rings"));
        assert_eq!(rings.len(), 2, "{way:?}: {rings:?}");
        for path in rings {
            let ring = RingFile::open(&path).unwrap();
            assert!(has_exited(&ring), "{way:?}");
            let last = newest(&ring);
            let calls = ["in the child", "in the parent"].map(|name| calls_of(&last, name));
            assert!(matches!(calls, [1, 0] | [0, 1]), "{way:?}: {calls:?}");
        }
    }
}

crate::support::tests![
    own:
    a_child_that_is_forked_before_the_first_scope_has_a_session_of_its_own,
    descriptors_of_a_program_that_closes_all_are_left_alone,
    a_report_at_exit_goes_into_no_file_that_took_the_descriptor,
    a_daemon_publishes_where_it_starts_itself,
    a_daemon_that_was_started_before_publishes_nothing_and_goes_on,
    a_program_that_gives_up_its_rights_goes_on_publishing,
    under_a_filter_that_kills_at_other_system_calls_the_publisher_goes_on;
    as_usual:
    a_ring_that_is_closed_and_gone_is_replaced,
    a_child_forked_past_the_c_library_goes_on,
    scopes_between_fork_and_exec_are_no_harm;
];
