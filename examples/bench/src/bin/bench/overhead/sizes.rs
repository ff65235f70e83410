//! Measures the memory that nodes and threads take, as the growth of a separate process, and the code size of a scope.

use std::hint::black_box;
use std::process::Command;
use std::sync::Barrier;
use std::thread;

use tickscope_bench::kernel::anonymous_bytes;
use tickscope_bench::workloads::deep;
use tickscope_bench::{Plain, Probe, Scoped, child, probe};

use crate::modes::Mode;

/// Number of functions on each level, and number of levels. Each function calls all functions of the next level. `MANY`
/// results in as many nodes as a thread may have, and `FEW` in few nodes that are called often.
const MANY: (u64, u32) = (15, 4);
const FEW: (u64, u32) = (15, 3);

/// How often each leaf in the tree of `FEW` is called.
const CALLS: u64 = 500;

/// Number of threads that live at the same time.
const THREADS: usize = 500;

/// Number of scopes in the function whose code is measured.
const SCOPES: f64 = 100.0;

pub(crate) fn print() -> Result<(), String> {
    println!("\nmemory (bytes)");
    let line = |what: &str, bytes: f64, of: &str| println!("{what:<36} {bytes:>9.1}  {of}");
    let of_nodes = |mode: Mode| child::numbers::<2>(&["nodes", &mode.name()]);
    let [nodes, bytes] = of_nodes(Mode::ExactWithoutHistogram)?;
    line("a node without histogram", bytes, &format!("of {nodes} nodes"));
    let [nodes, bytes] = of_nodes(Mode::Exact)?;
    let of = format!("of {nodes} nodes, leaves called {CALLS} times");
    line("a node with histogram", bytes, &of);
    let of_threads = |mode: Mode| child::numbers::<1>(&["threads", &mode.name()]);
    let added = of_threads(Mode::Exact)?[0] - of_threads(Mode::Plain)?[0];
    let of = format!("of {THREADS} threads with a scope each, above such without");
    line("a thread", added, &of);
    let of = format!("of {SCOPES} scopes, by `nm`; there may be none, or no symbols");
    line("code of a scope", code().unwrap_or(f64::NAN), &of);
    let site = size_of::<tickscope::__private::Site>();
    line("static of a scope", site as f64, "");
    Ok(())
}

/// Runs as a child process: creates nodes on this thread, and prints their number and the bytes per node.
pub(crate) fn nodes(mode: &str) -> Result<(), String> {
    let mode = Mode::named(mode)?;
    let ((functions, levels), calls) = if mode == Mode::Exact {
        (FEW, CALLS)
    } else {
        (MANY, 1)
    };
    mode.enter();
    // The first scope allocates what a thread needs regardless of how many scopes follow.
    deep::<Scoped>(0, 1);
    let before = anonymous_bytes();
    for path in 0..functions.pow(levels) * calls {
        deep::<Scoped>(in_base_17(path % functions.pow(levels), functions), levels);
    }
    let after = anonymous_bytes();
    let nodes: u64 = (1..=levels).map(|level| functions.pow(level)).sum();
    println!("{nodes} {}", (after - before) / nodes as f64);
    Ok(())
}

/// Returns a path for [`deep`]: writes `number` in base `base`, and reads the digits as a number in base 17.
fn in_base_17(number: u64, base: u64) -> u64 {
    if number == 0 {
        0
    } else {
        number % base + 17 * in_base_17(number / base, base)
    }
}

/// Runs as a child process: starts threads that open one scope or none, and stay alive until all have done so. Prints
/// the bytes per thread.
pub(crate) fn threads(mode: &str) -> Result<(), String> {
    let is_plain = Mode::named(mode)? == Mode::Plain;
    let body = if is_plain { one::<Plain> } else { one::<Scoped> };
    body();
    let before = anonymous_bytes();
    let barrier = Barrier::new(THREADS + 1);
    let after = thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                body();
                barrier.wait();
                barrier.wait();
            });
        }
        barrier.wait();
        let after = anonymous_bytes();
        barrier.wait();
        after
    });
    println!("{}", (after - before) / THREADS as f64);
    Ok(())
}

fn one<P: Probe>() {
    probe!(P, "one");
    black_box(());
}

/// Returns the number of bytes by which a scope enlarges a function, according to the symbol sizes that `nm` prints for
/// this program.
fn code() -> Option<f64> {
    // Keeps both functions in the program, so that `nm` lists them.
    black_box([no_scopes as fn(), hundred_scopes as fn()]);
    let program = std::env::current_exe().ok()?;
    let mut nm = Command::new("nm");
    let output = nm.args(["--print-size", "--demangle"]).arg(program).output();
    let output = output.ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let size = |name: &str| {
        let line = text.lines().find(|line| line.ends_with(name))?;
        let size = u32::from_str_radix(line.split_whitespace().nth(1)?, 16);
        size.ok().map(f64::from)
    };
    Some((size("::hundred_scopes")? - size("::no_scopes")?) / SCOPES)
}

#[inline(never)]
fn no_scopes() {
    black_box(());
}

macro_rules! ten {
    ($($body:tt)*) => {
        $($body)* $($body)* $($body)* $($body)* $($body)* $($body)* $($body)* $($body)* $($body)* $($body)*
    };
}

#[inline(never)]
fn hundred_scopes() {
    ten! { ten! { { tickscope::scope!("one of a hundred"); black_box(()); } } }
}
