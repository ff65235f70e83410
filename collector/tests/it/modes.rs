//! Modes and their estimates; switching sites off and on; latency histograms. Switching inside of scopes is covered by
//! the tests in `programs`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{
    Isolated, Over, anonymous, ask, by_hand, calls_of, newest, ring_of, rows_named, spend, started,
    test_name, ticks_of, tree, wait_until,
};
use tickscope::{Builder, Mode, Session, Snapshot};
use tickscope_format::ids::NodeId;
use tickscope_format::latency::Histogram;
use tickscope_format::pattern::Pattern;
use tickscope_format::slots::{Op, Outcome};
use tickscope_format::snapshot::Mode as Measured;

/// Starts a session with the manual clock.
fn session(name: &str) -> Session {
    Builder::new(name).clock(by_hand()).try_start().unwrap()
}

fn inner(ticks: u64) {
    tickscope::scope!("inner");
    spend(ticks);
}

fn latencies(snapshot: &Snapshot, name: &str) -> Histogram {
    let mut all = Histogram::default();
    for row in rows_named(snapshot, name) {
        all.add(&snapshot.latencies.of(row));
    }
    all
}

fn what_adaptive_mode_did_not_time_is_estimated_from_what_it_did() {
    fn leaf() {
        tickscope::scope!("leaf");
        spend(6000);
    }
    fn parent() {
        tickscope::scope!("parent");
        spend(1000);
        leaf();
        leaf();
        spend(2000);
    }
    let _session = session("adaptive");
    tickscope::set_mode(Mode::Adaptive);
    const CALLS: u64 = 100_000;
    {
        tickscope::scope!("root");
        for _ in 0..CALLS {
            spend(5000);
            parent();
        }
    }
    let snapshot = tickscope::snapshot();
    assert_eq!(snapshot.capture.mode, Measured::Adaptive);
    assert_eq!(calls_of(&snapshot, "leaf"), 2 * CALLS);
    // The calls are all alike, and nothing is subtracted from their times, because the manual clock does not advance for
    // the cost of a call.
    assert_eq!(ticks_of(&snapshot, "leaf"), 12_000 * CALLS);
    assert_eq!(ticks_of(&snapshot, "parent"), 3_000 * CALLS);
    assert_eq!(ticks_of(&snapshot, "root"), 5_000 * CALLS);
    assert_eq!(snapshot.measured_ticks(), 20_000 * CALLS);
    let estimated = |name: &str| {
        let row = rows_named(&snapshot, name).next().unwrap();
        snapshot.estimate_of(NodeId(row)).copied()
    };
    let timed = estimated("leaf").unwrap().timed;
    assert!(timed < CALLS, "{timed} of {CALLS} were timed");
    assert!(estimated("root").is_none_or(|root| root.total_error == 0));
}

fn adaptive_mode_without_histograms_estimates_each_time_it_is_chosen() {
    let _session = session("again");
    tickscope::set_histogram(false);
    for _ in 0..3 {
        tickscope::set_mode(Mode::Exact);
        (0..1000).for_each(|_| inner(100));
        tickscope::set_mode(Mode::Adaptive);
        {
            tickscope::scope!("outer");
            (0..20_000).for_each(|_| inner(5000));
        }
        let snapshot = tickscope::snapshot();
        assert!(snapshot.latencies.row.is_empty());
        assert_eq!(ticks_of(&snapshot, "inner"), 5000 * 20_000);
    }
}

/// Computes until `time` has passed.
fn burn(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::black_box((0..100).fold(1.0f64, |x, _| x.sqrt() + 1.0));
    }
}

fn samples_show_the_shares_of_the_time() {
    let session = Builder::new("sampled").mode(Mode::Sampled).try_start().unwrap();
    let ring = ring_of(&session);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = Over(&over);
        scope.spawn(|| {
            tickscope::scope!("all");
            while !over.load(Ordering::Relaxed) {
                tickscope::time!("three", burn(Duration::from_micros(300)));
                tickscope::time!("one", burn(Duration::from_micros(100)));
            }
        });
        wait_until("some samples", || newest(&ring).measuring.samples > 150);
        let snapshot = tickscope::snapshot();
        let share = ticks_of(&snapshot, "three") as f64 / snapshot.measured_ticks() as f64;
        // The true share is 0.75. The standard error is 0.035, and larger on a busy machine. By calls alone the share
        // would be 0.5.
        assert!((0.6..0.9).contains(&share), "{share}");
        assert!(
            snapshot.measuring.sampling_hz > 5.0,
            "{}",
            snapshot.measuring.sampling_hz
        );
        assert!(!snapshot.estimates.is_empty());
        assert!(calls_of(&snapshot, "three") > 10);
    });
}

fn a_site_that_is_off_costs_nothing_and_its_time_is_its_parents() {
    let session = session("sites");
    inner(1);
    assert_eq!(tickscope::disable_sites("inner").unwrap(), 1);
    {
        tickscope::scope!("outer");
        spend(2);
        inner(40);
    }
    let snapshot = tickscope::snapshot();
    assert_eq!(tree(&snapshot, "main"), "inner 1 1 1\nouter 1 42 42\n");
    let off: Vec<&str> = snapshot
        .measuring
        .off_sites
        .iter()
        .map(|site| snapshot.sites[site.0 as usize].name.as_str())
        .collect();
    assert_eq!(off, ["inner"]);
    assert_eq!(snapshot.measuring.rules.len(), 1);
    assert_eq!(tickscope::enable_sites("inner").unwrap(), 1);
    inner(5);
    let snapshot = tickscope::snapshot();
    assert_eq!(tree(&snapshot, "main"), "inner 2 6 6\nouter 1 42 42\n");
    assert!(snapshot.measuring.off_sites.is_empty());
    let was_off = |snapshot: Snapshot| {
        let names = snapshot
            .was_off
            .iter()
            .map(|site| &snapshot.sites[site.index()].name);
        names.cloned().collect::<Vec<_>>()
    };
    assert_eq!(was_off(snapshot), ["inner"]);
    tickscope::reset();
    assert!(was_off(tickscope::snapshot()).is_empty());
    assert!(tickscope::disable_sites("").is_err());
    // A rule also applies to sites that are first reached later. The next record then shows the site as off.
    assert_eq!(tickscope::disable_sites("la*").unwrap(), 0);
    let ring = ring_of(&session);
    let late = || tickscope::time!("late", ());
    late();
    wait_until("the site to be found", || {
        !newest(&ring).measuring.off_sites.is_empty()
    });
    let before = calls_of(&tickscope::snapshot(), "late");
    late();
    assert_eq!(calls_of(&tickscope::snapshot(), "late"), before);
}

fn viewers_switch_modes_and_sites() {
    let session = Builder::new("asked").try_start().unwrap();
    let ring = ring_of(&session);
    let mut slot = ring.take_slot().unwrap().unwrap();
    inner(0);
    for mode in [
        Measured::Adaptive,
        Measured::Sampled,
        Measured::Off,
        Measured::Exact,
    ] {
        let reply = ask(&mut slot, Op::Mode(mode));
        assert_eq!(reply.outcome, Outcome::Done);
        let now = newest(&ring);
        assert_eq!(now.capture.mode, mode);
        assert_eq!(now.capture.reset_epoch, reply.reset_epoch);
        // The upper bound of a scope's cost is below a microsecond in every mode.
        assert!(now.capture.cost.upper_ns < 1000.0);
    }
    let pattern = Pattern::new("inner").unwrap();
    assert_eq!(ask(&mut slot, Op::SitesOff(pattern)).outcome, Outcome::Done);
    assert_eq!(newest(&ring).measuring.off_sites.len(), 1);
    inner(0);
    assert_eq!(ask(&mut slot, Op::SitesOn(pattern)).outcome, Outcome::Done);
    assert!(newest(&ring).measuring.off_sites.is_empty());
    assert_eq!(calls_of(&tickscope::snapshot(), "inner"), 0);
}

fn the_environment_chooses_mode_and_histograms() {
    let test = Isolated::new(test_name!())
        .env("TICKSCOPE_MODE", "sampled")
        .env("TICKSCOPE_HISTOGRAM", "off");
    test.succeeds(|| {
        inner(0);
        assert_eq!(tickscope::mode(), Mode::Sampled);
        let session = started(Builder::new("env").mode(Mode::Exact).histogram(true));
        assert!(session.warnings().is_empty());
        assert_eq!(tickscope::mode(), Mode::Sampled, "the environment wins");
        tickscope::set_mode(Mode::Exact);
        inner(0);
        assert!(!tickscope::snapshot().measuring.histograms);
    });
}

/// If each switch allocated new histograms instead of reusing the old ones, the memory for latencies would run out.
fn switching_histograms_off_and_on_reuses_their_memory() {
    let _session = session("toggled");
    inner(1);
    let toggle = |times: u32| {
        for _ in 0..times {
            tickscope::set_histogram(false);
            inner(1);
            tickscope::set_histogram(true);
            for octave in (4..20).cycle().take(64) {
                inner(1 << octave);
            }
        }
    };
    toggle(200);
    let before = anonymous();
    toggle(4000);
    let grown = anonymous().saturating_sub(before);
    assert!(grown < 2 << 20, "{grown} bytes");
    assert_eq!(latencies(&tickscope::snapshot(), "inner").count(), 64);
}

/// A thread that was sampled only once must show some time, although its first sample is also its last.
fn threads_that_meet_one_sample_show_time() {
    let _session = Builder::new("short").try_start().unwrap();
    tickscope::set_mode(Mode::Sampled);
    let begin = Instant::now();
    while tickscope::snapshot().measuring.samples < 30 {
        let short = || {
            tickscope::scope!("short");
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_millis(2) {}
        };
        std::thread::spawn(short).join().unwrap();
    }
    let snapshot = tickscope::snapshot();
    let seconds = ticks_of(&snapshot, "short") as f64 / snapshot.clock.ticks_per_second;
    let passed = begin.elapsed().as_secs_f64();
    assert!(seconds > passed / 8.0, "{seconds} s of {passed}");
}

/// How many of the most recent mode switches the collector remembers for sleeping threads; see `mode_switch.rs`.
const KEPT: u64 = 64;

/// For the time before the oldest remembered switch, the modes are no longer known. Some of them may not have measured
/// time, so none of it is charged.
fn time_before_the_oldest_switch_that_is_kept_is_not_charged() {
    let _session = session("forgotten");
    tickscope::time!("first", ());
    let errors = || tickscope::snapshot().clock.errors;
    let (mut before, mut forgotten) = (0, 0);
    for (switches, forgets) in [(20, false), (KEPT - 2, false), (KEPT + 2, true), (5 * KEPT, true)] {
        let guard = tickscope::scope_guard!("sleeps");
        let mut timed = 0;
        // The mode is switched on another thread, because any allocation on this thread would make it catch up with
        // the switches.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                tickscope::thread::exclude();
                for _ in 0..switches / 2 {
                    spend(1);
                    timed += 1;
                    tickscope::set_mode(Mode::Off);
                    spend(1_000_000);
                    tickscope::set_mode(Mode::Exact);
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
}

crate::support::tests![
    own: the_environment_chooses_mode_and_histograms;
    isolated:
    time_before_the_oldest_switch_that_is_kept_is_not_charged,
    threads_that_meet_one_sample_show_time,
    switching_histograms_off_and_on_reuses_their_memory,
    what_adaptive_mode_did_not_time_is_estimated_from_what_it_did,
    adaptive_mode_without_histograms_estimates_each_time_it_is_chosen,
    a_site_that_is_off_costs_nothing_and_its_time_is_its_parents,
    viewers_switch_modes_and_sites;
    as_usual: samples_show_the_shares_of_the_time;
];
