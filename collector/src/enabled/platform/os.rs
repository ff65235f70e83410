//! System calls for which std has no safe function, or only one that allocates.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// Shared with the viewer, which compares heartbeats with this monotonic clock.
pub(crate) use tickscope_format::os::{has_more_rights, monotonic_ns};

/// Runs `body` and restores `errno` afterwards. The caller may interrupt the program after a system call has failed and
/// before the program has read `errno`.
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

/// Maps private zeroed pages. Returns `None` if the system has no memory left.
pub(crate) fn map_zeroed(bytes: usize) -> Option<NonNull<c_void>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let pages = keeping_errno(|| {
        // SAFETY: an anonymous mapping at an address that the kernel chooses affects no existing memory.
        unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) }
    });
    NonNull::new(pages).filter(|_| pages != libc::MAP_FAILED)
}

/// Defined here because the `libc` crate has had this constant only since 0.2.121. Its value is the same on every
/// architecture.
const MADV_POPULATE_WRITE: libc::c_int = 23;

/// Populates pages from [`map_zeroed`] in one call, which costs less than a page fault for each of them. Linux before
/// 5.14 does not support this; there, each page is faulted in when it is first written.
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

/// Sets `environ` if libc has not set it yet, because scopes in `.preinit_array` run before libc is initialised. libc
/// later stores the same address.
pub(crate) fn find_environment() {
    // SAFETY: this only reads the pointer. As with any read of the environment, no other thread may be changing it.
    if unsafe { !environ.is_null() } {
        return;
    }
    let word = |name: &CStr| {
        // SAFETY: the name is zero-terminated.
        let place = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        // SAFETY: both variables of glibc that are read here are pointers.
        unsafe { place.cast::<*const usize>().as_ref() }.copied()
    };
    let (Some(name), Some(stack)) = (word(c"program_invocation_name"), word(c"__libc_stack_end")) else {
        return;
    };
    // SAFETY: the name is a zero-terminated string. It is empty until libc is initialised. If it is not empty,
    // `environ` is null because the program itself has cleared its environment.
    if unsafe { name.cast::<u8>().read() } != 0 {
        return;
    }
    // SAFETY: the kernel stores the number of arguments at this address.
    let arguments = unsafe { stack.read() };
    // SAFETY: the environment follows the argument pointers and the null pointer that ends them. No other thread runs
    // before libc is initialised.
    unsafe { environ = stack.wrapping_add(arguments + 2).cast() };
}

/// Returns the value of an environment variable, without allocating or taking a lock. Always returns `None` in a
/// program that has more rights than the user who started it (for example setuid).
///
/// As with any read of the environment, no other thread may be changing it. This is why std's functions that change it
/// are unsafe.
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

/// Result of reading a byte of the process's memory.
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteRead {
    Is(u8),
    /// The memory is not mapped.
    IsGone,
    /// The system does not let the process read its own memory with `process_vm_readv`.
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
    // SAFETY: the kernel checks whether the address can be read, and `to` describes `byte`, which may be written.
    let read = unsafe { libc::process_vm_readv(own, &to, 1, &from, 1, 0) };
    match read {
        1 => ByteRead::Is(byte),
        _ if std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT) => ByteRead::IsGone,
        _ => ByteRead::Refused,
    }
}

fn clock(id: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid `timespec`.
    let result = unsafe { libc::clock_gettime(id, &mut time) };
    (result == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Returns the time of the monotonic clock that continues during suspend, in nanoseconds.
pub(crate) fn boottime_ns() -> u64 {
    clock(libc::CLOCK_BOOTTIME).unwrap_or(0)
}

/// Returns the wall-clock time in nanoseconds since the Unix epoch.
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

/// Keeps the library that contains this code loaded. Unloading would remove the code of the collector's threads, the
/// functions that run when measured threads end, and the sites to which snapshots refer. The main program is never
/// unloaded.
extern "C" fn stay_loaded() {
    // A statically linked program has no loader.
    #[cfg(not(target_feature = "crt-static"))]
    {
        let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: the call only looks up an address, and `found` is a valid place for the result.
        let known = unsafe { libc::dladdr(stay_loaded as *const c_void, found.as_mut_ptr()) } != 0;
        // SAFETY: an all-zero `Dl_info` is valid, and the call writes only valid values.
        let found = unsafe { found.assume_init() };
        // SAFETY: the argument is a plain number. The program headers are in the executable's first page.
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

/// Declares a static that makes the loader call a function when it loads the program, or the library that contains this
/// code. The function runs before `main`, and never while the program is inside its allocator.
macro_rules! before_main {
    ($(#[$doc:meta])* $visibility:vis $name:ident, $function:expr) => {
        $(#[$doc])*
        // Miri does not run such functions.
        #[cfg_attr(not(miri), used)]
        // The loader calls the functions in this section after relocation, and before those in `.init_array` sections
        // without a number.
        #[cfg_attr(not(miri), unsafe(link_section = ".init_array.00990"))]
        $visibility static $name: extern "C" fn() = $function;
    };
}
pub(crate) use before_main;

/// Registers `handler` for the normal exit of the process.
pub(crate) fn at_exit(handler: extern "C" fn()) {
    // SAFETY: the handler lives as long as the program. If the library is unloaded earlier, libc calls the handler at
    // that point.
    unsafe { libc::atexit(handler) };
}

/// Registers functions that the forking thread runs before a fork, and after the fork in the parent and in the child.
pub(crate) fn around_forks(
    before: Option<unsafe extern "C" fn()>,
    in_parent: Option<unsafe extern "C" fn()>,
    in_child: Option<unsafe extern "C" fn()>,
) {
    // SAFETY: the handlers live as long as the program.
    unsafe { libc::pthread_atfork(before, in_parent, in_child) };
}

#[cfg(all(test, feature = "functions", target_arch = "x86_64"))]
mod tests {
    use super::*;

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
