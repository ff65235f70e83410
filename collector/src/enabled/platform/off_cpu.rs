//! Reads what the system knows about the time that the calling thread spends off its CPU.
//!
//! There are four sources, the cheapest first:
//!
//! - **Restartable sequences** (`rseq`): glibc 2.35 and later registers an area for each thread with the kernel. The
//!   kernel clears a word in this area whenever it switches to another thread or delivers a signal. As long as the word
//!   has the value that [`mark`] stores, the thread has not left its CPU. This check needs no system call.
//! - **The thread's CPU clock**: the time off the CPU since the last reading is the wall time that has passed, minus
//!   the CPU time that the thread has used.
//! - **`getrusage`**: how often the thread lost its CPU, and how often it was still runnable when it did.
//! - **`schedstat`**: how often the thread was given a CPU, and how long it was *ready* before, that is, runnable
//!   without a CPU. If the thread has a descriptor for this file, the file is read instead of calling `getrusage`.

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

impl Clocks {
    /// Returns the time off the CPU, if these clocks are what has passed since an earlier moment.
    pub(crate) fn off_ns(self) -> u64 {
        self.wall_ns.saturating_sub(self.cpu_ns)
    }
}

/// How often a thread has lost its CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Switches {
    pub(crate) all: u64,
    /// Number of switches at which the thread was still runnable.
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

/// Value of [`File`] for a thread that has no descriptor, because [`FILES_MAX`] other threads have one or because the
/// system has no `schedstat`.
pub(crate) const NO_FILE: File = u32::MAX;

/// Maximum number of threads with a descriptor. It is low, because a program may be limited to 1 024 descriptors.
const FILES_MAX: usize = 64;

static FILES: AtomicUsize = AtomicUsize::new(0);

/// Smallest descriptor number to use for `schedstat`. Smaller numbers are left to the program, as in tickscope-format.
const OUT_OF_THE_WAY: libc::c_int = 40;

/// Maximum difference in ns between the CPU time in `schedstat` and the thread's CPU clock. `schedstat` lags behind
/// until the scheduler's next tick. A larger difference means that the descriptor belongs to another file.
const LAG_NS: u64 = 100_000_000;

/// The scheduler's statistics for a thread since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slices {
    /// Number of times that the thread was given a CPU.
    pub(crate) count: u64,
    /// Time that the thread was runnable but had no CPU, in nanoseconds.
    pub(crate) ready_ns: u64,
}

/// Returns the scheduler's statistics for the calling thread, or `None` if they cannot be read. `cpu_ns` is the CPU
/// time that the thread has used. The caller keeps `file` between readings, and passes it to [`close`] when the thread
/// ends.
pub(crate) fn slices(file: &mut File, cpu_ns: u64) -> Option<Slices> {
    if *file == 0 {
        *file = open();
    }
    if *file == NO_FILE {
        return None;
    }
    let slices = read(*file as libc::c_int - 1, cpu_ns);
    if slices.is_none() {
        // The program has closed the descriptor, and its number may now belong to another file, so it is not used
        // again.
        *file = NO_FILE;
        FILES.fetch_sub(1, Ordering::Relaxed);
    }
    slices
}

/// Closes a thread's `schedstat`, if the descriptor still refers to it. The thread calls this when it ends.
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

/// Reads a descriptor that should be the thread's `schedstat`. Returns `None` if it turns out to be another file.
fn read(descriptor: libc::c_int, cpu_ns: u64) -> Option<Slices> {
    let mut buffer = [0u8; 64];
    // SAFETY: `buffer` may be written for its whole length.
    let bytes = unsafe { libc::pread(descriptor, buffer.as_mut_ptr().cast::<c_void>(), buffer.len(), 0) };
    let text = buffer.get(..usize::try_from(bytes).ok()?)?;
    parsed(text, cpu_ns)
}

/// Parses the three numbers in `schedstat`: the CPU time in ns, the time in ns in which the thread was runnable without
/// a CPU, and the number of times that it was given a CPU. Returns `None` if the CPU time differs too much from
/// `cpu_ns`.
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

/// An empty critical section in the layout that the kernel expects, with the signature that must precede an abort
/// address. It is in pages that are never unmapped, because a thread may outlive the library that contains this code.
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

/// The signature with which glibc registers areas on this architecture, or `None` if this module does not support rseq
/// there.
const SIGNATURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0x5305_3053)
} else if cfg!(all(target_arch = "aarch64", target_endian = "little")) {
    Some(0xd428_bc00)
} else {
    None
};

/// Offset of `rseq_cs` in a thread's area, in bytes.
const SECTION_OFFSET: isize = 8;

/// Minimum size of an area that contains `rseq_cs`, in bytes.
const AREA_BYTES: u32 = 20;

static SECTION: AtomicPtr<EmptySection> = AtomicPtr::new(std::ptr::null_mut());

/// Offset of a thread's `rseq_cs` from its thread pointer; 0 if threads have no rseq area.
static WORD_OFFSET: AtomicUsize = AtomicUsize::new(0);

/// Finds the threads' rseq areas. [`stayed`] returns false until this has been called, and always returns false if
/// threads have no such areas.
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
    // The size is 0 if the kernel has no rseq, or if a tunable has disabled it.
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
    // The section contains no instructions, so no thread ever jumps to the abort address. The kernel reads only the
    // signature before it.
    fields
        .abort_ip
        .store(std::ptr::from_ref(&fields.abort).addr(), Ordering::Relaxed);
    SECTION.store(section, Ordering::Release);
    WORD_OFFSET.store((offset + SECTION_OFFSET).cast_unsigned(), Ordering::Release);
}

/// Returns the calling thread's `rseq_cs` and the address of the empty section. [`mark`] stores this address in the
/// word, where it remains as long as the thread stays on its CPU.
#[inline(always)]
fn word() -> Option<(&'static AtomicUsize, usize)> {
    let offset = WORD_OFFSET.load(Ordering::Acquire);
    if offset == 0 {
        return None;
    }
    let word = thread_pointer().wrapping_add(offset) as *const AtomicUsize;
    // SAFETY: glibc has registered an area at this offset for every thread, and the area stays registered as long as
    // the thread lives. The kernel changes the word only while the thread is not running in user mode.
    Some((unsafe { &*word }, SECTION.load(Ordering::Relaxed).addr()))
}

#[inline(always)]
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

/// Returns whether the calling thread has stayed on its CPU since [`mark`]. Returns false if this is unknown.
#[inline(always)]
pub(crate) fn stayed() -> bool {
    word().is_some_and(|(word, ours)| word.load(Ordering::Relaxed) == ours)
}

/// Sets the calling thread's word, so that [`stayed`] can notice a switch. Does not change the word if other code of
/// this thread has set it.
#[inline(always)]
pub(crate) fn mark() {
    if let Some((word, ours)) = word()
        && word.load(Ordering::Relaxed) == 0
    {
        word.store(ours, Ordering::Relaxed);
        // The fence keeps the caller's clock reads after this store. If they came first, a switch between the two would
        // go unnoticed.
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
        // At least one of many short periods must be free of switches. Without an rseq area, `stayed` never returns
        // true.
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
