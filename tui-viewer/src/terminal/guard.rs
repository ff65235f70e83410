//! Takes over and restores the terminal. Further calls that restore it do nothing.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{
    Action, OptionalActions, QueueSelector, Termios, tcflow, tcflush, tcgetattr, tcsetattr,
};

/// Bytes that save the title, and show the alternate screen without a cursor.
const IN: &[u8] = b"\x1b[22;2t\x1b[?1049h\x1b[?25l";

/// Bytes that end an unfinished frame, and restore plain text, the main screen, the cursor and the former title.
const OUT: &[u8] = b"\x1b[?2026l\x1b[0m\x1b[?1049l\x1b[?25h\x1b[23;2t";

/// Bytes that turn mouse reports on: presses, drags and the wheel, in the encoding without a limit on columns.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1002l\x1b[?1000l";

/// Whether the viewer takes the mouse. No bytes about the mouse are written before it does.
static MOUSE: AtomicBool = AtomicBool::new(false);

struct Saved {
    tty: OwnedFd,
    modes: Termios,
}

/// Whether output was discarded because the terminal did not accept it.
static DROPPED: AtomicBool = AtomicBool::new(false);

/// The terminal's former state, set while the viewer has the terminal. It is static because the panic hook reads it
/// too.
static SAVED: Mutex<Option<Arc<Saved>>> = Mutex::new(None);

/// Takes the terminal. If the viewer already has it (after a SIGSTOP), only sets what a shell may have changed: one
/// `leave` would not undo a title saved twice and an alternate screen entered twice.
pub(super) fn enter(tty: &OwnedFd) -> io::Result<()> {
    let mut saved = SAVED.lock().unwrap_or_else(PoisonError::into_inner);
    let ours = saved.is_some();
    let modes = match saved.as_ref() {
        Some(saved) => saved.modes.clone(),
        None => tcgetattr(tty)?,
    };
    let mut raw = modes.clone();
    raw.make_raw();
    tcsetattr(tty, OptionalActions::Now, &raw)?;
    *saved = Some(Arc::new(Saved {
        tty: tty.try_clone()?,
        modes,
    }));
    drop(saved);
    write(if ours { b"\x1b[?25l" } else { IN })?;
    if MOUSE.load(Ordering::Relaxed) {
        write(MOUSE_ON)
    } else {
        Ok(())
    }
}

/// Restores the terminal. A second call does nothing.
pub(super) fn leave() {
    let Some(saved) = saved() else { return };
    let Saved { tty, modes } = &*saved;
    if MOUSE.load(Ordering::Relaxed) {
        let _ = write(MOUSE_OFF);
    }
    // Keys pressed before this moment were meant for the screen, not for the shell. Errors are ignored, because nothing
    // can be done about them.
    let _ = tcflush(tty, QueueSelector::IFlush);
    let _ = write(OUT);
    // `SAVED` stays set during the writes above, because the hang-up watcher unblocks a write only while it is set.
    let mut left = SAVED.lock().unwrap_or_else(PoisonError::into_inner);
    if DROPPED.load(Ordering::Relaxed) {
        // Part of `OUT` may have been discarded. The emptied buffer has space for all of `OUT`, so this write does not
        // wait.
        let _ = tcflush(tty, QueueSelector::OFlush);
        let _ = write(OUT);
    }
    let _ = tcsetattr(tty, OptionalActions::Now, modes);
    left.take();
}

fn saved() -> Option<Arc<Saved>> {
    SAVED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Returns whether the viewer has the terminal now.
pub(super) fn is_ours() -> bool {
    saved().is_some()
}

/// Discards output that the terminal has not accepted, so that a blocked write continues. Returns false if the viewer
/// does not have the terminal.
pub(super) fn unblock() -> bool {
    let saved = SAVED.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(saved) = saved.as_ref() else { return false };
    DROPPED.store(true, Ordering::Relaxed);
    // Errors are ignored, because nothing can be done about them.
    let _ = tcflow(&saved.tty, Action::OOff);
    let _ = tcflush(&saved.tty, QueueSelector::OFlush);
    // Only this call wakes a blocked writer, even if output was not suspended.
    let _ = tcflow(&saved.tty, Action::OOn);
    true
}

/// Restores the terminal's modes without writing any bytes.
pub(super) fn leave_silently() {
    if let Some(saved) = saved() {
        let _ = tcsetattr(&saved.tty, OptionalActions::Now, &saved.modes);
    }
}

/// Switches mouse reports on or off.
pub(super) fn mouse(on: bool) -> io::Result<()> {
    MOUSE.store(on, Ordering::Relaxed);
    write(if on { MOUSE_ON } else { MOUSE_OFF })
}

/// Installs a hook that restores the terminal on a panic, before the message is printed.
pub(super) fn install_panic_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            leave();
            before(info);
        }));
    });
}

/// Writes all bytes past the standard library's buffer, which may contain half a frame after a panic.
pub(super) fn write(mut bytes: &[u8]) -> io::Result<()> {
    let out = io::stdout();
    while !bytes.is_empty() {
        match rustix::io::write(out.as_fd(), bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                // Another program has made the terminal non-blocking, so this waits until it accepts bytes.
                let mut fds = [PollFd::new(&out, PollFlags::OUT)];
                match poll(&mut fds, None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
