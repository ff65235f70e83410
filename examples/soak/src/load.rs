//! The program that is watched. It has threads that come and go, deep and wide trees, panics, counters, values, gauges,
//! pauses, and allocations. Two threads take async calls from a queue behind a contended lock. The program also switches modes
//! and resets itself. When its standard input ends, it ends as well, and prints its own account of all this.

use std::hint::black_box;
use std::io;
use std::panic;
use std::thread::{self, Builder};
use std::time::Duration;

use anyhow::Result;
use tickscope::Mode;
use tickscope_bench::{Scoped, workloads};

use crate::account::{COUNTED, DONE, made};
use crate::requests;
use crate::soak::{Over, one_in};

#[global_allocator]
static ALLOCATOR: tickscope::Alloc = tickscope::Alloc::system();

/// Name of the program that runs all the time. It publishes fifty times a second, but has only about 80 nodes, because
/// its publisher may use at most 1 % of a core, and viewers keep an hour of its records. The program that gets killed
/// has more nodes.
pub(crate) const STAYS: &str = "soak";

/// Payload of the intentional panics.
struct OnPurpose;

/// Number of blocks that [`hoard`] keeps, and size of the largest one in pages of 64 KiB.
const BLOCKS: usize = 64;
const LARGEST_PAGES: usize = 16;

/// Milliseconds between two bursts of work, so that the machine can do other work as well.
const REST_MS: u64 = 4;

/// Runs as the child process that produces the load.
///
/// # Errors
/// An error if the ring cannot be created.
#[allow(clippy::print_stdout, reason = "the process that started it reads it")]
pub(crate) fn run(name: &str) -> Result<()> {
    let mut builder = tickscope::Builder::new(name);
    let leaves: fn() = if name == STAYS {
        builder = builder.interval(Duration::from_millis(20));
        || wide(17, 1)
    } else {
        // The ring is small, because a program that is killed leaves its ring behind.
        builder = builder.interval(Duration::from_millis(10)).ring_bytes(1 << 20);
        || wide(500, 3)
    };
    let session = builder.try_start()?;
    let over = Over::default();
    let ends = over.clone();
    thread::spawn(move || {
        _ = io::copy(&mut io::stdin(), &mut io::sink());
        ends.set();
    });
    let burst = |own| (0..40).for_each(|_| round(own));
    thread::scope(|scope| {
        scope.spawn(|| until_over(&over, || burst(leaves)));
        scope.spawn(|| until_over(&over, || burst(deep)));
        scope.spawn(|| until_over(&over, errand));
        scope.spawn(|| hoard(&over));
        scope.spawn(|| until_over(&over, requests::serve));
        scope.spawn(|| until_over(&over, requests::serve));
        while !over.sleep(fastrand::u64(200..=2000)) {
            control();
        }
    });
    // The run always ends in exact mode.
    tickscope::set_mode(Mode::Exact);
    requests::drop_all();
    drop(session);
    let last = tickscope::snapshot();
    DONE.did(COUNTED, last.lifetime.calls + last.capture.losses.dropped);
    println!("{}", serde_json::to_string(&*DONE.all())?);
    Ok(())
}

fn until_over(over: &Over, mut task: impl FnMut()) {
    while !over.sleep(REST_MS) {
        task();
    }
}

/// Keeps blocks of many sizes, and sets a gauge to their total size.
fn hoard(over: &Over) {
    let mut blocks = vec![Vec::<u8>::new(); BLOCKS];
    until_over(over, || {
        made(3);
        // Leaves 16 bytes for the allocator's overhead, so that blocks always begin on the same few pages, and other
        // pages stay untouched.
        let bytes = (fastrand::usize(1..=LARGEST_PAGES) << 16) - 16;
        tickscope::value!("new bytes", bytes);
        let place = &mut blocks[fastrand::usize(..BLOCKS)];
        tickscope::time!("hoard", *place = black_box(Vec::with_capacity(bytes)));
        tickscope::gauge!("held bytes", blocks.iter().map(Vec::capacity).sum::<usize>());
    });
}

/// Starts a thread with one of two names, and waits while it runs a few rounds and ends.
fn errand() {
    made(1);
    tickscope::scope!("errands");
    let errand = Builder::new().name(format!("errand-{}", fastrand::u32(..2)));
    let work = move || {
        (0..5).for_each(|_| round(|| fails(5)));
        if one_in(4) {
            // Some threads end while a scope is still open.
            made(1);
            std::mem::forget(tickscope::scope_guard!("left open"));
        }
    };
    if let Ok(errand) = errand.spawn(work) {
        _ = errand.join();
    }
}

/// Either does the thread's own work or computes something. Catches the intentional panics.
fn round(own: fn()) {
    let caught = panic::catch_unwind(|| {
        made(1);
        tickscope::scope!("round");
        if fastrand::u32(..4) > 0 {
            return own();
        }
        let lines = fastrand::u64(..100);
        made(2);
        tickscope::count!("lines", lines);
        tickscope::scope!("compute");
        black_box(workloads::work(500, lines));
    });
    if let Err(payload) = caught
        && !payload.is::<OnPurpose>()
    {
        panic::resume_unwind(payload);
    }
}

/// Calls one of `leaves` leaves, nested `levels` deep. The set of leaves is fixed, so that the trees stop growing.
fn wide(leaves: u64, levels: u32) {
    let _pause = one_in(6).then(tickscope::pause);
    made(1 + u64::from(levels));
    tickscope::scope!("wide");
    workloads::deep::<Scoped>(fastrand::u64(..leaves), levels);
}

fn deep() {
    made(1 + 20);
    tickscope::scope!("deep");
    workloads::recursion::<Scoped>(20);
}

/// Panics several scopes deep.
fn fails(left: u32) {
    made(1);
    tickscope::scope!("fails");
    if left == 0 {
        // Unlike `panic!`, this prints nothing and needs no hook.
        panic::resume_unwind(Box::new(OnPurpose));
    }
    fails(left - 1);
}

/// Randomly resets the program's own profile, changes its mode or its histograms, or takes a snapshot.
fn control() {
    made(1);
    tickscope::scope!("control");
    match fastrand::u32(..10) {
        0 | 1 => drop(tickscope::reset()),
        2 => tickscope::request_reset(),
        // The mode is exact most of the time.
        3 => tickscope::set_mode(Mode::Adaptive),
        4 => tickscope::set_mode(Mode::Sampled),
        5..8 => tickscope::set_mode(Mode::Exact),
        8 => tickscope::set_histogram(fastrand::bool()),
        _ => drop(tickscope::snapshot()),
    }
}
