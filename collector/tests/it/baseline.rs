//! What random programs have found, each as short as it can be, by a clock in the test's hand.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};

use crate::support::{Yield, check, isolated, ticks_of, tree};
use tickscope::{Builder, Clock, Mode, Session, Snapshot};
use tickscope_format::ids::NodeId;

static TICK: AtomicU64 = AtomicU64::new(100);

fn spend(ticks: u64) {
    TICK.fetch_add(ticks, Ordering::Relaxed);
}

/// A session on a clock that stands still but for `spend`.
fn session() -> Session {
    let clock = Clock::Custom(|| TICK.load(Ordering::Relaxed), 1e9);
    Builder::new("baseline").clock(clock).try_start().unwrap()
}

/// Switches modes on another thread, so that this one sleeps through it.
fn switch(mode: Mode) {
    std::thread::spawn(move || tickscope::set_mode(mode))
        .join()
        .unwrap();
}

/// Calls of a site that have ended, by its latencies.
fn ended(snapshot: &Snapshot, name: &str) -> u64 {
    (0..snapshot.nodes.len() as u32)
        .filter(|&row| snapshot.site_of(NodeId(row)).name == name)
        .map(|row| snapshot.latencies.of(row).count())
        .sum()
}

/// It was missing, though its own guard ended it.
fn a_call_around_a_leaked_guard_has_a_latency() {
    isolated!(|| {
        let _session = session();
        {
            tickscope::scope!("outer");
            std::mem::forget(tickscope::scope_guard!("leaked"));
            spend(5);
        }
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        assert_eq!(ended(&snapshot, "outer"), 1);
        assert_eq!(
            ended(&snapshot, "leaked"),
            0,
            "when it would have ended nobody knows"
        );
        assert_eq!(snapshot.capture.losses.unbalanced, 1);
    });
}

/// Its row was left out, and with it the call's latency.
fn a_call_that_ends_right_after_a_reset_is_shown() {
    isolated!(|| {
        let _session = session();
        let guard = tickscope::scope_guard!("ends");
        spend(5);
        let _ = tickscope::reset();
        drop(guard);
        assert_eq!(ended(&tickscope::snapshot(), "ends"), 1);
        // The same of a thread that has finished.
        std::thread::spawn(|| {
            let guard = tickscope::scope_guard!("ends");
            spend(5);
            let _ = tickscope::reset();
            drop(guard);
        })
        .join()
        .unwrap();
        assert_eq!(ended(&tickscope::snapshot(), "ends"), 1);
    });
}

/// It was shown outside of all scopes until the thread's next event, and over a reset for good.
fn time_after_a_switch_is_shown_in_its_row_while_the_thread_sleeps() {
    isolated!(|| {
        let _session = session();
        tickscope::set_mode(Mode::Sampled);
        let guard = tickscope::scope_guard!("sleeps");
        switch(Mode::Exact);
        spend(7);
        let closing = tickscope::reset();
        assert_eq!((ticks_of(&closing, "sleeps"), closing.measured_ticks()), (7, 7));
        spend(2);
        drop(guard);
        let last = tickscope::snapshot();
        assert_eq!(tree(&last, "main"), "sleeps 0 2 2\n");
        assert_eq!(last.lifetime.ticks, 9);
    });
}

#[tickscope::profile]
async fn slow() {
    for _ in 0..3 {
        spend(5);
        Yield::default().await;
    }
}

/// Later polls were in no snapshot, as they are no calls.
fn latencies_of_later_polls_are_read() {
    isolated!(|| {
        let _session = session();
        let mut future = pin!(slow());
        for polls in 1..=3 {
            let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            for _ in 0..3 {
                assert_eq!(ended(&tickscope::snapshot(), "slow"), polls);
            }
        }
    });
}

/// Where the clock began at a small number it had lasted since then.
fn a_call_of_unknown_beginning_has_no_latency_by_a_young_clock() {
    isolated!(|| {
        let _session = session();
        tickscope::set_mode(Mode::Sampled);
        let guard = tickscope::scope_guard!("began without a clock");
        tickscope::set_mode(Mode::Exact);
        spend(7);
        drop(guard);
        let snapshot = tickscope::snapshot();
        assert_eq!(ticks_of(&snapshot, "began without a clock"), 7);
        assert_eq!(ended(&snapshot, "began without a clock"), 0);
    });
}

/// Switches that are remembered for threads that sleep; see `switch.rs`.
const KEPT: u64 = 64;

/// All of the time was charged, also that of modes without time.
fn time_before_the_oldest_switch_that_is_kept_is_not_charged() {
    isolated!(|| {
        let _session = session();
        tickscope::time!("first", ());
        let errors = || tickscope::snapshot().clock.errors;
        let (mut before, mut forgotten) = (0, 0);
        for (switches, forgets) in [(20, false), (KEPT - 2, false), (KEPT + 2, true), (5 * KEPT, true)] {
            let guard = tickscope::scope_guard!("sleeps");
            let mut timed = 0;
            // On another thread: an allocation of this one would catch up as well.
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    tickscope::thread::exclude();
                    for _ in 0..switches / 2 {
                        spend(1);
                        timed += 1;
                        switch(Mode::Off);
                        spend(1_000_000);
                        switch(Mode::Exact);
                    }
                });
            });
            spend(1);
            timed += 1;
            let lifetime = || tickscope::snapshot().lifetime.ticks - before;
            let pending = lifetime();
            drop(guard);
            if forgets {
                assert!(pending < timed, "{pending} of {timed}: some are forgotten");
                assert_eq!(lifetime(), pending, "and not charged in the end");
                forgotten += 1;
                assert_eq!(errors(), forgotten, "but counted");
            } else {
                assert_eq!((pending, lifetime(), errors()), (timed, timed, 0));
            }
            before += lifetime();
        }
    });
}

tickscope_testkit::tests![
    time_before_the_oldest_switch_that_is_kept_is_not_charged,
    a_call_around_a_leaked_guard_has_a_latency,
    a_call_that_ends_right_after_a_reset_is_shown,
    time_after_a_switch_is_shown_in_its_row_while_the_thread_sleeps,
    latencies_of_later_polls_are_read,
    a_call_of_unknown_beginning_has_no_latency_by_a_young_clock,
];
