//! Plays random programs on real threads with a manual clock. Only one thread acts at a time.

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Waker};
use std::thread::JoinHandle;

use tickscope::{Pause, Scope, Snapshot};

use super::program::{Act, BLOCKS, BURST, COUNTERS, End, FUTURES, GAUGES, NAMES, PATTERNS, VALUES};
use crate::allocations::{Allocated, allocated};
use crate::support::Yield;
pub(crate) use crate::support::{spend, tick};

/// Number of scopes that the clock function has opened.
static INTERRUPTIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether the clock function opens a scope the next time this thread reads the clock.
    static INTERRUPT: Cell<bool> = const { Cell::new(false) };
}

/// Returns the tick of the manual clock. If `INTERRUPT` is set, opens a scope first.
pub(crate) fn clock() -> u64 {
    if INTERRUPT.replace(false) {
        INTERRUPTIONS.fetch_add(1, Ordering::Relaxed);
        tickscope::time!("interrupting", ());
    }
    tick()
}

/// Returns the number of scopes that the clock function has opened so far.
pub(crate) fn interruptions() -> u64 {
    INTERRUPTIONS.load(Ordering::Relaxed)
}

/// Opens the scope with this index in `program::SCOPES`.
pub(crate) fn open(scope: usize) -> Scope {
    match scope {
        0 => tickscope::scope_guard!("red"),
        1 => tickscope::scope_guard!("green"),
        2 => tickscope::scope_guard!("blue"),
        3 => tickscope::scope_guard!("gold"),
        4 => tickscope::scope_guard!("grey"),
        _ => tickscope::scope_guard!("burst"),
    }
}

/// Ticks spent in each call of a burst, in each run of the signal handler, and in each poll.
pub(crate) const BURST_TICKS: u64 = 3;
pub(crate) const HANDLED_TICKS: u64 = 2;
pub(crate) const POLLED_TICKS: u64 = 5;

/// Number of polls that a future takes to complete.
pub(crate) const POLLS: u64 = 3;

fn count(counter: usize, amount: u64) {
    match counter {
        0 => tickscope::count!("lines", amount),
        _ => tickscope::count!("bytes", amount),
    }
}

fn value(value: usize, number: u64) {
    match value {
        0 => tickscope::value!("rows", number),
        _ => tickscope::value!("sizes", number),
    }
}

fn gauge(gauge: usize, level: i64) {
    match gauge {
        0 => tickscope::gauge!("queue", level),
        _ => tickscope::gauge!("green level", level),
    }
}

#[tickscope::profile]
async fn polled() {
    for _ in 1..POLLS {
        spend(POLLED_TICKS);
        Yield::default().await;
    }
    spend(POLLED_TICKS);
}

extern "C" fn handle(_: libc::c_int) {
    tickscope::time!("handled", spend(HANDLED_TICKS));
}

type Polled = Pin<Box<dyn Future<Output = ()> + Send>>;

static POOL: Mutex<[Option<Polled>; FUTURES as usize]> = Mutex::new([const { None }; FUTURES as usize]);

/// Returns the size in bytes of the heap block that holds a future.
pub(crate) fn bytes_of_a_future() -> usize {
    size_of_val(&polled())
}

fn poll(which: usize) {
    // The future is taken out of the pool for the poll. If it is still pending, it is put back, so that any thread can
    // poll it next.
    let future = POOL.lock().unwrap()[which].take();
    let mut future = future.unwrap_or_else(|| Box::pin(polled()));
    let ready = future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
        .is_ready();
    POOL.lock().unwrap()[which] = (!ready).then_some(future);
}

fn drop_future(which: usize) {
    let future = POOL.lock().unwrap()[which].take();
    drop(future);
}

static POOL_OF_BLOCKS: Mutex<[Option<Vec<u8>>; BLOCKS as usize]> =
    Mutex::new([const { None }; BLOCKS as usize]);

fn allocate(which: usize, bytes: usize) {
    free(which);
    let block = Vec::with_capacity(bytes);
    POOL_OF_BLOCKS.lock().unwrap()[which] = Some(block);
}

fn grow(which: usize, bytes: usize) {
    let block = POOL_OF_BLOCKS.lock().unwrap()[which].take();
    if let Some(mut block) = block {
        // The vector has length 0, so if the block has to grow, it grows to exactly this size.
        block.reserve_exact(bytes);
        POOL_OF_BLOCKS.lock().unwrap()[which] = Some(block);
    }
}

fn free(which: usize) {
    let block = POOL_OF_BLOCKS.lock().unwrap()[which].take();
    drop(block);
}

/// The snapshot that a reset returned. The test's thread drops it, so that freeing it is not charged to the acting thread.
static CLOSED: Mutex<Option<Snapshot>> = Mutex::new(None);

/// What a panic allocates when it starts, and frees when it is caught.
static PANIC: Mutex<Allocated> = Mutex::new(Allocated::NOTHING);

pub(crate) fn allocated_by_a_panic() -> Allocated {
    *PANIC.lock().unwrap()
}

/// A guard that is handed over to another thread although its type is not `Send`, and the `life` of the thread that opened it.
struct Given(Scope, u64);

// SAFETY: a guard is a pointer to a node that is never freed. The test is about dropping guards on another thread.
unsafe impl Send for Given {}

static GIVEN: Mutex<Vec<Given>> = Mutex::new(Vec::new());

/// Prepares the process for its first program. Installs the signal handler, and executes every site once: the collector
/// then knows the site, and rules apply to it at once.
pub(crate) fn prepare() {
    crate::support::on_signal(libc::SIGUSR1, handle);
    for scope in 0..super::program::SCOPES.len() {
        drop(open(scope));
    }
    (0..COUNTERS.len()).for_each(|counter| count(counter, 0));
    (0..VALUES.len()).for_each(|number| value(number, 0));
    (0..GAUGES.len()).for_each(|number| gauge(number, 0));
    (0..POLLS).for_each(|_| poll(0));
    GIVEN.lock().unwrap().reserve(GUARDS_MOST);
    // The panic is measured twice, because the first one may allocate more than later ones. The second result is kept.
    for _ in 0..2 {
        let before = allocated();
        let _ = catch_unwind(|| panic_any(OnPurpose));
        *PANIC.lock().unwrap() = allocated().since(before);
    }
    handle(0);
    tickscope::time!("interrupting", ());
}

/// Removes everything that the previous program left behind.
pub(crate) fn clear() {
    *POOL.lock().unwrap() = [const { None }; FUTURES as usize];
    *POOL_OF_BLOCKS.lock().unwrap() = [const { None }; BLOCKS as usize];
    GIVEN
        .lock()
        .unwrap()
        .drain(..)
        .for_each(|given| std::mem::forget(given.0));
}

/// A thread of a program.
pub(crate) struct Hand {
    pub(crate) tid: u32,
    /// What the thread had allocated and freed before its first act.
    pub(crate) early: Allocated,
    /// Number of this thread among all threads that the program has started. Guards that the thread gives away carry
    /// this number, and may outlive the thread.
    life: u64,
    desk: Arc<Desk>,
    thread: JoinHandle<()>,
}

/// Where a thread gets its next act. Neither that thread nor the test's thread allocates memory here, because
/// allocations are counted.
#[derive(Default)]
struct Desk {
    paper: Mutex<Paper>,
    changed: Condvar,
}

#[derive(Default)]
struct Paper {
    /// What the new thread has reported: its thread id, and what it has allocated and freed so far.
    begun: Option<(u32, Allocated)>,
    to_do: Option<Act>,
    /// The act that was done. It is handed back, so that the test's thread frees its memory, and not the acting thread.
    done: Option<Act>,
}

/// Capacity of a [`Stack`]. It exceeds the number of steps of any program.
const GUARDS_MOST: usize = 128;

/// A stack that stores its values inline, so that it never allocates.
struct Stack<T> {
    values: [Option<T>; GUARDS_MOST],
    length: usize,
}

/// Guards and pauses that a thread holds.
struct Held {
    guards: Stack<Scope>,
    pauses: Stack<Pause>,
    life: u64,
}

pub(crate) fn name_of(hand: usize) -> String {
    format!("pool-{}", hand % NAMES)
}

impl Desk {
    /// Waits until `find` returns a value for the paper, and returns that value.
    fn wait<T>(&self, find: impl Fn(&mut Paper) -> Option<T>) -> T {
        let mut paper = self.paper.lock().unwrap();
        loop {
            if let Some(found) = find(&mut paper) {
                return found;
            }
            paper = self.changed.wait(paper).unwrap();
        }
    }

    fn write(&self, change: impl FnOnce(&mut Paper)) {
        change(&mut self.paper.lock().unwrap());
        self.changed.notify_all();
    }
}

impl Hand {
    pub(crate) fn begin(hand: usize, life: u64) -> Self {
        let desk = Arc::new(Desk::default());
        let body = {
            let desk = Arc::clone(&desk);
            move || live(&desk, life)
        };
        let thread = std::thread::Builder::new()
            .name(name_of(hand))
            .spawn(body)
            .unwrap();
        let (tid, early) = desk.wait(|paper| paper.begun.take());
        Self {
            tid,
            early,
            life,
            desk,
            thread,
        }
    }

    /// Makes the thread carry out an act, and waits until it is done.
    pub(crate) fn act(&self, act: Act) {
        self.desk.write(|paper| paper.to_do = Some(act));
        let done = self.desk.wait(|paper| paper.done.take());
        drop((done, CLOSED.lock().unwrap().take()));
    }

    pub(crate) fn end(self, end: End) {
        self.desk.write(|paper| paper.to_do = Some(Act::End(end)));
        let ended = self.thread.join();
        assert_eq!(ended.is_err(), end == End::Panic, "thread of life {}", self.life);
    }
}

impl<T> Stack<T> {
    fn new() -> Self {
        Self {
            values: [const { None }; GUARDS_MOST],
            length: 0,
        }
    }

    fn push(&mut self, value: T) {
        self.values[self.length] = Some(value);
        self.length += 1;
    }

    fn pop(&mut self) -> Option<T> {
        self.take(0)
    }

    /// Removes and returns a value, counted back from the newest, which is 0.
    fn take(&mut self, back: usize) -> Option<T> {
        let at = self.length.checked_sub(back + 1)?;
        self.values[at..self.length].rotate_left(1);
        self.length -= 1;
        self.values[self.length].take()
    }

    /// Removes and returns the oldest value.
    fn take_first(&mut self) -> Option<T> {
        self.take(self.length.checked_sub(1)?)
    }
}

/// Payload of the panics that programs cause on purpose.
struct OnPurpose;

pub(crate) fn is_on_purpose(info: &std::panic::PanicHookInfo<'_>) -> bool {
    info.payload().is::<OnPurpose>()
}

fn live(desk: &Desk, life: u64) {
    let mut held = Held {
        guards: Stack::new(),
        pauses: Stack::new(),
        life,
    };
    let tid = crate::support::thread_id();
    desk.write(|paper| paper.begun = Some((tid, allocated())));
    loop {
        let act = desk.wait(|paper| paper.to_do.take());
        if let Act::End(end) = act {
            return held.end(end);
        }
        held.act(&act);
        desk.write(|paper| paper.done = Some(act));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        while self.guards.pop().is_some() {}
        while self.pauses.pop().is_some() {}
    }
}

fn nest(scopes: &[usize], ticks: u64, panics: bool) {
    match scopes.split_first() {
        Some((&scope, inner)) => {
            let _guard = open(scope);
            spend(ticks);
            nest(inner, ticks, panics);
        }
        None if panics => panic_any(OnPurpose),
        None => {}
    }
}

impl Held {
    /// Carries out the thread's last act.
    fn end(&mut self, end: End) {
        match end {
            End::Panic => panic_any(OnPurpose),
            End::WrongOrder => while self.guards.take_first().is_some() {},
            End::Leaking => {
                while let Some(guard) = self.guards.pop() {
                    std::mem::forget(guard);
                }
                while let Some(pause) = self.pauses.pop() {
                    std::mem::forget(pause);
                }
            }
        }
    }

    fn act(&mut self, act: &Act) {
        match *act {
            Act::Open(scope) => self.guards.push(open(scope)),
            Act::OpenInterrupted(scope) => {
                INTERRUPT.set(true);
                self.guards.push(open(scope));
                INTERRUPT.set(false);
            }
            Act::Close(back) => drop(self.guards.take(back)),
            Act::Leak(back) => std::mem::forget(self.guards.take(back)),
            Act::Give(back) => {
                let given = self.guards.take(back).map(|guard| Given(guard, self.life));
                GIVEN.lock().unwrap().extend(given);
            }
            Act::DropGiven => {
                let mut given = GIVEN.lock().unwrap();
                if !given.is_empty() {
                    drop(given.remove(0).0);
                }
            }
            Act::Nest {
                ref scopes,
                spend,
                panics,
            } => {
                let _ = catch_unwind(AssertUnwindSafe(|| nest(scopes, spend, panics)));
            }
            Act::Count(counter, amount) => count(counter, amount),
            Act::Signal => {
                // SAFETY: the handler of this signal is async-signal-safe.
                unsafe { libc::raise(libc::SIGUSR1) };
            }
            Act::Poll(which) => poll(which),
            Act::DropFuture(which) => drop_future(which),
            Act::Value(which, number) => value(which, number),
            Act::Gauge(which, level) => {
                // Time passes before each level. Otherwise, several levels could be set at the same tick, and which one
                // is the last would depend on the order in which threads are merged.
                spend(1);
                gauge(which, level);
            }
            Act::Allocate(which, bytes) => allocate(which, bytes),
            Act::Grow(which, bytes) => grow(which, bytes),
            Act::Free(which) => free(which),
            Act::Burst => {
                for _ in 0..BURST {
                    let _guard = open(super::program::SCOPES.len() - 1);
                    spend(BURST_TICKS);
                }
            }
            Act::Pause => self.pauses.push(tickscope::pause()),
            Act::Resume => drop(self.pauses.pop()),
            Act::LeakPause => std::mem::forget(self.pauses.pop()),
            Act::Exclude => tickscope::thread::exclude(),
            Act::Include => tickscope::thread::include(),
            Act::Reset => {
                let closed = tickscope::reset();
                *CLOSED.lock().unwrap() = Some(closed);
            }
            Act::SetMode(mode) => tickscope::set_mode(mode.into()),
            Act::SetHistogram(on) => tickscope::set_histogram(on),
            Act::Off(pattern) => assert!(tickscope::disable_sites(PATTERNS[pattern]).is_ok()),
            Act::On(pattern) => assert!(tickscope::enable_sites(PATTERNS[pattern]).is_ok()),
            Act::End(_) => {}
        }
    }
}

/// Leaks the guards that a thread has given away and that no other thread has dropped. Once the thread has ended,
/// another thread may use their nodes.
pub(crate) fn forget_given(life: u64) {
    let mut given = GIVEN.lock().unwrap();
    while let Some(at) = given.iter().position(|given| given.1 == life) {
        std::mem::forget(given.remove(at).0);
    }
}
