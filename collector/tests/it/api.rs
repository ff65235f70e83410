//! The calling API: sessions, names, macros, pauses, resets, the choice of threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::support::{
    self, Yield, block_on, calls_of, check, isolated_as_usual, newest, open_path, rings_in, threads_named,
    tree, wait_until,
};
use tickscope::{Builder, Clock, Status, Threads};
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_format::snapshot::{CaptureKind, ThreadState};

fn a_session_publishes_at_its_path_until_it_is_dropped() {
    isolated_as_usual!(|| {
        let session = tickscope::start("order-book");
        wait_until("publishing", || session.status() == Status::Publishing);
        assert_eq!(session.warnings(), Vec::<String>::new());
        let path = session.path().unwrap();
        assert!(path.starts_with(support::shared_place().join("rings")));
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(
            name.starts_with(&format!("order-book.{}.", std::process::id())),
            "{name}"
        );
        let ring = RingFile::open(&path).unwrap();
        assert_eq!(ring.liveness().unwrap(), Liveness::Running);
        assert_eq!(ring.header().name, "order-book");
        let snapshot = newest(&ring);
        assert_eq!(
            (&*snapshot.process.name, snapshot.process.pid),
            ("order-book", std::process::id())
        );
        assert!(snapshot.threads.is_empty(), "start does not register its caller");
        tickscope::time!("last", ());
        drop(session);
        assert!(matches!(ring.liveness().unwrap(), Liveness::Exited { .. }));
        let snapshot = newest(&ring);
        assert_eq!(snapshot.capture.kind, CaptureKind::Final);
        assert_eq!(calls_of(&snapshot, "last"), 1);
    });
}

fn a_second_start_joins_and_a_start_after_the_last_drop_begins_anew() {
    isolated_as_usual!(|| {
        let first = Builder::new("first").try_start().unwrap();
        let second = Builder::new("second").try_start().unwrap();
        assert_eq!(first.path(), second.path());
        assert!(first.warnings().is_empty());
        let warnings = second.warnings();
        assert!(
            warnings.len() == 1
                && warnings[0]
                    .contains("joined the running session \"first\"; its name and settings stay in force"),
            "{warnings:?}"
        );
        let same = Builder::new("first").try_start().unwrap();
        assert!(same.warnings().is_empty(), "the same name is no news");
        drop(same);
        let ring = RingFile::open(&first.path().unwrap()).unwrap();
        drop(first);
        assert_eq!(second.status(), Status::Publishing);
        assert_eq!(ring.liveness().unwrap(), Liveness::Running);
        drop(second);
        assert!(matches!(ring.liveness().unwrap(), Liveness::Exited { .. }));

        tickscope::time!("between", ());
        let third = Builder::new("third").try_start().unwrap();
        assert_eq!(rings_in(&support::shared_place().join("rings")).len(), 2);
        let snapshot = newest(&RingFile::open(&third.path().unwrap()).unwrap());
        assert_eq!(snapshot.process.name, "third");
        assert_eq!(
            calls_of(&snapshot, "between"),
            1,
            "scopes count without a session, too"
        );
    });
}

fn a_session_dropped_at_once_still_leaves_a_final_record() {
    let done = isolated_as_usual!(|| {
        tickscope::time!("work", ());
        drop(tickscope::start("short"));
        for round in 0..5 {
            let session = Builder::new("short")
                .try_start()
                .unwrap_or_else(|error| panic!("{round}: {error}"));
            drop(session);
        }
    });
    let rings = rings_in(&done.place().join("rings"));
    assert_eq!(rings.len(), 6);
    for path in rings {
        let ring = RingFile::open(&path).unwrap();
        assert!(matches!(ring.liveness().unwrap(), Liveness::Exited { .. }));
        let snapshot = newest(&ring);
        assert_eq!(
            (snapshot.capture.kind, calls_of(&snapshot, "work")),
            (CaptureKind::Final, 1)
        );
    }
}

fn names_are_mended_and_it_is_said() {
    isolated_as_usual!(|| {
        let session = Builder::new("größer / 1").try_start().unwrap();
        let warnings = session.warnings();
        assert!(
            warnings.len() == 1 && warnings[0].contains(
                    "was changed to \"gr--er---1\"; allowed: 1 to 64 of A-Z a-z 0-9 . _ - and not digits alone"
                ),
            "{warnings:?}"
        );
        assert_eq!(
            RingFile::open(&session.path().unwrap()).unwrap().header().name,
            "gr--er---1"
        );
        drop(session);
        let session = Builder::new("12345").try_start().unwrap();
        assert_eq!(
            RingFile::open(&session.path().unwrap()).unwrap().header().name,
            "p12345"
        );
    });
}

const NAME: &str = "constant";

mod shapes {
    pub(super) struct Square<T>(pub(super) T);

    pub(super) trait Shape {
        fn area(&self) -> u8;
        fn default_method(&self) {
            tickscope::scope!();
        }
    }

    impl<T> Shape for Square<T> {
        fn area(&self) -> u8 {
            tickscope::scope!();
            1
        }
    }

    impl<T> Square<T> {
        pub(super) fn method(&self) {
            tickscope::scope!();
        }
    }
}

fn function() {
    tickscope::scope!();
}

fn generic<T>(_: T) {
    tickscope::scope!();
}

fn with_closure() {
    let closure = || {
        tickscope::scope!();
    };
    closure();
}

async fn asynchronous() {
    tickscope::scope!(group = "io");
}

fn scopes_are_named_after_constants_and_functions() {
    use shapes::Shape;
    isolated_as_usual!(|| {
        {
            tickscope::scope!(NAME);
            tickscope::scope!(concat!("lit", "eral"));
            tickscope::scope!(group = "g", "grouped",);
        }
        drop(tickscope::scope_guard!(group = "io", "guarded"));
        assert_eq!(tickscope::time!(group = "io", "timed", 3,), 3);
        function();
        generic(1u8);
        generic("text");
        with_closure();
        shapes::Square(1u8).method();
        shapes::Square("text").method();
        shapes::Square(1u8).area();
        shapes::Square(1u8).default_method();
        block_on(asynchronous());
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        let calls: Vec<(&str, u64)> = support::calls(&snapshot).into_iter().collect();
        assert_eq!(
            calls,
            [
                ("Shape::default_method", 1),
                ("Square::area", 1),
                ("Square::method", 2),
                ("asynchronous", 1),
                ("constant", 1),
                ("function", 1),
                ("generic", 2),
                ("grouped", 1),
                ("guarded", 1),
                ("literal", 1),
                ("timed", 1),
                ("with_closure", 1),
            ]
        );
        assert_eq!(snapshot.nodes.len(), 12, "instances of a generic share a row");
        let site = |name: &str| snapshot.sites.iter().find(|site| site.name == name).unwrap();
        let group = |name: &str| site(name).group.as_str();
        for (name, of) in [
            ("grouped", "g"),
            ("asynchronous", "io"),
            ("guarded", "io"),
            ("timed", "io"),
            ("constant", ""),
        ] {
            assert_eq!(group(name), of, "{name}");
        }
        assert_eq!(site("Square::method").module, concat!(module_path!(), "::shapes"));
        assert!(site("function").file.ends_with("api.rs") && site("function").line > 100);
    });
}

#[tickscope::profile]
fn plain(depth: u8) -> u8 {
    if depth == 0 { 0 } else { plain(depth - 1) + 1 }
}

#[tickscope::profile(name = "renamed", group = "g")]
fn other_name() {}

#[tickscope::profile]
async fn waits() -> u8 {
    tickscope::time!("inside", ());
    Yield::default().await;
    Yield::default().await;
    7
}

struct Machine;

#[tickscope::profile]
impl Machine {
    fn run(&self) -> u8 {
        self.skipped()
    }

    #[tickscope::profile(skip)]
    fn skipped(&self) -> u8 {
        3
    }
}

#[tickscope::profile]
mod module {
    pub(super) fn a() {
        b();
    }

    fn b() {}
}

fn the_attribute_works_on_functions_futures_impls_and_modules() {
    isolated_as_usual!(|| {
        assert_eq!(plain(3), 3);
        other_name();
        assert_eq!(block_on(waits()), 7);
        drop(waits());
        assert_eq!(Machine.run(), 3);
        module::a();
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        let main = tree(&snapshot, "main");
        let shape: Vec<String> = main
            .lines()
            .map(|line| line.rsplitn(3, ' ').last().unwrap().to_string())
            .collect();
        assert_eq!(
            shape,
            [
                "plain 1",
                "  plain 1",
                "    plain 1",
                "      plain 1",
                "renamed 1",
                "waits 1",
                "  inside 1",
                "Machine::run 1",
                "a 1",
                "  b 1"
            ]
        );
        let renamed = snapshot.sites.iter().find(|site| site.name == "renamed");
        assert_eq!(renamed.unwrap().group, "g");
        // Each at its own line, not at that of the attribute of the block.
        let line = |name: &str| snapshot.sites.iter().find(|site| site.name == name).unwrap().line;
        assert_eq!(line("b") - line("a"), 4);
    });
}

fn a_future_is_charged_for_its_polls_only() {
    const NAME: &str = "a_future_is_charged_for_its_polls_only";
    static TICK: AtomicU64 = AtomicU64::new(1000);
    async fn slow() {
        TICK.fetch_add(5, Ordering::Relaxed);
        Yield::default().await;
        TICK.fetch_add(7, Ordering::Relaxed);
    }
    #[tickscope::profile]
    async fn outer() {
        slow().await;
    }
    isolated_as_usual!(|| {
        let _session = Builder::new("futures")
            .clock(Clock::Custom(|| TICK.load(Ordering::Relaxed), 1e9))
            .start();
        let mut future = std::pin::pin!(outer());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(future.as_mut().poll(&mut context).is_pending());
        TICK.fetch_add(1_000_000, Ordering::Relaxed);
        let there = std::thread::scope(|scope| {
            // A future that is not `Send` cannot move here; what counts is that nothing is open in between.
            scope.spawn(tickscope::snapshot).join().unwrap()
        });
        assert_eq!(tree(&there, "main"), format!("{NAME}::outer 1 5 5\n"));
        assert!(there.threads[0].open.is_empty());
        assert!(future.as_mut().poll(&mut context).is_ready());
        assert_eq!(
            tree(&tickscope::snapshot(), "main"),
            format!("{NAME}::outer 1 12 12\n")
        );
    });
}

/// What an `async fn` cannot be written around: blocks, and what `.await` turns into a future.
fn blocks_and_futures_of_others_are_profiled_by_name() {
    static TICK: AtomicU64 = AtomicU64::new(1000);
    struct Request(u64);
    impl IntoFuture for Request {
        type Output = u64;
        type IntoFuture = std::pin::Pin<Box<dyn Future<Output = u64> + Send>>;
        fn into_future(self) -> Self::IntoFuture {
            Box::pin(async move {
                TICK.fetch_add(self.0, Ordering::Relaxed);
                Yield::default().await;
                self.0
            })
        }
    }
    fn sendable<T: Send + 'static>(value: T) -> T {
        value
    }
    isolated_as_usual!(|| {
        let _session = Builder::new("blocks")
            .clock(Clock::Custom(|| TICK.load(Ordering::Relaxed), 1e9))
            .start();
        drop(tickscope::future!("never polled", async {}));
        let mut block = Box::pin(sendable(tickscope::future!(group = "net", "block", async move {
            let first = tickscope::future!("request", Request(3)).await;
            TICK.fetch_add(20, Ordering::Relaxed);
            {
                tickscope::scope!("inside");
                TICK.fetch_add(100, Ordering::Relaxed);
            }
            Yield::default().await;
            first + 1
        })));
        let mut polls = 0;
        let value = loop {
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            polls += 1;
            if let std::task::Poll::Ready(value) = block.as_mut().poll(&mut context) {
                break value;
            }
            assert!(tickscope::snapshot().threads[0].open.is_empty());
            TICK.fetch_add(1_000_000, Ordering::Relaxed);
        };
        assert_eq!((value, polls), (4, 3));
        let snapshot = tickscope::snapshot();
        assert_eq!(
            tree(&snapshot, "main"),
            "block 1 20 123\n  request 1 3 3\n  inside 1 100 100\n"
        );
        let block = snapshot.sites.iter().find(|site| site.name == "block");
        assert_eq!(block.unwrap().group, "net");
    });
}

/// Each profiled function keeps the future that it awaits once.
fn profiled_functions_that_await_each_other_stay_small() {
    macro_rules! chain {
        ($($outer:ident $inner:ident),*) => {
            $(
                #[tickscope::profile]
                async fn $outer() {
                    $inner().await;
                }
            )*
        };
    }
    async fn innermost() {
        Yield::default().await;
    }
    chain!(a innermost, b a, c b, d c, e d, f e, g f, outermost g);
    isolated_as_usual!(|| {
        let (one, eight) = (size_of_val(&a()), size_of_val(&outermost()));
        assert!(
            eight <= 8 * one,
            "one function has {one} bytes, eight have {eight}"
        );
    });
}

fn guards_and_expressions_end_where_they_should() {
    static TICK: AtomicU64 = AtomicU64::new(0);
    fn spend(ticks: u64) {
        TICK.fetch_add(ticks, Ordering::Relaxed);
    }
    fn early(return_early: bool) -> Option<u8> {
        tickscope::scope!("early");
        spend(1);
        let value = tickscope::time!("maybe", if return_early { None } else { Some(1) }?);
        spend(10);
        Some(value)
    }
    isolated_as_usual!(|| {
        let _session = Builder::new("guards")
            .clock(Clock::Custom(|| TICK.load(Ordering::Relaxed), 1e9))
            .start();
        let guard = tickscope::scope_guard!("guarded");
        spend(3);
        drop(guard);
        spend(100);
        let value = tickscope::time!("expression", {
            spend(4);
            "value"
        });
        assert_eq!(value, "value");
        assert_eq!((early(true), early(false)), (None, Some(1)));
        let snapshot = tickscope::snapshot();
        assert_eq!(
            tree(&snapshot, "main"),
            "guarded 1 3 3\nexpression 1 4 4\nearly 2 12 12\n  maybe 2 0 0\n"
        );
        assert_eq!(snapshot.threads[0].outside_ticks, 100);
        assert_eq!(snapshot.capture.losses.unbalanced, 0);
    });
}

fn a_pause_is_not_charged() {
    static TICK: AtomicU64 = AtomicU64::new(0);
    fn spend(ticks: u64) {
        TICK.fetch_add(ticks, Ordering::Relaxed);
    }
    isolated_as_usual!(|| {
        let _session = Builder::new("pauses")
            .clock(Clock::Custom(|| TICK.load(Ordering::Relaxed), 1e9))
            .start();
        {
            tickscope::scope!("outer");
            spend(5);
            let pause = tickscope::pause();
            spend(1000);
            let nested = tickscope::pause();
            {
                tickscope::scope!("inner");
                spend(1000);
                let snapshot = tickscope::snapshot();
                assert_eq!(snapshot.threads[0].state, ThreadState::Paused);
                assert_eq!(
                    open_path(&snapshot, threads_named(&snapshot, "main").next().unwrap()),
                    ["outer", "inner"]
                );
                drop(pause);
                spend(1000);
            }
            drop(nested);
            spend(7);
        }
        let snapshot = tickscope::snapshot();
        assert_eq!(tree(&snapshot, "main"), "outer 1 12 12\n  inner 1 0 0\n");
        assert_eq!(snapshot.clock.errors, 0);
    });
}

fn a_pause_that_ends_while_the_thread_is_excluded_is_over_all_the_same() {
    static TICK: AtomicU64 = AtomicU64::new(0);
    isolated_as_usual!(|| {
        let _session = Builder::new("pauses")
            .clock(Clock::Custom(|| TICK.load(Ordering::Relaxed), 1e9))
            .start();
        let pause = tickscope::pause();
        tickscope::thread::exclude();
        drop(pause);
        tickscope::thread::include();
        tickscope::time!("after", TICK.fetch_add(9, Ordering::Relaxed));
        assert_eq!(tree(&tickscope::snapshot(), "main"), "after 1 9 9\n");
    });
}

fn resets_close_an_epoch_and_go_on() {
    isolated_as_usual!(|| {
        let session = Builder::new("resets").try_start().unwrap();
        let ring = RingFile::open(&session.path().unwrap()).unwrap();
        let guard = tickscope::scope_guard!("open");
        tickscope::time!("first", ());
        let closing = tickscope::reset();
        assert_eq!(closing.capture.kind, CaptureKind::Closing);
        assert_eq!(closing.capture.reset_epoch, 0);
        assert_eq!((calls_of(&closing, "open"), calls_of(&closing, "first")), (1, 1));
        tickscope::time!("second", ());
        let now = tickscope::snapshot();
        assert_eq!(
            (now.capture.kind, now.capture.reset_epoch),
            (CaptureKind::Periodic, 1)
        );
        assert_eq!(calls_of(&now, "second"), 1);
        assert_eq!(calls_of(&now, "open"), 0, "it began before");
        assert!(!tree(&now, "main").contains("first"), "{}", tree(&now, "main"));
        assert_eq!(
            open_path(&now, threads_named(&now, "main").next().unwrap()),
            ["open"]
        );
        assert_eq!(now.lifetime.calls, 3);
        wait_until("the closing record", || {
            let records = support::records(&ring);
            records.iter().any(|(record, snapshot)| {
                record.stamp.kind == CaptureKind::Closing && calls_of(snapshot, "first") == 1
            })
        });
        drop(guard);
        tickscope::request_reset();
        wait_until("the epoch of the request", || {
            newest(&ring).capture.reset_epoch == 2
        });
        let closings: Vec<u64> = support::records(&ring)
            .iter()
            .filter(|(record, _)| record.stamp.kind == CaptureKind::Closing)
            .map(|(_, snapshot)| snapshot.capture.reset_epoch)
            .collect();
        assert_eq!(closings, [0, 1]);
        assert_eq!(tickscope::snapshot().calls(), 0);
        drop(session);
        tickscope::request_reset();
        assert_eq!(
            tickscope::snapshot().capture.reset_epoch,
            3,
            "done at once where nobody publishes"
        );
    });
}

fn a_reset_asked_for_just_before_the_end_of_the_session_is_done_in_it() {
    isolated_as_usual!(|| {
        for round in 1..=20 {
            // The publisher of the round before may still clean up its directory, and would empty this round's ring.
            let place = tempfile::tempdir().unwrap();
            let session = Builder::new("resets").dir(place.path()).try_start().unwrap();
            let path = session.path().unwrap();
            tickscope::time!("work", ());
            tickscope::request_reset();
            drop(session);
            assert_eq!(tickscope::snapshot().capture.reset_epoch, round);
            let records = support::records(&RingFile::open(&path).unwrap());
            let closings = records
                .iter()
                .filter(|(record, _)| record.stamp.kind == CaptureKind::Closing);
            assert_eq!(closings.count(), 1);
        }
    });
}

fn threads_are_excluded_and_included() {
    isolated_as_usual!(|| {
        tickscope::time!("before", ());
        {
            tickscope::scope!("cut");
            tickscope::thread::exclude();
            tickscope::time!("excluded", ());
            let snapshot = tickscope::snapshot();
            assert!(
                snapshot.threads[0].open.is_empty(),
                "open scopes end with the exclusion"
            );
        }
        tickscope::time!("excluded", ());
        tickscope::thread::include();
        tickscope::time!("after", ());
        let worker = std::thread::spawn(|| {
            tickscope::thread::exclude();
            tickscope::time!("excluded", ());
            drop(tickscope::pause());
        });
        worker.join().unwrap();
        let snapshot = tickscope::snapshot();
        check(&snapshot);
        assert_eq!(
            support::calls(&snapshot).into_iter().collect::<Vec<_>>(),
            [("after", 1), ("before", 1), ("cut", 1)]
        );
        assert_eq!(
            (
                snapshot.capture.losses.dropped,
                snapshot.capture.losses.unbalanced
            ),
            (0, 0)
        );
    });
}

fn opt_in_counts_only_threads_that_are_included() {
    isolated_as_usual!(|| {
        let _session = Builder::new("opt-in").threads(Threads::OptIn).start();
        tickscope::time!("main", ());
        std::thread::spawn(|| {
            tickscope::time!("not yet", ());
            tickscope::thread::include();
            tickscope::time!("worker", ());
            tickscope::thread::include();
            tickscope::time!("worker", ());
        })
        .join()
        .unwrap();
        let snapshot = tickscope::snapshot();
        assert_eq!(
            support::calls(&snapshot).into_iter().collect::<Vec<_>>(),
            [("worker", 2)]
        );
    });
}

fn an_unusable_directory_is_an_error_that_says_what_next() {
    // Every place is out of space for this child: no file may be longer than that.
    isolated_as_usual!(|| {
        let limit = libc::rlimit {
            rlim_cur: 64 << 10,
            rlim_max: libc::RLIM_INFINITY,
        };
        // SAFETY: `limit` is a valid rlimit.
        let result = unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) };
        assert_eq!(result, 0);
        let error = Builder::new("nowhere").try_start().unwrap_err().to_string();
        assert!(
            error.contains("fallocate")
                && error.ends_with("scopes are counted, but nothing is published; set TICKSCOPE_DIR"),
            "{error}"
        );
        assert!(
            error.contains(support::shared_place().to_str().unwrap()),
            "{error}"
        );

        let session = tickscope::start("nowhere");
        wait_until("the outcome", || session.status() == Status::Counting);
        assert_eq!(session.path(), None);
        assert!(
            session
                .warnings()
                .join("\n")
                .contains("scopes are counted, but nothing is published")
        );
        tickscope::time!("counted", ());
        assert_eq!(calls_of(&tickscope::reset(), "counted"), 1);
        tickscope::request_reset();
        assert_eq!(tickscope::snapshot().capture.reset_epoch, 2);
        drop(session);

        let limit = libc::rlimit {
            rlim_cur: libc::RLIM_INFINITY,
            rlim_max: libc::RLIM_INFINITY,
        };
        // SAFETY: as above.
        let result = unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) };
        assert_eq!(result, 0);
        let session = Builder::new("somewhere").try_start().unwrap();
        assert_eq!(session.status(), Status::Publishing, "{:?}", session.warnings());
    });
}

fn settings_out_of_range_are_mended_and_late_ones_refused() {
    isolated_as_usual!(|| {
        let session = Builder::new("settings")
            .interval(Duration::ZERO)
            .ring_bytes(100_000)
            .max_depth(9999)
            .try_start()
            .unwrap();
        let warnings = session.warnings().join("\n");
        assert!(
            warnings.contains("interval (ms) 0 is out of range; allowed: 10 to 3600000; used: 10"),
            "{warnings}"
        );
        assert!(
            warnings.contains("max_depth 9999") && warnings.contains("4096"),
            "{warnings}"
        );
        let ring = RingFile::open(&session.path().unwrap()).unwrap();
        assert_eq!(ring.header().ring_words * 8, 131_072, "the next power of two");
        let late = Builder::new("settings")
            .clock(Clock::Monotonic)
            .max_depth(7)
            .start();
        let warnings = late.warnings().join("\n");
        assert!(
            warnings.contains("monotonic comes too late: start the session before the first scope"),
            "{warnings}"
        );
        assert!(
            warnings.contains(
                "nodes a thread since the first scope; other ones come too late: start the session"
            ),
            "{warnings}"
        );
    });
}

tickscope_testkit::tests![
    a_session_publishes_at_its_path_until_it_is_dropped,
    a_second_start_joins_and_a_start_after_the_last_drop_begins_anew,
    a_session_dropped_at_once_still_leaves_a_final_record,
    names_are_mended_and_it_is_said,
    scopes_are_named_after_constants_and_functions,
    the_attribute_works_on_functions_futures_impls_and_modules,
    a_future_is_charged_for_its_polls_only,
    blocks_and_futures_of_others_are_profiled_by_name,
    profiled_functions_that_await_each_other_stay_small,
    guards_and_expressions_end_where_they_should,
    a_pause_is_not_charged,
    a_pause_that_ends_while_the_thread_is_excluded_is_over_all_the_same,
    resets_close_an_epoch_and_go_on,
    a_reset_asked_for_just_before_the_end_of_the_session_is_done_in_it,
    threads_are_excluded_and_included,
    opt_in_counts_only_threads_that_are_included,
    an_unusable_directory_is_an_error_that_says_what_next,
    settings_out_of_range_are_mended_and_late_ones_refused,
];
