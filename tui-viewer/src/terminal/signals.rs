//! Turns signals into events for the loop. Each signal sets a flag and writes a byte to a socket, which wakes the loop.

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
    /// Whether SIGTSTP stops this process immediately. This is set only while there is no screen to close first.
    stops_at_once: Arc<AtomicBool>,
    /// Whether SIGQUIT kills this process immediately.
    quits_at_once: Arc<AtomicBool>,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let (wakeup, end) = UnixStream::pair()?;
        wakeup.set_nonblocking(true)?;
        let flags: [Arc<AtomicBool>; 7] = std::array::from_fn(|_| Arc::new(AtomicBool::new(false)));
        let [stops_at_once, quits_at_once] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        // These handlers stay registered after the screen is closed. Without them, the signals would then be ignored,
        // because signal-hook never restores the default action of a signal.
        for (signal, at_once) in [(SIGTSTP, &stops_at_once), (SIGQUIT, &quits_at_once)] {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(at_once))?;
        }
        let mut ids = Vec::new();
        for (signal, flag) in [SIGWINCH, SIGCONT, SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGQUIT]
            .into_iter()
            .zip(&flags)
        {
            // Register the handler that sets the flag first. The flag is then set before the byte wakes the loop.
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

    /// Takes the terminal back. Discards signals from keys pressed in the meantime, because those keys were meant for
    /// the other program.
    pub(super) fn take_back(&self) {
        self.stops_at_once.store(false, Ordering::SeqCst);
        let [_, _, interrupted, _, _, stopped, quit] = &self.flags;
        for flag in [interrupted, stopped, quit] {
            flag.store(false, Ordering::Relaxed);
        }
    }

    /// Stops this process as SIGTSTP would without a handler. Returns when the process is continued.
    pub(super) fn stop(&self) -> io::Result<()> {
        emulate_default_handler(SIGTSTP)?;
        let [.., stopped, _] = &self.flags;
        stopped.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the signals that have arrived since the last call.
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
    /// The size of the terminal has changed (SIGWINCH).
    pub(crate) lost: bool,
    /// The process is running again after it was stopped (SIGCONT).
    pub(crate) resized: bool,
    /// The user wants to interrupt the process (SIGINT).
    pub(crate) resumed: bool,
    /// Another program asks the process to terminate (SIGTERM).
    pub(crate) interrupted: bool,
    /// The process is to stop until it is continued (SIGTSTP).
    pub(crate) terminated: bool,
    /// The process is to be killed by SIGQUIT.
    pub(crate) stopped: bool,
    /// The process must end by SIGQUIT.
    pub(crate) quit: bool,
}

/// Returns whether this process group is orphaned, which means that none of its processes has a parent that is in
/// another group of the same session. Nobody would notice if such a group stopped, and nobody would continue it, so the
/// kernel ignores SIGTSTP for it. This function checks only this process and its ancestors.
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

/// Parent, process group and session of a process. They are plain numbers because the kernel reports 0 for a process
/// outside this PID namespace, and `rustix` would panic on 0.
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

/// When a signal kills a process, shells report this number plus the signal's number as its exit code.
const BY_SIGNAL: i32 = 128;

/// How long the loop may take to exit by itself before its output is discarded.
const ITS_TURN: Duration = Duration::from_millis(400);

/// How long the loop may then take to exit while its output is being discarded. It has to write the rest of a frame and
/// the bytes that restore the screen.
const LAST_TURN: Duration = Duration::from_secs(2);

/// How long to wait before discarding output again. By then, a loop that is still writing has refilled the terminal's
/// buffer.
const FILLS: Duration = Duration::from_millis(20);

/// Starts a thread that sleeps until the terminal is closed or a signal arrives. The thread terminates the process in
/// two cases in which the loop cannot do so: if the terminal was closed but SIGHUP is ignored or was not sent, and if
/// SIGTERM, SIGHUP or SIGQUIT arrives while the loop is blocked on a terminal that accepts no bytes.
///
/// # Errors
/// The system reports an error.
pub(super) fn watch(tty: OwnedFd) -> io::Result<()> {
    let (asked, end) = UnixStream::pair()?;
    let sent = Arc::new(AtomicUsize::new(0));
    for signal in [SIGTERM, SIGHUP, SIGQUIT] {
        // Register the handler that stores the signal's number first. The number is then set before the byte wakes the
        // watcher.
        signal_hook::flag::register_usize(signal, Arc::clone(&sent), signal as usize)?;
        signal_hook::low_level::pipe::register(signal, end.try_clone()?)?;
    }
    let sleep = move || {
        loop {
            // No events are requested for the terminal, because `poll` reports hang-ups and errors in any case.
            let mut fds = [
                PollFd::new(&tty, PollFlags::empty()),
                PollFd::new(&asked, PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Err(Errno::INTR) => {}
                Err(_) => return,
                Ok(_) if fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) => {
                    // A closed terminal need not be restored.
                    std::process::exit(BY_SIGNAL + SIGHUP);
                }
                Ok(_) if fds[1].revents().contains(PollFlags::IN) => {
                    // The bytes only wake the thread. The signal's number is in `sent`.
                    let _ = (&asked).read(&mut [0; 64]);
                    insist(sent.load(Ordering::Relaxed) as i32);
                }
                Ok(_) => return,
            }
        }
    };
    // If the thread cannot be started, the loop alone reacts to these events.
    let _ = thread::Builder::new().name("hangup".to_string()).spawn(sleep);
    Ok(())
}

/// Terminates the process unless the loop does so in time. Returns once the loop has restored the terminal. If the
/// terminal is lent to another program, returns immediately: that program must not be disturbed, and the signal may
/// come from a key that was pressed in it.
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
