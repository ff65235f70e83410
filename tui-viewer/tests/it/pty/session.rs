//! A program in a pseudo terminal: a test sends keys and reads the screen.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::thread::JoinHandle;

use pty_process::Size;
use pty_process::blocking::{Pty, open};
use tempfile::TempDir;
use tickscope_testkit::until::until_shown;

use crate::pty::synthetic;
use crate::support::{Place, ROLE, VIEWER};

/// A terminal, and the program that runs in it.
pub(crate) struct Session {
    child: Mutex<Child>,
    master: Option<Arc<Pty>>,
    pub(crate) terminal: Arc<Mutex<vt100::Parser>>,
    pub(crate) bytes: Arc<Mutex<Vec<u8>>>,
    /// Kept open, because the terminal's modes are read after the program's end.
    slave: File,
    modes_before: String,
    reader: Option<JoinHandle<()>>,
    deaf: Arc<AtomicBool>,
    last_byte: Once,
}

/// Returns the path of this test binary. [`Session`] sets its role, in which it shows the viewer's screen for a
/// synthetic program.
pub(crate) fn example() -> PathBuf {
    std::env::current_exe().expect("this test is a file")
}

/// Creates a directory that contains the source file of the example's first row. Returns that directory, and the
/// subdirectory with the file.
pub(crate) fn source() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("crates/engine/src");
    std::fs::create_dir_all(&source).unwrap();
    std::fs::write(source.join("run.rs"), "fn run() {}\n").unwrap();
    (dir, source)
}

fn nonzero(cells: u16) -> NonZero<u16> {
    NonZero::new(cells).expect("no terminal is that small")
}

/// Returns the terminal's modes and its size.
fn modes(slave: &File) -> String {
    let modes = rustix::termios::tcgetattr(slave).expect("a terminal");
    let size = rustix::termios::tcgetwinsize(slave).expect("a terminal");
    format!("{modes:?} {size:?}")
}

impl Session {
    /// Starts the example in a terminal.
    pub(crate) fn start(arguments: &[&str], size: (u16, u16)) -> Self {
        let mut command = Command::new(example());
        command.args(arguments);
        Self::spawn(command, size)
    }

    /// Starts the example in a terminal, and waits for its rows.
    pub(crate) fn shown(state: &str, size: (u16, u16)) -> Self {
        let session = Self::start(&[state], size);
        session.wait_for_text("match::run");
        session
    }

    /// Starts the example as a job of a shell in a directory, with an editor in its environment. Waits for its rows.
    pub(crate) fn in_a_shell(editor: impl AsRef<OsStr>, dir: &Path, state: &str) -> Self {
        let mut shell = Command::new("bash");
        shell.args(["--norc", "--noprofile", "-i"]);
        shell.env("PS1", "prompt> ");
        shell.env("VISUAL", editor);
        let mut session = Self::spawn_in(shell, (80, 24), dir);
        session.wait_for_text("prompt>");
        session.send_for(&format!("{} {state}\n", example().display()), "match::run");
        session
    }

    /// Starts the example so that a signal that ends it leaves no core file.
    pub(crate) fn start_without_core(arguments: &[&str], size: (u16, u16)) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -c 0; exec \"$0\" \"$@\""]);
        command.arg(example());
        command.args(arguments);
        Self::spawn(command, size)
    }

    /// Starts `tickscope` in a terminal. Colour and theme variables in the user's environment have no effect.
    pub(crate) fn viewer(arguments: &[&str], size: (u16, u16)) -> Self {
        let mut command = Command::new(VIEWER);
        command.args(arguments);
        Self::spawn(command, size)
    }

    /// Starts `tickscope` in a terminal, in the working directory of a place.
    pub(crate) fn beside(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command(VIEWER);
        command.args(arguments);
        Self::spawn_in(command, (140, 30), &place.work())
    }

    pub(crate) fn spawn(command: Command, size: (u16, u16)) -> Self {
        Self::spawn_in(command, size, &std::env::temp_dir())
    }

    pub(crate) fn spawn_in(mut command: Command, (cols, rows): (u16, u16), dir: &Path) -> Self {
        let (master, pts) = open().expect("a pseudo terminal");
        master.resize(Size::new(rows, cols)).expect("resizable");
        let slave = File::from(pts.as_fd().try_clone_to_owned().expect("a copy"));
        let modes_before = modes(&slave);
        for name in ["NO_COLOR", "FORCE_COLOR", "COLORTERM", "TICKSCOPE_THEME"] {
            // Variables that the test has set are kept.
            if command.get_envs().all(|(set, _)| set != name) {
                command.env_remove(name);
            }
        }
        command.env(ROLE, synthetic::ROLE);
        command.env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8");
        command.current_dir(dir);
        let child = pty_process::blocking::Command::from(command).spawn(pts);
        let mut session = Self {
            child: Mutex::new(child.expect("the example runs")),
            master: Some(Arc::new(master)),
            terminal: Arc::new(Mutex::new(vt100::Parser::new(nonzero(rows), nonzero(cols), 0))),
            bytes: Arc::default(),
            slave,
            modes_before,
            reader: None,
            deaf: Arc::default(),
            last_byte: Once::new(),
        };
        session.read();
        session
    }

    /// Starts a thread that reads the terminal.
    pub(crate) fn read(&mut self) {
        let master = Arc::clone(self.master.as_ref().expect("open"));
        let (to_terminal, to_bytes) = (Arc::clone(&self.terminal), Arc::clone(&self.bytes));
        self.deaf.store(false, Ordering::Relaxed);
        let stop = Arc::clone(&self.deaf);
        self.reader = Some(std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = (&*master).read(&mut buffer) {
                // The screen is locked until it shows the bytes, so a test that has already seen them in `bytes` cannot
                // look at the screen too early.
                let mut terminal = to_terminal.lock().unwrap();
                to_bytes.lock().unwrap().extend_from_slice(&buffer[..read]);
                terminal.process(&buffer[..read]);
                drop(terminal);
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        }));
    }

    pub(crate) fn send(&mut self, keys: &str) {
        let mut master = &**self.master.as_ref().expect("open");
        master.write_all(keys.as_bytes()).expect("writable");
    }

    /// Waits until the screen meets a condition.
    pub(crate) fn wait_for(&self, what: &str, condition: impl Fn(&vt100::Screen) -> bool) {
        let shown = || format!("{what} is on the screen:\n{}", self.contents());
        until_shown(shown, || {
            let is_last = self.status().is_some() && self.has_read_all();
            let holds = condition(self.terminal.lock().unwrap().screen());
            assert!(holds || !is_last, "it has ended before {}", shown());
            holds.then_some(())
        });
    }

    /// Returns whether all output of the program, which has ended, has been read. To find out, writes a NUL byte to the
    /// terminal after that output, and checks whether the byte has been read. A NUL byte does not change the screen.
    fn has_read_all(&self) -> bool {
        self.last_byte
            .call_once(|| (&self.slave).write_all(b"\0").expect("a terminal"));
        self.bytes.lock().unwrap().contains(&0)
    }

    pub(crate) fn wait_for_text(&self, text: &str) {
        self.wait_for(text, |screen| screen.contents().contains(text));
    }

    /// Sends keys, and waits until a text is on the screen.
    pub(crate) fn send_for(&mut self, keys: &str, text: &str) {
        self.send(keys);
        self.wait_for_text(text);
    }

    /// Returns the screen as text.
    pub(crate) fn contents(&self) -> String {
        self.terminal.lock().unwrap().screen().contents()
    }

    /// Returns all bytes that were written so far.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    /// Quits the viewer, and asserts that it leaves the terminal as it was before.
    pub(crate) fn quit(mut self) {
        self.send("q");
        assert_eq!(self.end().code(), Some(0));
        self.assert_as_before();
    }

    pub(crate) fn end(&self) -> ExitStatus {
        let shown = || format!("it has ended:\n{}", self.contents());
        until_shown(shown, || self.status())
    }

    fn status(&self) -> Option<ExitStatus> {
        self.child.lock().unwrap().try_wait().expect("a child")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.lock().unwrap().id()
    }

    /// Sends a signal. Its name has the form of an option of `kill`, such as `-TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        let killed = Command::new("kill").args([name, &pid]).status();
        assert!(killed.expect("kill runs").success());
    }

    /// Closes the terminal: all copies of its master end, including the reading thread's copy.
    pub(crate) fn hang_up(&mut self) {
        self.stop_reading();
        self.master = None;
    }

    /// Stops reading, so that the terminal accepts no bytes once its buffer is full.
    pub(crate) fn stop_reading(&mut self) {
        self.deaf.store(true, Ordering::Relaxed);
        // The key makes the viewer write output, which wakes the reading thread.
        self.send("j");
        self.reader.take().expect("it reads").join().expect("no panic");
    }

    /// Asserts that the terminal is as it was before the program started.
    pub(crate) fn assert_as_before(&self) {
        self.wait_for("the main screen with a cursor, and no mouse", |screen| {
            !screen.alternate_screen()
                && !screen.hide_cursor()
                && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
        });
        assert_eq!(modes(&self.slave), self.modes_before);
    }
}

pub(crate) fn resize(session: &Session, cols: u16, rows: u16) {
    session
        .terminal
        .lock()
        .unwrap()
        .screen_mut()
        .set_size(nonzero(rows), nonzero(cols));
    let master = session.master.as_ref().expect("open");
    master.resize(Size::new(rows, cols)).expect("resizable");
}
