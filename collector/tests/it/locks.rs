//! Locks. They must show which rows wait and which rows make other threads wait, and must behave like std's locks.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use super::waits::{all, of, self_ns};
use crate::support::{Isolated, calls_of, check, checked, each_passes, test_name, wait_until};
use tickscope::sync::{Condvar, Mutex, RwLock, named_condvar, named_mutex, named_rwlock};
use tickscope::{Mode, Snapshot};
use tickscope_format::snapshot::Quantity::{MadeOthersWait, Waiting};

mod of_std {
    use std::sync;
    include!("locks/interface.rs");
}

mod of_tickscope {
    use tickscope::sync;
    include!("locks/interface.rs");
}

fn the_interface_is_that_of_std() {
    of_std::all();
    of_tickscope::all();
}

/// Kernel ids of the threads that are about to wait, indexed by the number that the test gives each thread; 0 until the
/// thread has stored its id.
static WAITERS: [AtomicU32; 8] = [const { AtomicU32::new(0) }; 8];

/// Stores the id of the calling thread under this number. Right after that, the thread must wait for a lock.
fn waits_next(number: usize) {
    WAITERS[number].store(crate::support::thread_id(), Ordering::Release);
}

/// Returns whether a thread is asleep. A runnable thread that is waiting for a CPU is not.
pub(crate) fn is_asleep(tid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{tid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| rest.trim_start().starts_with('S'))
}

/// Waits until the threads with these numbers are asleep. After [`waits_next`] they sleep only if they wait for the
/// lock.
fn until_asleep(numbers: impl IntoIterator<Item = usize>) {
    for number in numbers {
        wait_until("a thread to sleep", || {
            let tid = WAITERS[number].load(Ordering::Acquire);
            tid != 0 && is_asleep(tid)
        });
    }
}

const HOLD: Duration = Duration::from_millis(20);

const HOLD_NS: u64 = HOLD.as_nanos() as u64;

/// Sleeps for `HOLD` while other threads wait, and returns the actual duration in ns.
fn hold() -> u64 {
    let begin = Instant::now();
    std::thread::sleep(HOLD);
    begin.elapsed().as_nanos() as u64
}

/// Returns the tolerance for a time: 2 % plus 1 us, because the times compared are measured by different clocks.
fn about(ns: u64) -> u64 {
    ns / 50 + 1_000
}

/// Returns the time in ns for which rows with this name made other threads wait.
fn charged(snapshot: &Snapshot, name: &str) -> u64 {
    of(snapshot, name, MadeOthersWait)
}

/// Checks that the time for which rows are charged is at most the time that other rows have waited.
fn check_charges(snapshot: &Snapshot) {
    check(snapshot);
    let sites = snapshot.sites.iter();
    let names: std::collections::BTreeSet<_> = sites
        .map(|site| site.name.as_str())
        .filter(|name| name.starts_with("[lock]"))
        .collect();
    let waited: u64 = names.iter().map(|name| self_ns(snapshot, name)).sum();
    let charged = all(snapshot, MadeOthersWait);
    assert!(charged <= waited + about(waited), "{charged} ns of {waited}");
}

fn the_wait_is_the_waiters_and_the_holder_is_charged() {
    let in_mode = |mode| Isolated::new(test_name!()).env("TICKSCOPE_MODE", mode);
    each_passes(["exact", "adaptive", "sampled"], in_mode, |mode| {
        static CACHE: Mutex<u32> = named_mutex("cache", 0);
        let waiter = {
            tickscope::scope!("holder");
            let guard = CACHE.lock().unwrap();
            let waiter = std::thread::spawn(|| {
                tickscope::scope!("waiter");
                waits_next(0);
                let begin = Instant::now();
                *CACHE.lock().unwrap() += 1;
                begin.elapsed().as_nanos() as u64
            });
            until_asleep([0]);
            tickscope::time!("work", hold());
            drop(guard);
            waiter
        };
        let waited = waiter.join().unwrap();
        let snapshot = checked(tickscope::snapshot());
        assert_eq!(calls_of(&snapshot, "[lock] cache"), 1);
        let charged = charged(&snapshot, "holder");
        assert!(charged + about(charged) >= HOLD_NS, "{charged} ns");
        assert!(charged <= waited + about(waited), "{charged} of {waited} ns");
        assert_eq!(
            all(&snapshot, MadeOthersWait),
            charged,
            "no other scope is charged"
        );
        if mode == "sampled" {
            return;
        }
        check_charges(&snapshot);
        let row = self_ns(&snapshot, "[lock] cache");
        assert!(row + about(row) >= charged, "{row} ns, {charged} charged");
        assert!(row <= waited + about(waited), "{row} of {waited} ns");
        let waiting = of(&snapshot, "[lock] cache", Waiting);
        assert!(waiting + about(waiting) >= HOLD_NS, "{waiting} ns off the CPU");
    });
}

fn each_holder_is_charged_for_its_own_part() {
    static TURNS: Mutex<u32> = Mutex::new(0);
    let guard = {
        tickscope::scope!("first");
        TURNS.lock().unwrap()
    };
    let waiters = [0, 1].map(|number| {
        std::thread::spawn(move || {
            tickscope::scope!("next");
            waits_next(number);
            let begin = Instant::now();
            let mut turns = TURNS.lock().unwrap();
            let waited = begin.elapsed().as_nanos() as u64;
            *turns += 1;
            // The first waiter to get the lock makes the second one wait.
            if *turns == 1 {
                hold();
            }
            waited
        })
    });
    until_asleep([0, 1]);
    let held = hold();
    {
        // The charge goes to the row in which the holder releases the lock.
        tickscope::scope!("last");
        drop(guard);
    }
    let waited: u64 = waiters.map(|waiter| waiter.join().unwrap()).iter().sum();
    let snapshot = tickscope::snapshot();
    check_charges(&snapshot);
    let [last, next] = ["last", "next"].map(|name| charged(&snapshot, name));
    assert_eq!(charged(&snapshot, "first"), 0);
    assert!(
        last + about(last) >= 2 * held,
        "two waited {held} ns, {last} charged"
    );
    assert!(next + about(next) >= HOLD_NS, "{next} ns");
    assert!(
        last + next <= waited + about(waited),
        "{last} and {next} of {waited} ns"
    );
    // The lock is named after the line that creates it.
    let row = |site: &&tickscope_format::snapshot::Site| site.name.starts_with("[lock] locks.rs:");
    let sites: Vec<_> = snapshot.sites.iter().filter(row).collect();
    assert_eq!((sites.len(), calls_of(&snapshot, &sites[0].name)), (1, 2));
    assert!(sites[0].file.ends_with("tests/it/locks.rs") && sites[0].line > 0);
}

fn readers_are_charged_for_writers_and_a_writer_for_readers() {
    static PRICES: RwLock<u32> = named_rwlock("prices", 0);
    let all_read = Arc::new(Barrier::new(4));
    let done = Arc::new(Barrier::new(4));
    let readers = [(); 3].map(|()| {
        let (all_read, done) = (Arc::clone(&all_read), Arc::clone(&done));
        std::thread::spawn(move || {
            tickscope::scope!("reader");
            let guard = PRICES.read().unwrap();
            all_read.wait();
            done.wait();
            drop(guard);
        })
    });
    all_read.wait();
    let writer = std::thread::spawn(|| {
        tickscope::scope!("writer");
        waits_next(0);
        let begin = Instant::now();
        let guard = PRICES.write().unwrap();
        let waited = begin.elapsed().as_nanos() as u64;
        let late = std::thread::spawn(|| {
            tickscope::scope!("late");
            waits_next(1);
            assert_eq!(*PRICES.read().unwrap(), 0);
        });
        until_asleep([1]);
        hold();
        drop(guard);
        late.join().unwrap();
        waited
    });
    until_asleep([0]);
    let before = tickscope::snapshot();
    assert_eq!(
        all(&before, MadeOthersWait),
        0,
        "readers alone make no thread wait"
    );
    let held = hold();
    done.wait();
    for reader in readers {
        reader.join().unwrap();
    }
    let waited = writer.join().unwrap();
    let snapshot = tickscope::snapshot();
    check_charges(&snapshot);
    let [reader, writer] = ["reader", "writer"].map(|name| charged(&snapshot, name));
    assert!(reader + about(reader) >= held, "{reader} of {held} ns");
    assert!(reader <= waited + about(waited), "{reader} of {waited} ns");
    assert!(writer + about(writer) >= HOLD_NS, "{writer} ns");
    assert_eq!(calls_of(&snapshot, "[lock] prices (write)"), 1);
    assert_eq!(calls_of(&snapshot, "[lock] prices (read)"), 1);
}

fn a_wait_for_a_condition_is_a_row_and_its_mutex_is_given_back() {
    static STATE: (Mutex<bool>, Condvar) = (named_mutex("state", false), named_condvar("changed"));
    let (state, changed) = &STATE;
    let other = std::thread::spawn(|| {
        tickscope::scope!("other");
        let guard = STATE.0.lock().unwrap();
        let waits = std::thread::spawn(|| {
            tickscope::scope!("changes");
            waits_next(0);
            *STATE.0.lock().unwrap() = true;
            STATE.1.notify_all();
        });
        until_asleep([0]);
        hold();
        // A thread that waits for the condition does not hold the mutex.
        let guard = STATE.1.wait_while(guard, |set| !*set).unwrap();
        drop(guard);
        waits.join().unwrap();
    });
    other.join().unwrap();
    let snapshot = tickscope::snapshot();
    check_charges(&snapshot);
    let other = charged(&snapshot, "other");
    assert!(other + about(other) >= HOLD_NS, "{other} ns");
    assert!(calls_of(&snapshot, "[condvar] changed") >= 1);
    let before = calls_of(&snapshot, "[condvar] changed");
    let guard = state.lock().unwrap();
    let begin = Instant::now();
    let mut looked = 0;
    let (guard, waited) = changed
        .wait_timeout_while(guard, HOLD, |_| {
            tickscope::scope!("condition");
            looked += 1;
            true
        })
        .unwrap();
    let waited_ns = begin.elapsed().as_nanos() as u64;
    assert!(waited.timed_out());
    let (guard, _) = changed.wait_timeout(guard, Duration::from_millis(1)).unwrap();
    drop(guard);
    let snapshot = tickscope::snapshot();
    check_charges(&snapshot);
    // A wait follows each check of the condition except the last one, and spurious wake-ups cause more checks.
    let calls = calls_of(&snapshot, "[condvar] changed") - before;
    assert!((2..=looked + 1).contains(&calls), "{calls} waits, {looked} looks");
    assert_eq!(calls_of(&snapshot, "condition"), looked);
    let under = |row: usize| crate::support::path_of(&snapshot, row).contains(&"[condvar] changed");
    let conditions = (0..snapshot.nodes.len())
        .filter(|&row| snapshot.site_of(tickscope_format::ids::NodeId(row as u32)).name == "condition");
    assert!(
        conditions.into_iter().all(|row| !under(row)),
        "a condition is no wait"
    );
    let row = self_ns(&snapshot, "[condvar] changed");
    assert!(row + about(row) >= HOLD_NS && waited_ns >= HOLD_NS);
}

fn a_lock_without_contention_has_no_row() {
    let (mutex, rw_lock) = (Mutex::new(0), RwLock::new(0));
    tickscope::scope!("alone");
    for _ in 0..1_000 {
        *mutex.lock().unwrap() += 1;
        *mutex.try_lock().unwrap() += 1;
        *rw_lock.write().unwrap() += 1;
        let _both = (rw_lock.read().unwrap(), rw_lock.read().unwrap());
        // An attempt to lock does not wait.
        assert!(rw_lock.try_write().is_err());
    }
    let snapshot = tickscope::snapshot();
    assert_eq!((snapshot.nodes.len(), snapshot.sites.len()), (1, 1));
    assert!(snapshot.measures.of(MadeOthersWait).is_none());
}

/// Makes another thread wait for a lock, and joins that thread.
fn contend(lock: &'static Mutex<u32>) {
    let guard = lock.lock().unwrap();
    WAITERS[0].store(0, Ordering::Release);
    let waiter = std::thread::spawn(|| {
        tickscope::scope!("waiter");
        waits_next(0);
        *lock.lock().unwrap() += 1;
    });
    until_asleep([0]);
    hold();
    drop(guard);
    waiter.join().unwrap();
}

fn in_the_mode_off_nothing_is_recorded_and_nobody_charged() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    tickscope::time!("holder", contend(&LOCK));
    let before = charged(&tickscope::reset(), "holder");
    assert!(before > 0);
    tickscope::set_mode(Mode::Off);
    tickscope::time!("holder", contend(&LOCK));
    assert_eq!(tickscope::snapshot().calls(), 0);
    tickscope::set_mode(Mode::Exact);
    let snapshot = tickscope::snapshot();
    assert_eq!(all(&snapshot, MadeOthersWait), 0);
    // Nor is any row charged if the wait began in another mode and ends in mode off.
    let guard = LOCK.lock().unwrap();
    WAITERS[0].store(0, Ordering::Release);
    let waiter = std::thread::spawn(|| {
        waits_next(0);
        *LOCK.lock().unwrap() += 1;
    });
    until_asleep([0]);
    tickscope::set_mode(Mode::Off);
    tickscope::time!("holder", drop(guard));
    waiter.join().unwrap();
    tickscope::set_mode(Mode::Exact);
    assert_eq!(all(&tickscope::snapshot(), MadeOthersWait), 0);
    tickscope::time!("holder", contend(&LOCK));
    assert!(charged(&tickscope::snapshot(), "holder") >= HOLD_NS / 2);
}

/// Threads end while they hold locks, and new threads reuse their trees. The new threads must not be charged, and waits
/// that never end must be shown.
fn a_thread_that_ends_with_a_lock_charges_nobody_else() {
    static LEAKED: Mutex<u32> = named_mutex("leaked", 0);
    static READ: RwLock<u32> = named_rwlock("read for ever", 0);
    let ends = || {
        tickscope::scope!("leaks");
        std::mem::forget(LEAKED.try_lock());
        std::mem::forget(READ.read());
    };
    std::thread::spawn(ends).join().unwrap();
    let waiter = std::thread::spawn(|| {
        tickscope::scope!("waiter");
        waits_next(0);
        drop(LEAKED.lock());
    });
    let writer = std::thread::spawn(|| {
        tickscope::scope!("writer");
        waits_next(1);
        drop(READ.write());
    });
    until_asleep([0, 1]);
    for _ in 0..100 {
        let next = || {
            tickscope::time!("next", assert!(LEAKED.try_lock().is_err()));
        };
        std::thread::spawn(next).join().unwrap();
    }
    wait_until("the waits to grow", || {
        let snapshot = tickscope::snapshot();
        check_charges(&snapshot);
        assert_eq!(all(&snapshot, MadeOthersWait), 0);
        let waits = ["[lock] leaked", "[lock] read for ever (write)"];
        waits.iter().all(|name| self_ns(&snapshot, name) > HOLD_NS)
    });
    assert!(!waiter.is_finished() && !writer.is_finished());
    std::process::exit(0);
}

/// Many short-lived threads, which reuse the trees of earlier ones, contend for many locks. Snapshots taken meanwhile
/// must be consistent, and the total charged must not exceed the total time waited.
fn in_a_storm_nobody_is_charged_for_more_than_was_waited() {
    const LOCKS: usize = 20;
    static LOCKS_OF_ONE_PLACE: [Mutex<u64>; LOCKS] = [const { Mutex::new(0) }; LOCKS];
    static RW: RwLock<u64> = named_rwlock("storm", 0);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let work = || {
        tickscope::scope!("work");
        for _ in 0..200 {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let lock = &LOCKS_OF_ONE_PLACE[(number % 3) as usize * 6];
            let mut guard = lock.lock().unwrap();
            *guard += 1;
            if number.is_multiple_of(16) {
                std::thread::yield_now();
            }
            drop(guard);
            if number.is_multiple_of(4) {
                *RW.write().unwrap() += 1;
            } else {
                let writes = *RW.read().unwrap();
                assert!(writes <= NEXT.load(Ordering::Relaxed));
            }
        }
    };
    let mut spawned = 0;
    while spawned < 200 || all(&tickscope::snapshot(), MadeOthersWait) == 0 {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(work);
            }
            check(&tickscope::snapshot());
        });
        spawned += 8;
    }
    let snapshot = tickscope::snapshot();
    check_charges(&snapshot);
    let sum: u64 = LOCKS_OF_ONE_PLACE.iter().map(|lock| *lock.lock().unwrap()).sum();
    assert_eq!(sum, spawned * 200);
    let rows = |site: &&tickscope_format::snapshot::Site| site.name.starts_with("[lock] locks.rs:");
    assert!(
        snapshot.sites.iter().filter(rows).count() <= 1,
        "one place is one row"
    );
    assert!(snapshot.measures.of(MadeOthersWait).is_some());
}

/// A process forks while another thread waits for a lock. That thread does not exist in the child, which must not hang.
fn a_child_forked_during_a_wait_goes_on() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    let guard = LOCK.lock().unwrap();
    let waiter = std::thread::spawn(|| {
        waits_next(0);
        *LOCK.lock().unwrap() += 1;
    });
    until_asleep([0]);
    let pid = crate::support::fork(|| {
        tickscope::time!("child", drop(guard));
        for _ in 0..100 {
            *LOCK.lock().unwrap() += 1;
        }
        i32::from(*LOCK.lock().unwrap() != 100)
    });
    assert!(crate::support::status_of(pid).success());
    // In the parent, `fork` leaks the closure and the guard with it, so the lock stays locked.
    assert!(!waiter.is_finished());
    std::process::exit(0);
}

/// A thread may wait for a lock, or be charged for making others wait, before its first scope.
fn threads_without_a_scope_wait_and_are_charged() {
    static LOCK: Mutex<u32> = named_mutex("first", 0);
    std::thread::spawn(|| {
        let guard = LOCK.lock().unwrap();
        let waiter = std::thread::spawn(|| {
            waits_next(0);
            *LOCK.lock().unwrap() += 1;
        });
        until_asleep([0]);
        hold();
        drop(guard);
        waiter.join().unwrap();
        tickscope::time!("scope", ());
        let snapshot = tickscope::snapshot();
        check_charges(&snapshot);
        assert_eq!(calls_of(&snapshot, "[lock] first"), 1);
        let column = snapshot.measures.of(MadeOthersWait).unwrap();
        assert!(column.rows.is_empty(), "no row made anyone wait");
        let outside = snapshot.nanos(column.outside.iter().map(|&(_, ticks)| ticks).sum());
        assert!(outside + about(outside) >= HOLD_NS, "{outside} ns");
    })
    .join()
    .unwrap();
}

crate::support::tests![
    own: the_wait_is_the_waiters_and_the_holder_is_charged;
    isolated:
    the_interface_is_that_of_std,
    each_holder_is_charged_for_its_own_part,
    readers_are_charged_for_writers_and_a_writer_for_readers,
    a_wait_for_a_condition_is_a_row_and_its_mutex_is_given_back,
    a_lock_without_contention_has_no_row,
    in_the_mode_off_nothing_is_recorded_and_nobody_charged,
    a_thread_that_ends_with_a_lock_charges_nobody_else,
    in_a_storm_nobody_is_charged_for_more_than_was_waited,
    a_child_forked_during_a_wait_goes_on,
    threads_without_a_scope_wait_and_are_charged;
];
