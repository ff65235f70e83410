//! Clocks whose rate is measured by the session, and clocks that change their rate or differ between CPUs.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::support::{self, checked, isolated, ring_of, spend, started, ticks_of, wait_until};
use tickscope::{Builder, Clock, Session};
use tickscope_format::snapshot::CaptureKind;

/// State of a clock: its rate in ticks per us, the time in ns at which it took on this rate, and its tick at that time.
struct Running {
    per_us: u64,
    since_ns: u64,
    from_tick: u64,
}

static RUNNING: Mutex<Running> = Mutex::new(Running {
    per_us: 2800,
    since_ns: 0,
    from_tick: 1 << 40,
});

impl Running {
    fn at(&self, ns: u64) -> u64 {
        self.from_tick + (ns - self.since_ns) * self.per_us / 1000
    }
}

fn monotonic_ns() -> u64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Reads the test's clock. The session is not told its rate and has to measure it.
fn running() -> u64 {
    let running = RUNNING.lock().unwrap();
    running.at(monotonic_ns())
}

/// Changes the clock's rate.
fn set_rate(per_us: u64) {
    let mut running = RUNNING.lock().unwrap();
    let ns = monotonic_ns();
    *running = Running {
        per_us,
        since_ns: ns,
        from_tick: running.at(ns),
    };
}

fn session() -> Session {
    let builder = Builder::new("rates").clock(Clock::Custom(running, 0.0));
    started(builder.interval(Duration::from_millis(50)))
}

fn breaks() -> u32 {
    tickscope::snapshot().clock.epoch
}

fn a_rate_that_is_none_is_measured() {
    let _session = session();
    let begin = Instant::now();
    {
        tickscope::scope!("work");
        std::thread::sleep(Duration::from_millis(200));
    }
    let most = begin.elapsed().as_nanos() as f64;
    let snapshot = checked(tickscope::snapshot());
    let ns = snapshot.nanos(ticks_of(&snapshot, "work")) as f64;
    assert!((195e6..most * 1.01).contains(&ns), "{ns} of at most {most}");
    assert_eq!((snapshot.clock.epoch, snapshot.clock.errors), (0, 0));
}

/// The clock changes its rate, stops, and returns to its first rate. Each change begins a new epoch and leaves earlier
/// times unchanged.
fn a_clock_that_changes_its_rate_is_flagged_and_shows_no_absurd_time() {
    let session = session();
    let ring = ring_of(&session);
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = support::Over(&over);
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                tickscope::time!("work", std::thread::sleep(Duration::from_millis(1)));
            }
        });
        let rate = || tickscope::snapshot().clock.ticks_per_second;
        // The session takes more than a second to measure the first rate.
        std::thread::sleep(Duration::from_millis(1500));
        assert_eq!(breaks(), 0);
        for (number, per_us) in [(1, 1000), (2, 0), (3, 2800)] {
            let before = rate();
            set_rate(per_us);
            wait_until("the break", || breaks() >= number);
            if per_us == 0 {
                assert!((rate() / before - 1.0).abs() < 0.5, "{} after {before}", rate());
            }
            std::thread::sleep(Duration::from_millis(1500));
        }
        let breaks = breaks();
        println!("{breaks} breaks");
        assert!(breaks >= 3);
        assert!((rate() / 2.8e9 - 1.0).abs() < 0.05, "{}", rate());
    });
    drop(session);
    let mut before = 0;
    for (_, snapshot) in support::records(&ring) {
        assert!(snapshot.clock.epoch >= before, "counted");
        before = snapshot.clock.epoch;
        let shown = snapshot.nanos(snapshot.measured_ticks()) as f64;
        // The session notices a change within about a second, during which it uses the old rate.
        let most = snapshot.capture.since_reset_ns as f64 + 1.8 * 3e9;
        assert!(shown <= most, "{shown} ns of {most}");
        if snapshot.capture.kind == CaptureKind::Closing {
            assert!(snapshot.clock.ticks_per_second > 1e8, "the rate before the break");
        }
    }
}

thread_local! {
    /// Ticks by which the clock of this thread's CPU is ahead.
    static AHEAD: Cell<u64> = const { Cell::new(0) };
}

fn by_cpu() -> u64 {
    support::tick() + AHEAD.get()
}

fn a_thread_that_wanders_between_cpus_of_different_clocks_is_flagged() {
    const APART: u64 = 1000;
    let _session = started(Builder::new("cpus").clock(Clock::Custom(by_cpu, 1e9)));
    // Two threads that stay on their CPUs are measured exactly, however far apart the clocks of the CPUs are.
    for ahead in [0, APART] {
        std::thread::spawn(move || {
            AHEAD.set(ahead);
            tickscope::time!("stays", spend(7));
        })
        .join()
        .unwrap();
    }
    let snapshot = tickscope::snapshot();
    assert_eq!((ticks_of(&snapshot, "stays"), snapshot.clock.errors), (14, 0));
    // A thread moves between CPUs. Each time its clock steps back, this counts as a clock error and is charged to no
    // row.
    let wanderings = 50;
    for _ in 0..wanderings {
        tickscope::scope!("wanders");
        spend(3);
        AHEAD.set(APART);
        tickscope::time!("inner", spend(5));
        AHEAD.set(0);
    }
    let snapshot = checked(tickscope::snapshot());
    assert_eq!(snapshot.clock.errors, wanderings);
    let (outer, inner) = (ticks_of(&snapshot, "wanders"), ticks_of(&snapshot, "inner"));
    assert_eq!(inner, 5 * wanderings);
    assert!(
        outer <= (3 + APART) * wanderings,
        "{outer}: by no more than lies between them"
    );
    assert_eq!(snapshot.lifetime.ticks, 14 + outer + inner);
}

/// Compares the errors of the refined rate and of the first estimate. `DRIFT_SECONDS=60` in the environment makes the
/// test measure for a minute.
fn the_rate_is_refined_as_the_program_runs() {
    let told = isolated!(|| {
        let seconds = std::env::var("DRIFT_SECONDS").map_or(2, |text| text.parse().unwrap());
        let session = Builder::new("drift").try_start().unwrap();
        let one_shot = tickscope::snapshot().clock.ticks_per_second;
        let clock = |snapshot: &tickscope::Snapshot| (snapshot.capture.tick, snapshot.process.uptime_ns);
        let mut looks = vec![tickscope::snapshot()];
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(seconds) {
            std::thread::sleep(Duration::from_millis(100 * seconds));
            looks.push(tickscope::snapshot());
        }
        let last = &looks[looks.len() - 1];
        let between = |from: &tickscope::Snapshot, to: &tickscope::Snapshot| {
            let (from, to) = (clock(from), clock(to));
            (to.0 - from.0) as f64 * 1e9 / (to.1 - from.1) as f64
        };
        let real = between(&looks[0], last);
        let off = |rate: f64| (rate / real - 1.0) * 1e6;
        let refined = off(last.clock.ticks_per_second);
        let tenths = looks.windows(2).map(|two| off(between(&two[0], &two[1])).abs());
        let text = format!(
            "{seconds} s by {}: measured once {:+.2} ppm off, refined {refined:+.3} ppm; each tenth at most {:.2} ppm off",
            last.clock.source.as_str(),
            off(one_shot),
            tenths.fold(0.0, f64::max),
        );
        support::tell("drift", text);
        assert!(refined.abs() < 20.0, "{refined}");
        assert_eq!((last.clock.epoch, last.clock.errors), (0, 0));
        drop(session);
    });
    println!("{}", std::fs::read_to_string(told.place().join("drift")).unwrap());
}

crate::support::tests![
    own: the_rate_is_refined_as_the_program_runs;
    isolated:
    a_rate_that_is_none_is_measured,
    a_clock_that_changes_its_rate_is_flagged_and_shows_no_absurd_time,
    a_thread_that_wanders_between_cpus_of_different_clocks_is_flagged;
];
