//! A program in a pseudo terminal: it gets keys, and its output is read and dropped.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::child;

/// How many bytes of its last output are kept, to find out why it ended.
const TAIL: usize = 2000;

/// The program is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Terminal {
    child: Child,
    /// `None` once the terminal has been taken away.
    keyboard: Option<File>,
    reader: Option<JoinHandle<()>>,
    tail: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Starts the program.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn start(
        program: &Path,
        arguments: &[&str],
        rings: &Path,
        directory: &Path,
    ) -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let keyboard = File::from(openpt(flags)?);
        grantpt(&keyboard)?;
        unlockpt(&keyboard)?;
        // The terminal is opened here, because a reader never sees the end of one that was never opened.
        let inside = File::from(ioctl_tiocgptpeer(&keyboard, flags)?);
        resize(&keyboard, 100, 30)?;
        let child = Command::new(std::env::current_exe()?)
            .args([child::FLAG, child::TERMINAL])
            .arg(program)
            .args(arguments)
            .env("TICKSCOPE_DIR", rings)
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .env("EDITOR", "true")
            .current_dir(directory)
            .stdin(inside.try_clone()?)
            .stdout(inside.try_clone()?)
            .stderr(inside)
            .spawn()?;
        let tail = Arc::new(Mutex::new(Vec::new()));
        let (mut screen, kept) = (keyboard.try_clone()?, Arc::clone(&tail));
        let reader = thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            // When the program ends, reading gives an error.
            while let Ok(read @ 1..) = screen.read(&mut buffer) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&buffer[..read]);
                let beyond = kept.len().saturating_sub(TAIL);
                kept.drain(..beyond);
            }
        });
        Ok(Self {
            child,
            keyboard: Some(keyboard),
            reader: Some(reader),
            tail,
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Types keys. They are lost if the program is gone.
    pub(crate) fn send(&mut self, keys: &[u8]) {
        if let Some(keyboard) = &mut self.keyboard {
            _ = keyboard.write_all(keys);
        }
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        if let Some(keyboard) = &self.keyboard {
            _ = resize(keyboard, columns, rows);
        }
    }

    pub(crate) fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Returns how often it has a file open.
    pub(crate) fn has_open(&self, path: &Path) -> usize {
        let files = fs::read_dir(format!("/proc/{}/fd", self.pid()));
        let files = files.into_iter().flatten().flatten();
        let targets = files.flat_map(|file| fs::read_link(file.path()));
        targets.filter(|target| target == path).count()
    }

    /// Sends SIGKILL, and returns when the program is gone.
    pub(crate) fn kill(&mut self) {
        // A program that has ended cannot be killed.
        _ = self.child.kill();
        _ = self.child.wait();
    }

    /// Returns its last line of output that is not part of the screen.
    pub(crate) fn said(&self) -> String {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail);
        let line = text.lines().rev().find(|line| !line.trim().is_empty());
        line.unwrap_or_default().escape_debug().to_string()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.kill();
        drop(self.keyboard.take());
        if let Some(reader) = self.reader.take() {
            _ = reader.join();
        }
    }
}

fn resize(keyboard: &File, columns: u16, rows: u16) -> io::Result<()> {
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    Ok(tcsetwinsize(keyboard, size)?)
}
