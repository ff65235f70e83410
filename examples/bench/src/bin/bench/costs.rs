//! Costs of small operations with and without tickscope. Each case runs in a separate process, which alternates between
//! the two.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Waker};

use clap::builder::PossibleValuesParser;
use tickscope::Mode;
use tickscope_bench::child;
use tickscope_bench::statistics::Middle;
use tickscope_bench::timing::timed;
use tickscope_bench::workloads::Pending;

use crate::spans;

/// Number of operations per turn.
const TIMES: u64 = 100_000;

/// Acquires and releases a lock from the module `$sync`, `count` times.
macro_rules! locks {
    ($sync:path, $lock:ident, $get:ident) => {
        |count| {
            use $sync as sync;
            let lock = black_box(sync::$lock::new(0u64));
            for _ in 0..count {
                // Avoids `unwrap`, so that its code for panics is not measured.
                if let Ok(guard) = lock.$get() {
                    black_box(&*guard);
                }
            }
        }
    };
}

/// A group of similar operations.
#[derive(Debug)]
struct Group {
    name: &'static str,
    /// Description of the operation.
    what: &'static str,
    cases: &'static [Case],
}

/// An operation in two versions: without and with tickscope. Each function repeats it a given number of times.
#[derive(Debug)]
struct Case {
    name: &'static str,
    plain: fn(u64),
    measured: fn(u64),
    /// Prepares the child process.
    begin: fn(),
}

const fn case(name: &'static str, plain: fn(u64), measured: fn(u64)) -> Case {
    let begin = || {};
    Case {
        name,
        plain,
        measured,
        begin,
    }
}

const fn span(name: &'static str, measured: fn(u64), begin: fn()) -> Case {
    let plain = spans::none;
    Case {
        name,
        plain,
        measured,
        begin,
    }
}

const GROUPS: [Group; 4] = [
    Group {
        name: "allocations",
        what: "Allocating and freeing a block in a scope, by the system's allocator and inside `tickscope::Alloc`",
        cases: &[
            case(
                "64 bytes",
                |count| allocate(&System, 64, count),
                |count| allocate(&COUNTED, 64, count),
            ),
            case(
                "4096 bytes",
                |count| allocate(&System, 4096, count),
                |count| allocate(&COUNTED, 4096, count),
            ),
        ],
    },
    Group {
        name: "locks",
        what: "Getting a lock and giving it back, of std and of `tickscope::sync`, while no other thread wants it",
        cases: &[
            case(
                "Mutex",
                locks!(std::sync, Mutex, lock),
                locks!(tickscope::sync, Mutex, lock),
            ),
            case(
                "RwLock, read",
                locks!(std::sync, RwLock, read),
                locks!(tickscope::sync, RwLock, read),
            ),
            case(
                "RwLock, write",
                locks!(std::sync, RwLock, write),
                locks!(tickscope::sync, RwLock, write),
            ),
        ],
    },
    Group {
        name: "polls",
        what: "A poll of a pending future, and a call of one that is ready at once",
        cases: &[
            case("poll, future!", one, |polls| {
                run(tickscope::future!("polled", Pending(polls - 1)))
            }),
            case("poll, wait!", one, |polls| {
                run(tickscope::wait!("awaited", Pending(polls - 1)))
            }),
            case("poll, task", one, |polls| {
                run(tickscope::task("spawned", Pending(polls - 1)))
            }),
            case("call, future!", many, many_calls),
        ],
    },
    Group {
        name: "spans",
        what: "A span of the crate `tracing` that is made, entered, exited and closed, and an empty loop",
        cases: &[
            span("scope!", spans::scopes, || {}),
            span("bare", spans::spans, spans::bare),
            span("bare, field", spans::with_field, spans::bare),
            span("layer", spans::spans, spans::layered),
            span("times layer", spans::spans, spans::times),
            span("empty layer", spans::spans, spans::nothing),
        ],
    },
];

static COUNTED: tickscope::Alloc = tickscope::Alloc::system();

/// Allocates blocks and frees them, within a scope.
#[inline(always)]
fn allocate(allocator: &impl GlobalAlloc, bytes: usize, count: u64) {
    tickscope::scope!("allocates");
    let Ok(layout) = Layout::from_size_align(bytes.max(1), 8) else {
        return;
    };
    for _ in 0..count {
        // SAFETY: the layout has a nonzero size.
        let block = black_box(unsafe { allocator.alloc(layout) });
        // SAFETY: the block was just allocated by this allocator with this layout.
        unsafe { allocator.dealloc(block, layout) };
    }
}

/// Polls a future until it is ready: an executor that does nothing else.
#[inline(always)]
fn run(future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    while black_box(future.as_mut().poll(&mut context)).is_pending() {}
}

/// Runs one future that takes this many polls.
fn one(polls: u64) {
    run(Pending(polls - 1));
}

/// Runs this many futures that take one poll each.
fn many(calls: u64) {
    for _ in 0..calls {
        run(Pending(black_box(0)));
    }
}

fn many_calls(calls: u64) {
    for _ in 0..calls {
        run(tickscope::future!("called", Pending(black_box(0))));
    }
}

/// Returns the command-line parser for the name of a group.
pub(crate) fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(GROUPS.iter().map(|group| group.name))
}

fn group(name: &str) -> Result<&'static Group, String> {
    let group = GROUPS.iter().find(|group| group.name == name);
    group.ok_or_else(|| format!("{name}: no such group"))
}

fn case_of(group_name: &str, name: &str) -> Result<&'static Case, String> {
    let case = group(group_name)?.cases.iter().find(|case| case.name == name);
    case.ok_or_else(|| format!("{name}: no such case"))
}

/// Prints a line for each case of a group.
pub(crate) fn print(group_name: &str, rounds: u64) -> Result<(), String> {
    let group = group(group_name)?;
    println!(
        "{}, in ns, medians of {rounds} turns; the difference with its 95 % interval:",
        group.what
    );
    println!("case              plain  tickscope  difference");
    for case in group.cases {
        let words = ["times", group.name, case.name, &rounds.to_string()];
        let [plain, measured, low, middle, high] = child::numbers(&words)?;
        let added = Middle { low, middle, high };
        println!("{:14} {plain:8.2} {measured:10.2} {added:11.2}", case.name);
    }
    Ok(())
}

/// Runs as a child process: alternates between the two versions of a case, and prints the median nanoseconds of each,
/// and their difference with its confidence interval.
pub(crate) fn times(group: &str, case: &str, rounds: u64) -> Result<(), String> {
    let case = case_of(group, case)?;
    let _session = tickscope::Builder::new("cost").mode(Mode::Exact).start();
    (case.begin)();
    let ns = |body: fn(u64)| timed(|| body(TIMES)) / TIMES as f64;
    let turns: Vec<(f64, f64)> = (0..rounds).map(|_| (ns(case.plain), ns(case.measured))).collect();
    let plain = Middle::of(turns.iter().map(|turn| turn.0)).middle;
    let measured = Middle::of(turns.iter().map(|turn| turn.1)).middle;
    let Middle { low, middle, high } = Middle::of(turns.iter().map(|turn| turn.1 - turn.0));
    println!("{plain} {measured} {low} {middle} {high}");
    Ok(())
}
