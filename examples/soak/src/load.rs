//! The program that is watched: threads that begin and end, deep and wide trees, panics, counters, pauses, blocks of memory,
//! values and levels, async calls that two threads take from a contended lock, mode switches and resets by the program. It
//! ends when its standard input does, and prints its own account of all of it.

use std::any::Any;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::thread::{self, Builder};
use std::time::Duration;

use tickscope::Mode;
use tickscope_bench::{Scoped, workloads};

use crate::account::{self, Account};
use crate::over::Over;
use crate::random::Random;
use crate::requests;

#[global_allocator]
static ALLOCATOR: tickscope::Alloc = tickscope::Alloc::system();

/// The payload of the panics in scopes.
struct OnPurpose;

/// The leaves below "wide", and the levels. The program that stays has about 80 nodes. What it writes fifty times a
/// second must not take more than the 1 % of a core that a publisher may use, and viewers keep an hour of it. The
/// program that is killed has more nodes.
const SMALL: (u64, u32) = (17, 1);
const LARGE: (u64, u32) = (500, 3);

const KIB: u64 = 1024;

/// How many blocks the hoard has, and how large one is at most.
const BLOCKS: usize = 64;
pub(crate) const LARGEST_BLOCK: u64 = 1024 * KIB;

/// The bytes of a block that is dropped at once.
pub(crate) const SMALL_BLOCK: usize = 48;

/// What a thread does.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Leaves and levels.
    Wide(u64, u32),
    Deep,
    Errand,
}

/// The modes that count all calls.
const MODES: [Mode; 3] = [Mode::Exact, Mode::Adaptive, Mode::Sampled];

/// Runs the child. With `by_itself` it resets itself and switches modes.
///
/// # Errors
/// There is no ring, or no thread.
pub(crate) fn run(name: &str, by_itself: bool) -> Result<(), String> {
    let session = tickscope::Builder::new(name)
        .try_start()
        .map_err(|error| error.to_string())?;
    let over = Over::default();
    let ends = over.clone();
    thread::spawn(move || {
        _ = io::copy(&mut io::stdin(), &mut io::sink());
        ends.set();
    });
    thread::scope(|scope| {
        let over = &over;
        let (leaves, levels) = if by_itself { SMALL } else { LARGE };
        for (name, kind) in [("wide", Kind::Wide(leaves, levels)), ("deep", Kind::Deep)] {
            let work = move || work(&mut Random::new(1, 0), kind, over);
            Builder::new().name(name.to_owned()).spawn_scoped(scope, work)?;
        }
        Builder::new()
            .name("foreman".to_owned())
            .spawn_scoped(scope, || errands(over))?;
        Builder::new()
            .name("hoard".to_owned())
            .spawn_scoped(scope, || hoard(&mut Random::new(3, 0), over))?;
        for number in 0..2 {
            let serve = move || requests::serve(&mut Random::new(4, number), over);
            Builder::new()
                .name(format!("serve-{number}"))
                .spawn_scoped(scope, serve)?;
        }
        if by_itself {
            control(&mut Random::new(u64::from(std::process::id()), 9), over);
        } else {
            while !over.sleep(Duration::from_secs(1)) {}
        }
        Ok(())
    })
    .map_err(|error: io::Error| format!("no thread: {error}"))?;
    requests::drop_all();
    drop(session);
    let last = tickscope::snapshot();
    let account = Account {
        counted: last.lifetime.calls + last.capture.losses.dropped,
        ..account::own()
    };
    #[allow(
        clippy::print_stdout,
        reason = "it is read by the program that started this one"
    )]
    {
        println!("{account}");
    }
    Ok(())
}

fn made(calls: u64) {
    account::MADE.add(calls);
}

/// Has blocks of many sizes at any time, and sets a level to their bytes. It also makes and drops small ones.
fn hoard(random: &mut Random, over: &Over) {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    blocks.resize_with(BLOCKS, Vec::new);
    let mut held = 0;
    while !over.is_set() {
        // With what the allocator needs they begin at the same few pages again and again, and nothing else of them is touched.
        let bytes = 64 * KIB * (1 + random.below(LARGEST_BLOCK / KIB / 64)) - 16;
        let place = &mut blocks[random.below(BLOCKS as u64) as usize];
        held -= place.capacity() as i64;
        {
            made(1);
            tickscope::scope!("hoard");
            *place = std::hint::black_box(Vec::with_capacity(bytes as usize));
        }
        held += place.capacity() as i64;
        hold(held);
        made(2);
        let number = 1 + random.below(20);
        tickscope::value!("small blocks", number);
        account::VALUES.add(1);
        account::VALUE_SUM.add(number);
        tickscope::scope!("churn");
        for _ in 0..number {
            drop(std::hint::black_box(Box::new([7u8; SMALL_BLOCK])));
        }
        account::CHURNED.add(number);
        thread::sleep(Duration::from_millis(4));
    }
    for block in blocks {
        held -= block.capacity() as i64;
        drop(block);
        hold(held);
    }
}

fn hold(bytes: i64) {
    made(1);
    tickscope::gauge!("held bytes", bytes);
}

/// Works in bursts with rests between them, because the machine has other work.
fn work(random: &mut Random, kind: Kind, over: &Over) {
    while !over.is_set() {
        for _ in 0..40 {
            round(random, kind);
        }
        thread::sleep(Duration::from_millis(4));
    }
}

/// Starts threads that live for some rounds, with two names.
fn errands(over: &Over) {
    let mut random = Random::new(2, 0);
    while !over.is_set() {
        made(1);
        tickscope::scope!("errands");
        let seed = random.next();
        let errand = Builder::new().name(format!("errand-{}", seed % 2));
        let work = move || {
            let mut random = Random::new(seed, 0);
            (0..5).for_each(|_| round(&mut random, Kind::Errand));
            if random.one_in(4) {
                // Threads also end in the middle of their scopes.
                made(1);
                std::mem::forget(tickscope::scope_guard!("left open"));
            }
        };
        if let Ok(errand) = errand.spawn(work) {
            _ = errand.join();
        }
        thread::sleep(Duration::from_millis(4));
    }
}

/// Does one of the things that this kind of thread does. Panics are caught here.
fn round(random: &mut Random, kind: Kind) {
    let caught = panic::catch_unwind(AssertUnwindSafe(|| {
        made(1);
        tickscope::scope!("round");
        match (kind, random.below(8)) {
            (Kind::Wide(leaves, levels), 0..=4) => wide(random.below(leaves), levels),
            (Kind::Wide(leaves, levels), 5) => {
                let _pause = tickscope::pause();
                wide(random.below(leaves), levels);
            }
            (Kind::Deep, 0..=5) => deep(),
            (Kind::Errand, 0..=2) => fails(5),
            _ => {
                let lines = random.below(100);
                made(2);
                tickscope::count!("lines", lines);
                tickscope::scope!("compute");
                std::hint::black_box(workloads::work(500, lines));
            }
        }
    }));
    if let Err(payload) = caught {
        rethrow_unless_meant(payload);
    }
}

fn rethrow_unless_meant(payload: Box<dyn Any + Send>) {
    if !payload.is::<OnPurpose>() {
        panic::resume_unwind(payload);
    }
}

/// Calls one of many leaves. The leaves are always the same, so that the trees stop growing.
fn wide(leaf: u64, levels: u32) {
    made(1 + u64::from(levels));
    tickscope::scope!("wide");
    workloads::deep::<Scoped>(leaf, levels);
}

/// Opens twenty nested scopes.
fn deep() {
    made(1 + 20);
    tickscope::scope!("deep");
    workloads::recursion::<Scoped>(20);
}

/// Panics some scopes deep.
fn fails(left: u32) {
    made(1);
    tickscope::scope!("fails");
    if left == 0 {
        // Unlike a panic, this prints nothing and needs no hook.
        panic::resume_unwind(Box::new(OnPurpose));
    }
    fails(left - 1);
}

/// Does what a program does with its own profile.
fn control(random: &mut Random, over: &Over) {
    while !over.sleep(random.ms(200, 2000)) {
        made(1);
        tickscope::scope!("control");
        match random.below(8) {
            0 | 1 => drop(tickscope::reset()),
            2 => tickscope::request_reset(),
            // It is exact most of the time.
            3 => tickscope::set_mode(*random.of(&MODES)),
            4 => tickscope::set_mode(Mode::Exact),
            5 => tickscope::set_histogram(random.one_in(2)),
            6 => tickscope::set_histogram(true),
            _ => drop(tickscope::snapshot()),
        }
    }
    // The last request must not decide in which mode the run ends.
    tickscope::set_mode(Mode::Exact);
}
