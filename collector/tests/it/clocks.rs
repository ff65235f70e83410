//! Clocks: which clock is chosen and why, exact trees with a manual clock, and clocks that step back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{
    self, Isolated, Random, by_hand, check, checked, each_passes, ring_of, spend, started, step_back,
    test_name, tick, ticks_of, tree, wait_until,
};
use tickscope::{Builder, Clock, Status};
use tickscope_format::Snapshot;
use tickscope_format::snapshot::ClockSource;

fn nest(depth: u32) {
    tickscope::scope!("nest");
    if depth > 0 {
        nest(depth - 1);
        tickscope::time!("leaf", std::hint::black_box(depth));
    }
}

/// Opens scopes for some milliseconds of wall time, and returns a snapshot taken after them.
fn measure(clock: Clock) -> Snapshot {
    // Waits are not measured. The time for reading them belongs to no row, and could exceed the tolerance of 2 % if
    // other threads often take the CPU.
    let builder = Builder::new("clock").clock(clock).waits(false);
    let session = builder.try_start().unwrap();
    assert!(session.warnings().is_empty(), "{:?}", session.warnings());
    let before = tickscope::snapshot();
    let begin = std::time::Instant::now();
    let inside = {
        tickscope::scope!("spin");
        let begin = std::time::Instant::now();
        while begin.elapsed() < Duration::from_millis(20) {
            nest(10);
        }
        begin.elapsed()
    };
    let around = begin.elapsed();
    let after = tickscope::snapshot();
    check(&before);
    check(&after);
    let (calls, measured) = (after.calls(), after.nanos(after.measured_ticks()) as f64);
    assert!(calls > 21 && calls % 21 == 1, "{calls}");
    let [least, most] = [inside.mul_f64(0.98), around.mul_f64(1.02)].map(|time| time.as_nanos() as f64);
    assert!(
        (least..=most).contains(&measured),
        "{measured} ns, {inside:?} to {around:?}"
    );
    after
}

/// The reason that the session gives for choosing a hardware counter.
const RELIABLE: &str = if cfg!(target_arch = "aarch64") {
    "the architecture's virtual counter"
} else {
    "invariant, kernel clocksource "
};

fn each_clock_is_taken_or_the_reason_why_not_is_said() {
    let clocks = [Clock::Tsc, Clock::TscOrdered, Clock::Monotonic];
    let make = |_| Isolated::new(test_name!());
    each_passes(clocks, make, |asked| {
        let clock = measure(asked).clock;
        let (reason, rate) = (&*clock.reason, clock.ticks_per_second);
        match (asked, clock.source) {
            (Clock::Monotonic, ClockSource::Monotonic) => assert_eq!((reason, rate), ("asked for", 1e9)),
            (_, ClockSource::Monotonic) => {
                assert!(reason.starts_with("monotonic clock: "), "{reason}");
                assert!((rate - 1e9).abs() < 1.0, "{reason}");
            }
            (Clock::Tsc, ClockSource::Tsc) | (Clock::TscOrdered, ClockSource::TscOrdered) => {
                assert!(reason.starts_with(RELIABLE), "{reason}");
                assert!(rate > 1e6, "{rate}");
            }
            (asked, taken) => panic!("{taken:?} for {asked:?}"),
        }
        assert_eq!((clock.errors, clock.epoch), (0, 0));
    });
}

fn steps_backward_charge_nothing_and_are_counted() {
    let _session = Builder::new("backward").clock(by_hand()).start();
    {
        tickscope::scope!("outer");
        spend(10);
        step_back(500);
        assert_eq!(
            ticks_of(&tickscope::snapshot(), "outer"),
            0,
            "not shown, not even for a moment"
        );
        tickscope::time!("inner", spend(3));
        spend(4);
    }
    let snapshot = checked(tickscope::snapshot());
    assert_eq!(tree(&snapshot, "main"), "outer 1 4 7\n  inner 1 3 3\n");
    assert_eq!(snapshot.clock.errors, 1);
    assert_eq!(snapshot.errors.len(), 1);
    assert_eq!((snapshot.errors[0].node.0, snapshot.errors[0].count), (0, 1));
}

fn a_step_back_and_forward_again_is_not_charged_where_events_see_it_and_else_once() {
    let in_mode = |mode| Isolated::new(test_name!()).env("TICKSCOPE_MODE", mode);
    each_passes(["exact", "adaptive"], in_mode, |mode| {
        let _session = Builder::new("steps").clock(by_hand()).start();
        let mut random = Random(7);
        tickscope::time!("first", ());
        tickscope::reset();
        let (mut passed, mut charged, mut unseen) = (0, 0, 0);
        for round in 0..200 {
            let mut back = 0;
            let mut guards = Vec::new();
            for _ in 0..30 {
                let ticks = random.below(if round % 2 == 0 { 20 } else { 2_000 });
                spend(ticks);
                passed += ticks;
                match random.below(12) {
                    0..4 => guards.push(tickscope::scope_guard!("scope")),
                    4..8 => drop(guards.pop()),
                    8 if back == 0 => {
                        tickscope::time!("before", ());
                        back = 1 + random.below(1_000);
                        // In adaptive mode some events do not read the clock, so the step may go unnoticed.
                        unseen += if mode == "exact" { 0 } else { back };
                        step_back(back);
                        tickscope::time!("back", ());
                    }
                    9 => {
                        spend(std::mem::take(&mut back));
                        tickscope::time!("forward", ());
                    }
                    _ => {
                        let _ = tickscope::snapshot();
                    }
                }
            }
            while guards.pop().is_some() {}
            spend(back);
            tickscope::time!("last", ());
            let reset = tickscope::reset();
            charged += reset.measured_ticks() + reset.threads[0].outside_ticks;
            assert!(
                charged <= passed + unseen,
                "{charged} of {passed} and {unseen} in round {round}"
            );
        }
    });
}

fn a_gap_that_will_not_be_charged_is_not_shown_either() {
    let _session = Builder::new("absurd")
        .clock(by_hand())
        .max_gap(Duration::from_micros(1))
        .start();
    let guard = tickscope::scope_guard!("open");
    spend(1000);
    assert_eq!(ticks_of(&tickscope::snapshot(), "open"), 1000);
    spend(1);
    assert_eq!(ticks_of(&tickscope::reset(), "open"), 0);
    drop(guard);
    tickscope::time!("open", spend(8));
    let snapshot = tickscope::snapshot();
    assert_eq!(ticks_of(&snapshot, "open"), 8);
    assert_eq!((snapshot.lifetime.ticks, snapshot.clock.errors), (8, 1));
}

fn the_ring_knows_the_clock_from_its_first_record() {
    let session = Builder::new("custom").clock(by_hand()).try_start().unwrap();
    let ring = ring_of(&session);
    tickscope::time!("work", spend(7));
    wait_until("the work", || ticks_of(&support::newest(&ring), "work") == 7);
    let (record, first) = &support::records(&ring)[0];
    assert_eq!((record.stamp.tick, first.capture.tick), (1_000_000, 1_000_000));
    assert_eq!(first.clock.source, ClockSource::Custom);
    assert_eq!(first.clock.reason, "the program's own");
}

/// Whether the clock stops the publisher's thread: one test parks it, the other makes it panic. `WAITS` is set once the
/// thread is about to park.
static HELD: AtomicBool = AtomicBool::new(false);
static WAITS: AtomicBool = AtomicBool::new(false);

fn is_publisher() -> bool {
    std::fs::read("/proc/thread-self/comm").is_ok_and(|name| name == b"tickscope\n")
}

fn a_session_that_does_not_end_keeps_the_next_one_waiting_and_says_so() {
    let clock = || {
        while HELD.load(Ordering::Relaxed) && is_publisher() {
            WAITS.store(true, Ordering::Relaxed);
            // The thread parks instead of spinning, because a thread that uses CPU time counts as making progress.
            std::thread::park();
        }
        spend(1);
        tick()
    };
    let builder = Builder::new("first").clock(Clock::Custom(clock, 1e9));
    let first = started(builder.interval(Duration::from_millis(10)));
    HELD.store(true, Ordering::Relaxed);
    wait_until("the publisher waits", || WAITS.load(Ordering::Relaxed));
    drop(first);
    let next = tickscope::start("next");
    let warnings = next.warnings();
    assert_eq!(
        warnings.last().map(String::as_str),
        Some("the last session is still ending; try again later")
    );
    HELD.store(false, Ordering::Relaxed);
}

fn a_publisher_that_panics_is_told_and_the_program_goes_on() {
    let clock = || {
        assert!(!HELD.load(Ordering::Relaxed) || !is_publisher(), "on purpose");
        spend(1);
        tick()
    };
    let builder = Builder::new("panics").clock(Clock::Custom(clock, 1e9));
    let session = started(builder.interval(Duration::from_millis(10)));
    HELD.store(true, Ordering::Relaxed);
    wait_until("it is told", || session.status() == Status::Counting);
    let warnings = session.warnings();
    assert_eq!(
        warnings,
        ["the publisher panicked; scopes are counted, but nothing is published"]
    );
    tickscope::time!("after", ());
    let after = tickscope::snapshot();
    assert!(tree(&after, "main").contains("after"), "{}", tree(&after, "main"));
}

crate::support::tests![
    own:
    each_clock_is_taken_or_the_reason_why_not_is_said,
    a_step_back_and_forward_again_is_not_charged_where_events_see_it_and_else_once;
    isolated:
    a_session_that_does_not_end_keeps_the_next_one_waiting_and_says_so,
    a_publisher_that_panics_is_told_and_the_program_goes_on,
    steps_backward_charge_nothing_and_are_counted,
    a_gap_that_will_not_be_charged_is_not_shown_either,
    the_ring_knows_the_clock_from_its_first_record;
];
