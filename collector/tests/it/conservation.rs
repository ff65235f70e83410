//! No call and no tick is lost or counted twice. Whatever resets and undos happen meanwhile, the epochs add up exactly
//! to the lifetime totals. Every call that the threads made is counted, and every snapshot taken meanwhile is
//! consistent.
//!
//! With `UNDOS=100` in the environment, each storm lasts until 100 resets have been undone, instead of 5.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::support::{
    self, Isolated, Over, Random, ask, calls_of, check, check_order, checked, ends_that_count, newest,
    ring_of, sum_of, test_name, threads_named,
};
use tickscope::Builder;
use tickscope_format::Snapshot;
use tickscope_format::file::open::RingFile;
use tickscope_format::slots::{Op, Outcome};
use tickscope_format::snapshot::{CaptureKind, Mode};

/// Number of calls that the threads have made, as counted by the test itself.
static CALLS: AtomicU64 = AtomicU64::new(0);
/// Sum of all amounts that the threads have added to counters, as counted by the test itself.
static SUM: AtomicU64 = AtomicU64::new(0);
/// Number of guards that were leaked inside a scope or dropped out of order. Two guards dropped in the wrong order
/// count as two: dropping the outer guard also closes the inner call, and the inner guard then finds no call to close.
static UNBALANCED: AtomicU64 = AtomicU64::new(0);
/// Snapshots that `reset` returned.
static CLOSED: Mutex<Vec<Snapshot>> = Mutex::new(Vec::new());
static RESETS_LEFT: AtomicU64 = AtomicU64::new(10_000);

fn made(calls: u64) {
    CALLS.fetch_add(calls, Ordering::Relaxed);
}

/// Opens randomly nested scopes, with every kind of event at any depth.
fn nest(random: &mut Random, depth: u64) {
    made(1);
    tickscope::scope!("nest");
    for _ in 0..random.below(3) {
        match random.below(13) {
            0..=4 if depth > 0 => nest(random, depth - 1),
            5 if depth > 0 => {
                made(1);
                tickscope::time!("other", nest(random, depth - 1));
            }
            6 => {
                let _pause = tickscope::pause();
                made(1);
                tickscope::time!("paused", std::hint::black_box(()));
            }
            7 => {
                made(1);
                UNBALANCED.fetch_add(1, Ordering::Relaxed);
                std::mem::forget(tickscope::scope_guard!("leaked"));
            }
            8 => {
                made(2);
                UNBALANCED.fetch_add(2, Ordering::Relaxed);
                let first = tickscope::scope_guard!("first");
                let second = tickscope::scope_guard!("second");
                drop(first);
                drop(second);
            }
            9 if random.below(8) == 0 => panic!("on purpose"),
            10 if random.below(40) == 0 => reset(random),
            11 => {
                let amount = random.below(1000);
                made(2);
                SUM.fetch_add(amount + 1, Ordering::Relaxed);
                tickscope::count!("counted", amount);
                tickscope::count!("counted");
            }
            _ => {
                made(1);
                tickscope::time!("leaf", std::hint::black_box(()));
            }
        }
    }
}

fn reset(random: &mut Random) {
    let left = RESETS_LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    if left.is_err() {
        return;
    }
    if random.below(3) == 0 {
        tickscope::request_reset();
    } else {
        CLOSED.lock().unwrap().push(tickscope::reset());
    }
}

fn work(seed: u64, rounds: u32, over: &AtomicBool) {
    let mut random = Random(seed);
    for round in 0..rounds {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| nest(&mut random, 8)));
        if round % 500 == 499 {
            let seed = seed * 1000 + u64::from(round);
            let short = std::thread::Builder::new().name(format!("short-{}", random.below(3)));
            let short = short
                .spawn(move || work(seed, 20, &AtomicBool::new(false)))
                .unwrap();
            if random.below(2) == 0 {
                short.join().unwrap();
            } else {
                nest_quietly(&mut random);
                short.join().unwrap();
            }
        }
    }
}

fn nest_quietly(random: &mut Random) {
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| nest(random, 5)));
}

/// Opens scopes and leaks their guards, so that the thread ends with the scopes still open.
fn leave_open() {
    made(2);
    std::mem::forget(tickscope::scope_guard!("open"));
    std::mem::forget(tickscope::scope_guard!("open"));
}

const OPS: [Op; 3] = [Op::Reset, Op::UndoReset, Op::PublishNow];

/// Returns the number of undone resets after which a storm ends.
fn undos_of_a_storm() -> u64 {
    let asked = std::env::var("UNDOS").ok();
    asked.map_or(5, |number| number.parse().unwrap())
}

fn storm(ops: &[Op]) {
    std::panic::set_hook(Box::new(|info| {
        if info.payload().downcast_ref::<&str>() != Some(&"on purpose") {
            // If the test fails, its output must contain the reason.
            support::complain(&info.to_string());
        }
    }));
    let session = Builder::new("storm").ring_bytes(128 << 20).try_start().unwrap();
    let ring = ring_of(&session);
    let over = AtomicBool::new(false);
    let mut undos = 0;
    std::thread::scope(|scope| {
        for seed in 1..=3 {
            let over = &over;
            scope.spawn(move || work(seed * 0x9e37_79b9, u32::MAX, over));
        }
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                std::thread::spawn(leave_open).join().unwrap();
                let guard = tickscope::scope_guard!("looks");
                made(1);
                reset(&mut Random(CALLS.load(Ordering::Relaxed) | 1));
                drop(guard);
            }
        });
        scope.spawn(|| {
            let mut last: Option<Snapshot> = None;
            while !over.load(Ordering::Relaxed) {
                let snapshot = checked(tickscope::snapshot());
                if let Some(last) = &last {
                    check_order(last, &snapshot);
                }
                last = Some(snapshot);
            }
        });
        let _over = Over(&over);
        let mut slot = ring.take_slot().unwrap().unwrap();
        let mut random = Random(77);
        let mut before = newest(&ring);
        let wanted = undos_of_a_storm();
        while undos < wanted || CLOSED.lock().unwrap().len() <= 50 {
            let op = ops[random.below(ops.len() as u64) as usize];
            let reply = ask(&mut slot, op);
            match (op, reply.outcome) {
                (Op::UndoReset, Outcome::Done) => undos += 1,
                (Op::UndoReset, Outcome::NothingToUndo) | (_, Outcome::Done) => {}
                (_, outcome) => panic!("{op:?}: {outcome:?}"),
            }
            let now = checked(newest(&ring));
            check_order(&before, &now);
            assert!(now.capture.reset_epoch >= reply.reset_epoch);
            before = now;
        }
    });
    // A reset that was requested just before the end of the session is still performed.
    drop(session);
    let last = tickscope::snapshot();
    add_up(&ring, &last, undos);
}

fn add_up(ring: &RingFile, last: &Snapshot, undos: u64) {
    let mut closings: BTreeMap<u64, Snapshot> = BTreeMap::new();
    let mut undone = BTreeSet::new();
    let mut note = |snapshot: &Snapshot| {
        undone.extend(snapshot.capture.withdraws.map(|_| snapshot.capture.reset_epoch));
    };
    note(last);
    for snapshot in CLOSED.lock().unwrap().drain(..) {
        assert_eq!(snapshot.capture.kind, CaptureKind::Closing);
        check(&snapshot);
        note(&snapshot);
        let twice = closings.insert(snapshot.capture.reset_epoch, snapshot);
        assert!(twice.is_none(), "an epoch is closed once");
    }
    let by_program = closings.len();
    let mut before: Option<(u64, Snapshot)> = None;
    for (record, snapshot) in support::records(ring) {
        check(&snapshot);
        if let Some((sequence, before)) = &before {
            assert_eq!(record.sequence, sequence + 1);
            check_order(before, &snapshot);
        }
        note(&snapshot);
        if snapshot.capture.kind == CaptureKind::Closing {
            let epoch = snapshot.capture.reset_epoch;
            let known = closings.entry(epoch).or_insert_with(|| snapshot.clone());
            assert_eq!(*known, snapshot, "what was returned is what was published");
        }
        before = Some((record.sequence, snapshot));
    }
    let (_, last_record) = before.unwrap();
    assert_eq!(last_record.capture.kind, CaptureKind::Final);
    assert_eq!(last_record.capture.reset_epoch, last.capture.reset_epoch);
    assert_eq!(last_record.lifetime.calls, last.lifetime.calls);
    assert_eq!(
        closings.len() as u64 + undos,
        last.capture.reset_epoch,
        "each epoch ends in one way"
    );
    assert_eq!(undone.len() as u64, undos);
    assert!(
        by_program > 50 && undos > 0 && closings.len() > by_program,
        "the storm blew"
    );

    let made = CALLS.load(Ordering::Relaxed);
    let (mut calls, mut ticks) = (last.calls(), last.measured_ticks());
    let mut sum = sum_of(last, "counted");
    for closing in ends_that_count(&closings, last) {
        calls += closing.calls();
        ticks += closing.measured_ticks();
        sum += sum_of(closing, "counted");
    }
    assert_eq!(last.lifetime.calls, made, "calls counted and calls made");
    assert_eq!(calls, last.lifetime.calls, "the epochs add up");
    assert_eq!(ticks, last.lifetime.ticks, "the epochs add up");
    assert_eq!(
        sum,
        SUM.load(Ordering::Relaxed),
        "what was counted and what was added"
    );
    assert_eq!(last.capture.losses.unbalanced, UNBALANCED.load(Ordering::Relaxed));
    assert_eq!((last.capture.losses.dropped, last.clock.errors), (0, 0));
}

fn a_storm_of_resets_loses_nothing() {
    Isolated::new(test_name!()).run(|| storm(&OPS)).succeeded();
}

fn a_storm_of_modes_loses_nothing() {
    let modes = [Mode::Exact, Mode::Adaptive, Mode::Sampled].map(Op::Mode);
    let ops = [&OPS[..], &modes].concat();
    Isolated::new(test_name!()).run(|| storm(&ops)).succeeded();
}

/// Opens scopes on random paths. Their large number of nodes makes a capture slow.
fn wander(random: &mut Random, depth: u64) {
    macro_rules! places {
        ($($at:literal $name:literal)*) => {
            match random.below(4) {
                $($at => {
                    tickscope::scope!($name);
                    if depth > 0 {
                        wander(random, depth - 1);
                    }
                })*
                _ => {}
            }
        };
    }
    places!(0 "a" 1 "b" 2 "c" 3 "d");
}

fn a_busy_thread_never_shows_more_time_than_has_passed() {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = Over(&over);
        let worker = std::thread::Builder::new().name("worker".into());
        let body = || {
            tickscope::scope!("all");
            let mut random = Random(5);
            while !over.load(Ordering::Relaxed) {
                wander(&mut random, 4);
            }
        };
        worker.spawn_scoped(scope, body).unwrap();
        let mut looks = 0;
        while looks < 30 {
            let snapshot = tickscope::snapshot();
            let Some(thread) = threads_named(&snapshot, "worker").next() else {
                continue;
            };
            let all = snapshot.threads[thread.index()].open.first();
            let Some(all) = all.filter(|_| calls_of(&snapshot, "all") == 1) else {
                continue;
            };
            looks += 1;
            let shown: u64 = snapshot
                .rows_of(thread)
                .map(|row| snapshot.nodes.self_ticks[row])
                .sum();
            let passed = snapshot.capture.tick - all.began_tick;
            assert!(shown <= passed, "{shown} ticks in {passed}");
        }
    });
}

crate::support::tests![
    own: a_storm_of_resets_loses_nothing, a_storm_of_modes_loses_nothing;
    isolated: a_busy_thread_never_shows_more_time_than_has_passed;
];
