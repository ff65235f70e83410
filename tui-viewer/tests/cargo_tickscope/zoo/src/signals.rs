//! Functions that run inside signal handlers, first on the thread's own stack, then on an alternate stack.

use std::ffi::c_void;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

const SIGUSR1: i32 = 10;
const SA_ONSTACK: i32 = 0x0800_0000;

#[repr(C)]
struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: i32,
    restorer: usize,
}

#[repr(C)]
struct Stack {
    at: *mut c_void,
    flags: i32,
    bytes: usize,
}

unsafe extern "C" {
    fn sigaction(signal: i32, action: *const Action, old: *mut c_void) -> i32;
    fn sigaltstack(stack: *const Stack, old: *mut c_void) -> i32;
    fn raise(signal: i32) -> i32;
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

#[inline(never)]
fn count(n: u64) -> u64 {
    HANDLED.fetch_add(black_box(n), Ordering::Relaxed)
}

extern "C" fn handler(_: i32) {
    count(1);
}

#[inline(never)]
fn raises(n: u64) -> u64 {
    for _ in 0..n {
        // SAFETY: the signal has a handler, which only increments a counter.
        unsafe { raise(SIGUSR1) };
    }
    HANDLED.swap(0, Ordering::Relaxed)
}

#[inline(never)]
fn handle(flags: i32) {
    let action = Action {
        handler: handler as *const () as usize,
        mask: [0; 16],
        flags,
        restorer: 0,
    };
    // SAFETY: the handler only increments a counter.
    unsafe { sigaction(SIGUSR1, &action, std::ptr::null_mut()) };
}

#[inline(never)]
pub fn act() -> u64 {
    handle(0);
    let own = raises(10);
    let memory = Box::leak(vec![0_u8; 1 << 16].into_boxed_slice());
    let stack = Stack {
        at: memory.as_mut_ptr().cast(),
        flags: 0,
        bytes: memory.len(),
    };
    // SAFETY: the memory is never freed.
    unsafe { sigaltstack(&stack, std::ptr::null_mut()) };
    handle(SA_ONSTACK);
    own * 100 + raises(7)
}
