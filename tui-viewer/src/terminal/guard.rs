//! Takes over and restores the terminal. Restoring it a second time does nothing.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{
    Action, OptionalActions, QueueSelector, Termios, tcflow, tcflush, tcgetattr, tcsetattr,
};

/// Escape sequences that save the title, switch to the alternate screen and hide the cursor.
const IN: &[u8] = b"\x1b[22;2t\x1b[?1049h\x1b[?25l";

/// Escape sequences that end an unfinished frame, and restore plain text, the main screen, the cursor and the saved
/// title.
const OUT: &[u8] = b"\x1b[?2026l\x1b[0m\x1b[?1049l\x1b[?25h\x1b[23;2t";

/// Escape sequences that enable mouse events (presses, drags and the wheel), in the encoding that does not limit the
/// number of columns.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1002l\x1b[?1000l";

/// Whether the viewer captures the mouse. As long as it never has, no escape sequences for the mouse are written.
static MOUSE: AtomicBool = AtomicBool::new(false);

struct Saved {
    tty: OwnedFd,
    modes: Termios,
}

/// Whether output was discarded because the terminal did not accept it.
static DROPPED: AtomicBool = AtomicBool::new(false);

/// The terminal's original state. It is set while the viewer controls the terminal. It is a static because the panic
/// hook needs it too.
static SAVED: Mutex<Option<Arc<Saved>>> = Mutex::new(None);

/// Takes over the terminal. If the viewer already controls it (after a SIGSTOP), resets only what a shell may have
/// changed. Saving the title and entering the alternate screen twice would be wrong, because `leave` undoes each only
/// once.
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
    // Discard keys pressed so far, because they were meant for the viewer, not for the shell. Errors are ignored,
    // because nothing can be done about them.
    let _ = tcflush(tty, QueueSelector::IFlush);
    let _ = write(OUT);
    // `SAVED` must stay set during the writes above, because the hang-up watcher unblocks a write only as long as
    // `SAVED` is set.
    let mut left = SAVED.lock().unwrap_or_else(PoisonError::into_inner);
    if DROPPED.load(Ordering::Relaxed) {
        // Part of `OUT` may have been discarded. Once flushed, the buffer has room for all of `OUT`, so this write does
        // not block.
        let _ = tcflush(tty, QueueSelector::OFlush);
        let _ = write(OUT);
    }
    let _ = tcsetattr(tty, OptionalActions::Now, modes);
    left.take();
}

fn saved() -> Option<Arc<Saved>> {
    SAVED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Returns whether the viewer currently controls the terminal.
pub(super) fn is_ours() -> bool {
    saved().is_some()
}

/// Discards output that the terminal has not accepted, so that a blocked write can continue. Returns false if the
/// viewer does not control the terminal.
pub(super) fn unblock() -> bool {
    let saved = SAVED.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(saved) = saved.as_ref() else { return false };
    DROPPED.store(true, Ordering::Relaxed);
    // Errors are ignored, because nothing can be done about them.
    let _ = tcflow(&saved.tty, Action::OOff);
    let _ = tcflush(&saved.tty, QueueSelector::OFlush);
    // Discarding output does not wake a blocked writer. This call does, even if the output had not been suspended.
    let _ = tcflow(&saved.tty, Action::OOn);
    true
}

/// Restores the terminal's modes without writing any bytes.
pub(super) fn leave_silently() {
    if let Some(saved) = saved() {
        let _ = tcsetattr(&saved.tty, OptionalActions::Now, &saved.modes);
    }
}

/// Switches mouse events on or off.
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

/// Writes all bytes directly to standard output. The standard library's buffer is bypassed, because it may contain half
/// a frame after a panic.
pub(super) fn write(mut bytes: &[u8]) -> io::Result<()> {
    let out = io::stdout();
    while !bytes.is_empty() {
        match rustix::io::write(out.as_fd(), bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                // Another program has made the terminal non-blocking, so wait until it accepts more bytes.
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
