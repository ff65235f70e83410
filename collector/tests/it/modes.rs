//! Modes, switched at any time with scopes open; sites switched off and on; latency histograms.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::support::{self, Isolated, Over, ask, calls_of, newest, test_name, ticks_of, tree, wait_until};
use tickscope::{Builder, Clock, Mode, Session, Snapshot};
use tickscope_format::file::open::RingFile;
use tickscope_format::ids::NodeId;
use tickscope_format::latency::{Histogram, bucket_of};
use tickscope_format::pattern::Pattern;
use tickscope_format::slots::{Op, Outcome};
use tickscope_format::snapshot::{CaptureKind, Mode as Measured};

static TICK: AtomicU64 = AtomicU64::new(100);

fn spend(ticks: u64) {
    TICK.fetch_add(ticks, Ordering::Relaxed);
}

/// A session on a clock that stands still but for `spend`.
fn session(name: &str) -> Session {
    Builder::new(name)
        .clock(Clock::Custom(|| TICK.load(Ordering::Relaxed), 1e9))
        .try_start()
        .unwrap()
}

fn ring(session: &Session) -> RingFile {
    RingFile::open(&session.path().unwrap()).unwrap()
}

fn inner(ticks: u64) {
    tickscope::scope!("inner");
    spend(ticks);
}

fn latencies(snapshot: &Snapshot, name: &str) -> Histogram {
    let mut all = Histogram::default();
    for row in 0..snapshot.nodes.len() as u32 {
        if snapshot.site_of(NodeId(row)).name == name {
            all.add(&snapshot.latencies.of(row));
        }
    }
    all
}

fn a_switch_with_scopes_open_charges_to_the_tick() {
    support::isolated!(|| {
        let session = session("switch");
        let ring = ring(&session);
        {
            tickscope::scope!("outer");
            spend(10);
            tickscope::set_mode(Mode::Off);
            spend(1000);
            inner(1);
            tickscope::set_mode(Mode::Exact);
            spend(5);
            inner(7);
            let snapshot = tickscope::snapshot();
            assert_eq!(tree(&snapshot, "main"), "outer 0 5 12\n  inner 1 7 7\n");
            spend(3);
        }
        let last = tickscope::snapshot();
        assert_eq!(tree(&last, "main"), "outer 0 8 15\n  inner 1 7 7\n");
        assert_eq!(last.lifetime.calls, 2);
        assert_eq!(last.lifetime.ticks, 25);
        assert_eq!((last.capture.losses.unbalanced, last.clock.errors), (0, 0));
        drop(session);
        let closings: Vec<Snapshot> = support::records(&ring)
            .into_iter()
            .map(|(_, snapshot)| snapshot)
            .filter(|snapshot| snapshot.capture.kind == CaptureKind::Closing)
            .collect();
        let modes: Vec<Measured> = closings.iter().map(|snapshot| snapshot.capture.mode).collect();
        assert_eq!(modes, [Measured::Exact, Measured::Off]);
        assert_eq!(tree(&closings[0], "main"), "outer 1 10 10\n");
        // The scope that is open all the while is shown, and nothing else.
        assert_eq!(tree(&closings[1], "main"), "outer 0 0 0\n");
    });
}

fn a_thread_that_sleeps_through_switches_is_charged_for_each_stretch_of_exact_mode() {
    support::isolated!(|| {
        let _session = session("sleeper");
        let scope = tickscope::scope_guard!("sleeps");
        spend(1);
        let switch = |mode| {
            std::thread::spawn(move || tickscope::set_mode(mode))
                .join()
                .unwrap();
        };
        switch(Mode::Off);
        spend(10);
        switch(Mode::Exact);
        spend(100);
        let pending = tickscope::snapshot();
        assert_eq!(ticks_of(&pending, "sleeps"), 100);
        switch(Mode::Off);
        spend(1000);
        switch(Mode::Exact);
        spend(10_000);
        drop(scope);
        let last = tickscope::snapshot();
        assert_eq!(last.lifetime.ticks, 1 + 100 + 10_000);
        assert_eq!(ticks_of(&last, "sleeps"), 10_000);
    });
}

fn calls_are_exact_in_every_mode_and_none_are_counted_when_off() {
    support::isolated!(|| {
        let _session = Builder::new("counts").try_start().unwrap();
        for (mode, calls) in [
            (Mode::Exact, 1000),
            (Mode::Adaptive, 1000),
            (Mode::Sampled, 1000),
            (Mode::Off, 0),
        ] {
            tickscope::set_mode(mode);
            assert_eq!(tickscope::mode(), mode);
            for _ in 0..1000 {
                inner(0);
            }
            assert_eq!(calls_of(&tickscope::snapshot(), "inner"), calls, "{mode:?}");
        }
    });
}

fn what_adaptive_mode_did_not_time_is_estimated_from_what_it_did() {
    support::isolated!(|| {
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
        // What a timed call costs is taken off, but costs no tick of this clock: an error of some 10 to 70 ticks a call.
        let near = |name: &str, ticks: u64| {
            let found = ticks_of(&snapshot, name);
            let error = found as f64 / ticks as f64 - 1.0;
            assert!(error.abs() < 0.1, "{name}: {found} of {ticks}");
        };
        near("leaf", 12_000 * CALLS);
        near("parent", 3_000 * CALLS);
        near("root", 5_000 * CALLS);
        assert_eq!(snapshot.measured_ticks(), 20_000 * CALLS);
        let estimated = |name: &str| {
            let row =
                (0..snapshot.nodes.len() as u32).find(|&row| snapshot.site_of(NodeId(row)).name == name);
            snapshot.estimate_of(NodeId(row.unwrap())).copied()
        };
        let timed = estimated("leaf").unwrap().timed;
        assert!(timed < CALLS, "{timed} of {CALLS} were timed");
        assert!(estimated("root").is_none_or(|root| root.total_error == 0));
    });
}

fn adaptive_mode_without_histograms_estimates_each_time_it_is_chosen() {
    support::isolated!(|| {
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
            let found = ticks_of(&snapshot, "inner") as f64 / (5000.0 * 20_000.0);
            assert!((0.9..1.1).contains(&found), "{found}");
        }
    });
}

/// Works until it has used so much time of its CPU.
fn burn(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::black_box((0..100).fold(1.0f64, |x, _| x.sqrt() + 1.0));
    }
}

fn samples_show_the_shares_of_the_time() {
    support::isolated_as_usual!(|| {
        let session = Builder::new("sampled").mode(Mode::Sampled).try_start().unwrap();
        let ring = ring(&session);
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
            wait_until("some hundred samples", || newest(&ring).measuring.samples > 300);
            let snapshot = tickscope::snapshot();
            let share = ticks_of(&snapshot, "three") as f64 / snapshot.measured_ticks() as f64;
            // The standard error is 2.5 points, and other programs on the machine add to it. Calls alone would say a half.
            assert!((0.6..0.9).contains(&share), "{share}");
            assert!(
                snapshot.measuring.sampling_hz > 5.0,
                "{}",
                snapshot.measuring.sampling_hz
            );
            assert!(!snapshot.estimates.is_empty());
            assert!(calls_of(&snapshot, "three") > 10);
        });
    });
}

fn a_site_that_is_off_costs_nothing_and_its_time_is_its_parents() {
    support::isolated!(|| {
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
        // The publisher finds what is met only now.
        assert_eq!(tickscope::disable_sites("la*").unwrap(), 0);
        let ring = ring(&session);
        let late = || tickscope::time!("late", ());
        late();
        wait_until("the site to be found", || {
            !newest(&ring).measuring.off_sites.is_empty()
        });
        let before = calls_of(&tickscope::snapshot(), "late");
        late();
        assert_eq!(calls_of(&tickscope::snapshot(), "late"), before);
    });
}

fn viewers_switch_modes_and_sites() {
    support::isolated!(|| {
        let session = Builder::new("asked").try_start().unwrap();
        let ring = ring(&session);
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
            assert_eq!(
                (now.capture.mode, now.capture.reset_epoch),
                (mode, reply.reset_epoch)
            );
            // Where there is nothing to measure the cost is next to nothing.
            assert!(now.capture.cost.upper_ns < 1000.0);
        }
        let pattern = Pattern::new("inner").unwrap();
        assert_eq!(ask(&mut slot, Op::SitesOff(pattern)).outcome, Outcome::Done);
        assert_eq!(newest(&ring).measuring.off_sites.len(), 1);
        inner(0);
        assert_eq!(ask(&mut slot, Op::SitesOn(pattern)).outcome, Outcome::Done);
        assert!(newest(&ring).measuring.off_sites.is_empty());
        assert_eq!(calls_of(&tickscope::snapshot(), "inner"), 0);
    });
}

fn latencies_are_counted_at_the_end_of_calls_and_resets_subtract_them() {
    support::isolated!(|| {
        let _session = session("latencies");
        (1..=1000).for_each(inner);
        let first = tickscope::snapshot();
        let histogram = latencies(&first, "inner");
        assert_eq!(histogram.count(), 1000);
        let median = histogram.quantile(0.5).unwrap();
        assert!((469..=531).contains(&median), "{median}");
        assert_eq!(histogram.max(), Some((1000, true)));
        tickscope::reset();
        inner(20);
        let open = tickscope::scope_guard!("open");
        spend(23);
        let second = tickscope::snapshot();
        assert_eq!(latencies(&second, "inner").buckets, [(bucket_of(20) as u16, 1)]);
        assert!(latencies(&second, "open").is_empty(), "its call has not ended");
        let (max, exact) = latencies(&second, "inner").max().unwrap();
        assert!(
            max >= 20 && !exact,
            "the longest since the reset is known by its bucket"
        );
        {
            let _pause = tickscope::pause();
            spend(1_000_000);
            inner(5);
        }
        drop(open);
        let third = tickscope::snapshot();
        assert_eq!(
            latencies(&third, "open").max(),
            Some((23, true)),
            "a pause is left out"
        );
    });
}

fn latencies_of_finished_threads_are_kept_by_name() {
    support::isolated!(|| {
        let _session = session("pool");
        for ticks in [10, 30] {
            let thread = std::thread::Builder::new().name("pool".into());
            thread.spawn(move || inner(ticks)).unwrap().join().unwrap();
        }
        let histogram = latencies(&tickscope::snapshot(), "inner");
        assert_eq!((histogram.count(), histogram.max()), (2, Some((30, true))));
    });
}

fn histograms_are_switched_off_and_on() {
    support::isolated!(|| {
        let _session = session("histograms");
        inner(10);
        assert!(tickscope::snapshot().measuring.histograms);
        tickscope::set_histogram(false);
        inner(20);
        let off = tickscope::snapshot();
        assert!(!off.measuring.histograms && off.latencies.row.is_empty());
        tickscope::set_histogram(true);
        inner(30);
        let on = tickscope::snapshot();
        assert_eq!(latencies(&on, "inner").buckets, [(bucket_of(30) as u16, 1)]);
        assert_eq!((on.capture.reset_epoch, on.lifetime.calls), (2, 3));
    });
}

fn the_environment_chooses_mode_and_histograms() {
    Isolated::new(test_name!())
        .env("TICKSCOPE_MODE", "sampled")
        .env("TICKSCOPE_HISTOGRAM", "off")
        .run(|| {
            inner(0);
            assert_eq!(tickscope::mode(), Mode::Sampled);
            let session = Builder::new("env")
                .mode(Mode::Exact)
                .histogram(true)
                .try_start()
                .unwrap();
            assert!(session.warnings().is_empty());
            assert_eq!(tickscope::mode(), Mode::Sampled, "the environment wins");
            tickscope::set_mode(Mode::Exact);
            inner(0);
            assert!(!tickscope::snapshot().measuring.histograms);
        })
        .succeeded();
}

fn on_another_thread(body: impl FnOnce() + Send + 'static) {
    std::thread::spawn(body).join().unwrap();
}

/// Its ticks since the switch went to the closed stretch or to a mode without time.
fn a_thread_that_ends_after_a_switch_is_charged_for_measured_time_alone() {
    support::isolated!(|| {
        let _session = session("ended");
        on_another_thread(|| {
            std::mem::forget(tickscope::scope_guard!("ends"));
            spend(1);
            on_another_thread(|| tickscope::set_mode(Mode::Off));
            spend(1000);
        });
        assert_eq!(tickscope::snapshot().lifetime.ticks, 1);
        tickscope::set_mode(Mode::Exact);
        let scope = tickscope::scope_guard!("excluded");
        on_another_thread(|| tickscope::set_mode(Mode::Off));
        spend(1000);
        tickscope::thread::exclude();
        drop(scope);
        assert_eq!(tickscope::snapshot().lifetime.ticks, 1);
    });
}

/// It was charged from the switch on.
fn a_pause_in_which_measuring_begins_is_not_charged() {
    support::isolated!(|| {
        let _session = session("pause");
        tickscope::time!("first", ());
        let scope = tickscope::scope_guard!("outer");
        tickscope::set_mode(Mode::Sampled);
        inner(1);
        let pause = tickscope::pause();
        tickscope::set_mode(Mode::Exact);
        spend(1000);
        drop(pause);
        spend(5);
        drop(scope);
        assert_eq!(ticks_of(&tickscope::snapshot(), "outer"), 5);
    });
}

/// A switch took away the mark that it is left out.
fn an_excluded_thread_is_not_charged_after_switches() {
    support::isolated!(|| {
        let _session = session("excluded");
        tickscope::time!("first", ());
        tickscope::thread::exclude();
        let outside = || {
            let snapshot = tickscope::snapshot();
            snapshot
                .threads
                .iter()
                .map(|thread| thread.outside_ticks)
                .sum::<u64>()
        };
        tickscope::set_mode(Mode::Off);
        tickscope::set_mode(Mode::Exact);
        spend(1000);
        assert_eq!(outside(), 0, "seen as pending");
        tickscope::set_mode(Mode::Adaptive);
        tickscope::thread::include();
        inner(7);
        assert_eq!(outside(), 0, "made up for");
        assert_eq!(tickscope::snapshot().lifetime.ticks, 7);
    });
}

/// Each time, its octaves were made anew and never served again, until there were none and no call had a latency.
fn switching_histograms_off_and_on_reuses_their_memory() {
    support::isolated!(|| {
        let _session = session("toggled");
        inner(1);
        let memory = || {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find(|line| line.starts_with("RssAnon")).unwrap();
            line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
        };
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
        let before = memory();
        toggle(4000);
        let grown = memory().saturating_sub(before);
        assert!(grown < 2048, "{grown} KiB");
        assert_eq!(latencies(&tickscope::snapshot(), "inner").count(), 64);
    });
}

/// A thread's time began with its first sample and ended with its last: one that met a single sample had none.
fn threads_that_meet_one_sample_show_time() {
    support::isolated!(|| {
        let _session = Builder::new("short").try_start().unwrap();
        tickscope::set_mode(Mode::Sampled);
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(2) {
            let short = || {
                tickscope::scope!("short");
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_millis(2) {}
            };
            on_another_thread(short);
        }
        let snapshot = tickscope::snapshot();
        let seconds = ticks_of(&snapshot, "short") as f64 / snapshot.clock.ticks_per_second;
        assert!(seconds > 0.5, "{seconds} s of 2");
    });
}

tickscope_testkit::tests![
    threads_that_meet_one_sample_show_time,
    a_thread_that_ends_after_a_switch_is_charged_for_measured_time_alone,
    a_pause_in_which_measuring_begins_is_not_charged,
    an_excluded_thread_is_not_charged_after_switches,
    switching_histograms_off_and_on_reuses_their_memory,
    a_switch_with_scopes_open_charges_to_the_tick,
    a_thread_that_sleeps_through_switches_is_charged_for_each_stretch_of_exact_mode,
    calls_are_exact_in_every_mode_and_none_are_counted_when_off,
    what_adaptive_mode_did_not_time_is_estimated_from_what_it_did,
    adaptive_mode_without_histograms_estimates_each_time_it_is_chosen,
    samples_show_the_shares_of_the_time,
    a_site_that_is_off_costs_nothing_and_its_time_is_its_parents,
    viewers_switch_modes_and_sites,
    latencies_are_counted_at_the_end_of_calls_and_resets_subtract_them,
    latencies_of_finished_threads_are_kept_by_name,
    histograms_are_switched_off_and_on,
    the_environment_chooses_mode_and_histograms,
];
