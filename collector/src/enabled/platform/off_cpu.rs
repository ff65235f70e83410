//! Reads the system's information about the time that the calling thread spends off its CPU.
//!
//! There are four sources, the cheapest first:
//!
//! - **Restartable sequences** (`rseq`): glibc 2.35 and later registers an area of each thread with the kernel. The
//!   kernel clears a word in this area whenever it switches to another thread or delivers a signal. As long as the word
//!   has the value that [`mark`] stores, the thread has not left its CPU. This check needs no system call.
//! - **The thread's CPU clock**: time off the CPU is the wall time since the last reading, minus the CPU time since
//!   then.
//! - **`getrusage`**: how often the thread lost its CPU, and how often it lost it although it could run.
//! - **`schedstat`**: how often the thread got a CPU, and how long it had been ready before. If the thread has a
//!   descriptor for this file, the file is read instead of `getrusage`.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering, compiler_fence};

use crate::enabled::platform::os;

/// The thread's clocks at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clocks {
    /// The monotonic clock in nanoseconds.
    pub(crate) wall_ns: u64,
    /// The CPU time in nanoseconds.
    pub(crate) cpu_ns: u64,
}

/// How often a thread has lost its CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Switches {
    pub(crate) all: u64,
    /// Number of switches at which the thread could still run.
    pub(crate) preempted: u64,
}

/// Reads the clocks of the calling thread.
pub(crate) fn clocks() -> Clocks {
    Clocks {
        wall_ns: os::monotonic_ns(),
        cpu_ns: os::own_cpu_ns(),
    }
}

/// A descriptor of the calling thread's `schedstat`, plus one. 0 before the first reading, and [`NO_FILE`] if there is
/// no descriptor.
pub(crate) type File = u32;

/// Value of [`File`] for a thread without a descriptor: [`FILES_MAX`] other threads have one, or the system has no
/// `schedstat`.
pub(crate) const NO_FILE: File = u32::MAX;

/// Maximum number of threads with a descriptor. It is low, because a program may be limited to 1 024 descriptors.
const FILES_MAX: usize = 64;

static FILES: AtomicUsize = AtomicUsize::new(0);

/// Smallest number of a descriptor of `schedstat`. Smaller numbers are left to the program, as in tickscope-format.
const OUT_OF_THE_WAY: libc::c_int = 40;

/// Maximum difference in ns between the CPU time in `schedstat` and the thread's CPU clock. `schedstat` lags until the
/// scheduler's next tick. A larger difference means that the descriptor belongs to another file.
const LAG_NS: u64 = 100_000_000;

/// The scheduler's statistics of a thread since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slices {
    /// Number of times that the thread got a CPU.
    pub(crate) count: u64,
    /// Time for which the thread was ready without a CPU, in nanoseconds.
    pub(crate) ready_ns: u64,
}

/// Returns the scheduler's statistics of the calling thread, whose CPU time is `cpu_ns`; `None` if they cannot be read.
/// The caller keeps `file` for the next reading, and passes it to [`close`] at the end.
pub(crate) fn slices(file: &mut File, cpu_ns: u64) -> Option<Slices> {
    if *file == 0 {
        *file = open();
    }
    if *file == NO_FILE {
        return None;
    }
    let slices = read(*file as libc::c_int - 1, cpu_ns);
    if slices.is_none() {
        // The program has closed the descriptor, and the number may belong to another file, so it is not used again.
        *file = NO_FILE;
        FILES.fetch_sub(1, Ordering::Relaxed);
    }
    slices
}

/// Closes a thread's `schedstat`, if the descriptor still refers to it. The thread calls this at its end.
pub(crate) fn close(file: File) {
    if file == 0 || file == NO_FILE {
        return;
    }
    FILES.fetch_sub(1, Ordering::Relaxed);
    let descriptor = file as libc::c_int - 1;
    if read(descriptor, os::own_cpu_ns()).is_some() {
        // SAFETY: the descriptor refers to the thread's `schedstat`, which [`open`] has opened.
        unsafe { libc::close(descriptor) };
    }
}

fn open() -> File {
    if FILES.fetch_add(1, Ordering::Relaxed) >= FILES_MAX {
        FILES.fetch_sub(1, Ordering::Relaxed);
        return NO_FILE;
    }
    // SAFETY: the path is a C string.
    let low = unsafe {
        libc::open(
            c"/proc/thread-self/schedstat".as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        )
    };
    // SAFETY: the call takes numbers, and fails if `low` is not a descriptor.
    let high = unsafe { libc::fcntl(low, libc::F_DUPFD_CLOEXEC, OUT_OF_THE_WAY) };
    if low >= 0 {
        // SAFETY: the descriptor was opened above.
        unsafe { libc::close(low) };
    }
    match u32::try_from(high) {
        Ok(descriptor) => descriptor + 1,
        Err(_) => {
            FILES.fetch_sub(1, Ordering::Relaxed);
            NO_FILE
        }
    }
}

/// Reads a descriptor that should be the thread's `schedstat`. Returns `None` if it is another file.
fn read(descriptor: libc::c_int, cpu_ns: u64) -> Option<Slices> {
    let mut buffer = [0u8; 64];
    // SAFETY: `buffer` may be written for its whole length.
    let bytes = unsafe { libc::pread(descriptor, buffer.as_mut_ptr().cast::<c_void>(), buffer.len(), 0) };
    let text = buffer.get(..usize::try_from(bytes).ok()?)?;
    parsed(text, cpu_ns)
}

/// Parses the three numbers of `schedstat`: CPU time in ns, time ready without a CPU in ns, and number of times that
/// the thread got a CPU. Returns `None` if the CPU time differs too much from `cpu_ns`.
fn parsed(text: &[u8], cpu_ns: u64) -> Option<Slices> {
    let mut words = str::from_utf8(text).ok()?.trim_ascii_end().split(' ');
    let mut number = || words.next()?.parse::<u64>().ok();
    let (on_cpu, ready_ns, count) = (number()?, number()?, number()?);
    let is_ours = on_cpu <= cpu_ns.saturating_add(LAG_NS) && cpu_ns <= on_cpu.saturating_add(LAG_NS);
    (is_ours && words.next().is_none()).then_some(Slices { count, ready_ns })
}

/// Returns how often the calling thread has lost its CPU since its start.
pub(crate) fn switches() -> Switches {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` has the size and alignment of a `rusage`.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    // SAFETY: zeros are valid, and the call writes only valid values.
    let usage = unsafe { usage.assume_init() };
    let preempted = usage.ru_nivcsw as u64;
    Switches {
        all: usage.ru_nvcsw as u64 + preempted,
        preempted,
    }
}

/// An empty critical section in the kernel's layout, with the signature that precedes an abort address. It is in pages
/// that are never unmapped, because a thread may outlive the library that contains this code.
#[repr(C, align(32))]
struct EmptySection {
    version: AtomicU32,
    flags: AtomicU32,
    start_ip: AtomicUsize,
    post_commit_offset: AtomicUsize,
    abort_ip: AtomicUsize,
    signature: AtomicU32,
    abort: AtomicU32,
}

/// The signature with which glibc registers areas on this architecture, or `None` if this file does not support rseq on
/// it.
const SIGNATURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0x5305_3053)
} else if cfg!(all(target_arch = "aarch64", target_endian = "little")) {
    Some(0xd428_bc00)
} else {
    None
};

/// Offset of `rseq_cs` in a thread's area, in bytes.
const SECTION_OFFSET: isize = 8;

/// Minimum size of an area with `rseq_cs`, in bytes.
const AREA_BYTES: u32 = 20;

static SECTION: AtomicPtr<EmptySection> = AtomicPtr::new(std::ptr::null_mut());

/// Offset of a thread's `rseq_cs` from its thread pointer; 0 if threads have no area.
static WORD_OFFSET: AtomicUsize = AtomicUsize::new(0);

/// Finds the areas of threads. [`stayed`] returns false until this is called, and always if threads have no areas.
pub(crate) fn find_areas() {
    let Some(signature) = SIGNATURE.filter(|_| cfg!(target_env = "gnu")) else {
        return;
    };
    let symbol = |name: &std::ffi::CStr| {
        // SAFETY: the name is a C string.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
    };
    let (size, offset) = (symbol(c"__rseq_size"), symbol(c"__rseq_offset"));
    if size.is_null() || offset.is_null() {
        return;
    }
    // SAFETY: glibc's `__rseq_size` is an `unsigned int`, and constant.
    let size = unsafe { size.cast::<u32>().read() };
    // SAFETY: glibc's `__rseq_offset` is a `ptrdiff_t`, and constant.
    let offset = unsafe { offset.cast::<isize>().read() };
    // The size is 0 if the kernel has no rseq, or a tunable has switched it off.
    if size < AREA_BYTES {
        return;
    }
    let Some(page) = os::map_zeroed(size_of::<EmptySection>()) else {
        return;
    };
    let section = page.cast::<EmptySection>().as_ptr();
    // SAFETY: the pages are zeroed, large enough and aligned, no other code uses them, and zeros are valid atomics.
    let fields = unsafe { &*section };
    fields.signature.store(signature, Ordering::Relaxed);
    // The section contains no instruction, so no thread jumps to the abort address. Only the signature before it is
    // read.
    fields
        .abort_ip
        .store(std::ptr::from_ref(&fields.abort).addr(), Ordering::Relaxed);
    SECTION.store(section, Ordering::Release);
    WORD_OFFSET.store((offset + SECTION_OFFSET).cast_unsigned(), Ordering::Release);
}

/// Returns the calling thread's `rseq_cs`, and the value that this word keeps while the thread stays on its CPU.
fn word() -> Option<(&'static AtomicUsize, usize)> {
    let offset = WORD_OFFSET.load(Ordering::Acquire);
    if offset == 0 {
        return None;
    }
    let word = thread_pointer().wrapping_add(offset) as *const AtomicUsize;
    // SAFETY: glibc has registered an area at this offset for every thread, which stays registered as long as the
    // thread lives. The kernel changes the word only while the thread does not run in user mode.
    Some((unsafe { &*word }, SECTION.load(Ordering::Relaxed).addr()))
}

#[inline]
fn thread_pointer() -> usize {
    let pointer: usize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: by the ABI, the first word at the thread pointer holds the pointer itself.
    unsafe {
        std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: reads a register.
    unsafe {
        std::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        pointer = 0;
    }
    pointer
}

/// Returns whether threads have a word that the kernel clears at a switch.
pub(crate) fn has_word() -> bool {
    WORD_OFFSET.load(Ordering::Relaxed) != 0
}

/// Returns whether the calling thread has been on its CPU all the time since [`mark`]; false if this is unknown.
pub(crate) fn stayed() -> bool {
    word().is_some_and(|(word, ours)| word.load(Ordering::Relaxed) == ours)
}

/// Sets the calling thread's word, so that [`stayed`] can notice a switch. Keeps a word that other code of this thread
/// has set.
pub(crate) fn mark() {
    if let Some((word, ours)) = word()
        && word.load(Ordering::Relaxed) == 0
    {
        word.store(ours, Ordering::Relaxed);
        // The fence keeps the caller's reading of the clocks after this store, because a switch between the two has to
        // be noticed.
        compiler_fence(Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_thread_that_sleeps_has_left_its_cpu_and_one_that_works_may_stay() {
        find_areas();
        mark();
        std::thread::sleep(Duration::from_millis(1));
        assert!(!stayed());
        // At least one of many short periods must have no switch. Without an rseq area, no thread is ever known to have
        // stayed.
        let stays = (0..1_000).any(|_| {
            mark();
            std::hint::black_box(Instant::now());
            stayed()
        });
        assert_eq!(stays, word().is_some());
    }

    #[test]
    fn a_sleep_is_off_the_cpu_and_no_time_ready() {
        let mut file = 0;
        let reading = |file: &mut File| (clocks(), switches(), slices(file, os::own_cpu_ns()));
        let before = reading(&mut file);
        std::thread::sleep(Duration::from_millis(20));
        let after = reading(&mut file);
        let off = (after.0.wall_ns - before.0.wall_ns) - (after.0.cpu_ns - before.0.cpu_ns);
        assert!(off > 19_000_000, "{off}");
        assert!(after.1.all > before.1.all);
        if let (Some(then), Some(now)) = (before.2, after.2) {
            assert!(now.ready_ns - then.ready_ns <= off, "{then:?} {now:?} {off}");
            assert!(now.count > then.count);
        }
        close(file);
    }

    #[test]
    fn another_file_is_no_schedstat() {
        let ours = |cpu_ns| parsed(b"1000000 200 30\n", cpu_ns);
        let (count, ready_ns) = (30, 200);
        assert_eq!(ours(1_500_000), Some(Slices { count, ready_ns }));
        assert_eq!(ours(900_000_000_000), None, "another thread's");
        let others = [
            "",
            "1000000 200",
            "1000000 x 30",
            "1000000 200 30 4",
            "99999999999999999999 1 1",
            "#!/bin/sh",
        ];
        for other in others {
            assert_eq!(parsed(other.as_bytes(), 1_000_000), None, "{other}");
        }
    }
}
