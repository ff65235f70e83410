//! Clocks: which one is taken and why, exact trees by a clock in the test's hand, and clocks that misbehave.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::support::{self, Isolated, check, isolated, test_name, threads_named, ticks_of, tree, wait_until};
use tickscope::{Builder, Clock, Status};
use tickscope_format::Snapshot;
use tickscope_format::snapshot::ClockSource;

static TICK: AtomicU64 = AtomicU64::new(1_000_000);

/// A clock in the test's hand: a tick is a nanosecond.
fn by_hand() -> Clock {
    Clock::Custom(|| TICK.load(Ordering::Relaxed), 1e9)
}

fn spend(ticks: u64) {
    TICK.fetch_add(ticks, Ordering::Relaxed);
}

fn nest(depth: u32) {
    tickscope::scope!("nest");
    if depth > 0 {
        nest(depth - 1);
        tickscope::time!("leaf", std::hint::black_box(depth));
    }
}

/// Opens scopes for some milliseconds by the wall clock; the snapshot after.
fn measure(clock: Clock) -> Snapshot {
    let session = Builder::new("clock").clock(clock).try_start().unwrap();
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

/// Why a counter is taken.
const RELIABLE: &str = if cfg!(target_arch = "aarch64") {
    "the architecture's virtual counter"
} else {
    "invariant, kernel clocksource "
};

fn the_time_stamp_counter_or_the_reason_why_not() {
    isolated!(|| {
        let clock = measure(Clock::Tsc).clock;
        match clock.source {
            ClockSource::Tsc => {
                assert!(clock.reason.starts_with(RELIABLE), "{}", clock.reason);
                assert!(clock.ticks_per_second > 1e6, "{}", clock.ticks_per_second);
            }
            ClockSource::TscOrdered | ClockSource::Monotonic | ClockSource::Custom | _ => {
                assert_eq!(
                    (clock.source, clock.ticks_per_second),
                    (ClockSource::Monotonic, 1e9)
                );
                assert!(clock.reason.starts_with("monotonic clock: "), "{}", clock.reason);
            }
        }
        assert_eq!((clock.errors, clock.epoch), (0, 0));
    });
}

fn the_fenced_counter_or_the_reason_why_not() {
    isolated!(|| {
        let clock = measure(Clock::TscOrdered).clock;
        match clock.source {
            ClockSource::TscOrdered => assert!(clock.reason.starts_with(RELIABLE), "{}", clock.reason),
            ClockSource::Tsc | ClockSource::Monotonic | ClockSource::Custom | _ => {
                assert!(clock.reason.starts_with("monotonic clock: "), "{}", clock.reason)
            }
        }
        assert_eq!(clock.errors, 0);
    });
}

fn the_monotonic_clock_is_asked_for() {
    isolated!(|| {
        let clock = measure(Clock::Monotonic).clock;
        assert_eq!(
            (clock.source, &*clock.reason, clock.ticks_per_second),
            (ClockSource::Monotonic, "asked for", 1e9)
        );
        assert_eq!(clock.errors, 0);
    });
}

fn a_clock_of_the_programs_own_gives_exact_trees() {
    isolated!(|| {
        let _session = Builder::new("custom").clock(by_hand()).start();
        fn node(left: u32) {
            tickscope::scope!("node");
            spend(1);
            if left > 0 {
                node(left - 1);
                spend(10);
                tickscope::time!("leaf", spend(100));
            }
        }
        spend(5);
        {
            tickscope::scope!("all");
            node(2);
            node(1);
            spend(1000);
        }
        spend(6);
        let golden = "all 1 1000 1335\n  node 2 22 335\n    node 2 12 113\n      node 1 1 1\n      leaf 1 100 100\n    leaf 2 200 200\n";
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        assert_eq!(tree(&snapshot, "main"), golden);
        // The first event of the thread began its clock: the 5 before it are nobody's.
        assert_eq!(snapshot.threads[0].outside_ticks, 6);
        assert_eq!(snapshot.clock.source, ClockSource::Custom);
        assert_eq!(
            (&*snapshot.clock.reason, snapshot.clock.ticks_per_second),
            ("the program's own", 1e9)
        );
        assert_eq!((snapshot.lifetime.calls, snapshot.lifetime.ticks), (9, 1335));

        // What is open is charged up to the moment of the picture, and in the end not twice.
        let guard = tickscope::scope_guard!("open");
        spend(50);
        assert_eq!(ticks_of(&tickscope::snapshot(), "open"), 50);
        spend(25);
        assert_eq!(ticks_of(&tickscope::snapshot(), "open"), 75);
        drop(guard);
        assert_eq!(ticks_of(&tickscope::snapshot(), "open"), 75);
    });
}

fn a_reset_cuts_an_open_scope_to_the_tick() {
    isolated!(|| {
        let _session = Builder::new("custom").clock(by_hand()).start();
        let guard = tickscope::scope_guard!("open");
        spend(7);
        assert_eq!(tree(&tickscope::reset(), "main"), "open 1 7 7\n");
        assert_eq!(tree(&tickscope::snapshot(), "main"), "open 0 0 0\n");
        spend(2);
        assert_eq!(tree(&tickscope::reset(), "main"), "open 0 2 2\n");
        drop(guard);
        tickscope::time!("other", spend(1));
        let last = tickscope::snapshot();
        // It took no time since, but it has ended: there its latency is.
        assert_eq!(tree(&last, "main"), "open 0 0 0\nother 1 1 1\n");
        assert_eq!((last.lifetime.calls, last.lifetime.ticks), (2, 10));
    });
}

fn steps_backward_charge_nothing_and_are_counted() {
    isolated!(|| {
        let _session = Builder::new("backward").clock(by_hand()).start();
        {
            tickscope::scope!("outer");
            spend(10);
            TICK.fetch_sub(500, Ordering::Relaxed);
            assert_eq!(
                ticks_of(&tickscope::snapshot(), "outer"),
                0,
                "not shown, not even for a moment"
            );
            tickscope::time!("inner", spend(3));
            spend(4);
        }
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        assert_eq!(tree(&snapshot, "main"), "outer 1 4 7\n  inner 1 3 3\n");
        assert_eq!(snapshot.clock.errors, 1);
        assert_eq!(snapshot.errors.len(), 1);
        assert_eq!((snapshot.errors[0].node.0, snapshot.errors[0].count), (0, 1));
    });
}

/// Numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

fn a_step_back_and_forward_again_is_not_charged_where_events_see_it_and_else_once() {
    for mode in ["exact", "adaptive"] {
        let test = Isolated::new(test_name!()).env("TICKSCOPE_MODE", mode);
        let done = test.run(|| {
            let _session = Builder::new("steps").clock(by_hand()).start();
            let mut random = Random(7);
            tickscope::time!("first", ());
            let is_exact = tickscope::snapshot().capture.mode == tickscope_format::snapshot::Mode::Exact;
            tickscope::reset();
            let (mut passed, mut charged, mut unseen) = (0, 0, 0);
            for round in 0..600 {
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
                            // Adaptive mode reads no clock at some events.
                            unseen += if is_exact { 0 } else { back };
                            TICK.fetch_sub(back, Ordering::Relaxed);
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
        done.succeeded();
    }
}

fn absurd_gaps_charge_nothing_and_are_counted() {
    isolated!(|| {
        let _session = Builder::new("absurd")
            .clock(by_hand())
            .max_gap(Duration::from_micros(1))
            .start();
        {
            tickscope::scope!("outer");
            spend(1000);
            tickscope::time!("inner", spend(1001));
        }
        let snapshot = tickscope::snapshot();
        assert_eq!(tree(&snapshot, "main"), "outer 1 1000 1000\n  inner 1 0 0\n");
        assert_eq!(snapshot.clock.errors, 1);
    });
}

fn a_gap_that_will_not_be_charged_is_not_shown_either() {
    isolated!(|| {
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
        assert_eq!(snapshot.lifetime.ticks, 8);
    });
}

fn time_before_an_exclusion_ends_is_not_charged() {
    isolated!(|| {
        let _session = Builder::new("excluded").clock(by_hand()).start();
        tickscope::time!("counted", spend(3));
        spend(2);
        tickscope::thread::exclude();
        spend(1000);
        let outside = || {
            let snapshot = tickscope::snapshot();
            let main = threads_named(&snapshot, "main").next().unwrap();
            snapshot.threads[main.index()].outside_ticks
        };
        assert_eq!(outside(), 2, "the clock of an excluded thread stands still");
        tickscope::thread::include();
        spend(4);
        assert_eq!(outside(), 6);
        std::thread::spawn(|| {
            tickscope::time!("counted", spend(3));
            tickscope::thread::exclude();
            spend(1000);
        })
        .join()
        .unwrap();
        assert_eq!(tickscope::snapshot().clock.errors, 0, "no error where it leaves");
    });
}

fn the_ring_knows_the_clock_from_its_first_record() {
    isolated!(|| {
        let session = Builder::new("custom").clock(by_hand()).try_start().unwrap();
        let ring = tickscope_format::file::open::RingFile::open(&session.path().unwrap()).unwrap();
        tickscope::time!("work", spend(7));
        wait_until("the work", || ticks_of(&support::newest(&ring), "work") == 7);
        let (record, first) = &support::records(&ring)[0];
        assert_eq!((record.stamp.tick, first.capture.tick), (1_000_000, 1_000_000));
        assert_eq!(first.clock.source, ClockSource::Custom);
    });
}

/// The clock holds the publisher's thread up, or stops it.
static HELD: AtomicBool = AtomicBool::new(false);
static WAITS: AtomicBool = AtomicBool::new(false);

fn is_publisher() -> bool {
    std::fs::read("/proc/thread-self/comm").is_ok_and(|name| name == b"tickscope\n")
}

fn a_session_that_does_not_end_keeps_the_next_one_waiting_and_says_so() {
    isolated!(|| {
        let clock = || {
            while HELD.load(Ordering::Relaxed) && is_publisher() {
                WAITS.store(true, Ordering::Relaxed);
                // Not in a loop: CPU time is progress.
                std::thread::park();
            }
            TICK.fetch_add(1, Ordering::Relaxed)
        };
        let first = Builder::new("first")
            .clock(Clock::Custom(clock, 1e9))
            .interval(Duration::from_millis(10))
            .try_start()
            .unwrap();
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
    });
}

fn a_publisher_that_panics_is_told_and_the_program_goes_on() {
    isolated!(|| {
        let clock = || {
            assert!(!HELD.load(Ordering::Relaxed) || !is_publisher(), "on purpose");
            TICK.fetch_add(1, Ordering::Relaxed)
        };
        let session = Builder::new("panics")
            .clock(Clock::Custom(clock, 1e9))
            .interval(Duration::from_millis(10))
            .try_start()
            .unwrap();
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
    });
}

tickscope_testkit::tests![
    a_publisher_that_panics_is_told_and_the_program_goes_on,
    a_session_that_does_not_end_keeps_the_next_one_waiting_and_says_so,
    the_time_stamp_counter_or_the_reason_why_not,
    the_fenced_counter_or_the_reason_why_not,
    the_monotonic_clock_is_asked_for,
    a_clock_of_the_programs_own_gives_exact_trees,
    a_reset_cuts_an_open_scope_to_the_tick,
    steps_backward_charge_nothing_and_are_counted,
    a_step_back_and_forward_again_is_not_charged_where_events_see_it_and_else_once,
    absurd_gaps_charge_nothing_and_are_counted,
    a_gap_that_will_not_be_charged_is_not_shown_either,
    time_before_an_exclusion_ends_is_not_charged,
    the_ring_knows_the_clock_from_its_first_record,
];
