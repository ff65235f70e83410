//! System calls that tests need: reading facts about a process, setting limits, and forking.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::{FOR_GOOD, wait_for};

/// Returns the value of a line in `/proc/{of}/status`, where `of` is a process or a thread.
pub(crate) fn status_line(of: &str, name: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{of}/status")).unwrap();
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let line = lines.find(|line| line.0 == name);
    line.unwrap().1.trim().to_string()
}

/// Returns how many bytes of anonymous memory this process has in RAM.
pub(crate) fn anonymous() -> u64 {
    let line = status_line("self", "RssAnon");
    line.trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Returns the size of this process's address space in bytes.
pub(crate) fn mapped() -> u64 {
    let facts = fs::read_to_string("/proc/self/statm").unwrap();
    facts.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096
}

/// Type of the name of a resource, which depends on the C library.
#[cfg(target_env = "musl")]
pub(crate) type Resource = libc::c_int;
#[cfg(not(target_env = "musl"))]
pub(crate) type Resource = libc::__rlimit_resource_t;

/// Sets a resource limit of this process, and returns the previous limit.
pub(crate) fn limit(resource: Resource, most: u64) -> u64 {
    let mut limits = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer is valid for writes.
    assert_eq!(unsafe { libc::getrlimit(resource, &mut limits) }, 0);
    let before = std::mem::replace(&mut limits.rlim_cur, most);
    // SAFETY: `limits` is initialised.
    assert_eq!(unsafe { libc::setrlimit(resource, &limits) }, 0);
    before
}

/// Forks. The child runs `body` and exits with the returned code.
pub(crate) fn fork(body: impl FnOnce() -> i32) -> libc::pid_t {
    // SAFETY: the child may make calls that are not async-signal-safe. That is on purpose, because children of real
    // programs make such calls, and the tests check what happens then.
    match unsafe { libc::fork() } {
        0 => {
            // The alarm kills a child that hangs.
            // SAFETY: the call takes no pointers.
            unsafe { libc::alarm(FOR_GOOD.as_secs() as u32) };
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(101);
            // SAFETY: `_exit` ends the process without running exit handlers.
            unsafe { libc::_exit(code) }
        }
        pid => {
            assert!(pid > 0);
            // The values that `body` owns are dropped only in the child.
            std::mem::forget(body);
            pid
        }
    }
}

/// Waits until a child has ended, and returns its exit status.
pub(crate) fn status_of(pid: libc::pid_t) -> ExitStatus {
    wait_for("the end of the forked child", || {
        let mut status = 0;
        // SAFETY: the pointer is valid for writes.
        let ended = unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) };
        (ended == pid).then(|| ExitStatus::from_raw(status))
    })
}

/// Returns the id of the calling thread.
pub(crate) fn thread_id() -> u32 {
    // SAFETY: the call takes no arguments and cannot fail.
    unsafe { libc::gettid() as u32 }
}

/// Sends a signal to a thread of this process. Does nothing if the thread has ended.
pub(crate) fn signal_thread(tid: u32, signal: libc::c_int) {
    // SAFETY: the call takes no pointers.
    unsafe { libc::syscall(libc::SYS_tgkill, std::process::id(), tid, signal) };
}

/// Sets the scheduling policy and priority of the calling thread. Returns whether the system permits that.
// This makes the system call directly because musl's `sched_setscheduler` does nothing.
pub(crate) fn schedule(policy: libc::c_int, priority: libc::c_int) -> bool {
    // SAFETY: 0 is the calling thread, and the parameters live through the call.
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) == 0 }
}

/// Returns the scheduling policy of a thread; 0 is the calling thread.
pub(crate) fn policy_of(tid: u32) -> libc::c_int {
    // SAFETY: the call takes no pointers.
    unsafe { libc::syscall(libc::SYS_sched_getscheduler, tid) as libc::c_int }
}

/// Pins the calling thread to one CPU.
pub(crate) fn pin(cpu: usize) {
    // SAFETY: an all-zero `cpu_set_t` is valid (an empty set).
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is initialised.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: the set has the given size.
    let result = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) };
    assert_eq!(result, 0);
}

/// Makes a timer of this process fire every millisecond or, if `on` is false, stops it.
pub(crate) fn every_millisecond(timer: libc::c_int, on: bool) {
    let every = libc::timeval {
        tv_sec: 0,
        tv_usec: if on { 1_000 } else { 0 },
    };
    let times = libc::itimerval {
        it_interval: every,
        it_value: every,
    };
    // SAFETY: the times are valid.
    let set = unsafe { libc::setitimer(timer, &times, std::ptr::null_mut()) };
    assert_eq!(set, 0);
}
