//! Values and gauges: each epoch has the numbers that it was given, whatever goes on.

use std::collections::HashMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use super::signals::while_interrupted;
use crate::support::{self, ask, calls_of, check, isolated, newest, sum_of};
use tickscope::{Builder, Mode};
use tickscope_format::Snapshot;
use tickscope_format::file::open::RingFile;
use tickscope_format::ids::{NodeId, ThreadId};
use tickscope_format::slots::{Op, Outcome};
use tickscope_format::snapshot::{Extremes, Level, Tally, both};

const NAME: &str = "constant";

/// The rows of a name, each with what it shows and how many numbers its histogram has.
fn rows<'a>(snapshot: &'a Snapshot, name: &'a str) -> impl Iterator<Item = (u32, Tally, u64)> + 'a {
    let tallies = snapshot.tallies().into_iter();
    (0..)
        .zip(tallies)
        .filter(move |&(row, _)| snapshot.site_of(NodeId(row)).name == name)
        .filter_map(move |(row, tally)| Some((row, tally?, snapshot.latencies.of(row).count())))
}

/// What all rows of a name show together.
fn tally_of(snapshot: &Snapshot, name: &str) -> Tally {
    rows(snapshot, name).fold(Tally::Nothing, |all, (_, tally, _)| all.and(tally))
}

/// The smallest and the largest number of a value, both exact.
fn range_of(snapshot: &Snapshot, name: &str) -> Option<(u64, u64)> {
    let range = tally_of(snapshot, name).range()?;
    assert!(range.min_exact && range.max_exact, "{name}: {range:?}");
    Some((range.min, range.max))
}

/// Last, lowest and highest level of a gauge, all exact.
fn level_of(snapshot: &Snapshot, name: &str) -> Option<(i64, i64, i64)> {
    let Level { last, range, .. } = tally_of(snapshot, name).level()?;
    assert!(range.min_exact && range.max_exact, "{name}: {range:?}");
    Some((last, range.min, range.max))
}

fn every_form_keeps_its_numbers() {
    isolated!(|| {
        tickscope::scope!("work");
        let (buffer, small) = ([0u8; 5], 7u8);
        for round in [2i32, -3, 1] {
            tickscope::value!("literal", 4096);
            tickscope::value!(NAME, round.unsigned_abs());
            tickscope::value!("length", buffer.len(),);
            tickscope::value!(group = "io", "grouped", round > 0);
            tickscope::value!(group = "io", concat!("bytes", " read"), 0,);
            tickscope::value!("yes", true);
            tickscope::value!(group = "io", "no", false,);
            tickscope::count!("counted", true);
            tickscope::count!(group = "io", "uncounted", false);
            tickscope::gauge!("on", true,);
            tickscope::gauge!(group = "queues", "off", false);
            tickscope::gauge!("level", round);
            tickscope::gauge!("unsigned", usize::MAX);
            tickscope::gauge!(group = "queues", "queue", -5);
            match round {
                2 => tickscope::value!("large", u64::MAX),
                -3 => tickscope::gauge!("small", small),
                _ => tickscope::gauge!(group = "queues", "open", round > 0,),
            }
        }
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        for (name, calls, sum, min, max) in [
            ("literal", 3, 3 * 4096, 4096, 4096),
            (NAME, 3, 6, 1, 3),
            ("length", 3, 15, 5, 5),
            ("grouped", 3, 2, 0, 1),
            ("bytes read", 3, 0, 0, 0),
            ("yes", 3, 3, 1, 1),
            ("no", 3, 0, 0, 0),
            ("large", 1, u64::MAX, u64::MAX, u64::MAX),
        ] {
            assert_eq!(
                (calls_of(&snapshot, name), sum_of(&snapshot, name)),
                (calls, sum),
                "{name}"
            );
            assert_eq!(range_of(&snapshot, name), Some((min, max)), "{name}");
            let (row, tally, counted) = rows(&snapshot, name).next().unwrap();
            assert_eq!(counted, calls, "{name}");
            let median = tally.quantile(&snapshot.latencies.of(row), 0.5).unwrap();
            assert!((min..=max).contains(&median), "{name}: {median}");
        }
        for (name, calls, level) in [
            ("level", 3, (1, -3, 2)),
            ("unsigned", 3, (i64::MAX, i64::MAX, i64::MAX)),
            ("queue", 3, (-5, -5, -5)),
            ("small", 1, (7, 7, 7)),
            ("open", 1, (1, 1, 1)),
            ("on", 3, (1, 1, 1)),
            ("off", 3, (0, 0, 0)),
        ] {
            assert_eq!(calls_of(&snapshot, name), calls, "{name}");
            assert_eq!(level_of(&snapshot, name), Some(level), "{name}");
        }
        for (name, sum) in [("counted", 3), ("uncounted", 0)] {
            assert_eq!((calls_of(&snapshot, name), sum_of(&snapshot, name)), (3, sum));
        }
        assert_eq!((snapshot.value_rows.len(), snapshot.gauge_rows.len()), (8, 7));
        assert_eq!(snapshot.scope_calls(), 1);
        let group = |name| {
            &snapshot
                .sites
                .iter()
                .find(|site| site.name == name)
                .unwrap()
                .group
        };
        assert_eq!(
            (group("grouped").as_str(), group("queue").as_str()),
            ("io", "queues")
        );
    });
}

fn after_a_reset_there_are_the_numbers_since() {
    isolated!(|| {
        // One site and one path, whenever it comes.
        let give = |numbers: &[u64], level: i64| {
            for &number in numbers {
                tickscope::value!("numbers", number);
            }
            tickscope::gauge!("level", level);
        };
        give(&[500, 3], 40);
        give(&[], 10);
        let closed = tickscope::reset();
        assert_eq!(range_of(&closed, "numbers"), Some((3, 500)));
        assert_eq!(level_of(&closed, "level"), Some((10, 10, 40)));
        let shown = tickscope::snapshot();
        check(&shown);
        assert_eq!((calls_of(&shown, "level"), calls_of(&shown, "numbers")), (0, 0));
        // A level holds until it is set again.
        assert_eq!(level_of(&shown, "level"), Some((10, 10, 10)));
        give(&[70, 20], 12);
        let shown = tickscope::snapshot();
        assert_eq!(range_of(&shown, "numbers"), Some((20, 70)));
        assert_eq!(sum_of(&shown, "numbers"), 90);
        assert_eq!(
            rows(&shown, "numbers").map(|(.., counted)| counted).sum::<u64>(),
            2
        );
        assert_eq!(level_of(&shown, "level"), Some((12, 10, 12)));
        let closed = tickscope::reset();
        assert_eq!(range_of(&closed, "numbers"), Some((20, 70)));
        // Two resets in a row, and one number.
        tickscope::reset();
        give(&[8], -1);
        let shown = tickscope::snapshot();
        assert_eq!(range_of(&shown, "numbers"), Some((8, 8)));
        assert_eq!(level_of(&shown, "level"), Some((-1, -1, 12)));
    });
}

fn an_undo_brings_numbers_back() {
    isolated!(|| {
        let session = Builder::new("undo").try_start().unwrap();
        let ring = RingFile::open(&session.path().unwrap()).unwrap();
        let mut slot = ring.take_slot().unwrap().unwrap();
        let give = |number: u64, level: i64| {
            tickscope::value!("numbers", number);
            tickscope::gauge!("level", level);
        };
        give(900, 5);
        give(2, -7);
        assert_eq!(ask(&mut slot, Op::Reset).outcome, Outcome::Done);
        assert_eq!(newest(&ring).value_rows, []);
        give(30, 9);
        let shown = tickscope::snapshot();
        assert_eq!(range_of(&shown, "numbers"), Some((30, 30)));
        assert_eq!(ask(&mut slot, Op::UndoReset).outcome, Outcome::Done);
        let shown = newest(&ring);
        check(&shown);
        assert_eq!(range_of(&shown, "numbers"), Some((2, 900)));
        assert_eq!((calls_of(&shown, "numbers"), sum_of(&shown, "numbers")), (3, 932));
        assert_eq!(level_of(&shown, "level"), Some((9, -7, 9)));
    });
}

fn threads_have_the_level_set_last_and_all_numbers() {
    isolated!(|| {
        let in_thread = |name: &str, number: u64, level: i64| {
            let named = std::thread::Builder::new().name(name.into());
            let body = move || {
                tickscope::value!("numbers", number);
                tickscope::gauge!("level", level);
            };
            named.spawn(body).unwrap().join().unwrap();
        };
        in_thread("pool", 40, 1);
        in_thread("other", 7, 90);
        in_thread("pool", 12, -3);
        let shown = tickscope::snapshot();
        check(&shown);
        assert_eq!(
            rows(&shown, "numbers").count(),
            2,
            "threads of a name share a row"
        );
        assert_eq!(range_of(&shown, "numbers"), Some((7, 40)));
        assert_eq!(level_of(&shown, "level"), Some((-3, -3, 90)));
        let closed = tickscope::reset();
        assert_eq!(range_of(&closed, "numbers"), Some((7, 40)));
        in_thread("pool", 100, 4);
        let shown = tickscope::snapshot();
        assert_eq!(range_of(&shown, "numbers"), Some((100, 100)));
        assert_eq!(level_of(&shown, "level"), Some((4, -3, 90)));
    });
}

/// So many numbers are given by each thread in the test below: 0, 1, 2 and so on.
const TIMES: u64 = 200_000;

/// The sum of the numbers from `first` on, `calls` of them.
fn sum_from(first: u64, calls: u64) -> u64 {
    (first..first + calls).sum()
}

/// A thread gives its numbers in order, so those of an epoch are known from how many there were before.
fn each_number_is_in_the_epoch_that_counts_it() {
    isolated!(|| {
        let mut epochs = Vec::new();
        let halted = AtomicU64::new(0);
        let goes_on = Barrier::new(4);
        std::thread::scope(|scope| {
            let pool: Vec<_> = (0..3)
                .map(|index| {
                    let named = std::thread::Builder::new().name(format!("pool {index}"));
                    let body = || {
                        for number in 0..TIMES {
                            if number == 1 {
                                halted.fetch_add(1, Ordering::Relaxed);
                                goes_on.wait();
                            }
                            tickscope::scope!("round");
                            tickscope::value!("numbers", number);
                            tickscope::gauge!("level", number);
                        }
                    };
                    named.spawn_scoped(scope, body).unwrap()
                })
                .collect();
            while halted.load(Ordering::Relaxed) < 3 {
                std::thread::yield_now();
            }
            // No number is on its way, so this epoch and the next one know their smallest.
            epochs.push(tickscope::reset());
            goes_on.wait();
            while !pool.iter().all(|thread| thread.is_finished()) {
                epochs.push(tickscope::reset());
            }
        });
        epochs.push(tickscope::snapshot());
        let mut before: HashMap<(String, &str), u64> = HashMap::new();
        let mut exact = 0;
        for epoch in &epochs {
            check(epoch);
            for thread in (0..epoch.threads.len() as u32).map(ThreadId) {
                for name in ["numbers", "level"] {
                    let of_thread = epoch.rows_of(thread);
                    let Some((row, tally, counted)) =
                        rows(epoch, name).find(|&(row, ..)| of_thread.contains(&(row as usize)))
                    else {
                        continue;
                    };
                    let first = before
                        .entry((epoch.threads[thread.index()].name.clone(), name))
                        .or_default();
                    let calls = epoch.nodes.calls[row as usize];
                    let range = match tally {
                        Tally::Value { range, .. } => {
                            assert_eq!(counted, calls, "calls and histogram are of one moment");
                            range
                        }
                        Tally::Nothing | Tally::Counter { .. } | Tally::Gauge { .. } => {
                            tally.level().map(|level| Extremes {
                                min: level.range.min as u64,
                                max: level.range.max as u64,
                                min_exact: level.range.min_exact,
                                max_exact: level.range.max_exact,
                            })
                        }
                    };
                    let is_value = tally.is_value();
                    if calls > 0 {
                        let range = range.unwrap();
                        let last = *first + calls - 1;
                        // A gauge begins with the level that it had, and a reading may see the number of an execution that
                        // it does not count yet.
                        assert!(
                            range.min <= *first && range.max >= last,
                            "{range:?} of {first}..={last}"
                        );
                        if is_value && range.min_exact {
                            assert_eq!(range.min, *first, "{name}");
                            exact += 1;
                        }
                        if is_value && range.max_exact {
                            assert!((last..=last + 1).contains(&range.max), "{range:?} to {last}");
                        }
                    }
                    *first += calls;
                }
            }
        }
        assert!(before.values().all(|&calls| calls == TIMES), "{before:?}");
        assert!(exact > 0, "of {} epochs", epochs.len());
        let sum = epochs.iter().map(|epoch| sum_of(epoch, "numbers")).sum::<u64>();
        assert_eq!(sum, 3 * sum_from(0, TIMES));
        let ranges = epochs.iter().map(|epoch| tally_of(epoch, "numbers").range());
        let range = ranges
            .fold(None, |all, range| both(all, range, Extremes::and))
            .unwrap();
        assert_eq!((range.min, range.min_exact), (0, true));
        let last = epochs.last().unwrap();
        assert_eq!(tally_of(last, "level").level().unwrap().last, TIMES as i64 - 1);
        assert_eq!(last.capture.losses.dropped, 0);
    });
}

fn values_count_in_every_mode_but_off_and_without_latencies() {
    isolated!(|| {
        let _session = Builder::new("modes").histogram(false).start();
        let work = |times: u64| {
            for number in 1..=times {
                tickscope::scope!("outer");
                tickscope::scope!("inner");
                tickscope::value!("number", number);
                tickscope::gauge!("level", number);
            }
        };
        for mode in [
            Mode::Exact,
            Mode::Adaptive,
            Mode::Sampled,
            Mode::Off,
            Mode::Adaptive,
            Mode::Exact,
        ] {
            tickscope::set_mode(mode);
            work(20_000);
            let snapshot = tickscope::reset();
            check(&snapshot);
            let times = if mode == Mode::Off { 0 } else { 20_000 };
            assert_eq!(calls_of(&snapshot, "number"), times, "{mode:?}");
            assert_eq!(calls_of(&snapshot, "level"), times, "{mode:?}");
            assert_eq!(sum_of(&snapshot, "number"), times * (times + 1) / 2, "{mode:?}");
            let all = (times > 0).then_some((1, times));
            assert_eq!(range_of(&snapshot, "number"), all, "{mode:?}");
            let counted = rows(&snapshot, "number").map(|(.., counted)| counted);
            assert_eq!(counted.sum::<u64>(), times, "{mode:?}");
            let level = level_of(&snapshot, "level").unwrap();
            assert_eq!((level.0, level.2), (20_000, 20_000), "{mode:?}");
        }
    });
}

fn what_is_switched_off_is_evaluated_and_not_kept() {
    isolated!(|| {
        let mut evaluated = 0;
        let mut give = || {
            let mut number = || {
                evaluated += 1;
                evaluated
            };
            tickscope::value!("quiet", number());
            tickscope::gauge!("still", number());
        };
        give();
        assert_eq!(tickscope::disable_sites("quiet").unwrap(), 1);
        assert_eq!(tickscope::disable_sites("still").unwrap(), 1);
        give();
        assert_eq!(tickscope::enable_sites("*").unwrap(), 2);
        {
            let _pause = tickscope::pause();
            give();
        }
        assert_eq!(evaluated, 6u64);
        let snapshot = tickscope::snapshot();
        assert_eq!(range_of(&snapshot, "quiet"), Some((1, 5)));
        assert_eq!(calls_of(&snapshot, "quiet"), 2);
        assert_eq!(level_of(&snapshot, "still"), Some((6, 2, 6)));
    });
}

/// One place for both, so that handlers interrupt it.
#[inline(never)]
fn give_both(number: u64) {
    tickscope::value!("both", number);
    tickscope::gauge!("level of both", number);
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    give_both(9);
}

fn a_handler_inside_a_value_is_dropped_and_counted() {
    isolated!(|| {
        support::on_signal(libc::SIGUSR1, handler);
        let mut made = 0;
        while_interrupted(libc::SIGUSR1, &HANDLED, 5_000, || {
            give_both(9);
            made += 1;
        });
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        let counted = calls_of(&snapshot, "both");
        assert_eq!(sum_of(&snapshot, "both"), 9 * counted);
        assert_eq!(
            rows(&snapshot, "both").map(|(.., counted)| counted).sum::<u64>(),
            counted
        );
        assert_eq!(range_of(&snapshot, "both"), Some((9, 9)));
        assert_eq!(
            counted + calls_of(&snapshot, "level of both") + snapshot.capture.losses.dropped,
            2 * (made + HANDLED.load(Ordering::Relaxed))
        );
    });
}

tickscope_testkit::tests![
    every_form_keeps_its_numbers,
    after_a_reset_there_are_the_numbers_since,
    an_undo_brings_numbers_back,
    threads_have_the_level_set_last_and_all_numbers,
    each_number_is_in_the_epoch_that_counts_it,
    values_count_in_every_mode_but_off_and_without_latencies,
    what_is_switched_off_is_evaluated_and_not_kept,
    a_handler_inside_a_value_is_dropped_and_counted,
];
