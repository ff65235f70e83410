//! Signals as events for the loop: a flag for each, and a byte in a pipe that wakes the loop up.

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
    /// Whether SIGTSTP stops this program at once, because there is no screen to leave first.
    stops_at_once: Arc<AtomicBool>,
    /// Whether SIGQUIT ends this program at once.
    quits_at_once: Arc<AtomicBool>,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let (wakeup, end) = UnixStream::pair()?;
        wakeup.set_nonblocking(true)?;
        let flags: [Arc<AtomicBool>; 7] = std::array::from_fn(|_| Arc::new(AtomicBool::new(false)));
        let [stops_at_once, quits_at_once] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        // These handlers stay after the screen has gone, because a handler cannot be removed.
        for (signal, at_once) in [(SIGTSTP, &stops_at_once), (SIGQUIT, &quits_at_once)] {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(at_once))?;
        }
        let mut ids = Vec::new();
        for (signal, flag) in [SIGWINCH, SIGCONT, SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGQUIT]
            .into_iter()
            .zip(&flags)
        {
            // The flag is set before the byte is written, so that the loop finds the flag when the byte wakes it.
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

    /// Returns the stream to wait for.
    pub(super) fn wakeup(&self) -> &UnixStream {
        &self.wakeup
    }

    /// Lends the terminal to another program. If that program stops, this one must stop too, because the shell would
    /// wait for it.
    pub(super) fn lend(&self) {
        self.stops_at_once.store(!is_orphaned(), Ordering::SeqCst);
    }

    /// Takes the terminal back. Drops signals that keys have sent meanwhile, because they were for the other program.
    pub(super) fn take_back(&self) {
        self.stops_at_once.store(false, Ordering::SeqCst);
        let [_, _, interrupted, _, _, stopped, quit] = &self.flags;
        for flag in [interrupted, stopped, quit] {
            flag.store(false, Ordering::Relaxed);
        }
    }

    /// Stops this program as SIGTSTP would without a handler; returns when it is continued.
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

/// Events that woke the loop up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Woken {
    /// Keys can be read.
    pub(crate) input: bool,
    /// The terminal has gone (SIGHUP).
    pub(crate) lost: bool,
    /// The terminal has another size.
    pub(crate) resized: bool,
    /// The program was stopped and runs again.
    pub(crate) resumed: bool,
    /// The user asks to end (SIGINT).
    pub(crate) interrupted: bool,
    /// Another program asks to end (SIGTERM).
    pub(crate) terminated: bool,
    /// The program must stop until it is continued (SIGTSTP).
    pub(crate) stopped: bool,
    /// The program must end by SIGQUIT.
    pub(crate) quit: bool,
}

/// Returns whether no shell would notice that this process group stops, so that nobody would continue it. In such a
/// group, no process has a parent in the same session but outside the group, and the kernel ignores SIGTSTP. Only
/// this process and its ancestors are checked.
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

/// The parent, process group and session of a process. The number of a process outside this PID namespace is 0, as
/// in the kernel's answers. `rustix` cannot represent 0, and panics.
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

/// Number that a shell adds to a signal's number to report a death by that signal.
const BY_SIGNAL: i32 = 128;

/// Time for the loop to end without help.
const ITS_TURN: Duration = Duration::from_millis(400);

/// Time for the loop to end while its bytes are dropped: the rest of a frame, and the bytes that restore the screen.
const LAST_TURN: Duration = Duration::from_secs(2);

/// Longest time until a writing loop has filled the terminal's buffer again.
const FILLS: Duration = Duration::from_millis(20);

/// Watches in a thread that sleeps until the terminal is gone or a signal asks for the end. It ends the program in two cases
/// in which the loop cannot. In the first case, the terminal is closed, and SIGHUP is ignored or not sent. In the second
/// case, a signal asks the program to end while the loop waits for a terminal that takes no bytes.
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

/// Ends the program if the loop does not. Returns once the loop has given the terminal back. Returns at once if the terminal is
/// lent to another program: it must not be disturbed, and its keys may have sent the signal.
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
