//! Signals as events for the loop: each sets a flag, and writes a byte to a socket that wakes the loop.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use signal_hook::SigId;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::low_level::emulate_default_handler;

use crate::terminal::guard;

/// The signals that the screen handles.
#[derive(Debug)]
pub(super) struct Signals {
    wakeup: UnixStream,
    flags: [Arc<AtomicBool>; 7],
    ids: Vec<SigId>,
    /// Whether SIGTSTP stops this process immediately, because it has no screen to close first.
    stops_at_once: Arc<AtomicBool>,
    /// Whether SIGQUIT ends this process immediately.
    quits_at_once: Arc<AtomicBool>,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let (wakeup, end) = UnixStream::pair()?;
        wakeup.set_nonblocking(true)?;
        let flags: [Arc<AtomicBool>; 7] = std::array::from_fn(|_| Arc::new(AtomicBool::new(false)));
        let [stops_at_once, quits_at_once] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        // These handlers remain after the screen has closed, because handlers of this kind cannot be removed.
        for (signal, at_once) in [(SIGTSTP, &stops_at_once), (SIGQUIT, &quits_at_once)] {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(at_once))?;
        }
        let mut ids = Vec::new();
        for (signal, flag) in [SIGWINCH, SIGCONT, SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGQUIT]
            .into_iter()
            .zip(&flags)
        {
            // The flag's handler is registered first, so that the flag is set when the byte wakes the loop.
            ids.push(signal_hook::flag::register(signal, Arc::clone(flag))?);
            ids.push(signal_hook::low_level::pipe::register(signal, end.try_clone()?)?);
        }
        Ok(Self {
            wakeup,
            flags,
            ids,
            stops_at_once,
            quits_at_once,
        })
    }

    /// Returns the socket that becomes readable when a signal arrives.
    pub(super) fn wakeup(&self) -> &UnixStream {
        &self.wakeup
    }

    /// Lends the terminal to another program. If that program stops, this process must stop too, because the shell
    /// waits for both.
    pub(super) fn lend(&self) {
        self.stops_at_once.store(!is_orphaned(), Ordering::SeqCst);
    }

    /// Takes the terminal back. Discards signals from keys that were pressed meanwhile, because they were meant for the
    /// other program.
    pub(super) fn take_back(&self) {
        self.stops_at_once.store(false, Ordering::SeqCst);
        let [_, _, interrupted, _, _, stopped, quit] = &self.flags;
        for flag in [interrupted, stopped, quit] {
            flag.store(false, Ordering::Relaxed);
        }
    }

    /// Stops this process as SIGTSTP would without a handler. Returns when it is continued.
    pub(super) fn stop(&self) -> io::Result<()> {
        emulate_default_handler(SIGTSTP)?;
        let [.., stopped, _] = &self.flags;
        stopped.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the signals since the last call.
    pub(super) fn take(&mut self) -> Woken {
        let mut bytes = [0; 64];
        while matches!(self.wakeup.read(&mut bytes), Ok(read) if read == bytes.len()) {}
        let [resized, resumed, interrupted, terminated, lost, stopped, quit] = self
            .flags
            .each_ref()
            .map(|flag| flag.swap(false, Ordering::Relaxed));
        Woken {
            resized,
            resumed,
            interrupted,
            terminated,
            lost,
            stopped,
            quit,
            ..Woken::default()
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.lend();
        self.quits_at_once.store(true, Ordering::SeqCst);
        for id in self.ids.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}

/// What woke the loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Woken {
    /// Input can be read.
    pub(crate) input: bool,
    /// The terminal was closed (SIGHUP).
    pub(crate) lost: bool,
    /// The terminal has another size.
    pub(crate) resized: bool,
    /// The process was stopped and runs again (SIGCONT).
    pub(crate) resumed: bool,
    /// The user wants the process to end (SIGINT).
    pub(crate) interrupted: bool,
    /// Another program wants the process to end (SIGTERM).
    pub(crate) terminated: bool,
    /// The process must stop until it is continued (SIGTSTP).
    pub(crate) stopped: bool,
    /// The process must end by SIGQUIT.
    pub(crate) quit: bool,
}

/// Returns whether this process group is orphaned: nobody would notice that it stops, nobody would continue it, and the
/// kernel ignores SIGTSTP. No process of such a group has a parent in the same session but another group. Only this
/// process and its ancestors are checked.
pub(super) fn is_orphaned() -> bool {
    let Some(own) = Kin::of("self") else { return true };
    let mut above = own.parent;
    while let Some(parent) = Kin::of(&above.to_string()) {
        if parent.group != own.group {
            return parent.session != own.session;
        }
        above = parent.parent;
    }
    true
}

/// Parent, process group and session of a process. The kernel reports 0 for a process outside this PID namespace;
/// `rustix` would panic at 0.
struct Kin {
    parent: i32,
    group: i32,
    session: i32,
}

impl Kin {
    fn of(process: &str) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let (_, behind_name) = stat.rsplit_once(") ")?;
        let mut numbers = behind_name
            .split(' ')
            .skip(1)
            .map_while(|number| number.parse().ok());
        Some(Self {
            parent: numbers.next()?,
            group: numbers.next()?,
            session: numbers.next()?,
        })
    }
}

/// A shell reports the death by a signal as this number plus the signal's number.
const BY_SIGNAL: i32 = 128;

/// Time in which the loop may end by itself, before its output is discarded.
const ITS_TURN: Duration = Duration::from_millis(400);

/// Time in which the loop may end while its output is discarded: the rest of a frame, and the bytes that restore the
/// screen.
const LAST_TURN: Duration = Duration::from_secs(2);

/// Time in which a writing loop fills the terminal's buffer again.
const FILLS: Duration = Duration::from_millis(20);

/// Starts a thread that sleeps until the terminal is closed or a signal arrives. The thread ends the process in two
/// cases in which the loop cannot: the terminal was closed but SIGHUP is ignored or was not sent, or SIGTERM, SIGHUP or
/// SIGQUIT arrives while the loop is blocked on a terminal that accepts no bytes.
///
/// # Errors
/// The system reports an error.
pub(super) fn watch(tty: OwnedFd) -> io::Result<()> {
    let (asked, end) = UnixStream::pair()?;
    let sent = Arc::new(AtomicUsize::new(0));
    for signal in [SIGTERM, SIGHUP, SIGQUIT] {
        // The handler that stores the number is registered first, so that the number is set when the byte wakes the
        // watcher.
        signal_hook::flag::register_usize(signal, Arc::clone(&sent), signal as usize)?;
        signal_hook::low_level::pipe::register(signal, end.try_clone()?)?;
    }
    let sleep = move || {
        loop {
            // No event of the terminal is requested, because `poll` always reports hang-up and error.
            let mut fds = [
                PollFd::new(&tty, PollFlags::empty()),
                PollFd::new(&asked, PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Err(Errno::INTR) => {}
                Err(_) => return,
                Ok(_) if fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) => {
                    // A closed terminal has no state to restore.
                    std::process::exit(BY_SIGNAL + SIGHUP);
                }
                Ok(_) if fds[1].revents().contains(PollFlags::IN) => {
                    // The bytes only wake the thread; the signal's number is in `sent`.
                    let _ = (&asked).read(&mut [0; 64]);
                    insist(sent.load(Ordering::Relaxed) as i32);
                }
                Ok(_) => return,
            }
        }
    };
    // If the thread cannot be started, only the loop reacts to these events.
    let _ = thread::Builder::new().name("hangup".to_string()).spawn(sleep);
    Ok(())
}

/// Ends the process if the loop does not. Returns once the loop has restored the terminal. If the terminal is lent to
/// another program, returns immediately: that program must not be disturbed, and its keys may have caused the signal.
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
                // This call does not return.
                let _ = emulate_default_handler(SIGQUIT);
            }
            std::process::exit(BY_SIGNAL + signal);
        }
        thread::sleep(FILLS);
    }
}
