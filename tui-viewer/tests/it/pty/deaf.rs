//! The viewer ends without a key press: while the terminal accepts no output, when its shell is killed, and after a
//! hangup.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tickscope_testkit::suite::skip;

use crate::pty::session::Session;
use crate::support::until_true;

/// Returns the line in `/proc` that describes the system call in which a process is blocked, or `None` if it is running
/// or if `/proc` cannot be read.
fn call(pid: u32) -> Option<String> {
    let call = fs::read_to_string(format!("/proc/{pid}/syscall")).ok()?;
    (!call.starts_with("running")).then_some(call)
}

/// Returns the CPU time of a process so far, in hundredths of a second.
fn cpu(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = fields.split(' ').collect();
    [11, 12].map(|at| fields[at].parse::<u64>().unwrap()).iter().sum()
}

/// Fills the terminal's buffer until the viewer blocks in a write. If blocking cannot be observed, the test is skipped.
fn fill(session: &mut Session) {
    let pid = session.pid();
    session.stop_reading();
    let mut before = None;
    loop {
        // Ctrl-L makes the viewer draw the whole screen again.
        session.send("\x0c");
        std::thread::sleep(Duration::from_millis(30));
        let now = call(pid);
        let Some(now) = now else {
            if fs::read_to_string(format!("/proc/{pid}/syscall")).is_err() {
                skip("/proc does not say what a process waits for");
            }
            continue;
        };
        // The viewer is blocked if two checks in a row find the same system call, whose first argument is standard
        // output (file descriptor 1).
        if now.split(' ').nth(1) == Some("0x1") && before.as_ref() == Some(&now) {
            return;
        }
        before = Some(now);
    }
}

fn a_terminal_that_takes_nothing_keeps_no_viewer_from_ending() {
    let quit = Signal::QUIT.as_raw();
    for (signal, ended) in [("-TERM", (Some(143), None)), ("-QUIT", (None, Some(quit)))] {
        let mut session = Session::start_without_core(&["live"], (200, 60));
        session.wait_for_text("match::run");
        fill(&mut session);
        let pid = session.pid();
        let (busy, begin) = (cpu(pid), Instant::now());
        std::thread::sleep(Duration::from_millis(300));
        let used = cpu(pid) - busy;
        // A blocked viewer must sleep, not retry in a loop.
        assert!(
            used * 20 <= begin.elapsed().as_millis() as u64,
            "{used} hundredths"
        );
        session.signal(signal);
        let begin = Instant::now();
        let status = session.end();
        assert_eq!((status.code(), status.signal()), ended);
        let took = begin.elapsed();
        println!("a blocked viewer is gone {took:?} after SIG{}", &signal[1..]);
        session.read();
        session.assert_as_before();
    }
}

fn a_hang_up_without_a_closed_terminal_leaves_no_trace() {
    let session = Session::shown("live", (80, 24));
    session.signal("-HUP");
    let begin = Instant::now();
    assert_eq!(session.end().code(), Some(129));
    println!("the viewer is gone {:?} after SIGHUP", begin.elapsed());
    session.assert_as_before();
}

fn a_shell_that_is_killed_takes_its_viewer_along() {
    let session = Session::in_a_shell("", &std::env::temp_dir(), "live");
    let shell = session.pid();
    let children = fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap();
    let viewer = children.trim().to_string();
    session.signal("-KILL");
    session.end();
    let begin = Instant::now();
    until_true("the viewer has ended", || {
        let stat = fs::read_to_string(format!("/proc/{viewer}/stat")).ok();
        stat.is_none_or(|stat| stat.contains(") Z "))
    });
    let took = begin.elapsed();
    println!("the viewer is gone {took:?} after its shell was killed");
    // The shell was killed, so the viewer itself must restore the screen.
    session.wait_for("the main screen with a cursor", |screen| {
        !screen.alternate_screen() && !screen.hide_cursor()
    });
}

tickscope_testkit::tests![
    a_terminal_that_takes_nothing_keeps_no_viewer_from_ending,
    a_hang_up_without_a_closed_terminal_leaves_no_trace,
    a_shell_that_is_killed_takes_its_viewer_along,
];
