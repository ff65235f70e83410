//! The few system calls that std has no safe face for, or only one that allocates.

use std::ffi::{CStr, c_void};
use std::io;
use std::ptr::NonNull;

/// The monotonic clock in nanoseconds: the one by which viewers judge heartbeats.
pub(crate) use tickscope_format::os::monotonic_ns;

/// Zeroed pages of this process alone; none where the system has none.
pub(crate) fn map_zeroed(bytes: usize) -> Option<NonNull<c_void>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing that exists.
    let pages = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if pages == libc::MAP_FAILED {
        None
    } else {
        NonNull::new(pages)
    }
}

/// Has pages of [`map_zeroed`] made ready at one go, which costs less than a page fault for each. A kernel that does not
/// know how (before Linux 5.14) makes them when they are written to.
pub(crate) fn make_ready(pages: NonNull<c_void>, bytes: usize) {
    // SAFETY: changes nothing in the pages, and nothing at all where they are not the process's own.
    unsafe { libc::madvise(pages.as_ptr(), bytes, libc::MADV_POPULATE_WRITE) };
}

/// An environment variable, without allocating and without a lock; none in a program that has more rights than
/// its caller.
///
/// Like every reader of the environment it must not meet a writer; std makes writing unsafe for that.
pub(crate) fn variable(name: &'static CStr) -> Option<&'static [u8]> {
    if has_more_rights() {
        return None;
    }
    // SAFETY: `name` ends in a zero.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: a string that ends in a zero and stays as long as nobody changes the environment.
    Some(unsafe { CStr::from_ptr(value) }.to_bytes())
}

/// Reads the beginning of a file into `buffer`, without allocating; what was read, trimmed.
pub(crate) fn read_small<'a>(path: &CStr, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    // SAFETY: `path` ends in a zero.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return None;
    }
    // SAFETY: `buffer` may be written for its whole length.
    let read = unsafe { libc::read(file, buffer.as_mut_ptr().cast(), buffer.len()) };
    // SAFETY: opened above, used by nobody else.
    unsafe { libc::close(file) };
    Some(buffer.get(..usize::try_from(read).ok()?)?.trim_ascii())
}

fn clock(id: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for a timespec.
    let result = unsafe { libc::clock_gettime(id, &mut time) };
    (result == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// The monotonic clock that goes on while the machine sleeps, in nanoseconds.
pub(crate) fn boottime_ns() -> u64 {
    clock(libc::CLOCK_BOOTTIME).unwrap_or(0)
}

/// The wall clock: nanoseconds since the Unix epoch.
pub(crate) fn unix_ns() -> u64 {
    clock(libc::CLOCK_REALTIME).unwrap_or(0)
}

/// CPU time of the calling thread in nanoseconds.
pub(crate) fn own_cpu_ns() -> u64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

/// CPU time of a thread of this process in nanoseconds; none when it has ended.
pub(crate) fn cpu_ns_of(tid: u32) -> Option<u64> {
    // How the kernel spells "the CPU clock of thread TID" (see clock_getcpuclockid(3) and its sources): the
    // thread id inverted, then the bits for "per thread" and "scheduler's count".
    clock((!(tid as libc::clockid_t) << 3) | 6)
}

/// The kernel's id of the calling thread.
pub(crate) fn thread_id() -> u32 {
    // SAFETY: takes nothing, cannot fail.
    unsafe { libc::gettid() as u32 }
}

/// The kernel's name of the calling thread, zeros behind it: 15 bytes at most.
pub(crate) fn thread_name() -> [u8; 16] {
    let mut name = [0u8; 16];
    // SAFETY: PR_GET_NAME writes at most 16 bytes.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}

/// Names the calling thread.
pub(crate) fn name_this_thread(name: &CStr) {
    // SAFETY: PR_SET_NAME reads a string that ends in a zero.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

/// Starts a thread of which nobody waits for the end: with all signals blocked, the default scheduling policy
/// and on every CPU the process may use, whatever the caller is bound to. Allocates nothing of the program's.
pub(crate) fn spawn(body: fn()) -> io::Result<()> {
    extern "C" fn run(body: *mut c_void) -> *mut c_void {
        // SAFETY: made from a `fn()` below; function pointers and data pointers have one size on Unix.
        let body: fn() = unsafe { std::mem::transmute::<*mut c_void, fn()>(body) };
        be_a_good_guest();
        body();
        std::ptr::null_mut()
    }
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut thread: libc::pthread_t = 0;
    // SAFETY: a valid place for a signal set.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // A thread inherits its maker's mask: block around the making, so that it never runs without.
    // SAFETY: `all` was filled above; `before` is a valid place.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) };
    // SAFETY: default attributes; `run` takes what it is given here.
    let made = unsafe {
        libc::pthread_create(
            &mut thread,
            std::ptr::null(),
            run,
            body as *const () as *mut c_void,
        )
    };
    // SAFETY: `before` was filled by the first call.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    if made != 0 {
        return Err(io::Error::from_raw_os_error(made));
    }
    // SAFETY: made above, joined by nobody.
    unsafe { libc::pthread_detach(thread) };
    Ok(())
}

/// Takes the calling thread off whatever CPU, priority or policy it has inherited. Where the system forbids it
/// the thread runs as it is.
fn be_a_good_guest() {
    // SAFETY: zero is a valid value of a plain struct of numbers.
    let parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: 0 is the calling thread; `parameters` lives through the call.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &parameters) };
    // All CPUs there may be: the kernel cuts that down to those that the process's cpuset has.
    let all = [0xffu8; 128];
    // SAFETY: 0 is the calling thread; `all` is as long as said.
    unsafe { libc::sched_setaffinity(0, all.len(), all.as_ptr().cast()) };
}

/// Whether this program has more rights than whoever started it (setuid and the like).
pub(crate) fn has_more_rights() -> bool {
    // SAFETY: takes a number.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Writes to a descriptor past std's buffer and lock, which whoever exits may hold. Where one that does not block takes
/// nothing, waits so long for it, in milliseconds; -1 for as long as it takes.
///
/// # Errors
/// What the system says.
pub(crate) fn write_all(descriptor: i32, mut bytes: &[u8], patience: i32) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: `bytes` may be read for its whole length.
        let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => bytes = &bytes[written.min(bytes.len())..],
            Err(_) => {
                let error = io::Error::last_os_error();
                let kind = error.kind();
                let again = kind == io::ErrorKind::Interrupted
                    || kind == io::ErrorKind::WouldBlock && takes_more(descriptor, patience);
                if !again {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// Waits until a descriptor takes more, or something is wrong with it that the next write is going to say.
fn takes_more(descriptor: i32, patience: i32) -> bool {
    let mut asked = libc::pollfd {
        fd: descriptor,
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: `asked` is a valid place for one.
    let found = unsafe { libc::poll(&mut asked, 1, patience) };
    found > 0 || found < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
}

/// Has `handler` called when the process exits normally.
pub(crate) fn at_exit(handler: extern "C" fn()) {
    // SAFETY: a handler that lives as long as the program. (In a library that is unloaded, libc calls it then.)
    unsafe { libc::atexit(handler) };
}

/// Has `handler` called in every child forked from now on.
pub(crate) fn in_forked_children(handler: unsafe extern "C" fn()) {
    // SAFETY: a handler that lives as long as the program and only stores to atomics.
    unsafe { libc::pthread_atfork(None, None, Some(handler)) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_pipe_that_does_not_block_gets_all_where_somebody_reads() {
        let (mut reader, writer) = io::pipe().unwrap();
        let descriptor = writer.as_raw_fd();
        // SAFETY: our own descriptor, and numbers.
        unsafe { libc::fcntl(descriptor, libc::F_SETFL, libc::O_NONBLOCK) };
        let text = vec![b'x'; 1 << 20];
        let failed = write_all(descriptor, &text, 0).map_err(|error| error.kind());
        assert_eq!(failed, Err(io::ErrorKind::WouldBlock), "nobody reads");
        let read = std::thread::spawn(move || {
            let mut read = Vec::new();
            reader.read_to_end(&mut read).map(|_| read.len())
        });
        write_all(descriptor, &text, -1).unwrap();
        drop(writer);
        assert!(read.join().unwrap().unwrap() > text.len());
    }
}
