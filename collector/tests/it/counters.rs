//! Counters: what `count!` adds is there to the last one, whatever goes on, and takes nobody's time.

use std::sync::atomic::{AtomicU64, Ordering};

use super::signals::while_interrupted;
use crate::support::{self, ask, calls_of, check, isolated, newest, sum_of, threads_named};
use tickscope::{Builder, Clock, Mode};
use tickscope_format::file::open::RingFile;
use tickscope_format::ids::NodeId;
use tickscope_format::slots::{Op, Outcome};

const NAME: &str = "constant";

fn every_form_adds_what_it_says() {
    isolated!(|| {
        tickscope::scope!("work");
        let (buffer, small) = ([0u8; 5], 7u8);
        for hit in [true, false, true] {
            tickscope::count!("one");
            tickscope::count!(NAME, 3);
            tickscope::count!("length", buffer.len());
            tickscope::count!("hit", hit);
            tickscope::count!(group = "io", "grouped");
            tickscope::count!(group = "io", concat!("bytes", " read"), u32::MAX,);
            tickscope::count!("nothing", 0,);
            match hit {
                true => tickscope::count!("most", u64::MAX / 4),
                false => tickscope::count!("small", small),
            }
        }
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        let counted = |name| (calls_of(&snapshot, name), sum_of(&snapshot, name));
        for (name, calls, sum) in [
            ("one", 3, 3),
            (NAME, 3, 9),
            ("length", 3, 15),
            ("hit", 3, 2),
            ("grouped", 3, 3),
            ("bytes read", 3, 3 * u64::from(u32::MAX)),
            ("nothing", 3, 0),
            ("most", 2, u64::MAX / 4 * 2),
            ("small", 1, 7),
        ] {
            assert_eq!(counted(name), (calls, sum), "{name}");
        }
        assert_eq!(snapshot.counts.len(), 9);
        assert_eq!(snapshot.scope_calls(), 1);
        let grouped = snapshot.sites.iter().find(|site| site.name == "grouped").unwrap();
        assert_eq!(grouped.group, "io");
        let row = (0..snapshot.nodes.len() as u32)
            .map(NodeId)
            .find(|&row| snapshot.site_of(row).name == "one")
            .unwrap();
        let parent = snapshot.nodes.parent_of(row).unwrap();
        assert_eq!(snapshot.site_of(parent).name, "work");
    });
}

fn a_counter_may_be_the_first_thing_a_thread_does() {
    isolated!(|| {
        tickscope::count!("first", 2);
        let worker = std::thread::spawn(|| tickscope::count!("first of a thread", 3));
        worker.join().unwrap();
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        assert_eq!(sum_of(&snapshot, "first"), 2);
        assert_eq!(sum_of(&snapshot, "first of a thread"), 3);
        assert_eq!(snapshot.capture.losses.dropped, 0);
    });
}

/// So much is counted by each thread in the test below.
const TIMES: u64 = 200_000;

fn threads_and_resets_lose_nothing() {
    isolated!(|| {
        let mut epochs = Vec::new();
        std::thread::scope(|scope| {
            let pool: Vec<_> = (0..3)
                .map(|_| {
                    let named = std::thread::Builder::new().name("pool".into());
                    let body = || {
                        for round in 0..TIMES {
                            tickscope::scope!("round");
                            tickscope::count!("lines");
                            tickscope::count!("bytes", round % 100);
                        }
                    };
                    named.spawn_scoped(scope, body).unwrap()
                })
                .collect();
            while !pool.iter().all(|thread| thread.is_finished()) {
                let closed = tickscope::reset();
                check(&closed);
                epochs.push(closed);
            }
        });
        epochs.push(tickscope::snapshot());
        let sum = |name| epochs.iter().map(|epoch| sum_of(epoch, name)).sum::<u64>();
        let calls = |name| epochs.iter().map(|epoch| calls_of(epoch, name)).sum::<u64>();
        let bytes = (0..TIMES).map(|round| round % 100).sum::<u64>();
        assert_eq!((calls("lines"), sum("lines")), (3 * TIMES, 3 * TIMES));
        assert_eq!((calls("bytes"), sum("bytes")), (3 * TIMES, 3 * bytes));
        let last = epochs.last().unwrap();
        assert_eq!(last.lifetime.calls, 3 * 3 * TIMES);
        assert_eq!(last.capture.losses.dropped, 0);
    });
}

fn an_undo_brings_sums_back_and_threads_of_a_name_share_theirs() {
    isolated!(|| {
        let session = Builder::new("undo").try_start().unwrap();
        let ring = RingFile::open(&session.path().unwrap()).unwrap();
        let mut slot = ring.take_slot().unwrap().unwrap();
        let in_pool = |amount: u64| {
            let named = std::thread::Builder::new().name("pool".into());
            let counts = move || tickscope::count!("pool", amount);
            named.spawn(counts).unwrap().join().unwrap();
        };
        // One site and one path, whoever comes.
        let own = |amount: u64| tickscope::count!("own", amount);
        own(10);
        in_pool(1);
        in_pool(2);
        let shown = tickscope::snapshot();
        assert_eq!((sum_of(&shown, "own"), sum_of(&shown, "pool")), (10, 3));
        assert_eq!(threads_named(&shown, "pool").count(), 1);
        assert_eq!(shown.counts.len(), 2);
        assert_eq!(ask(&mut slot, Op::Reset).outcome, Outcome::Done);
        assert_eq!(newest(&ring).counts, []);
        own(5);
        in_pool(4);
        let shown = tickscope::snapshot();
        assert_eq!((sum_of(&shown, "own"), sum_of(&shown, "pool")), (5, 4));
        assert_eq!(ask(&mut slot, Op::UndoReset).outcome, Outcome::Done);
        let shown = newest(&ring);
        assert_eq!((sum_of(&shown, "own"), sum_of(&shown, "pool")), (15, 7));
        check(&shown);
    });
}

fn counters_count_in_every_mode_but_off_and_take_no_time() {
    isolated!(|| {
        let work = |times: u64| {
            for _ in 0..times {
                tickscope::scope!("outer");
                tickscope::scope!("inner");
                tickscope::count!("counted", 2);
                tickscope::count!("other");
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
            work(50_000);
            let snapshot = tickscope::reset();
            check(&snapshot);
            let times = if mode == Mode::Off { 0 } else { 50_000 };
            assert_eq!(calls_of(&snapshot, "counted"), times, "{mode:?}");
            assert_eq!(sum_of(&snapshot, "counted"), 2 * times, "{mode:?}");
            assert_eq!(sum_of(&snapshot, "other"), times, "{mode:?}");
            assert_eq!(calls_of(&snapshot, "inner"), times, "{mode:?}");
        }
    });
}

fn what_is_switched_off_is_evaluated_and_not_counted() {
    isolated!(|| {
        let mut evaluated = 0;
        let mut count = || {
            let mut amount = || {
                evaluated += 1;
                evaluated
            };
            tickscope::count!("quiet", amount());
            tickscope::count!("loud");
        };
        count();
        assert_eq!(tickscope::disable_sites("quiet").unwrap(), 1);
        count();
        count();
        assert_eq!(tickscope::enable_sites("quiet").unwrap(), 1);
        {
            let _pause = tickscope::pause();
            count();
        }
        tickscope::thread::exclude();
        count();
        assert_eq!(evaluated, 5u64);
        let snapshot = tickscope::snapshot();
        assert_eq!(
            (calls_of(&snapshot, "quiet"), sum_of(&snapshot, "quiet")),
            (2, 1 + 4)
        );
        assert_eq!(
            sum_of(&snapshot, "loud"),
            4,
            "in the pause, and not where excluded"
        );
    });
}

fn deeper(levels: u32) {
    tickscope::scope!("deeper");
    tickscope::count!("level");
    if levels > 1 {
        deeper(levels - 1);
    }
}

fn a_counter_without_a_place_is_counted_as_dropped() {
    isolated!(|| {
        let _session = Builder::new("limits").max_depth(3).start();
        deeper(5);
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        // Scopes 4 and 5 find no place, and neither do the counters at the third level and below.
        assert_eq!(
            (calls_of(&snapshot, "deeper"), calls_of(&snapshot, "level")),
            (3, 2)
        );
        assert_eq!(snapshot.capture.losses.dropped, 2 + 3);
    });
}

/// One place for both, so that handlers interrupt its additions.
#[inline(never)]
fn count_both() {
    tickscope::count!("both", 3);
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    count_both();
}

fn a_handler_inside_an_addition_loses_no_count() {
    isolated!(|| {
        support::on_signal(libc::SIGUSR1, handler);
        let mut made = 0;
        while_interrupted(libc::SIGUSR1, &HANDLED, 5_000, || {
            count_both();
            made += 1;
        });
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        let counted = calls_of(&snapshot, "both");
        assert_eq!(sum_of(&snapshot, "both"), 3 * counted);
        assert_eq!(
            counted + snapshot.capture.losses.dropped,
            made + HANDLED.load(Ordering::Relaxed)
        );
    });
}

fn ticking() -> u64 {
    tickscope::scope!("in the clock");
    tickscope::count!("in the clock, too");
    HANDLED.fetch_add(1, Ordering::Relaxed)
}

/// As a handler does that interrupts the first scope of a process.
fn a_clock_that_counts_while_it_is_chosen_does_not_wait_for_itself() {
    isolated!(|| {
        let _session = Builder::new("clock").clock(Clock::Custom(ticking, 1e3)).start();
        tickscope::time!("work", ());
        let snapshot = tickscope::snapshot();
        assert_eq!(calls_of(&snapshot, "work"), 1);
        assert!(snapshot.capture.losses.dropped >= 2);
    });
}

fn a_sum_that_begins_again_goes_on_after_a_reset() {
    isolated!(|| {
        let count = |amount: u64| {
            tickscope::count!("sum", amount);
            sum_of(&tickscope::reset(), "sum")
        };
        assert_eq!([u64::MAX, 5, 7].map(count), [u64::MAX, 5, 7]);
    });
}

tickscope_testkit::tests![
    a_handler_inside_an_addition_loses_no_count,
    a_sum_that_begins_again_goes_on_after_a_reset,
    a_clock_that_counts_while_it_is_chosen_does_not_wait_for_itself,
    every_form_adds_what_it_says,
    a_counter_may_be_the_first_thing_a_thread_does,
    threads_and_resets_lose_nothing,
    an_undo_brings_sums_back_and_threads_of_a_name_share_theirs,
    counters_count_in_every_mode_but_off_and_take_no_time,
    what_is_switched_off_is_evaluated_and_not_counted,
    a_counter_without_a_place_is_counted_as_dropped,
];
