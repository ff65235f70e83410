//! Ends the program in two cases in which the loop cannot. In the first case, the terminal is closed, and SIGHUP is
//! ignored or not sent. In the second case, a signal asks the program to end while the loop waits for a terminal that
//! takes no bytes.

use std::io;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTERM};
use signal_hook::low_level::emulate_default_handler;

use crate::terminal::guard;

/// Number that a shell adds to a signal's number to report a death by that signal.
const BY_SIGNAL: i32 = 128;

/// Time for the loop to end without help.
const ITS_TURN: Duration = Duration::from_millis(400);

/// Time for the loop to end while its bytes are dropped: the rest of a frame, and the bytes that restore the screen.
const LAST_TURN: Duration = Duration::from_secs(2);

/// Longest time until a writing loop has filled the terminal's buffer again.
const FILLS: Duration = Duration::from_millis(20);

/// Watches in a thread that sleeps until the terminal is gone or a signal asks for the end.
///
/// # Errors
/// Returns the error of the system.
pub(super) fn watch(tty: OwnedFd) -> io::Result<()> {
    let (asked, end) = UnixStream::pair()?;
    let sent = Arc::new(AtomicUsize::new(0));
    for signal in [SIGTERM, SIGHUP, SIGQUIT] {
        // The number is stored before the byte is written, so that the watcher finds the number when the byte wakes it.
        signal_hook::flag::register_usize(signal, Arc::clone(&sent), signal as usize)?;
        signal_hook::low_level::pipe::register(signal, end.try_clone()?)?;
    }
    let sleep = move || {
        loop {
            // The poll asks the terminal for no event, because hang-up and error are reported anyway.
            let mut fds = [
                PollFd::new(&tty, PollFlags::empty()),
                PollFd::new(&asked, PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Err(Errno::INTR) => {}
                Err(_) => return,
                Ok(_) if fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) => {
                    // There is nothing left to restore.
                    std::process::exit(BY_SIGNAL + SIGHUP);
                }
                Ok(_) if fds[1].revents().contains(PollFlags::IN) => {
                    // The bytes carry no more information than `sent`.
                    let _ = (&asked).read(&mut [0; 64]);
                    insist(sent.load(Ordering::Relaxed) as i32);
                }
                Ok(_) => return,
            }
        }
    };
    // Without the thread, only the loop notices these events.
    let _ = thread::Builder::new().name("hangup".to_string()).spawn(sleep);
    Ok(())
}

/// Ends the program if the loop does not. Returns once the loop has given the terminal back. Returns at once if the
/// terminal is lent to another program, which must not be disturbed, and whose keys may have sent the signal.
fn insist(signal: i32) {
    if !guard::is_ours() {
        return;
    }
    thread::sleep(ITS_TURN);
    let begin = Instant::now();
    while guard::unblock() {
        if begin.elapsed() >= LAST_TURN {
            guard::leave_silently();
            if signal == SIGQUIT {
                // Does not return.
                let _ = emulate_default_handler(SIGQUIT);
            }
            std::process::exit(BY_SIGNAL + signal);
        }
        thread::sleep(FILLS);
    }
}
