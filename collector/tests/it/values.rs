//! Counters, values and gauges. Each epoch must have exactly the numbers that were recorded in it, even if other
//! threads run and captures are taken at the same time. `programs` tests them in each mode, across resets and undos,
//! and on threads that end.

use std::collections::HashMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use super::signals::while_interrupted;
use crate::support::{self, calls_of, check, checked, path_of, rows_named, sum_of};
use tickscope::{Builder, Clock};
use tickscope_format::Snapshot;
use tickscope_format::ids::{NodeId, ThreadId};
use tickscope_format::snapshot::{Extremes, Level, Tally, both};

const NAME: &str = "constant";

const CONSTANT: &str = "constant counter";

/// Returns the rows with this name. Each comes with its tally and with the number of values in its histogram.
fn rows<'a>(snapshot: &'a Snapshot, name: &'a str) -> impl Iterator<Item = (u32, Tally, u64)> + 'a {
    let tallies = snapshot.tallies().into_iter();
    (0..)
        .zip(tallies)
        .filter(move |&(row, _)| snapshot.site_of(NodeId(row)).name == name)
        .filter_map(move |(row, tally)| Some((row, tally?, snapshot.latencies.of(row).count())))
}

/// Returns the sum of the tallies of all rows with this name.
fn tally_of(snapshot: &Snapshot, name: &str) -> Tally {
    rows(snapshot, name).fold(Tally::Nothing, |all, (_, tally, _)| all.and(tally))
}

/// Returns the smallest and largest numbers recorded under this name. Panics if either is not exact.
fn range_of(snapshot: &Snapshot, name: &str) -> Option<(u64, u64)> {
    let range = tally_of(snapshot, name).range()?;
    assert!(range.min_exact && range.max_exact, "{name}: {range:?}");
    Some((range.min, range.max))
}

/// Returns the last, lowest and highest levels of a gauge. Panics if the lowest or the highest is not exact.
fn level_of(snapshot: &Snapshot, name: &str) -> Option<(i64, i64, i64)> {
    let Level { last, range, .. } = tally_of(snapshot, name).level()?;
    assert!(range.min_exact && range.max_exact, "{name}: {range:?}");
    Some((last, range.min, range.max))
}

fn every_form_keeps_its_numbers() {
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
        tickscope::count!("one");
        tickscope::count!(CONSTANT, 3);
        tickscope::count!("sizes", buffer.len(),);
        tickscope::count!(group = "io", "counted", round > 0);
        tickscope::count!(group = "io", concat!("bytes", " written"), u32::MAX,);
        tickscope::count!("most", u64::MAX / 4);
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
    let snapshot = checked(tickscope::snapshot());
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
        assert_eq!(calls_of(&snapshot, name), calls, "{name}");
        assert_eq!(sum_of(&snapshot, name), sum, "{name}");
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
    for (name, sum) in [
        ("one", 3),
        (CONSTANT, 9),
        ("sizes", 15),
        ("counted", 2),
        ("bytes written", 3 * u64::from(u32::MAX)),
        ("most", u64::MAX / 4 * 3),
    ] {
        assert_eq!((calls_of(&snapshot, name), sum_of(&snapshot, name)), (3, sum));
    }
    let one = rows_named(&snapshot, "one").next().unwrap();
    assert_eq!(path_of(&snapshot, one as usize), ["work", "one"]);
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
        ["grouped", "queue", "counted"].map(|name| group(name).as_str()),
        ["io", "queues", "io"]
    );
}

/// How many numbers each thread records in the next test. It records the numbers from 0 to `TIMES - 1`.
const TIMES: u64 = 50_000;

/// Returns the sum of `calls` consecutive numbers, starting with `first`.
fn sum_from(first: u64, calls: u64) -> u64 {
    (first..first + calls).sum()
}

/// Each thread records its numbers in ascending order. How many it recorded in earlier epochs therefore tells which
/// numbers belong to an epoch.
fn each_number_is_in_the_epoch_that_counts_it() {
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
        // All threads are halted here, so the smallest numbers of this epoch and of the next one are exact.
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
                    // A gauge begins an epoch at its previous level. A snapshot may also have a number whose execution
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
}

fn what_is_switched_off_is_evaluated_and_not_kept() {
    let mut evaluated = 0;
    let mut give = || {
        let mut number = || {
            evaluated += 1;
            evaluated
        };
        tickscope::value!("quiet", number());
        tickscope::gauge!("still", number());
        tickscope::count!("mute", number());
        tickscope::count!("loud");
    };
    give();
    assert_eq!(tickscope::disable_sites("quiet").unwrap(), 1);
    assert_eq!(tickscope::disable_sites("still").unwrap(), 1);
    assert_eq!(tickscope::disable_sites("mute").unwrap(), 1);
    give();
    assert_eq!(tickscope::enable_sites("*").unwrap(), 4);
    {
        let _pause = tickscope::pause();
        give();
    }
    tickscope::thread::exclude();
    give();
    assert_eq!(evaluated, 12u64);
    let snapshot = tickscope::snapshot();
    assert_eq!(range_of(&snapshot, "quiet"), Some((1, 7)));
    assert_eq!(calls_of(&snapshot, "quiet"), 2);
    assert_eq!(level_of(&snapshot, "still"), Some((8, 2, 8)));
    assert_eq!(calls_of(&snapshot, "mute"), 2);
    assert_eq!(sum_of(&snapshot, "mute"), 3 + 9);
    assert_eq!(
        sum_of(&snapshot, "loud"),
        3,
        "in the pause, and not where excluded"
    );
}

/// Records a number as a value, a level and a count. The test and the signal handler both call this function, so that
/// the handler interrupts the same sites that it uses.
#[inline(never)]
fn give_both(number: u64) {
    tickscope::value!("both", number);
    tickscope::gauge!("level of both", number);
    tickscope::count!("counter of both", number);
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    give_both(9);
}

fn a_handler_inside_a_value_is_dropped_and_counted() {
    support::on_signal(libc::SIGUSR1, handler);
    let mut made = 0;
    while_interrupted(libc::SIGUSR1, &HANDLED, 2_000, || {
        give_both(9);
        made += 1;
    });
    let snapshot = checked(tickscope::snapshot());
    let counted = calls_of(&snapshot, "both");
    assert_eq!(sum_of(&snapshot, "both"), 9 * counted);
    assert_eq!(
        rows(&snapshot, "both").map(|(.., counted)| counted).sum::<u64>(),
        counted
    );
    assert_eq!(range_of(&snapshot, "both"), Some((9, 9)));
    let [levels, added] = ["level of both", "counter of both"].map(|name| calls_of(&snapshot, name));
    assert_eq!(sum_of(&snapshot, "counter of both"), 9 * added);
    assert_eq!(
        counted + levels + added + snapshot.capture.losses.dropped,
        3 * (made + HANDLED.load(Ordering::Relaxed))
    );
}

fn ticking() -> u64 {
    tickscope::scope!("in the clock");
    tickscope::count!("in the clock, too");
    HANDLED.fetch_add(1, Ordering::Relaxed)
}

/// The clock opens a scope and increments a counter while the collector is choosing the clock. A signal handler that
/// interrupts the first scope of a process may do the same.
fn a_clock_that_counts_while_it_is_chosen_does_not_wait_for_itself() {
    let _session = Builder::new("clock").clock(Clock::Custom(ticking, 1e3)).start();
    tickscope::time!("work", ());
    let snapshot = tickscope::snapshot();
    assert_eq!(calls_of(&snapshot, "work"), 1);
    assert!(snapshot.capture.losses.dropped >= 2);
}

crate::support::tests![
    isolated:
    a_clock_that_counts_while_it_is_chosen_does_not_wait_for_itself,
    every_form_keeps_its_numbers,
    each_number_is_in_the_epoch_that_counts_it,
    what_is_switched_off_is_evaluated_and_not_kept,
    a_handler_inside_a_value_is_dropped_and_counted;
];
