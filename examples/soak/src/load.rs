//! The program that is watched: threads that begin and end, deep and wide trees, panics, counters, pauses, blocks of memory,
//! values and levels, async calls that two threads take from a contended lock, mode switches and resets by the program. It
//! ends when its standard input does, and prints its own account of all of it.

use std::hint::black_box;
use std::io;
use std::panic;
use std::thread::{self, Builder};

use fastrand::Rng;
use tickscope::Mode;
use tickscope_bench::{Scoped, workloads};

use crate::account::{self, CHURNED, MADE, VALUE_SUM, VALUES};
use crate::requests;
use crate::soak::{Over, one_in, one_of};

#[global_allocator]
static ALLOCATOR: tickscope::Alloc = tickscope::Alloc::system();

/// The payload of the panics in scopes.
struct OnPurpose;

/// What a thread does. The program that stays has about 80 nodes. What it writes fifty times a second must not take more than the 1 % of
/// a core that a publisher may use, and viewers keep an hour of it. The program that is killed has more nodes.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// It calls so many leaves, on so many levels.
    Wide(u64, u32),
    Deep,
    Errand,
}

const SMALL: Kind = Kind::Wide(17, 1);
const LARGE: Kind = Kind::Wide(500, 3);

const KIB: u64 = 1024;

/// How many blocks the hoard has, and how large one is at most.
const BLOCKS: usize = 64;
pub(crate) const LARGEST_BLOCK: u64 = 1024 * KIB;

/// The bytes of a block that is dropped at once.
pub(crate) const SMALL_BLOCK: usize = 48;

/// The milliseconds between two bursts of work, because the machine has other work.
const REST_MS: u64 = 4;

/// The modes that count all calls.
const MODES: [Mode; 3] = [Mode::Exact, Mode::Adaptive, Mode::Sampled];

/// Runs the child. With `by_itself` it resets itself and switches modes.
///
/// # Errors
/// There is no ring.
#[allow(
    clippy::print_stdout,
    reason = "it is read by the program that started this one"
)]
pub(crate) fn run(name: &str, by_itself: bool) -> anyhow::Result<()> {
    let session = tickscope::Builder::new(name).try_start()?;
    let over = Over::default();
    let ends = over.clone();
    thread::spawn(move || {
        _ = io::copy(&mut io::stdin(), &mut io::sink());
        ends.set();
    });
    let wide = if by_itself { SMALL } else { LARGE };
    let burst = |random: &mut Rng, kind| (0..40).for_each(|_| round(random, kind));
    thread::scope(|scope| {
        scope.spawn(|| until_over(&over, 1, |random| burst(random, wide)));
        scope.spawn(|| until_over(&over, 1, |random| burst(random, Kind::Deep)));
        scope.spawn(|| until_over(&over, 2, errand));
        scope.spawn(|| hoard(&over));
        scope.spawn(|| until_over(&over, 4, requests::serve));
        scope.spawn(|| until_over(&over, 5, requests::serve));
        let mut random = Rng::with_seed(u64::from(std::process::id()));
        while !over.sleep(random.u64(200..=2000)) {
            if by_itself {
                control(&mut random);
            }
        }
    });
    if by_itself {
        // The last request must not decide in which mode the run ends.
        tickscope::set_mode(Mode::Exact);
    }
    requests::drop_all();
    drop(session);
    let last = tickscope::snapshot();
    let account = account::own(last.lifetime.calls + last.capture.losses.dropped);
    println!("{}", serde_json::to_string(&account)?);
    Ok(())
}

fn until_over(over: &Over, seed: u64, mut task: impl FnMut(&mut Rng)) {
    let mut random = Rng::with_seed(seed);
    while !over.sleep(REST_MS) {
        task(&mut random);
    }
}

/// Has blocks of many sizes at any time, and sets a level to their bytes. It also makes and drops small ones.
fn hoard(over: &Over) {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    blocks.resize_with(BLOCKS, Vec::new);
    let mut held = 0;
    until_over(over, 3, |random| {
        // With what the allocator needs they begin at the same few pages again and again, and nothing else of them is touched.
        let bytes = 64 * KIB * random.u64(1..=LARGEST_BLOCK / KIB / 64) - 16;
        let place = &mut blocks[random.usize(..BLOCKS)];
        held -= place.capacity() as i64;
        tickscope::time!("hoard", *place = black_box(Vec::with_capacity(bytes as usize)));
        held += place.capacity() as i64;
        tickscope::gauge!("held bytes", held);
        let number = random.u64(1..=20);
        tickscope::value!("small blocks", number);
        VALUES.add(1);
        VALUE_SUM.add(number);
        tickscope::scope!("churn");
        for _ in 0..number {
            drop(black_box(Box::new([7u8; SMALL_BLOCK])));
        }
        CHURNED.add(number);
        MADE.add(4);
    });
    for block in blocks {
        held -= block.capacity() as i64;
        drop(block);
        MADE.add(1);
        tickscope::gauge!("held bytes", held);
    }
}

/// Starts a thread that lives for some rounds, with one of two names.
fn errand(random: &mut Rng) {
    MADE.add(1);
    tickscope::scope!("errands");
    let errand = Builder::new().name(format!("errand-{}", random.u32(..2)));
    let mut random = random.fork();
    let work = move || {
        (0..5).for_each(|_| round(&mut random, Kind::Errand));
        if one_in(&mut random, 4) {
            // Threads also end in the middle of their scopes.
            MADE.add(1);
            std::mem::forget(tickscope::scope_guard!("left open"));
        }
    };
    if let Ok(errand) = errand.spawn(work) {
        _ = errand.join();
    }
}

/// Does one of the things that this kind of thread does. Panics are caught here.
fn round(random: &mut Rng, kind: Kind) {
    let caught = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        MADE.add(1);
        tickscope::scope!("round");
        match (kind, random.u32(..8)) {
            (Kind::Wide(leaves, levels), what @ 0..=5) => {
                let _pause = (what == 5).then(tickscope::pause);
                MADE.add(1 + u64::from(levels));
                tickscope::scope!("wide");
                // The leaves are always the same, so that the trees stop growing.
                workloads::deep::<Scoped>(random.u64(..leaves), levels);
            }
            (Kind::Deep, 0..=5) => {
                MADE.add(1 + 20);
                tickscope::scope!("deep");
                workloads::recursion::<Scoped>(20);
            }
            (Kind::Errand, 0..=2) => fails(5),
            _ => {
                let lines = random.u64(..100);
                MADE.add(2);
                tickscope::count!("lines", lines);
                tickscope::scope!("compute");
                black_box(workloads::work(500, lines));
            }
        }
    }));
    match caught {
        Err(payload) if !payload.is::<OnPurpose>() => panic::resume_unwind(payload),
        _ => {}
    }
}

/// Panics some scopes deep.
fn fails(left: u32) {
    MADE.add(1);
    tickscope::scope!("fails");
    if left == 0 {
        // Unlike a panic, this prints nothing and needs no hook.
        panic::resume_unwind(Box::new(OnPurpose));
    }
    fails(left - 1);
}

/// Does what a program does with its own profile.
fn control(random: &mut Rng) {
    MADE.add(1);
    tickscope::scope!("control");
    match random.u32(..8) {
        0 | 1 => drop(tickscope::reset()),
        2 => tickscope::request_reset(),
        // It is exact most of the time.
        3 => tickscope::set_mode(one_of(random, &MODES)),
        4 => tickscope::set_mode(Mode::Exact),
        5 => tickscope::set_histogram(random.bool()),
        6 => tickscope::set_histogram(true),
        _ => drop(tickscope::snapshot()),
    }
}
