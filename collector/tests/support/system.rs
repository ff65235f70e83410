//! What tests ask the kernel, and have it do to their process.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::{FOR_GOOD, wait_for};

/// A line of the status of a process or a thread, whose folder in `/proc` has this name.
pub(crate) fn status_line(of: &str, name: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{of}/status")).unwrap();
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let line = lines.find(|line| line.0 == name);
    line.unwrap().1.trim().to_string()
}

/// Anonymous memory of this process that is in RAM, in bytes.
pub(crate) fn anonymous() -> u64 {
    let line = status_line("self", "RssAnon");
    line.trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Address space of this process, in bytes.
pub(crate) fn mapped() -> u64 {
    let facts = fs::read_to_string("/proc/self/statm").unwrap();
    facts.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096
}

/// Sets a limit of this process; gives the one before.
pub(crate) fn limit(resource: libc::__rlimit_resource_t, most: u64) -> u64 {
    let mut limits = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid place for one.
    assert_eq!(unsafe { libc::getrlimit(resource, &mut limits) }, 0);
    let before = std::mem::replace(&mut limits.rlim_cur, most);
    // SAFETY: a valid rlimit.
    assert_eq!(unsafe { libc::setrlimit(resource, &limits) }, 0);
    before
}

/// Forks; the child runs `body` and is gone.
pub(crate) fn fork(body: impl FnOnce() -> i32) -> libc::pid_t {
    // SAFETY: the child calls what children of programs with threads often call in practice: this is the test.
    match unsafe { libc::fork() } {
        0 => {
            // A child that hangs shall not stay for ever.
            // SAFETY: the call takes a number, no pointer.
            unsafe { libc::alarm(FOR_GOOD.as_secs() as u32) };
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(101);
            // SAFETY: the call ends the process without handlers.
            unsafe { libc::_exit(code) }
        }
        pid => {
            assert!(pid > 0);
            // What it owns is the child's to drop.
            std::mem::forget(body);
            pid
        }
    }
}

/// How a child ended, once it did.
pub(crate) fn status_of(pid: libc::pid_t) -> ExitStatus {
    wait_for("the end of the forked child", || {
        let mut status = 0;
        // SAFETY: `status` is a valid place.
        let ended = unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) };
        (ended == pid).then(|| ExitStatus::from_raw(status))
    })
}
