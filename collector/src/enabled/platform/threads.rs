//! Threads: starts the collector's own threads, looks up the calling thread's id, name and stack, and runs handlers
//! when threads end.

use std::ffi::{CStr, c_void};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::enabled::platform::os::before_main;
use crate::enabled::platform::signals::without_signals;

/// Stack size of the collector's threads in bytes, the same as std's default. The system's default is a limit that
/// users choose to suit their programs. It can be anything from 16 KiB, which is too little to take a snapshot, to the
/// whole address space.
const STACK: usize = 2 << 20;

/// The CPUs that the program was allowed to use when it started, one bit each. The bits stay the same if threads later
/// restrict themselves to fewer CPUs. All bits are 0 if the CPUs are unknown.
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

/// Ids of the threads started by [`spawn`]: the publisher, the log writer, and the thread that waits for signals. A
/// free slot is 0.
static OURS: [AtomicU32; 4] = [const { AtomicU32::new(0) }; 4];

/// In a forked child, forgets the threads that [`spawn`] has started, because the child does not have them.
pub(crate) fn forget_ours() {
    OURS.iter().for_each(|ours| ours.store(0, Ordering::Relaxed));
}

/// Returns whether the program has threads other than the collector's. The first thread does not count once it has
/// ended, although it stays in the kernel's list as a zombie.
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

/// Returns whether the calling thread is the only thread of the process.
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
pub(crate) fn is_only_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

/// Starts a detached thread with all signals blocked and the default scheduling policy. The thread may use every CPU
/// that the program was allowed to use when it started, even if the caller is bound to fewer CPUs. Does not use the
/// program's allocator.
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
    // SAFETY: `attributes` may be written.
    unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) };
    // SAFETY: the attributes were initialised above.
    unsafe { libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK) };
    let mut create = |attributes: *const libc::pthread_attr_t| {
        let body = body as *const () as *mut c_void;
        // SAFETY: the attributes are initialised or null, and `run` takes the argument given here.
        unsafe { libc::pthread_create(thread.as_mut_ptr(), attributes, run, body) }
    };
    // A thread inherits its creator's signal mask. Signals are blocked around the call, so that the new thread cannot
    // handle any.
    let made = without_signals(|| match create(attributes.as_ptr()) {
        // The program's thread-locals do not fit into a stack of this size, so the default stack size is used.
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

/// Undoes scheduling settings that the calling thread has inherited: resets its priority and policy, and lets it use
/// every CPU that the program was allowed to use when it started. If the system forbids this, the thread keeps the
/// inherited settings.
fn reset_scheduling() {
    let priority = 0;
    // This makes the system call directly because musl's `sched_setscheduler` does nothing.
    // SAFETY: 0 is the calling thread. The kernel reads one `c_int`, the priority, which lives through the call.
    unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            libc::SCHED_OTHER,
            &raw const priority,
        )
    };
    let cpus = CPUS.each_ref().map(|word| word.load(Ordering::Relaxed));
    if cpus != [0; 16] {
        // SAFETY: 0 is the calling thread, and `cpus` has the given length.
        unsafe { libc::sched_setaffinity(0, size_of_val(&cpus), cpus.as_ptr().cast()) };
    }
}

/// Returns the calling thread's TID.
// This makes the system call directly because std refers to `gettid` only through a weak symbol. In a static program
// with link-time optimisation, the linker would therefore not include `gettid` from the C library.
pub(crate) fn thread_id() -> u32 {
    // SAFETY: the call takes no arguments and cannot fail.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// Returns the calling thread's name as the kernel knows it: at most 15 bytes, followed by zeros.
pub(crate) fn thread_name() -> [u8; 16] {
    let mut name = [0u8; 16];
    // SAFETY: PR_GET_NAME writes at most 16 bytes.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}

/// Sets the name by which the kernel knows the calling thread.
pub(crate) fn name_this_thread(name: &CStr) {
    // SAFETY: PR_SET_NAME reads a zero-terminated string.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

/// Returns how many bytes of a stack are left below the calling function. The stack is given by its lowest address and
/// its size. Returns 0 if the thread runs on another stack, as in a coroutine.
pub(crate) fn stack_left((low, bytes): (u64, u64)) -> u64 {
    let local = 0_u8;
    let here = (&raw const local).addr() as u64;
    let is_inside = (low..low + bytes).contains(&here);
    if is_inside { here - low } else { 0 }
}

/// Returns the lowest address of the calling thread's stack and its size in bytes, or two zeros if the system does not
/// report them.
pub(crate) fn own_stack() -> (u64, u64) {
    let (mut low, mut bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: the struct contains only plain values, so all zeros are valid. It is filled in below.
    let mut attributes: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
    // SAFETY: the call takes no arguments and cannot fail.
    let own = unsafe { libc::pthread_self() };
    // SAFETY: `own` is the calling thread, and `attributes` may be written.
    if unsafe { libc::pthread_getattr_np(own, &mut attributes) } == 0 {
        // SAFETY: the attributes were filled in, and `low` and `bytes` may be written.
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

/// Returns the first thread's stack with the largest size that it may grow to, because musl reports only the current
/// size.
#[cfg(target_env = "musl")]
fn as_it_may_grow(low: u64, bytes: u64) -> (u64, u64) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid `rlimit`.
    unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut limit) };
    // Linux keeps at least 128 MiB of address space free for this stack to grow into. A lower stack limit stops it
    // earlier.
    let largest = limit.rlim_cur.min(128 << 20).max(bytes);
    ((low + bytes).saturating_sub(largest), largest)
}

/// The `pthread` key whose handler runs when a thread ends, plus one. It is 0 before the key is made, and [`NO_KEY`] if
/// no key is available.
static ENDS: AtomicU32 = AtomicU32::new(0);

const NO_KEY: u32 = u32::MAX;

/// How many keys a process can have without allocating memory for their values. glibc has space for 32 values in each
/// thread and allocates memory beyond that; musl has space for all of them.
const KEYS_AT_HAND: u32 = if cfg!(target_env = "gnu") { 32 } else { u32::MAX };

/// Makes the key of this process, and returns the new value of [`ENDS`]. Takes no lock, because a signal handler that
/// interrupts this function may call it as well. If both calls make a key, the second key is deleted.
fn make_key(handler: unsafe extern "C" fn(*mut c_void)) -> u32 {
    let mut key = 0;
    // SAFETY: `key` may be written, and the handler lives as long as the program.
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

/// Registers `handler` to run when the calling thread ends, after the destructors of its thread-locals. Returns whether
/// that succeeded. All calls must pass the same handler. This function neither allocates nor takes a lock. On the first
/// thread, the handler runs only if the thread itself ends, and not if the process exits.
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
