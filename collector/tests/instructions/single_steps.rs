//! Steps through code with ptrace, and delivers signals between its instructions.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::support::{self, Isolated, test_name};
use tickscope_testkit::suite::skip;

extern "C" fn handler(_: libc::c_int) {
    tickscope::scope!("handled");
}

/// Stops the process, so that its tracer can take over.
fn stop() {
    // SAFETY: `raise` takes no pointers.
    unsafe { libc::raise(libc::SIGSTOP) };
}

fn trace(request: libc::c_uint, pid: libc::pid_t, signal: libc::c_int) -> libc::c_long {
    let nothing = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: these requests read or write no memory of the tracer, and the process is a child of this test.
    unsafe { libc::ptrace(request, pid, nothing, libc::c_long::from(signal)) }
}

/// Waits for the process to stop or end; returns the reason.
fn stopped(pid: libc::pid_t) -> ExitStatus {
    let mut status = 0;
    // SAFETY: `status` is valid for writes.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, libc::__WALL) }, pid);
    ExitStatus::from_raw(status)
}

/// Number of instructions between two signals. At least one signal arrives between marking the thread as included and
/// giving it its tree, because these are three instructions apart.
const STEP: u64 = 2;

/// If `include` marked the thread as included before the thread had a tree, a scope in a signal handler would look for
/// the tree forever.
fn a_scope_in_a_handler_while_its_thread_is_included_goes_on() {
    let mut running = Isolated::new(test_name!()).start(|| {
        support::on_signal(libc::SIGUSR1, handler);
        tickscope::time!("first", ());
        if trace(libc::PTRACE_TRACEME, 0, 0) != 0 {
            std::process::exit(3);
        }
        loop {
            tickscope::thread::exclude();
            stop();
            tickscope::thread::include();
            stop();
        }
    });
    let pid = running.pid() as libc::pid_t;
    let mut rounds = 0;
    'rounds: loop {
        let mut status = stopped(pid);
        if status.code() == Some(3) {
            skip("tracing is not permitted here");
        }
        assert_eq!(status.stopped_signal(), Some(libc::SIGSTOP), "{status}");
        for _ in 0..rounds * STEP {
            trace(libc::PTRACE_SINGLESTEP, pid, 0);
            status = stopped(pid);
            if status.stopped_signal() == Some(libc::SIGSTOP) {
                // The child has passed the last instruction.
                break 'rounds;
            }
        }
        trace(libc::PTRACE_CONT, pid, libc::SIGUSR1);
        status = stopped(pid);
        assert_eq!(status.stopped_signal(), Some(libc::SIGSTOP), "{status}");
        trace(libc::PTRACE_CONT, pid, 0);
        rounds += 1;
    }
    assert!(rounds > 10, "{rounds}");
    running.kill();
}

tickscope_testkit::tests![
    ;
    ignored:
    // The test takes half a minute, so only `.ci/nightly` runs it.
    a_scope_in_a_handler_while_its_thread_is_included_goes_on
];
