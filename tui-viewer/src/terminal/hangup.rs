//! Ends the program when its terminal is closed, even where nobody sends or heeds SIGHUP.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// What a shell would report for a death by SIGHUP.
pub(crate) const LOST: i32 = 129;

/// Watches in a thread that sleeps until the terminal is gone.
pub(super) fn watch(tty: OwnedFd) {
    let sleep = move || {
        loop {
            // Asks for no event at all: hang-up and error are reported anyhow.
            let mut fds = [PollFd::new(&tty, PollFlags::empty())];
            match poll(&mut fds, None) {
                Err(Errno::INTR) => {}
                Err(_) => return,
                Ok(_) if fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) => {
                    // There is nothing left to restore.
                    std::process::exit(LOST);
                }
                Ok(_) => return,
            }
        }
    };
    // Without the thread the loop still sees the hang-up when it looks the next time.
    let _ = std::thread::Builder::new()
        .name("hangup".to_string())
        .spawn(sleep);
}
