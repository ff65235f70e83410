//! A coroutine with its own stack. It is suspended while some of its functions are open.

use std::arch::naked_asm;
use std::hint::black_box;

/// Saves the callee-saved registers, stores the stack pointer at `from`, and continues on the stack at `to`.
#[unsafe(naked)]
unsafe extern "C" fn change(from: *mut usize, to: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

static mut OUTSIDE: usize = 0;
static mut INSIDE: usize = 0;
static mut GIVEN: u64 = 0;

#[inline(never)]
fn give(n: u64) {
    // SAFETY: the coroutine is used by only one thread.
    unsafe {
        GIVEN = black_box(n);
        change(&raw mut INSIDE, OUTSIDE);
    }
}

#[inline(never)]
fn squares(n: u64) {
    for i in 0..n {
        give(i * i);
    }
}

extern "C" fn body() {
    loop {
        squares(black_box(10));
    }
}

#[inline(never)]
fn next() -> u64 {
    // SAFETY: the coroutine is used by only one thread.
    unsafe {
        change(&raw mut OUTSIDE, INSIDE);
        GIVEN
    }
}

#[inline(never)]
pub fn act() -> u64 {
    let stack = Box::leak(vec![0_u64; 1 << 14].into_boxed_slice());
    let end = (&raw const stack[stack.len() - 16]).addr();
    // When `body` starts, the stack pointer must be 8 bytes below a multiple of 16, as it is after a `call`
    // instruction.
    let top = stack.len() - 16 - end % 16 / 8;
    // `change` pops six registers, which lie below this slot, and then returns to the address in the slot.
    stack[top] = body as *const () as u64;
    // SAFETY: the coroutine is used by only one thread.
    unsafe { INSIDE = (&raw mut stack[top - 6]).addr() };
    (0..20).map(|_| next()).sum()
}
