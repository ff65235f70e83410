//! The few system calls that std has no safe face for, or only one that allocates.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What both sides ask alike; heartbeats are judged by this monotonic clock.
pub(crate) use tickscope_format::os::{has_more_rights, monotonic_ns};

/// Runs `body` and leaves `errno` as it was: a scope or a counter may stand between a call of the program's that failed
/// and its look at why.
pub(crate) fn keeping_errno<T>(body: impl FnOnce() -> T) -> T {
    // SAFETY: takes nothing, cannot fail.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: the calling thread's own, for as long as it lives.
    let before = unsafe { place.read() };
    let value = body();
    // SAFETY: as above.
    unsafe { place.write(before) };
    value
}

/// Zeroed pages of this process alone; none where the system has none.
pub(crate) fn map_zeroed(bytes: usize) -> Option<NonNull<c_void>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let pages = keeping_errno(|| {
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing that exists.
        unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) }
    });
    if pages == libc::MAP_FAILED {
        None
    } else {
        NonNull::new(pages)
    }
}

/// `libc` has this constant only since 0.2.121; the number is the same on every architecture.
const MADV_POPULATE_WRITE: libc::c_int = 23;

/// Has pages of [`map_zeroed`] made ready at one go, which costs less than a page fault for each. A kernel that does not
/// know how (before Linux 5.14) makes them when they are written to.
pub(crate) fn make_ready(pages: NonNull<c_void>, bytes: usize) {
    keeping_errno(|| {
        // SAFETY: changes nothing in the pages, and nothing at all where they are not the process's own.
        unsafe { libc::madvise(pages.as_ptr(), bytes, MADV_POPULATE_WRITE) }
    });
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

/// The stack of our threads in bytes, that of std's. The system's own default is a limit that people set for their
/// programs: from 16 KiB, on which no snapshot is taken, to all of the address space.
const STACK: usize = 2 << 20;

/// Keeps the library that this code is in where it is, once it is loaded: unloading it would take the code from under our
/// thread and from under the ends of threads that have counted, and its sites from under the snapshots. The program itself
/// stays anyway.
extern "C" fn stay_loaded() {
    // A static program has no loader.
    #[cfg(not(target_feature = "crt-static"))]
    {
        let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: asks for what is known of an address; `found` is a valid place for it.
        let known = unsafe { libc::dladdr(stay_loaded as *const c_void, found.as_mut_ptr()) } != 0;
        // SAFETY: zeros are valid, whether they were filled in or not.
        let found = unsafe { found.assume_init() };
        // SAFETY: takes a number. The program's headers lie in its first page.
        let program = unsafe { libc::getauxval(libc::AT_PHDR) } as usize / 4096;
        if known && !found.dli_fname.is_null() && found.dli_fbase.addr() / 4096 != program {
            let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            // SAFETY: the name of a library that is loaded: this runs none of its code again.
            unsafe { libc::dlopen(found.dli_fname, flags) };
        }
    }
}

// At the first scope the program may be inside its allocator, and the loader allocates: it has to be before.
#[cfg(not(miri))]
#[used]
// The section is a list of functions that the loader calls, once this code is where it belongs.
#[unsafe(link_section = ".init_array")]
static STAY_LOADED: extern "C" fn() = stay_loaded;

/// Runs `body` with these signals blocked for the calling thread, and those that are anyway.
fn with_blocked<T>(signals: &libc::sigset_t, body: impl FnOnce() -> T) -> T {
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: a set, and a valid place for one.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, signals, before.as_mut_ptr()) };
    let value = body();
    // SAFETY: `before` was filled by the first call.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    value
}

fn all_signals() -> libc::sigset_t {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: a valid place for a signal set.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: filled in the line before.
    unsafe { all.assume_init() }
}

/// Runs `body` while no signal is handled on the calling thread.
pub(crate) fn without_signals<T>(body: impl FnOnce() -> T) -> T {
    with_blocked(&all_signals(), body)
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
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    let mut thread: libc::pthread_t = 0;
    // SAFETY: a valid place for attributes.
    unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) };
    // SAFETY: initialised in the line before.
    unsafe { libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK) };
    let mut create = |attributes: *const libc::pthread_attr_t| {
        let body = body as *const () as *mut c_void;
        // SAFETY: attributes that were initialised, or none; `run` takes what it is given here.
        unsafe { libc::pthread_create(&mut thread, attributes, run, body) }
    };
    // A thread inherits its maker's mask: block around the making, so that it never runs without.
    let made = without_signals(|| match create(attributes.as_ptr()) {
        // The thread-locals of this program alone are larger.
        libc::EINVAL => create(std::ptr::null()),
        made => made,
    });
    // SAFETY: initialised above.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
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

/// What standard output and error were when measuring began: device and inode, each plus one; 0 for nothing.
static STANDARD: [[AtomicU64; 2]; 2] = [const { [const { AtomicU64::new(0) }; 2] }; 2];

fn facts_of(descriptor: i32) -> Option<libc::stat> {
    let mut facts = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: `facts` is a valid place for them.
    let known = unsafe { libc::fstat(descriptor, facts.as_mut_ptr()) } == 0;
    // SAFETY: zeros are valid, whether they were filled in or not.
    known.then(|| unsafe { facts.assume_init() })
}

/// Remembers what standard output and error are.
pub(crate) fn note_standard() {
    for (descriptor, [device, inode]) in (libc::STDOUT_FILENO..).zip(&STANDARD) {
        if let Some(facts) = facts_of(descriptor) {
            device.store(facts.st_dev.wrapping_add(1), Ordering::Relaxed);
            inode.store(facts.st_ino.wrapping_add(1), Ordering::Relaxed);
        }
    }
}

/// Whether a descriptor may get our text. In a program that closes standard output or error, the next file that it
/// opens gets the number: this tells it from one that was sent elsewhere. Others than those two may.
fn is_for_text(descriptor: i32) -> bool {
    let Some([device, inode]) = STANDARD.get((descriptor - libc::STDOUT_FILENO) as usize) else {
        return true;
    };
    let Some(facts) = facts_of(descriptor) else {
        return false;
    };
    let before = [device, inode].map(|word| word.load(Ordering::Relaxed));
    if before == [facts.st_dev, facts.st_ino].map(|word| word.wrapping_add(1)) {
        return true;
    }
    // SAFETY: asks for flags.
    let own = unsafe { libc::fcntl(descriptor, libc::F_GETFD) } & libc::FD_CLOEXEC != 0;
    // SAFETY: asks for flags.
    let appends = unsafe { libc::fcntl(descriptor, libc::F_GETFL) } & libc::O_APPEND != 0;
    !own && (appends || facts.st_mode & libc::S_IFMT == libc::S_IFCHR)
}

/// The signals by which the kernel tells a thread that a write failed. By default each ends the program.
const OF_WRITES: [libc::c_int; 2] = [libc::SIGPIPE, libc::SIGXFSZ];

/// While it lives, what the calling thread writes is an error where it fails, and no signal, which would end a program
/// that has not asked for its end.
#[must_use]
pub(crate) struct Unsignalled {
    /// The thread's mask before.
    mask: libc::sigset_t,
    /// Which of [`OF_WRITES`] waited before, and are the program's.
    waited: [bool; OF_WRITES.len()],
    /// Not `Send`: it is this thread's mask.
    _of_this_thread: PhantomData<*mut ()>,
}

impl fmt::Debug for Unsignalled {
    /// Without the mask: before libc 0.2.173 a signal set has no `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unsignalled")
            .field("waited", &self.waited)
            .finish_non_exhaustive()
    }
}

impl Unsignalled {
    pub(crate) fn new() -> Self {
        let mut mask = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
        let signals = set_of(&OF_WRITES);
        // SAFETY: a set, and a valid place for one.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &signals, mask.as_mut_ptr()) };
        Self {
            // SAFETY: filled in by the call before.
            mask: unsafe { mask.assume_init() },
            waited: OF_WRITES.map(is_pending),
            _of_this_thread: PhantomData,
        }
    }
}

impl Drop for Unsignalled {
    fn drop(&mut self) {
        let at_once = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        for (signal, waited) in OF_WRITES.into_iter().zip(self.waited) {
            if !waited && is_pending(signal) {
                // SAFETY: a set, nobody to tell, and a time: takes the signal back.
                unsafe { libc::sigtimedwait(&set_of(&[signal]), std::ptr::null_mut(), &at_once) };
            }
        }
        // SAFETY: the mask before, and nobody asks for this one.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.mask, std::ptr::null_mut()) };
    }
}

fn set_of(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: a valid place for a signal set.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    for &signal in signals {
        // SAFETY: emptied above.
        unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
    }
    // SAFETY: filled in above.
    unsafe { set.assume_init() }
}

/// Whether a signal waits until it is no longer blocked.
fn is_pending(signal: libc::c_int) -> bool {
    let mut pending = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: a valid place for a signal set.
    unsafe { libc::sigpending(pending.as_mut_ptr()) };
    // SAFETY: zeros are an empty set, whether it was filled in or not.
    unsafe { libc::sigismember(pending.as_ptr(), signal) == 1 }
}

/// Writes to a descriptor past std's buffer and lock, which whoever exits may hold. Where one that does not block takes
/// nothing, waits so long for it, in milliseconds; -1 for as long as it takes. A pipe that nobody reads is an error, and
/// so is a file that may not grow.
///
/// # Errors
/// What the system says; `BrokenPipe` too where standard output or error is another file of the program's by now.
pub(crate) fn write_all(descriptor: i32, bytes: &[u8], patience: i32) -> io::Result<()> {
    if !is_for_text(descriptor) {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    let _unsignalled = Unsignalled::new();
    write_unsignalled(descriptor, bytes, patience)
}

fn write_unsignalled(descriptor: i32, mut bytes: &[u8], patience: i32) -> io::Result<()> {
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

/// The key by which threads tell of their ends, plus one; 0 before it was asked for, [`NO_KEY`] where there is none.
static ENDS: AtomicU32 = AtomicU32::new(0);

const NO_KEY: u32 = u32::MAX;

/// Keys whose values need no memory: glibc has room for so many in each thread and allocates for more, musl for all.
const KEYS_AT_HAND: u32 = if cfg!(target_env = "gnu") { 32 } else { u32::MAX };

/// Makes the key, once in a process, and returns the word that [`ENDS`] has from then on. Without a lock: a handler that has
/// interrupted this may come here as well, and the key of whoever is second goes.
fn make_key(handler: unsafe extern "C" fn(*mut c_void)) -> u32 {
    let mut key = 0;
    // SAFETY: a valid place for a key, and a handler that lives as long as the program.
    let made = unsafe { libc::pthread_key_create(&mut key, Some(handler)) } == 0;
    let word = if made && key < KEYS_AT_HAND {
        key + 1
    } else {
        NO_KEY
    };
    let known = ENDS.compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed);
    if made && (known.is_err() || word == NO_KEY) {
        // SAFETY: made above, and no thread has a value.
        unsafe { libc::pthread_key_delete(key) };
    }
    known.err().unwrap_or(word)
}

/// Has `handler`, the same at each call, called at the end of the calling thread, behind the destructors of its
/// thread-locals; whether it is going to be. Without allocating and without a lock. (The first thread does so only where it
/// ends by itself, and not by `exit`.)
pub(crate) fn tell_of_end(handler: unsafe extern "C" fn(*mut c_void)) -> bool {
    let word = match ENDS.load(Ordering::Relaxed) {
        0 => make_key(handler),
        word => word,
    };
    if word == NO_KEY {
        return false;
    }
    let anything = NonNull::<c_void>::dangling().as_ptr();
    // SAFETY: a key that was made and is never deleted; its handler does not look at the value.
    unsafe { libc::pthread_setspecific(word - 1, anything) == 0 }
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
