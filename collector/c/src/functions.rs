//! The hooks that functions compiled with `-finstrument-functions` call. Each hook passes its arguments on to [`begin`]
//! or [`end`], together with the stack pointer, the frame pointer and its own return address.

use std::arch::naked_asm;

use tickscope::__private::calls::{self, Event};

use crate::names;

/// Makes a program that links only these hooks from the static library also link the code that runs before `main`.
#[used]
static BEFORE_MAIN: &extern "C" fn() = &tickscope::__private::BEFORE_MAIN;

/// Called at the beginning of each instrumented function.
///
/// # Safety
/// Must only be called by code that the compiler inserts for `-finstrument-functions`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __cyg_profile_func_enter(function: u64, caller: u64) {
    naked_asm!(
        ".cfi_startproc",
        "lea rdx, [rsp + 8]",
        "mov rcx, rbp",
        "mov r8, [rsp]",
        "jmp {begin}",
        ".cfi_endproc",
        begin = sym begin,
    )
}

/// Called at the end of each instrumented function.
///
/// # Safety
/// As for [`__cyg_profile_func_enter`].
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __cyg_profile_func_exit(function: u64, caller: u64) {
    naked_asm!(
        ".cfi_startproc",
        "lea rdx, [rsp + 8]",
        "mov rcx, rbp",
        "mov r8, [rsp]",
        "jmp {end}",
        ".cfi_endproc",
        end = sym end,
    )
}

extern "C-unwind" fn begin(function: u64, caller: u64, stack: u64, frame: u64, from: u64) {
    let event = Event {
        function,
        caller,
        stack,
        frame,
        from,
    };
    calls::begin(&event, names::of_function);
}

extern "C-unwind" fn end(function: u64, caller: u64, stack: u64, frame: u64, from: u64) {
    calls::end(&Event {
        function,
        caller,
        stack,
        frame,
        from,
    });
}
