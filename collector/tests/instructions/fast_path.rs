//! Opening and closing a scope whose node exists makes no system call, no allocation and no locked instruction, in any
//! mode.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::process::Command;

use crate::support::{self, Isolated, test_name};
use tickscope::Builder;
use tickscope_testkit::suite::skip;

/// Counts the allocations of each thread.
struct Counted;

#[global_allocator]
static ALLOCATOR: Counted = Counted;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every method forwards its arguments to the system allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

const SCOPES: u64 = 1_000_000;

/// Opens and closes scopes. Their code is inlined into this function.
#[inline(never)]
fn scopes(count: u64) {
    for number in 0..count {
        tickscope::scope!("outer");
        tickscope::time!("inner", std::hint::black_box(number));
        tickscope::count!("counter", 1u64);
    }
}

fn a_scope_whose_node_exists_calls_neither_the_kernel_nor_the_allocator() {
    for mode in ["exact", "adaptive", "sampled", "off"] {
        for histogram in ["on", "off"] {
            // Waits are not measured, because a thread that has lost its CPU would make a system call to find out for
            // how long.
            let test = Isolated::new(test_name!())
                .env("TICKSCOPE_MODE", mode)
                .env("TICKSCOPE_WAITS", "off");
            let done = test.env("TICKSCOPE_HISTOGRAM", histogram).run(|| {
                let session = Builder::new("hot").try_start().unwrap();
                scopes(1000);
                // A call that takes much longer than all earlier ones makes the histogram allocate more buckets.
                let mut calls = vec![libc::SYS_exit_group];
                if std::env::var("TICKSCOPE_HISTOGRAM").unwrap() == "on" {
                    calls.extend([libc::SYS_mmap, libc::SYS_madvise]);
                }
                support::allow_only(&calls, false);
                let before = ALLOCATIONS.get();
                scopes(SCOPES / 2);
                let allocated = ALLOCATIONS.get() != before;
                std::mem::forget(session);
                // SAFETY: `_exit` ends the process without running exit handlers.
                unsafe { libc::_exit(if allocated { 8 } else { 7 }) }
            });
            assert_eq!(
                done.status.code(),
                Some(7),
                "{mode}, histograms {histogram}: {done:?}"
            );
        }
    }
    println!("G11: {SCOPES} scopes in each of 4 modes, 0 system calls, 0 allocations");
}

/// Functions that run, in some mode, when a scope whose node already exists is opened or closed.
const HOT: [&str; 7] = [
    "scope5enter",
    "scope15enter_otherwise",
    "scope14exit_otherwise",
    "tree4Tree11begin_timed",
    "tree4Tree13begin_untimed",
    "tree4Tree9end_timed",
    "tree4Tree11end_untimed",
];

/// Returns whether an instruction locks the bus: it has a `lock` prefix, or it is an `xchg` with memory.
fn is_locked(line: &str) -> bool {
    let instruction = line.split('\t').nth(1).unwrap_or_default();
    instruction.starts_with("lock") || instruction.starts_with("xchg") && instruction.contains('(')
}

fn no_instruction_of_a_scope_is_locked() {
    if !cfg!(target_arch = "x86_64") {
        skip("locked instructions are those of x86-64");
    }
    let mut command = Command::new("objdump");
    command
        .args(["-d", "--no-show-raw-insn"])
        .arg(std::env::current_exe().unwrap());
    let Ok(done) = command.output() else {
        skip("no objdump here (Debian: apt-get install binutils)");
    };
    let text = String::from_utf8_lossy(&done.stdout);
    let (mut within, mut seen, mut instructions, mut locked_elsewhere) = (None, Vec::new(), 0, 0);
    for line in text.lines() {
        if line.ends_with(">:") {
            let is_drop =
                line.contains("tickscope") && line.contains("scope..Scope") && line.contains("Drop");
            let hot = HOT
                .iter()
                .find(|name| line.contains("tickscope") && line.contains(*name));
            let calls_them = line.contains("fast_path6scopes");
            within = (is_drop || hot.is_some() || calls_them).then(|| line.to_string());
            seen.extend(within.clone());
        } else if let Some(function) = &within {
            instructions += 1;
            assert!(!is_locked(line), "{function} {line}");
        } else {
            locked_elsewhere += usize::from(is_locked(line));
        }
    }
    assert!(
        seen.len() >= 3,
        "the functions are called otherwise now: {seen:?}"
    );
    assert!(locked_elsewhere > 100, "it can tell");
    println!(
        "G11: {} functions of a scope, {instructions} instructions, 0 locked",
        seen.len()
    );
}

tickscope_testkit::tests![
    a_scope_whose_node_exists_calls_neither_the_kernel_nor_the_allocator,
    no_instruction_of_a_scope_is_locked,
];
