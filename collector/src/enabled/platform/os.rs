//! System calls for which std has no safe function, or only one that allocates.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The viewer uses these functions as well; it compares heartbeats with this monotonic clock.
pub(crate) use tickscope_format::os::{has_more_rights, monotonic_ns};

/// Runs `body` and restores `errno`. A scope or a counter may come between a failed call of the program and the place
/// where the program reads `errno`.
pub(crate) fn keeping_errno<T>(body: impl FnOnce() -> T) -> T {
    // SAFETY: the call takes no arguments and cannot fail.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: the address belongs to the calling thread and is valid as long as the thread lives.
    let before = unsafe { place.read() };
    let value = body();
    // SAFETY: as above.
    unsafe { place.write(before) };
    value
}

/// Maps private zeroed pages; `None` if the system has none left.
pub(crate) fn map_zeroed(bytes: usize) -> Option<NonNull<c_void>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let pages = keeping_errno(|| {
        // SAFETY: an anonymous mapping at an address that the kernel chooses affects no existing memory.
        unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) }
    });
    if pages == libc::MAP_FAILED {
        None
    } else {
        NonNull::new(pages)
    }
}

/// The constant is defined here because `libc` has it only since 0.2.121. The number is the same on every architecture.
const MADV_POPULATE_WRITE: libc::c_int = 23;

/// Makes pages of [`map_zeroed`] present in one call, which costs less than one page fault for each. A kernel before
/// Linux 5.14 does not support this and makes them at their first write.
pub(crate) fn make_ready(pages: NonNull<c_void>, bytes: usize) {
    keeping_errno(|| {
        // SAFETY: this flag changes no data in the pages, and the call fails on pages that do not belong to the
        // process.
        unsafe { libc::madvise(pages.as_ptr(), bytes, MADV_POPULATE_WRITE) }
    });
}

unsafe extern "C" {
    /// libc's pointer to the environment.
    static mut environ: *const *const libc::c_char;
}

/// Finds the environment if libc has not set it yet, for scopes in `.preinit_array`, which runs before libc begins.
/// libc will find it in the same place.
pub(crate) fn find_environment() {
    // SAFETY: the pointer is only read. As with every reader of the environment, no thread may change it meanwhile.
    if unsafe { !environ.is_null() } {
        return;
    }
    let word = |name: &CStr| {
        // SAFETY: the name is zero-terminated.
        let place = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        // SAFETY: both variables of glibc that are looked up are pointers.
        unsafe { place.cast::<*const usize>().as_ref() }.copied()
    };
    let (Some(name), Some(stack)) = (word(c"program_invocation_name"), word(c"__libc_stack_end")) else {
        return;
    };
    // SAFETY: the name is a zero-terminated text. It is empty until libc begins; later, the program itself has removed
    // its environment.
    if unsafe { name.cast::<u8>().read() } != 0 {
        return;
    }
    // SAFETY: the kernel puts the number of arguments at this address.
    let arguments = unsafe { stack.read() };
    // SAFETY: the environment follows the arguments and a zero. No other thread runs before libc begins.
    unsafe { environ = stack.wrapping_add(arguments + 2).cast() };
}

/// Returns an environment variable, without allocating and without a lock. Returns `None` in a program that has more
/// rights than its caller.
///
/// As with every reader of the environment, no thread may change it meanwhile; std marks such changes unsafe for this
/// reason.
pub(crate) fn variable(name: &'static CStr) -> Option<&'static [u8]> {
    if has_more_rights() {
        return None;
    }
    find_environment();
    // SAFETY: `name` is zero-terminated.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: the string is zero-terminated and stays valid as long as the environment does not change.
    Some(unsafe { CStr::from_ptr(value) }.to_bytes())
}

/// Returns the CPU time of the whole process, in nanoseconds.
pub(crate) fn process_cpu_ns() -> u64 {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or(0)
}

/// Returns how many bytes of a stack are left below the calling function. The stack is given by its lowest address and
/// its size. Returns 0 if the thread runs on another stack, as in a coroutine.
pub(crate) fn stack_left((low, bytes): (u64, u64)) -> u64 {
    let local = 0_u8;
    let here = (&raw const local).addr() as u64;
    let is_inside = (low..low + bytes).contains(&here);
    if is_inside { here - low } else { 0 }
}

/// Returns the lowest address of the calling thread's stack and its size in bytes; 0 and 0 if the system does not say.
pub(crate) fn own_stack() -> (u64, u64) {
    let (mut low, mut bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: all zeros are a valid value of a plain structure; it is filled in below.
    let mut attributes: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
    // SAFETY: the call takes no arguments and cannot fail.
    let own = unsafe { libc::pthread_self() };
    // SAFETY: the thread is the calling one, and the place is valid.
    if unsafe { libc::pthread_getattr_np(own, &mut attributes) } == 0 {
        // SAFETY: the attributes were filled in, and the places are valid.
        unsafe { libc::pthread_attr_getstack(&attributes, &mut low, &mut bytes) };
        // SAFETY: the attributes are not used any more.
        unsafe { libc::pthread_attr_destroy(&mut attributes) };
    }
    let (low, bytes) = (low.addr() as u64, bytes as u64);
    #[cfg(target_env = "musl")]
    if thread_id() == std::process::id() {
        return as_it_may_grow(low, bytes);
    }
    (low, bytes)
}

/// Returns the stack of the first thread with the maximum size to which it may grow. musl reports its present size.
#[cfg(target_env = "musl")]
fn as_it_may_grow(low: u64, bytes: u64) -> (u64, u64) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place for one.
    unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut limit) };
    // Linux keeps at least 128 MiB of addresses free for this stack, unless its limit is lower.
    let largest = limit.rlim_cur.min(128 << 20).max(bytes);
    ((low + bytes).saturating_sub(largest), largest)
}

/// A byte of the process's memory.
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteRead {
    Is(u8),
    /// The memory is not mapped any more.
    IsGone,
    /// The system does not let the process read its own memory by a system call.
    Refused,
}

/// Reads a byte of the process's memory, which may have been unmapped.
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
pub(crate) fn read_byte(address: u64) -> ByteRead {
    let mut byte = 0_u8;
    let part = |base: *mut c_void| libc::iovec {
        iov_base: base,
        iov_len: 1,
    };
    let to = part((&raw mut byte).cast());
    let from = part(std::ptr::without_provenance_mut(address as usize));
    // SAFETY: the call takes no arguments.
    let own = unsafe { libc::getpid() };
    // SAFETY: the kernel checks whether the address can be read, and `to` is a byte that may be written.
    let read = unsafe { libc::process_vm_readv(own, &to, 1, &from, 1, 0) };
    match read {
        1 => ByteRead::Is(byte),
        _ if std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT) => ByteRead::IsGone,
        _ => ByteRead::Refused,
    }
}

/// Returns whether the process has no other thread.
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
pub(crate) fn is_only_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

/// Reads the beginning of a file into `buffer`, without allocating, and returns what was read, trimmed.
pub(crate) fn read_small<'a>(path: &CStr, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    // SAFETY: `path` is zero-terminated.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return None;
    }
    // SAFETY: `buffer` may be written for its whole length.
    let read = unsafe { libc::read(file, buffer.as_mut_ptr().cast(), buffer.len()) };
    // SAFETY: the descriptor was opened above and has no other user.
    unsafe { libc::close(file) };
    Some(buffer.get(..usize::try_from(read).ok()?)?.trim_ascii())
}

/// Kind of the file behind a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FileKind {
    File,
    Pipe,
    Socket,
    /// For example a terminal.
    Device,
    Other,
}

/// Returns the kind of the file behind a descriptor of this process, or `None` if there is no such descriptor.
pub(crate) fn kind_of_file(descriptor: i32) -> Option<FileKind> {
    Some(match facts_of(descriptor)?.st_mode & libc::S_IFMT {
        libc::S_IFREG => FileKind::File,
        libc::S_IFIFO => FileKind::Pipe,
        libc::S_IFSOCK => FileKind::Socket,
        libc::S_IFCHR => FileKind::Device,
        _ => FileKind::Other,
    })
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

/// Returns the monotonic clock that continues while the machine sleeps, in nanoseconds.
pub(crate) fn boottime_ns() -> u64 {
    clock(libc::CLOCK_BOOTTIME).unwrap_or(0)
}

/// Returns the wall clock in nanoseconds since the Unix epoch.
pub(crate) fn unix_ns() -> u64 {
    clock(libc::CLOCK_REALTIME).unwrap_or(0)
}

/// Returns the CPU time of the calling thread in nanoseconds.
pub(crate) fn own_cpu_ns() -> u64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

/// Returns the CPU time of a thread of this process in nanoseconds; `None` if the thread has ended.
pub(crate) fn cpu_ns_of(tid: u32) -> Option<u64> {
    clock(cpu_clock_of(tid))
}

/// Returns the CPU clock of a thread of this process.
pub(crate) fn cpu_clock_of(tid: u32) -> libc::clockid_t {
    // The kernel encodes "the CPU clock of thread TID" like this (see clock_getcpuclockid(3) and its source): the
    // inverted thread id, then the bits for "per thread" and "scheduler clock".
    (!(tid as libc::clockid_t) << 3) | 6
}

/// Returns the kernel's id of the calling thread.
// A system call instead of `gettid`. std refers to `gettid` by a weak symbol, so in a static program with link-time
// optimisation the linker does not take it from the C library.
pub(crate) fn thread_id() -> u32 {
    // SAFETY: the call takes no arguments and cannot fail.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// Returns the kernel's name of the calling thread: at most 15 bytes, followed by zeros.
pub(crate) fn thread_name() -> [u8; 16] {
    let mut name = [0u8; 16];
    // SAFETY: PR_GET_NAME writes at most 16 bytes.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}

/// Sets the kernel's name of the calling thread.
pub(crate) fn name_this_thread(name: &CStr) {
    // SAFETY: PR_SET_NAME reads a zero-terminated string.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

/// The stack size of the collector's threads in bytes, which is std's default. The system's default is a limit that
/// users set for their programs; it ranges from 16 KiB, too little to take a snapshot, to the whole address space.
const STACK: usize = 2 << 20;

/// Keeps the library with this code loaded. Unloading would remove the code of the collector's threads, the handlers at
/// the ends of threads that have counted, and the sites that snapshots refer to. The main program is never unloaded.
extern "C" fn stay_loaded() {
    // A statically linked program has no loader.
    #[cfg(not(target_feature = "crt-static"))]
    {
        let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: the call only looks up an address, and `found` is a valid place for the result.
        let known = unsafe { libc::dladdr(stay_loaded as *const c_void, found.as_mut_ptr()) } != 0;
        // SAFETY: zeros are a valid value, whether the call filled it in or not.
        let found = unsafe { found.assume_init() };
        // SAFETY: the call takes a number. The executable's headers are in its first page.
        let program = unsafe { libc::getauxval(libc::AT_PHDR) } as usize / 4096;
        if known && !found.dli_fname.is_null() && found.dli_fbase.addr() / 4096 != program {
            let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            // SAFETY: the library is already loaded, so none of its initialisers run again.
            unsafe { libc::dlopen(found.dli_fname, flags) };
        }
    }
}

// `stay_loaded` runs when the library is loaded. The first scope would be too late, because the program may be inside
// its allocator then, and the loader allocates.
before_main!(STAY_LOADED, stay_loaded);

/// The CPUs that the program could use at its start, one bit each, also if its threads choose fewer later. All bits are
/// 0 if the CPUs are unknown.
static CPUS: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];

extern "C" fn note_cpus() {
    let mut cpus = [0u64; 16];
    let main_thread = std::process::id() as libc::pid_t;
    // SAFETY: `cpus` has the given length.
    if unsafe { libc::sched_getaffinity(main_thread, size_of_val(&cpus), cpus.as_mut_ptr().cast()) } == 0 {
        for (known, word) in CPUS.iter().zip(cpus) {
            known.store(word, Ordering::Relaxed);
        }
    }
}

before_main!(NOTE_CPUS, note_cpus);

/// Runs `body` with these signals blocked for the calling thread, in addition to the signals that are already blocked.
fn with_blocked<T>(signals: &libc::sigset_t, body: impl FnOnce() -> T) -> T {
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the first argument is a valid set, the second a valid place for one.
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
    // SAFETY: the set was filled in the line before.
    unsafe { all.assume_init() }
}

/// Runs `body` while the calling thread handles no signal.
pub(crate) fn without_signals<T>(body: impl FnOnce() -> T) -> T {
    with_blocked(&all_signals(), body)
}

/// Ids of the threads of [`spawn`]: the publisher, the log, and the thread that waits for signals. 0 is a free place.
static OURS: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];

/// Returns whether the program has threads other than the collector's. The first thread stays in the kernel's list as a
/// zombie after it has ended.
pub(crate) fn has_other_threads() -> bool {
    let main = std::process::id();
    let is_zombie = |tid: u32| {
        let stat = tickscope_format::os::read_text(format!("/proc/self/task/{tid}/stat")).unwrap_or_default();
        stat.rsplit(')')
            .next()
            .is_some_and(|state| state.trim_start().starts_with('Z'))
    };
    if !is_zombie(main) {
        return true;
    }
    let is_ours = |tid: u32| OURS.iter().any(|ours| ours.load(Ordering::Relaxed) == tid);
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
        return true;
    };
    let tids = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok());
    tids.into_iter().any(|tid: u32| tid != main && !is_ours(tid))
}

/// Starts a detached thread with all signals blocked, the default scheduling policy, and access to every CPU that the
/// program could use at its start, also if the caller is bound to fewer CPUs. Does not use the program's allocator.
pub(crate) fn spawn(body: fn()) -> io::Result<()> {
    extern "C" fn run(body: *mut c_void) -> *mut c_void {
        // SAFETY: the pointer was made from a `fn()` below. Function pointers and data pointers have the same size on
        // Unix.
        let body: fn() = unsafe { std::mem::transmute::<*mut c_void, fn()>(body) };
        reset_scheduling();
        let own = thread_id();
        let place = OURS.iter().find(|place| {
            place
                .compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        });
        body();
        if let Some(place) = place {
            place.store(0, Ordering::Relaxed);
        }
        std::ptr::null_mut()
    }
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // `pthread_t` is a number or a pointer, depending on the C library.
    let mut thread = std::mem::MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: a valid place for attributes.
    unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) };
    // SAFETY: the attributes were initialised in the line before.
    unsafe { libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK) };
    let mut create = |attributes: *const libc::pthread_attr_t| {
        let body = body as *const () as *mut c_void;
        // SAFETY: the attributes are initialised or null, and `run` takes the argument given here.
        unsafe { libc::pthread_create(thread.as_mut_ptr(), attributes, run, body) }
    };
    // A thread inherits the mask of its creator. Signals are blocked around the call, so that the thread never runs
    // without the mask.
    let made = without_signals(|| match create(attributes.as_ptr()) {
        // The thread-locals of this program do not fit into the stack, so the default stack size is used.
        libc::EINVAL => create(std::ptr::null()),
        made => made,
    });
    // SAFETY: the attributes were initialised above.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    if made != 0 {
        return Err(io::Error::from_raw_os_error(made));
    }
    // SAFETY: `pthread_create` has succeeded, so it has set `thread`.
    let thread = unsafe { thread.assume_init() };
    // SAFETY: the thread was made above and is never joined.
    unsafe { libc::pthread_detach(thread) };
    Ok(())
}

/// Resets the priority and policy that the calling thread has inherited, and lets it use the CPUs that the program was
/// started on. If the system forbids this, the thread runs with the inherited values.
fn reset_scheduling() {
    // SAFETY: zero is a valid value of a plain struct of numbers.
    let parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: 0 is the calling thread; `parameters` lives through the call.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &parameters) };
    let cpus = CPUS.each_ref().map(|word| word.load(Ordering::Relaxed));
    if cpus != [0; 16] {
        // SAFETY: 0 is the calling thread, and `cpus` has the given length.
        unsafe { libc::sched_setaffinity(0, size_of_val(&cpus), cpus.as_ptr().cast()) };
    }
}

/// The files behind standard output and error when measuring began: device and inode, each plus one; 0 if closed.
static STANDARD: [[AtomicU64; 2]; 2] = [const { [const { AtomicU64::new(0) }; 2] }; 2];

/// Returns the facts of the file behind a descriptor. Uses `stat64`, because inodes have 64 bits also on 32-bit
/// systems.
fn facts_of(descriptor: i32) -> Option<libc::stat64> {
    let mut facts = std::mem::MaybeUninit::<libc::stat64>::zeroed();
    // SAFETY: `facts` is a valid place for the result.
    let known = unsafe { libc::fstat64(descriptor, facts.as_mut_ptr()) } == 0;
    // SAFETY: zeros are a valid value, whether the call filled it in or not.
    known.then(|| unsafe { facts.assume_init() })
}

/// Remembers the files behind standard output and error.
pub(crate) fn note_standard() {
    for (descriptor, [device, inode]) in (libc::STDOUT_FILENO..).zip(&STANDARD) {
        if let Some(facts) = facts_of(descriptor) {
            device.store(facts.st_dev.wrapping_add(1), Ordering::Relaxed);
            inode.store(facts.st_ino.wrapping_add(1), Ordering::Relaxed);
        }
    }
}

/// Returns whether standard input, output and error are open. A program that has closed one of them is about to open
/// another file with its number, and no file of the collector may get that number, not even for microseconds.
pub(crate) fn has_standard() -> bool {
    // SAFETY: the call only reads flags.
    (0..=2).all(|descriptor| unsafe { libc::fcntl(descriptor, libc::F_GETFD) } >= 0)
}

/// Returns whether the collector may write text to a descriptor. If a program closes standard output or error, the next
/// file that it opens gets its number. This function distinguishes such a file from a redirection. All other
/// descriptors may be written.
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
    // SAFETY: the call only reads flags.
    let own = unsafe { libc::fcntl(descriptor, libc::F_GETFD) } & libc::FD_CLOEXEC != 0;
    // SAFETY: the call only reads flags.
    let appends = unsafe { libc::fcntl(descriptor, libc::F_GETFL) } & libc::O_APPEND != 0;
    !own && (appends || facts.st_mode & libc::S_IFMT == libc::S_IFCHR)
}

/// The signals by which the kernel reports a failed write to a thread. By default each of them ends the program.
const OF_WRITES: [libc::c_int; 2] = [libc::SIGPIPE, libc::SIGXFSZ];

/// While this guard lives, a failed write on the calling thread is an error and not a signal, which would end the
/// program.
#[must_use]
pub(crate) struct Unsignalled {
    /// The thread's signal mask before the guard was made.
    mask: libc::sigset_t,
    /// Which of [`OF_WRITES`] were pending before and belong to the program.
    waited: [bool; OF_WRITES.len()],
    /// Not `Send`, because it holds this thread's mask.
    _of_this_thread: PhantomData<*mut ()>,
}

impl fmt::Debug for Unsignalled {
    /// Leaves out the mask: before libc 0.2.173 a signal set has no `Debug`.
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
        // SAFETY: the first argument is a valid set, the second a valid place for one.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &signals, mask.as_mut_ptr()) };
        Self {
            // SAFETY: the call above has set `mask`, or it is zeroed, which is a valid mask.
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
                // SAFETY: the set and the time are valid, and no information is requested. This call discards the
                // pending signal.
                unsafe { libc::sigtimedwait(&set_of(&[signal]), std::ptr::null_mut(), &at_once) };
            }
        }
        // SAFETY: the mask was valid before, and the present mask is not requested.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.mask, std::ptr::null_mut()) };
    }
}

fn set_of(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: a valid place for a signal set.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    for &signal in signals {
        // SAFETY: the set was emptied above.
        unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
    }
    // SAFETY: the set was filled in above.
    unsafe { set.assume_init() }
}

/// Returns whether a blocked signal is pending.
fn is_pending(signal: libc::c_int) -> bool {
    let mut pending = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: a valid place for a signal set.
    unsafe { libc::sigpending(pending.as_mut_ptr()) };
    // SAFETY: zeros are an empty set, whether the call filled it in or not.
    unsafe { libc::sigismember(pending.as_ptr(), signal) == 1 }
}

/// Writes to a descriptor directly, without std's buffer and lock, which the exiting thread may hold. If a non-blocking
/// descriptor accepts nothing, waits for up to `patience` milliseconds, or without limit for -1. A pipe without a
/// reader, or a file that may not grow, causes an error and no signal.
///
/// # Errors
/// The system's error; also `BrokenPipe` if standard output or error is now another file of the program.
pub fn write_all(descriptor: i32, bytes: &[u8], patience: i32) -> io::Result<()> {
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

/// Waits until a descriptor accepts more, or until it has an error that the next write will report.
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

/// Returns the handler of a signal as an address, or `SIG_DFL` or `SIG_IGN`.
pub(crate) fn handler_of(signal: libc::c_int) -> Option<usize> {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a null action changes nothing, and the place is valid for the present one.
    let found = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: zeros are valid, and the call writes only valid values.
    (found == 0).then(|| unsafe { action.assume_init() }.sa_sigaction)
}

/// Sets the handler of a signal, and returns whether that worked. System calls that the signal interrupts are
/// restarted. The handler runs on the thread's signal stack if there is one, because stacks of coroutines are small.
///
/// # Safety
/// The handler must have the signature that the flags require, and must be async-signal-safe.
pub(crate) unsafe fn set_handler(signal: libc::c_int, handler: usize, flags: libc::c_int) -> bool {
    // SAFETY: zeros are valid: no flags, and no further signals blocked.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK | flags;
    // SAFETY: the action is valid, and the caller promises a valid handler.
    unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) == 0 }
}

/// Declares a static that makes the loader call a function when the program, or the library with this code, is loaded:
/// before `main`, and outside the program's allocator.
macro_rules! before_main {
    ($(#[$doc:meta])* $visibility:vis $name:ident, $function:expr) => {
        $(#[$doc])*
        // Miri does not run such functions.
        #[cfg_attr(not(miri), used)]
        // The loader calls the functions in this section after relocation, and before functions in sections without a
        // number.
        #[cfg_attr(not(miri), unsafe(link_section = ".init_array.00990"))]
        $visibility static $name: extern "C" fn() = $function;
    };
}
pub(crate) use before_main;

/// Registers `handler` for the normal exit of the process.
pub(crate) fn at_exit(handler: extern "C" fn()) {
    // SAFETY: the handler lives as long as the program. If a library is unloaded, libc calls it at that time.
    unsafe { libc::atexit(handler) };
}

/// The key for handlers at the ends of threads, plus one; 0 before the key is made, [`NO_KEY`] if no key is available.
static ENDS: AtomicU32 = AtomicU32::new(0);

const NO_KEY: u32 = u32::MAX;

/// The number of keys whose values need no allocation: glibc has space for 32 in each thread and allocates for more;
/// musl has space for all.
const KEYS_AT_HAND: u32 = if cfg!(target_env = "gnu") { 32 } else { u32::MAX };

/// Makes the key, once in a process, and returns the value of [`ENDS`] from then on. Takes no lock, because a signal
/// handler that interrupts this function may call it as well. The second key is deleted then.
fn make_key(handler: unsafe extern "C" fn(*mut c_void)) -> u32 {
    let mut key = 0;
    // SAFETY: `key` is a valid place for a key, and the handler lives as long as the program.
    let made = unsafe { libc::pthread_key_create(&mut key, Some(handler)) } == 0;
    let word = if made && key < KEYS_AT_HAND {
        key + 1
    } else {
        NO_KEY
    };
    let known = ENDS.compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed);
    if made && (known.is_err() || word == NO_KEY) {
        // SAFETY: the key was made above, and no thread has a value for it.
        unsafe { libc::pthread_key_delete(key) };
    }
    known.err().unwrap_or(word)
}

/// Registers `handler` for the end of the calling thread, after the destructors of its thread-locals, and returns
/// whether that worked. All calls must pass the same handler. This function neither allocates nor takes a lock. The
/// first thread runs the handler only if it ends by itself and not by `exit`.
pub(crate) fn call_at_thread_end(handler: unsafe extern "C" fn(*mut c_void)) -> bool {
    let word = match ENDS.load(Ordering::Relaxed) {
        0 => make_key(handler),
        word => word,
    };
    if word == NO_KEY {
        return false;
    }
    let anything = NonNull::<c_void>::dangling().as_ptr();
    // SAFETY: the key was made and is never deleted, and the handler does not use the value.
    unsafe { libc::pthread_setspecific(word - 1, anything) == 0 }
}

/// Registers `handler` for every child that is forked from now on.
pub(crate) fn in_forked_children(handler: unsafe extern "C" fn()) {
    // SAFETY: the handler lives as long as the program and only stores to atomics.
    unsafe { libc::pthread_atfork(None, None, Some(handler)) };
}

/// Registers functions that the forking thread runs before a fork, and after the fork in the parent and in the child.
pub(crate) fn around_forks(
    before: unsafe extern "C" fn(),
    in_parent: unsafe extern "C" fn(),
    in_child: unsafe extern "C" fn(),
) {
    // SAFETY: the handlers live as long as the program.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_nonblocking_pipe_gets_everything_once_it_is_read() {
        let (mut reader, writer) = io::pipe().unwrap();
        let descriptor = writer.as_raw_fd();
        // SAFETY: the descriptor belongs to this test; the other arguments are numbers.
        unsafe { libc::fcntl(descriptor, libc::F_SETFL, libc::O_NONBLOCK) };
        let text = vec![b'x'; 1 << 20];
        let failed = write_all(descriptor, &text, 0).map_err(|error| error.kind());
        assert_eq!(failed, Err(io::ErrorKind::WouldBlock), "the pipe has no reader");
        let read = std::thread::spawn(move || {
            let mut read = Vec::new();
            reader.read_to_end(&mut read).map(|_| read.len())
        });
        write_all(descriptor, &text, -1).unwrap();
        drop(writer);
        assert!(read.join().unwrap().unwrap() > text.len());
    }

    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    #[test]
    fn a_byte_is_read_or_is_gone() {
        let byte = 7_u8;
        let read = read_byte(std::ptr::from_ref(&byte).expose_provenance() as u64);
        // A container may refuse the call; then there is nothing to check.
        if read != ByteRead::Refused {
            assert_eq!((read, read_byte(8)), (ByteRead::Is(7), ByteRead::IsGone));
        }
    }
}
