//! Signals as something to read: a flag each, and a byte in a pipe that wakes the loop up.

use std::io;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::SigId;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGWINCH};

/// The signals that the screen answers.
#[derive(Debug)]
pub(super) struct Signals {
    wakeup: UnixStream,
    flags: [Arc<AtomicBool>; 5],
    ids: Vec<SigId>,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let (wakeup, end) = UnixStream::pair()?;
        wakeup.set_nonblocking(true)?;
        let flags: [Arc<AtomicBool>; 5] = std::array::from_fn(|_| Arc::new(AtomicBool::new(false)));
        let mut ids = Vec::new();
        for (signal, flag) in [SIGWINCH, SIGCONT, SIGINT, SIGTERM, SIGHUP]
            .into_iter()
            .zip(&flags)
        {
            // First the flag, then the byte: the loop finds the flag set when the byte wakes it.
            ids.push(signal_hook::flag::register(signal, Arc::clone(flag))?);
            ids.push(signal_hook::low_level::pipe::register(signal, end.try_clone()?)?);
        }
        Ok(Self { wakeup, flags, ids })
    }

    /// What to wait for.
    pub(super) fn wakeup(&self) -> &UnixStream {
        &self.wakeup
    }

    /// The signal was meant for the program that had the terminal, not for this one.
    pub(super) fn forget_interrupt(&self) {
        let [_, _, interrupted, ..] = &self.flags;
        interrupted.store(false, Ordering::Relaxed);
    }

    /// What has come since the last call.
    pub(super) fn take(&mut self) -> Woken {
        let mut bytes = [0; 64];
        while matches!(self.wakeup.read(&mut bytes), Ok(read) if read == bytes.len()) {}
        let [resized, resumed, interrupted, terminated, lost] = self
            .flags
            .each_ref()
            .map(|flag| flag.swap(false, Ordering::Relaxed));
        Woken {
            resized,
            resumed,
            interrupted,
            terminated,
            lost,
            ..Woken::default()
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}

/// What woke the loop up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Woken {
    /// Keys can be read.
    pub(crate) input: bool,
    /// The terminal has gone (SIGHUP).
    pub(crate) lost: bool,
    /// It has another size.
    pub(crate) resized: bool,
    /// The program was stopped and runs again.
    pub(crate) resumed: bool,
    /// The user asks to end (SIGINT).
    pub(crate) interrupted: bool,
    /// Another program asks to end (SIGTERM).
    pub(crate) terminated: bool,
}
