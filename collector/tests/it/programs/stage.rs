//! Where programs are played: real threads, of which one at a time does a step, by a clock in the test's hand.

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Waker};
use std::thread::JoinHandle;

use tickscope::{Mode, Pause, Scope};
use tickscope_format::snapshot;

use super::program::{Act, BURST, COUNTERS, End, FUTURES, NAMES, PATTERNS};
use crate::support::Yield;

/// The time, in ticks of a nanosecond.
static TICK: AtomicU64 = AtomicU64::new(1_000_000);

/// Scopes opened by the clock itself.
static INTERRUPTIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The clock is to open a scope at its next reading.
    static INTERRUPT: Cell<bool> = const { Cell::new(false) };
}

/// The clock of all programs.
pub(crate) fn clock() -> u64 {
    if INTERRUPT.replace(false) {
        INTERRUPTIONS.fetch_add(1, Ordering::Relaxed);
        tickscope::time!("interrupting", ());
    }
    TICK.load(Ordering::Relaxed)
}

pub(crate) fn spend(ticks: u64) {
    TICK.fetch_add(ticks, Ordering::Relaxed);
}

pub(crate) fn tick() -> u64 {
    TICK.load(Ordering::Relaxed)
}

/// How often the clock has opened a scope so far.
pub(crate) fn interruptions() -> u64 {
    INTERRUPTIONS.load(Ordering::Relaxed)
}

/// Opens the scope of a number; see `program::SCOPES`.
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

/// Ticks of each call of a burst, of a handler and of a poll.
pub(crate) const BURST_TICKS: u64 = 3;
pub(crate) const HANDLED_TICKS: u64 = 2;
pub(crate) const POLLED_TICKS: u64 = 5;

/// Polls until a future is ready.
pub(crate) const POLLS: u64 = 3;

fn count(counter: usize, amount: u64) {
    match counter {
        0 => tickscope::count!("lines", amount),
        _ => tickscope::count!("bytes", amount),
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

fn poll(which: usize) {
    // In the pool it is nobody's, so that another thread may poll it next.
    let mut future = POOL.lock().unwrap()[which]
        .take()
        .unwrap_or_else(|| Box::pin(polled()));
    let ready = future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
        .is_ready();
    POOL.lock().unwrap()[which] = (!ready).then_some(future);
}

/// A guard on its way to another thread, against its type's will.
struct Given(Scope, u64);

// SAFETY: a guard is a pointer to a node that is never freed; what happens where it is dropped elsewhere is what the test
// is about.
unsafe impl Send for Given {}

static GIVEN: Mutex<Vec<Given>> = Mutex::new(Vec::new());

/// Before the first program: meets every site, so that rules hold for it at once, and has signals handled.
pub(crate) fn prepare() {
    crate::support::on_signal(libc::SIGUSR1, handle);
    for scope in 0..super::program::SCOPES.len() {
        drop(open(scope));
    }
    (0..COUNTERS.len()).for_each(|counter| count(counter, 0));
    (0..POLLS).for_each(|_| poll(0));
    handle(0);
    tickscope::time!("interrupting", ());
}

/// Before each program: nothing is left of the one before.
pub(crate) fn clear() {
    *POOL.lock().unwrap() = [const { None }; FUTURES as usize];
    GIVEN
        .lock()
        .unwrap()
        .drain(..)
        .for_each(|given| std::mem::forget(given.0));
}

/// A thread of a program.
pub(crate) struct Hand {
    pub(crate) tid: u32,
    /// Its life, by number: guards may outlive it.
    life: u64,
    acts: Sender<Act>,
    done: Receiver<()>,
    thread: JoinHandle<()>,
}

/// What such a thread holds.
struct Held {
    guards: Vec<Scope>,
    pauses: Vec<Pause>,
    life: u64,
}

/// The name of the threads of a hand.
pub(crate) fn name_of(hand: usize) -> String {
    format!("pool-{}", hand % NAMES)
}

impl Hand {
    pub(crate) fn begin(hand: usize, life: u64) -> Self {
        let (acts, to_do) = channel::<Act>();
        let (tell, done) = channel();
        let (tell_tid, tid) = channel();
        let body = move || {
            // SAFETY: asks for a number.
            tell_tid.send(unsafe { libc::gettid() } as u32).unwrap();
            live(&to_do, &tell, life);
        };
        let thread = std::thread::Builder::new()
            .name(name_of(hand))
            .spawn(body)
            .unwrap();
        Self {
            tid: tid.recv().unwrap(),
            life,
            acts,
            done,
            thread,
        }
    }

    /// Has it do something, and waits until it has.
    pub(crate) fn act(&self, act: Act) {
        self.acts.send(act).unwrap();
        self.done.recv().unwrap();
    }

    /// Ends it.
    pub(crate) fn end(self, end: End) {
        self.acts.send(Act::End(end)).unwrap();
        let ended = self.thread.join();
        assert_eq!(ended.is_err(), end == End::Panic, "thread of life {}", self.life);
    }
}

/// What a panic on purpose carries.
struct OnPurpose;

/// Whether a panic was on purpose.
pub(crate) fn is_on_purpose(info: &std::panic::PanicHookInfo<'_>) -> bool {
    info.payload().is::<OnPurpose>()
}

fn live(to_do: &Receiver<Act>, tell: &Sender<()>, life: u64) {
    let mut held = Held {
        guards: Vec::new(),
        pauses: Vec::new(),
        life,
    };
    for act in to_do {
        if let Act::End(end) = act {
            return held.end(end);
        }
        held.act(act);
        tell.send(()).unwrap();
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
    /// What the thread does last.
    fn end(&mut self, end: End) {
        match end {
            End::Panic => panic_any(OnPurpose),
            End::WrongOrder => drop(std::mem::take(&mut self.guards)),
            End::Leaking => {
                self.guards.drain(..).for_each(std::mem::forget);
                self.pauses.drain(..).for_each(std::mem::forget);
            }
        }
    }

    /// Takes the guard out that stands so far from the newest.
    fn take(&mut self, back: usize) -> Option<Scope> {
        let at = self.guards.len().checked_sub(back + 1)?;
        Some(self.guards.remove(at))
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Open(scope) => self.guards.push(open(scope)),
            Act::OpenInterrupted(scope) => {
                INTERRUPT.set(true);
                self.guards.push(open(scope));
                INTERRUPT.set(false);
            }
            Act::Close(back) => drop(self.take(back)),
            Act::Leak(back) => std::mem::forget(self.take(back)),
            Act::Give(back) => {
                let given = self.take(back).map(|guard| Given(guard, self.life));
                GIVEN.lock().unwrap().extend(given);
            }
            Act::DropGiven => {
                let mut given = GIVEN.lock().unwrap();
                if !given.is_empty() {
                    drop(given.remove(0).0);
                }
            }
            Act::Nest {
                scopes,
                spend,
                panics,
            } => {
                let _ = catch_unwind(AssertUnwindSafe(|| nest(&scopes, spend, panics)));
            }
            Act::Count(counter, amount) => count(counter, amount),
            Act::Signal => {
                // SAFETY: its handler does what handlers may.
                unsafe { libc::raise(libc::SIGUSR1) };
            }
            Act::Poll(which) => poll(which),
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
            Act::Reset => drop(tickscope::reset()),
            Act::SetMode(mode) => tickscope::set_mode(mode_of(mode)),
            Act::SetHistogram(on) => tickscope::set_histogram(on),
            Act::Off(pattern) => assert!(tickscope::disable_sites(PATTERNS[pattern]).is_ok()),
            Act::On(pattern) => assert!(tickscope::enable_sites(PATTERNS[pattern]).is_ok()),
            Act::End(_) => {}
        }
    }
}

fn mode_of(mode: snapshot::Mode) -> Mode {
    match mode {
        snapshot::Mode::Adaptive => Mode::Adaptive,
        snapshot::Mode::Sampled => Mode::Sampled,
        snapshot::Mode::Off => Mode::Off,
        snapshot::Mode::Exact | _ => Mode::Exact,
    }
}

/// A guard given away by a thread that has ended is nobody's any more: its node may be another thread's.
pub(crate) fn forget_given(life: u64) {
    let mut given = GIVEN.lock().unwrap();
    let (ended, rest) = given.drain(..).partition(|given| given.1 == life);
    *given = rest;
    let ended: Vec<Given> = ended;
    ended.into_iter().for_each(|given| std::mem::forget(given.0));
}
