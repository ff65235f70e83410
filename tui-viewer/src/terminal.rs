//! The terminal: input, output and signals. However the program ends, the terminal is restored.

mod guard;
pub(crate) mod painter;
mod signals;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ratatui::layout::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;
use rustix::termios::{isatty, tcgetwinsize};

use crate::terminal::signals::{Signals, Woken, is_orphaned};

/// The terminal, while the viewer controls it: from `enter` until this is dropped.
#[derive(Debug)]
pub(crate) struct Terminal {
    input: OwnedFd,
    signals: Signals,
}

impl Terminal {
    /// Takes the terminal over.
    pub(crate) fn enter() -> io::Result<Self> {
        if !isatty(io::stdout()) {
            return Err(io::Error::other("standard output is not a terminal"));
        }
        let input = if isatty(io::stdin()) {
            io::stdin().as_fd().try_clone_to_owned()?
        } else {
            // In `something | tickscope`, standard input is a pipe, so keys are read from the controlling terminal.
            OwnedFd::from(File::options().read(true).write(true).open("/dev/tty")?)
        };
        let signals = Signals::new()?;
        signals::watch(input.try_clone()?)?;
        guard::install_panic_hook();
        guard::enter(&input)?;
        Ok(Self { input, signals })
    }

    /// Returns the size of the terminal in cells.
    pub(crate) fn size(&self) -> Size {
        let size = tcgetwinsize(io::stdout()).or_else(|_| tcgetwinsize(&self.input));
        match size {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => Size::new(size.ws_col, size.ws_row),
            // A serial line reports no size.
            _ => Size::new(80, 24),
        }
    }

    /// Sleeps until there is input or a signal, or until `longest` has elapsed.
    pub(crate) fn wait(&mut self, longest: Duration) -> io::Result<Woken> {
        let timeout = Timespec {
            tv_sec: i64::try_from(longest.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(longest.subsec_nanos()),
        };
        let mut fds = [
            PollFd::new(&self.input, PollFlags::IN),
            PollFd::new(self.signals.wakeup(), PollFlags::IN),
        ];
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let seen = fds[0].revents();
        let mut woken = self.signals.take();
        let gone = seen.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
        woken.lost |= gone;
        woken.input = seen.contains(PollFlags::IN) && !gone;
        Ok(woken)
    }

    /// Reads the available input, up to the length of the buffer. Blocks if there is none.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match rustix::io::read(&self.input, &mut *buffer) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(0),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => return Ok(read),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns whether more input can be read without blocking.
    pub(crate) fn has_more(&self) -> bool {
        let mut fds = [PollFd::new(&self.input, PollFlags::IN)];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        poll(&mut fds, Some(&now)).is_ok() && fds[0].revents().contains(PollFlags::IN)
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        guard::write(bytes)
    }

    pub(crate) fn mouse(&self, on: bool) -> io::Result<()> {
        guard::mouse(on)
    }

    /// Stops the whole job, as Ctrl-Z in a plain terminal would, because a wrapper that started the viewer must stop
    /// too. Returns when the job is continued.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        if is_orphaned() {
            return Ok(());
        }
        // Restore the terminal first. Once the wrapper stops, the shell that is waiting for it takes control of the
        // terminal.
        guard::leave();
        rustix::process::kill_current_process_group(Signal::TSTP)?;
        self.stop()
    }

    /// Stops this process, as the shell expects after SIGTSTP. Returns when the process is continued.
    pub(crate) fn stop(&mut self) -> io::Result<()> {
        if is_orphaned() {
            return Ok(());
        }
        guard::leave();
        self.signals.stop()?;
        self.resume()
    }

    /// Lends the terminal to another program until that program exits. The outer error comes from the terminal, the
    /// inner one from starting the program.
    pub(crate) fn lend(&mut self, command: &mut Command) -> io::Result<io::Result<ExitStatus>> {
        // The other program must read from the same input as the viewer, which is not always standard input.
        command.stdin(self.input.try_clone()?);
        guard::leave();
        self.signals.lend();
        let ended = command.status();
        self.signals.take_back();
        self.resume()?;
        Ok(ended)
    }

    /// Takes the terminal over again.
    pub(crate) fn resume(&mut self) -> io::Result<()> {
        guard::enter(&self.input)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        guard::leave();
    }
}

/// Returns the escape sequence that copies the text to the clipboard of the terminal (OSC 52). This even works over
/// SSH, where there is no other way to reach the clipboard.
pub(crate) fn copy_sequence(text: &str) -> String {
    format!("\x1b]52;c;{}\x07", STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_sent_in_base64_with_its_padding() {
        assert_eq!(copy_sequence("foob"), "\x1b]52;c;Zm9vYg==\x07");
    }
}
